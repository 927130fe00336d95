"""Cards and mats measured on the page."""

from __future__ import annotations

import io
import re

import pytest
from PIL import Image

from pyramid_lab import sheets
from pyramid_lab.core.cards import pack
from pyramid_lab.sheets import SheetError
from tests.sheets.pdf_reading import Box, page_in_grey, page_sizes, pages_of, pictures, text_of

GRID = {"a4": (3, 3), "letter": (3, 2)}
SIZE = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
CAP = 0.729  # height of capitals and digits in DejaVu Sans Bold, em


def card_boxes(content: bytes, page: int, width: float = 63.5, height: float = 88.9) -> list[Box]:
    boxes = pages_of(content)[page].boxes
    return [box for box in boxes if abs(box.width - width) < 0.1 and abs(box.height - height) < 0.1]


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_cards_are_63_5_by_88_9_mm_edge_to_edge(paper: str) -> None:
    columns, rows = GRID[paper]
    wide, high = SIZE[paper]
    boxes = card_boxes(sheets.cards(paper).pdf(), 0)
    assert len(boxes) == columns * rows
    left, top = (wide - columns * 63.5) / 2, (high - rows * 88.9) / 2
    for place, box in enumerate(boxes):
        row, column = divmod(place, columns)
        x, y = left + column * 63.5, top + row * 88.9
        assert box.is_about(Box(x, y, x + 63.5, y + 88.9))


@pytest.mark.parametrize("paper", ["a4", "letter"])
@pytest.mark.parametrize("target", [13, 10])
def test_every_card_of_the_pack_is_there_once(paper: str, target: int) -> None:
    content = sheets.cards(paper, target=target, backs=False).pdf()
    told = ", ".join(alt.removeprefix("Cards to cut out, row by row: ").rstrip(".") for alt in pictures(content))
    assert sorted(told.split(", ")) == sorted(card.name for card in pack(target))
    columns, rows = GRID[paper]
    assert len(page_sizes(content)) == -(-4 * target // (columns * rows))
    assert sum(len(card_boxes(content, page)) for page in range(len(page_sizes(content)))) == 4 * target


@pytest.mark.parametrize("duplex", ["long-edge", "short-edge"])
@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_backs_meet_their_fronts(paper: str, duplex: str) -> None:
    """Turned over its long edge, a sheet's left is its right; over its short edge its top is its bottom."""
    content = sheets.cards(paper, duplex=duplex).pdf()
    wide, high = SIZE[paper]
    for page in range(0, len(page_sizes(content)), 2):
        fronts = card_boxes(content, page)
        backs = card_boxes(content, page + 1, 63.5 - 9, 88.9 - 9)
        assert len(backs) == len(fronts)
        for front, back in zip(fronts, backs, strict=True):
            if duplex == "long-edge":
                seen = Box(wide - back.right, back.top, wide - back.left, back.bottom)
            else:
                seen = Box(back.left, high - back.bottom, back.right, high - back.top)
            framed = Box(front.left + 4.5, front.top + 4.5, front.right - 4.5, front.bottom - 4.5)
            assert seen.is_about(framed)


def test_the_offset_moves_the_backs_and_nothing_else() -> None:
    still, moved = sheets.cards().pdf(), sheets.cards(offset=(1.5, -0.5)).pdf()
    for before, after in zip(card_boxes(still, 1, 54.5, 79.9), card_boxes(moved, 1, 54.5, 79.9), strict=True):
        assert after.is_about(Box(before.left + 1.5, before.top - 0.5, before.right + 1.5, before.bottom - 0.5))
    assert card_boxes(still, 0) == card_boxes(moved, 0)


@pytest.mark.parametrize(
    ("duplex", "expected"),
    [("long-edge", ["3 2 1", "6 5 4", "9 8 7"]), ("short-edge", ["7 8 9", "4 5 6", "1 2 3"])],
)
def test_the_test_sheet_is_numbered_as_it_lies(duplex: str, expected: list[str]) -> None:
    pages = pages_of(sheets.duplex_test(duplex=duplex).pdf())

    def rows(page: int, side: str) -> list[str]:
        labels = [piece for piece in pages[page].pieces if re.fullmatch(rf"{side} \d", piece.text)]
        labels.sort(key=lambda piece: (round(piece.baseline), piece.left))
        numbers = [label.text.split()[1] for label in labels]
        return [" ".join(numbers[at : at + 3]) for at in range(0, 9, 3)]

    assert rows(0, "Front") == ["1 2 3", "4 5 6", "7 8 9"]
    assert rows(1, "Back") == expected


@pytest.mark.parametrize("style", ["plain", "large", "words"])
def test_ranks_are_at_least_a_quarter_of_the_card(style: str) -> None:
    page = pages_of(sheets.cards(style=style, backs=False).pdf())[0]
    ranks = [piece for piece in page.pieces if re.fullmatch(r"[A2-9JQK]", piece.text)]
    assert len({piece.text for piece in ranks}) == 9
    tallest = {piece.text: piece.size for piece in ranks}
    assert min(tallest.values()) * CAP * 25.4 / 72 >= 88.9 / 4


@pytest.mark.parametrize("style", ["plain", "large", "words"])
def test_sixes_and_nines_are_underlined(style: str) -> None:
    """A thick line lies just under each 6 and 9, and under no other rank."""
    content = sheets.cards(style=style, backs=False).pdf()
    for number, page in enumerate(pages_of(content)):
        for box in card_boxes(content, number):
            inside = [
                line
                for line in page.boxes
                if 5 < line.width < 40
                and line.height < 0.05
                and box.left < line.left
                and line.right < box.right
                and box.top < line.top
                and line.bottom < box.bottom
            ]
            ranks = {
                piece.text
                for piece in page.pieces
                if box.left <= piece.left <= box.right
                and box.top <= piece.baseline <= box.bottom
                and re.fullmatch(r"[A2-9JQK]|10?|0", piece.text)
                and piece.size > 60
            }
            assert bool(inside) == bool(ranks & {"6", "9"}), ranks


def test_words_give_the_value_of_every_card() -> None:
    text = " ".join(text_of(sheets.cards(style="words", backs=False).pdf()).split())
    for word in ("two", "six", "seven", "ten"):
        assert text.count(word) == 4
    for value, word in ((1, "one"), (11, "eleven"), (12, "twelve"), (13, "thirteen")):
        assert len(re.findall(rf"\b{value} {word}\b", text)) == 4


def test_letters_tell_the_suits() -> None:
    for style in ("plain", "large", "words"):
        lettered = text_of(sheets.cards(style=style, letters=True, backs=False).pdf())
        plain = text_of(sheets.cards(style=style, backs=False).pdf())
        each = 26 if style == "plain" else 13
        assert all(lettered.count(letter) == plain.count(letter) + each for letter in "CDHS"), style


def test_hearts_and_spades_differ_without_colour() -> None:
    """In grey, the sign of a red suit is a bright shape with a dark rim, that of a black suit is dark all through."""
    content = sheets.cards(style="large", backs=False).pdf()
    middles = {}
    for number, alt in enumerate(pictures(content), start=1):
        for place, name in enumerate(alt.removeprefix("Cards to cut out, row by row: ").rstrip(".").split(", ")):
            if not name.startswith("seven"):
                continue
            box = card_boxes(content, number - 1)[place]
            scale = 72 / 25.4
            sign = (
                Image.open(io.BytesIO(page_in_grey(content, number)))
                .convert("L")
                .crop(
                    tuple(round(value * scale) for value in (box.left + 2, box.top + 55, box.right - 2, box.bottom - 2))
                )
            )
            left, top, right, bottom = sign.point([255] * 128 + [0] * 128).getbbox()
            # A club's three leaves leave a gap between them: a little above the middle it is whole.
            middles[name.split()[-1]] = sign.getpixel(((left + right) // 2, top + (bottom - top) * 2 // 5))
    assert middles["clubs"] < 60 and middles["spades"] < 60
    assert middles["hearts"] > 240 and middles["diamonds"] > 240


def test_crop_marks_stand_outside_the_cards_and_inside_the_margins() -> None:
    boxes = pages_of(sheets.cards("letter").pdf())[0].boxes
    left, top = (215.9 - 190.5) / 2, (279.4 - 177.8) / 2
    upright = [box for box in boxes if box.width < 0.05 and 1 < box.height < 4]
    for column in range(4):
        x = left + 63.5 * column
        assert any(abs(box.left - x) < 0.1 and box.bottom <= top for box in upright)
        assert any(abs(box.left - x) < 0.1 and box.top >= top + 177.8 for box in upright)


def test_narrow_cards_keep_their_shape() -> None:
    boxes = card_boxes(sheets.cards(width=36).pdf(), 0, 36, 36 * 88.9 / 63.5)
    assert len(boxes) == 25


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"paper": "a3"}, "no paper 'a3'"),
        ({"style": "tiny"}, "no style 'tiny'"),
        ({"width": 20}, "30 to 63.5 mm wide, not 20"),
        ({"width": "wide"}, "30 to 63.5 mm wide"),
        ({"target": 9}, "not 9"),
        ({"duplex": "sideways"}, "'sideways'"),
        ({"offset": (9, 0)}, "offset"),
    ],
)
def test_bad_input_for_cards_is_named(options: dict[str, object], words: str) -> None:
    with pytest.raises(SheetError, match=words):
        sheets.cards(**options)  # type: ignore[arg-type]


# Mats


def places(content: bytes, width: float) -> list[Box]:
    return [box for box in pages_of(content)[0].boxes if abs(box.width - width) < 0.1 and box.height > 5]


@pytest.mark.parametrize(
    ("paper", "rules", "width"),
    [("a3", "table", 55), ("a3", "three-pile", 45), ("a4", "table", 38), ("letter", "classic", 36)],
)
def test_a_mat_has_a_place_for_each_card_and_pile(paper: str, rules: str, width: float) -> None:
    content = sheets.mat(paper, rules).pdf()
    piles = 3 if rules == "three-pile" else 1
    text = text_of(content)
    assert f"for cards up to {width} mm wide" in text
    found = places(content, width)
    assert len(found) == 28 + 1 + piles
    whole = [box for box in found if abs(box.height - width * 88.9 / 63.5) < 0.1]
    assert len(whole) == 7 + 1 + piles  # the last row, the stock and the piles; of the others only the top shows
    for one in found:
        for other in found:
            if one is not other:
                apart = (
                    one.right <= other.left + 0.05
                    or other.right <= one.left + 0.05
                    or one.bottom <= other.top + 0.05
                    or other.bottom <= one.top + 0.05
                )
                assert apart, (one, other)
    for label in ("pile 1", "pile 2", "pile 3") if piles == 3 else ("waste",):
        assert label in text


def test_a_mat_for_full_size_cards_comes_in_parts() -> None:
    content = sheets.mat("a3", "three-pile", card_width=63.5).pdf()
    assert len(page_sizes(content)) == 2
    assert "part 1 of 2" in text_of(content, 1)
    assert "part 2 of 2" in text_of(content, 2)


def test_a_mat_follows_the_rows_of_the_rules() -> None:
    content = sheets.mat("a3", {"base": "table", "rows": 4}).pdf()
    assert "pyramid of 4 rows" in pictures(content)[0]
    width = float(re.search(r"up to ([\d.]+) mm", text_of(content))[1])  # type: ignore[index]
    assert len(places(content, width)) == 10 + 2


@pytest.mark.parametrize("options", [{"paper": "a5"}, {"card_width": 80}, {"card_width": "wide"}])
def test_bad_input_for_mats_is_named(options: dict[str, object]) -> None:
    with pytest.raises(SheetError, match=r"a5|80|wide"):
        sheets.mat(**options)  # type: ignore[arg-type]
