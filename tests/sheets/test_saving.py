"""Sheets as files and in a notebook: the same bytes each time, whole or not at all, any letters in a name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import matplotlib
import pytest

from pyramid_lab import sheets
from pyramid_lab.core import Deal
from pyramid_lab.sheets import PackDeal, SheetError
from pyramid_lab.sheets import sheet as sheet_module
from tests.sheets.pdf_reading import text_of

ALL = """
import hashlib
from pyramid_lab import sheets
made = [sheets.deal_sheet(17), sheets.cards(), sheets.mat(), sheets.recording_sheet(), sheets.practice(seed=4),
        sheets.rules_card("three-pile")]
for sheet in made:
    print(hashlib.sha256(sheet.pdf()).hexdigest())
"""


def test_two_processes_print_the_same_bytes() -> None:
    def digests(zone: str, seed: str) -> str:
        environment = {**os.environ, "TZ": zone, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", ALL], capture_output=True, text=True, check=True, env=environment)
        return done.stdout

    first = digests("Pacific/Auckland", "1")
    assert len(first.split()) == 6
    assert first == digests("America/New_York", "2")


@pytest.mark.parametrize(
    "name",
    [
        "Zoë O’Brien-Łuczak",
        "Nguyễn Thị Ánh",
        "Ольга Ґалаґан",
        "Ελένη Παπαδοπούλου",
        "שירה כהן",
        "محمد علي",
        "მარიამი",
        'D\'Arcy "Dot" <b>Bold</b> & #strong[x] $y$ \\ * _ `',
        "=HYPERLINK(1)",
        "Ali, V.",
    ],
)
def test_names_are_printed_as_they_are(name: str) -> None:
    text = text_of(sheets.deal_sheet(17, name=name).pdf())
    (line,) = (line for line in text.splitlines() if line.startswith("Name: "))
    # Poppler marks where writing runs from right to left.
    read = line.removeprefix("Name: ").translate(dict.fromkeys(range(0x202A, 0x202F)))
    assert sorted(read.replace(" ", "")) == sorted(name.replace(" ", ""))


@pytest.mark.parametrize("name", ["漢字", "Mia 😀", "अनन्या"])
def test_a_letter_that_is_in_no_font_is_named(name: str) -> None:
    with pytest.raises(SheetError) as caught:
        sheets.deal_sheet(17, name=name).pdf()
    assert name.split()[-1][0] in str(caught.value)
    assert "--fonts" in str(caught.value)


def test_another_font_lends_its_letters() -> None:
    name = "\U0001d4b6\U0001d4b7"  # mathematical script letters, which the STIX fonts have
    with pytest.raises(SheetError):
        sheets.deal_sheet(17, name=name).pdf()
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    assert sheets.deal_sheet(17, name=name, fonts=[folder]).pdf().startswith(b"%PDF")


def test_a_bad_letter_in_a_long_pack_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_module, "_WHOLE_PAGES", 2)
    deals = [PackDeal(Deal.from_seed(seed), name="漢") for seed in range(3)]
    with pytest.raises(SheetError, match=r"^the sheet's type has no letter for 漢;"):
        sheets.class_pack(deals).pdf()


def test_a_saved_sheet_is_its_pdf(tmp_path: Path) -> None:
    sheet = sheets.rules_card()
    place = sheet.save(tmp_path / "rules.pdf")
    assert place.read_bytes() == sheet.pdf()
    assert [path.name for path in tmp_path.iterdir()] == ["rules.pdf"]


def test_what_fails_leaves_no_half_file_and_keeps_the_old_one(tmp_path: Path) -> None:
    place = tmp_path / "deal.pdf"
    place.write_bytes(b"the old sheet")
    with pytest.raises(SheetError):
        sheets.deal_sheet(17, name="漢").save(place)
    assert place.read_bytes() == b"the old sheet"
    assert list(tmp_path.iterdir()) == [place]


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "deal.pdf"
    place.write_bytes(b"the old sheet")

    def half(self: Path, content: bytes) -> int:
        with self.open("wb") as stream:
            stream.write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(SheetError, match="No space left"):
        sheets.rules_card().save(place)
    assert place.read_bytes() == b"the old sheet"
    assert list(tmp_path.iterdir()) == [place]


def test_a_place_that_cannot_be_written_is_named_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheet_module, "press", lambda *_: pytest.fail("work was done"))
    sheet = sheets.rules_card()
    with pytest.raises(SheetError, match=r"no folder .*missing"):
        sheet.save(tmp_path / "missing" / "rules.pdf")
    with pytest.raises(SheetError, match="is a folder"):
        sheet.save(tmp_path)

    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(SheetError, match="Permission denied"):
        sheet.save(tmp_path / "rules.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_the_first_pages() -> None:
    shown = sheets.cards()._repr_html_()
    assert shown.count("<img") == 3
    assert 'alt="Cards to cut out, plain, page 1"' in shown
    assert "The first 3 of 12 pages" in shown
    one = sheets.rules_card()._repr_html_()
    assert one.count("<img") == 1
    assert "first" not in one


def test_a_notebook_has_the_sheet_to_save_and_of_a_long_one_the_way_to_it() -> None:
    sheet = sheets.practice()
    found = re.search(r'<a download="([^"]+)" href="data:application/pdf;base64,([^"]+)">', sheet._repr_html_())
    assert found
    assert re.fullmatch(r"[\w-]+\.pdf", found[1])
    assert b64decode(found[2]) == sheet.pdf()
    long = sheets.cards()._repr_html_()
    assert "download" not in long
    assert ".save('sheet.pdf')" in long


def test_a_notebook_shows_titles_as_text() -> None:
    shown = sheets.deal_sheet(17, {"base": "table", "redeals": 1, "title": "<script>"})._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
