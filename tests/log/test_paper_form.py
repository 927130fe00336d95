"""The form for a recording sheet: what stands in its fields, what it says, and what it writes."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyramid_lab import lesson
from pyramid_lab.cli.log import log
from pyramid_lab.log.events import Event
from pyramid_lab.log.names import Names
from pyramid_lab.log.store import Store
from pyramid_lab.paper_form import ROWS, PaperForm, enter_sheet

# The pyramid's last row is 8h 5d Kd Qc Qd Qh Jd; 4c and 9s lie at its top, covered.
CARDS = (
    "4c 9s 2c 2d 3c 3d 4d 4h 6c 6d 6h 7c 7d 7h 9c 9d 9h Tc Td Th Jc 8h 5d Kd Qc Qd Qh Jd As "
    "Ac Ad Ah 2h 2s 3h 3s 4s 5c 5h 5s 6s 7s 8c 8d 8s Ts Jh Js Qs Kc Kh Ks"
)


@pytest.fixture
def students(place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.delenv(lesson.STUDENT_VARIABLE, raising=False)
    monkeypatch.delenv(lesson.SESSION_VARIABLE, raising=False)
    with Store(place) as store:
        return {name: Names.of(store).add(store, name).student_id for name in ("Zoë", "<b>Bo</b>")}


def filled(form: PaperForm, *rows: str) -> PaperForm:
    """Type rows as in a CSV: first, second, total, tick, seconds."""
    for row, text in zip(form.rows, rows, strict=False):
        for field, cell in zip(row.fields.values(), text.split(","), strict=False):
            field.value = cell
    return form


def attempts(place: Path, student_id: str) -> list[Event]:
    with Store(place) as store:
        return [event for event in store.events(student_id=student_id) if event.event_type == "attempt"]


def test_rows_become_tries_once(place: Path, students: dict[str, str]) -> None:
    form = filled(enter_sheet(CARDS, place=place), "8h,5d,13,x,3.5", "K", "8s,6s,14,-")
    form.student.value = "zoë"
    assert "3 tries" in form.said.value
    form.save.click()
    form.save_anyway.click()  # the 6s
    assert "3 tries saved" in form.said.value
    assert form.saved
    form.save.click()
    tries = attempts(place, students["Zoë"])
    assert [(event.first_card, event.second_card, event.outcome, event.rt_ms) for event in tries] == [
        ("8h", "5d", "correct", 3500),
        ("Kd", None, "correct", None),
        ("8s", "6s", "blocked", None),  # the 6s is long under the 8s when that is turned
    ]
    assert {event.source for event in tries} == {"table"}


def test_an_impossible_pair_is_named_in_its_row_and_kept(place: Path, students: dict[str, str]) -> None:
    form = filled(enter_sheet(CARDS, place=place, student=students["Zoë"]), "8h,5d", "4c,9s,13,x")
    assert form.rows[0].note.value == ""
    assert "4♣ + 9♠ was not possible here" in form.rows[1].note.value
    assert "kept as a blocked try" in form.rows[1].note.value
    assert "row 2: 4♣ + 9♠" in form.said.value  # said aloud too
    assert form.save_anyway.layout.display == "none"
    for _twice in range(2):  # a double click is no consent
        form.save.click()
        assert not form.saved
        assert form.said.value.startswith("Not saved yet.")
        assert "row 2: 4♣ + 9♠" in form.said.value
        assert form.save_anyway.layout.display != "none"
    form.rows[1].fields["seconds"].value = "4"  # whoever mends a row is asked again
    assert form.save_anyway.layout.display == "none"
    assert attempts(place, students["Zoë"]) == []
    form.save.click()
    form.save_anyway.click()
    assert [event.outcome for event in attempts(place, students["Zoë"])] == ["correct", "blocked"]


def test_turns_that_are_filled_in_are_counted(place: Path, students: dict[str, str]) -> None:
    # The stock's first cards are As, Ac, Ad, Ah, 2h: four turns bring the Ah, a fifth the 2h.
    form = filled(enter_sheet(CARDS, "table", place=place, student=students["Zoë"]), "8h,5d", "Qc,Ah", "Jd,2h")
    assert form.said.value == "3 tries, with 5 turns of the stock filled in; nothing to look at."
    form.save.click()
    assert form.said.value == "3 tries saved, with 5 turns of the stock filled in."
    with Store(place) as store:
        assert sum(event.event_type == "draw" for event in store.events(student_id=students["Zoë"])) == 5


@pytest.mark.parametrize(
    ("row", "doubtful"),
    [
        ("Q,A", False),  # any of three queens: which one is a guess, but no doubt
        ("8h,5d,14", True),
        ("8h,,", True),
        ("8h,Qc,20,x", True),
        ("8h,Qc,20,-", False),
        ("8h,5d,13,x", False),
        ("8h,5d,13,-", True),
    ],
)
def test_only_a_doubtful_row_is_asked_about(place: Path, students: dict[str, str], row: str, doubtful: bool) -> None:
    form = filled(enter_sheet(CARDS, place=place, student=students["Zoë"]), row)
    form.save.click()
    assert form.saved == (not doubtful)


@pytest.mark.parametrize(("typed", "sign"), [("x", "✓"), ("X", "✓"), ("✓", "✓"), ("-", "✗"), ("", "")])
def test_a_tick_looks_as_on_the_sheet(place: Path, students: dict[str, str], typed: str, sign: str) -> None:
    tried = "8h,Qc,20" if sign == "✗" else "8h,5d,13"
    form = filled(enter_sheet(CARDS, place=place, student=students["Zoë"]), f"{tried},{typed}")
    assert form.rows[0].fields["tick"].value == sign
    assert form.said.value == "1 try; nothing to look at."


def test_nothing_can_double_a_game(place: Path, students: dict[str, str]) -> None:
    form = filled(enter_sheet(CARDS, place=place, student=students["Zoë"]), "8h,5d")
    form.save.click()
    assert form.rows[0].fields["first"].disabled
    form.rows[0].remove.click()
    form.rows[1].fields["first"].value = "Kd"  # as a browser that had not yet heard of it might send
    form.save.click()
    form.another.click()
    assert not form.rows[0].fields["first"].disabled
    assert form.rows[0].cells == [""] * 5
    filled(form, "8h,5d").save.click()
    assert "entered before" in form.said.value
    assert len(attempts(place, students["Zoë"])) == 1


def test_the_form_and_the_file_are_the_same_game(place: Path, students: dict[str, str], tmp_path: Path) -> None:
    form = filled(enter_sheet(CARDS, place=place, student=students["Zoë"]), "8h,5d,13,x,4", "K")
    form.played.value = date(2026, 3, 2)
    form.save.click()
    sheet = tmp_path / "zoe.csv"
    sheet.write_text("first,second,total,tick,seconds\n8h,5d,13,x,4\nK,,,,\n", encoding="utf-8")
    options = ["--deal", CARDS, "--student", "Zoë", "--started", "2026-03-02", "--store", str(place)]
    assert "entered before" in CliRunner().invoke(log, ["enter", str(sheet), *options]).output


def test_a_row_that_cannot_be_read_is_not_saved(place: Path, students: dict[str, str]) -> None:
    form = filled(enter_sheet(CARDS, place=place, student=students["Zoë"]), "8h,5d", "8x,5", ",,13")
    assert "'8x' is no card" in form.rows[1].note.value
    assert "the first card is missing" in form.rows[2].note.value
    form.save.click()
    assert not form.saved
    assert "Cannot be saved yet" in form.said.value
    assert attempts(place, students["Zoë"]) == []


def test_a_single_card_that_is_no_king_is_asked_about(place: Path, students: dict[str, str]) -> None:
    form = filled(enter_sheet(CARDS, place=place), "8h")
    assert "8♥ alone makes 8; perhaps the second card is missing" in form.rows[0].note.value


@pytest.mark.parametrize(
    ("deal", "rules", "words"),
    [
        ("", "", "Type the code of the deal"),
        ("table-17-A", "", "table-17-A"),
        ("8h 5d", "", "52"),
        ("table-17-U", "classic", "not for classic"),
        ("17", "clasic", "clasic"),
    ],
)
def test_a_deal_that_cannot_be_is_named(
    place: Path, students: dict[str, str], deal: str, rules: str, words: str
) -> None:
    form = filled(enter_sheet(place=place, student=students["Zoë"]), "8h,5d")
    form.deal.value, form.rules.value = deal, rules
    assert words in form.said.value
    form.save.click()
    assert not form.saved
    form.deal.value, form.rules.value = CARDS, ""
    assert "1 try" in form.said.value


def test_it_must_be_known_whose_sheet_it_is(place: Path, students: dict[str, str]) -> None:
    form = filled(enter_sheet(CARDS, place=place), "8h,5d")
    form.save.click()
    assert "Choose whose sheet" in form.said.value
    form.student.value = "<i>Nobody</i>"
    form.save.click()
    assert "No student is called &lt;i&gt;Nobody" in form.said.value
    assert not form.saved
    form.student.value = students["<b>Bo</b>"]  # a pseudonym will do
    form.save.click()
    assert form.saved


def test_whoever_plays_is_chosen_already(
    place: Path, students: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(lesson.STUDENT_VARIABLE, students["Zoë"])
    form = enter_sheet(CARDS, place=place)
    assert form.student.value == "Zoë"
    assert form.student.options == ("<b>Bo</b>", "Zoë")


def test_a_page_of_a_class_shows_no_other_name(
    place: Path, students: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(lesson.SESSION_VARIABLE, "lesson-1")
    monkeypatch.setenv(lesson.STUDENT_VARIABLE, students["Zoë"])
    form = enter_sheet(CARDS, place=place)
    assert form.student.options == (students["Zoë"],)
    assert form.student.value == students["Zoë"]


def test_rows_are_added_and_taken_out(place: Path, students: dict[str, str]) -> None:
    form = enter_sheet(CARDS, place=place, student=students["Zoë"])
    form.add.click()
    assert len(form.rows) == ROWS + 1
    filled(form, "8h,5d", "4c,9s", "K")
    form.rows[1].remove.click()
    assert [row.cells[0] for row in form.rows][:3] == ["8h", "K", ""]
    assert "2 tries; nothing to look at" in form.said.value
    form.rows[-1].fields["first"].value = "8c"
    assert len(form.rows) == ROWS + 2  # there is always an empty row to type in


def test_every_field_has_a_name_of_its_own(place: Path, students: dict[str, str]) -> None:
    form = enter_sheet(CARDS, place=place)
    named = [form.student, form.deal, form.rules, form.played]
    named += [field for row in form.rows for field in (*row.fields.values(), row.remove)]
    names = [field.description for field in named]
    assert all(names)
    assert len(set(names)) == len(names)
