"""What every sheet on every paper must be: the right size, readable, tagged, the same each time."""

from __future__ import annotations

import io
from itertools import pairwise

import pikepdf
import pytest

from tests.sheets.pdf_reading import Box, elements, page_sizes, pages_of, pictures, read, reader, words_of

# Points, from ISO 216 and ANSI/ASME Y14.1.
PAPER = {"a4": (595.28, 841.89), "letter": (612, 792), "a3": (841.89, 1190.55), "tabloid": (792, 1224)}

Printed = tuple[str, str, bytes]


def test_the_page_is_the_paper(printed: Printed) -> None:
    kind, paper, content = printed
    for width, height in page_sizes(content):
        sides = (width, height) if width < height else (height, width)
        assert sides == pytest.approx(PAPER[paper], abs=0.1)
        assert (width > height) == (kind == "deal, large" or kind.startswith("mat"))


def test_nothing_comes_nearer_than_8_mm_to_the_edge(printed: Printed) -> None:
    _, _, content = printed
    for page, words in zip(pages_of(content), words_of(content), strict=True):
        for box in (*page.boxes, *words):
            assert box.left >= 7.95 and box.top >= 7.95, box
            assert box.right <= page.width - 7.95 and box.bottom <= page.height - 7.95, box


def test_every_page_has_a_bar_of_50_mm_and_the_advice(printed: Printed) -> None:
    _, _, content = printed
    for page in pages_of(content):
        assert any(abs(box.width - 50) < 0.05 and box.height < 0.05 for box in page.boxes)
        assert "50 mm: print at 100 %" in page.text


def test_no_text_is_smaller_than_8_points(printed: Printed) -> None:
    _, _, content = printed
    for page in pages_of(content):
        assert page.pieces
        assert [piece for piece in page.pieces if piece.size < 7.99] == []


def test_it_is_tagged_titled_and_in_english(printed: Printed) -> None:
    _, _, content = printed
    with pikepdf.open(io.BytesIO(content)) as document:
        assert bool(document.Root.MarkInfo.Marked)
        assert str(document.Root.Lang) == "en-GB"
        assert bool(document.Root.ViewerPreferences.DisplayDocTitle)
        assert str(document.docinfo["/Title"])
        assert document.open_metadata().get("pdfuaid:part") == "1"


def test_it_has_headings_and_every_picture_is_described(printed: Printed) -> None:
    _, _, content = printed
    found = elements(content)
    headings = [tag for tag, _ in found if tag.startswith("H")]
    assert headings[0] == "H1"
    assert all(int(after[1:]) <= int(before[1:]) + 1 for before, after in pairwise(headings))
    for alt in pictures(content):
        assert len(alt) >= 6, alt


def test_every_letter_is_printed(printed: Printed) -> None:
    """No page shows the box that stands for a missing letter, and all text can be read back."""
    _, _, content = printed
    for page in pages_of(content):
        assert page.text.strip()
        assert "\ufffd" not in page.text and "\x00" not in page.text


def test_only_the_sheets_own_type_is_used(printed: Printed) -> None:
    _, _, content = printed
    with pikepdf.open(io.BytesIO(content)) as document:
        names = {
            str(item.BaseFont)
            for item in document.objects
            if isinstance(item, pikepdf.Dictionary) and "/BaseFont" in item
        }
    assert names
    assert all("DejaVuSans" in name for name in names)


def test_boxes_are_read_as_they_are_drawn() -> None:
    """The reader itself, on a page made by another hand."""
    page = pikepdf.new()
    page.add_blank_page(page_size=(720, 360))
    page.pages[0].Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary())
    page.pages[0].Contents = page.make_stream(b"q 2 0 0 2 72 72 cm 0 0 36 18 re S Q")
    made = io.BytesIO()
    page.save(made)
    (box,) = read(reader(made.getvalue()).pages[0]).boxes
    assert box.is_about(Box(25.4, 88.9, 50.8, 101.6), within=0.001)
