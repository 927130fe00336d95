"""Exports, opened again by the programs they are for."""

from __future__ import annotations

import csv
import json
import re
import uuid
import zipfile
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from pyramid_lab.log import exports, frames
from pyramid_lab.log.choice import choose
from pyramid_lab.log.errors import ExportError
from pyramid_lab.log.events import FIELDS
from pyramid_lab.log.exports import COLUMNS, DATASHOP_COLUMNS, FORMATS, HOLDS, export, export_person, read_events
from pyramid_lab.log.names import Names, RosterRow
from pyramid_lab.log.store import Store
from tests.log.made_events import made_event

EVENT_SIGNS = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufffe\uffff")
LOOKS_LIKE_A_DATE = re.compile(r"^\d{1,2}[-/]\d{1,2}$")
NASTY = [
    '=HYPERLINK("http://x","a")', "+1", "-2+3", "@SUM(A1)", "NA", "null", "Null", "None", "nan", "True", "1e5", "007",
    "7", "5-7", "7/9",
]  # fmt: skip
WHAT_IT_HOLDS = {
    "csv": lambda event: True,
    "xlsx": lambda event: True,
    "datashop": lambda event: event.event_type in ("attempt", "hint"),
    "xapi": lambda event: event.event_type == "attempt",
}


@pytest.fixture
def nasty(filled: Store) -> Store:
    for number, text in enumerate(NASTY):
        filled.append(made_event(number, student_id=text, game_id="nasty", assistance=text, score=-6))
    return filled


@pytest.mark.parametrize("form", FORMATS)
def test_what_a_format_holds_comes_back_exactly(nasty: Store, tmp_path: Path, form: exports.Format) -> None:
    wanted = [event for event in nasty.events() if WHAT_IT_HOLDS[form](event)]
    out = tmp_path / "out"
    assert export(nasty, out, form, progress=False) == len(wanted)
    assert read_events(out, form) == wanted
    assert form in HOLDS


@settings(max_examples=10)
@given(text=st.text(EVENT_SIGNS, min_size=1, max_size=30), form=st.sampled_from(FORMATS))
def test_any_text_comes_back(text: str, form: exports.Format, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("out")
    event = made_event(0, student_id=text, assistance=text, rule_set=text, game_id="g")
    with Store(folder / "log.sqlite3") as store:
        store.append(event)
        export(store, folder / "out", form, progress=False)
    assert read_events(folder / "out", form) == [event]


@pytest.mark.parametrize("text", ["_x0041_", "_x005F_x0041_", " two  spaces ", "_x", "'=1", "\u2003=1"])
@pytest.mark.parametrize("form", FORMATS)
def test_texts_that_formats_treat_in_their_own_way(
    store: Store, tmp_path: Path, form: exports.Format, text: str
) -> None:
    event = made_event(0, assistance=text)
    store.append(event)
    export(store, tmp_path / "out", form, progress=False)
    assert read_events(tmp_path / "out", form) == [event]


# CSV


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_reads_well_in_other_programs(nasty: Store, tmp_path: Path, delimiter: str) -> None:
    out = tmp_path / "out.csv"
    export(nasty, out, "csv", delimiter=delimiter, progress=False)
    assert out.read_bytes().startswith(b"\xef\xbb\xbf")
    table = pd.read_csv(out, sep=delimiter, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    assert list(table.columns) == list(COLUMNS)
    assert table.columns[0] == "student_id"
    assert len(table) == 21 + len(NASTY)
    assert read_events(out, "csv") == nasty.events()


@pytest.mark.parametrize("table", ["events", "attempts"])
def test_no_cell_of_a_csv_runs_or_becomes_a_date(nasty: Store, tmp_path: Path, table: str) -> None:
    for number, (one, other) in enumerate([("5", "8"), ("3", "T")]):
        fact = f"{one}+{other}".replace("T", "10")
        nasty.append(made_event(number, game_id="dates", first_card=f"{one}c", second_card=f"{other}d", fact=fact))
    out = tmp_path / "out.csv"
    if table == "events":
        export(nasty, out, "csv", progress=False)
    else:
        exports.export_table(frames.attempts(nasty), out)
    with out.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["first_card"], line["second_card"], line["fact"]) for line in lines[-2:]] == [
        ("5c", "8d", "5+8"),
        ("3c", "Td", "3+10"),
    ]
    assert {line["score"] for line in lines} >= {"-6"}, "a number stays a number"
    for line in lines:
        for name, cell in line.items():
            assert not LOOKS_LIKE_A_DATE.match(cell), (name, cell)
            assert cell[:1] not in ("=", "+", "@"), (name, cell)
            assert not cell.startswith("-") or re.fullmatch(r"-\d+", cell), (name, cell)


def test_csv_saved_again_by_a_spreadsheet_still_reads(filled: Store, tmp_path: Path) -> None:
    out, again = tmp_path / "out.csv", tmp_path / "again.csv"
    export(filled, out, "csv", progress=False)
    with out.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.reader(file))
    with again.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(lines)
    assert read_events(again, "csv") == filled.events()


def test_local_time_follows_the_students_zone(filled: Store, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    export(filled, out, "csv", progress=False)
    first = pd.read_csv(out, encoding="utf-8-sig").iloc[0]
    assert first["t_utc"] == "2026-03-02T08:00:00.000Z"
    assert first["t_local"] == "2026-03-02 09:00:00"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text[: len(text) // 2], "is the file whole"),
        (lambda text: text.replace(",1500,", ",fast,", 1), "rt_ms is a whole number, not 'fast'"),
        (lambda text: text.replace("game_id", "game"), "no column game_id"),
        (lambda text: "", "no column schema_version"),
    ],
)
def test_a_csv_that_is_not_whole_is_named(filled: Store, tmp_path: Path, spoil: object, said: str) -> None:
    out = tmp_path / "out.csv"
    export(filled, out, "csv", progress=False)
    out.write_text(spoil(out.read_text(encoding="utf-8")), encoding="utf-8")  # type: ignore[operator]
    with pytest.raises(ExportError, match=said):
        read_events(out, "csv")


def test_tables_are_written_for_spreadsheets(nasty: Store, tmp_path: Path) -> None:
    out = tmp_path / "attempts.csv"
    table = frames.attempts(nasty)
    assert exports.export_table(table, out) == len(table)
    back = pd.read_csv(out, encoding="utf-8-sig", dtype={"student_id": str}, keep_default_na=False)
    assert list(back.columns) == list(table.columns)
    assert [exports.restore(text) for text in back["student_id"]] == table["student_id"].tolist()
    assert back["rt_ms"].tolist() == table["rt_ms"].tolist()


# Excel


def test_no_cell_of_a_workbook_is_a_formula(nasty: Store, tmp_path: Path) -> None:
    out = tmp_path / "out.xlsx"
    export(nasty, out, "xlsx", progress=False)
    book = load_workbook(out)
    assert book.sheetnames == ["events", "games", "sessions"]
    sheet = book["events"]
    columns = [cell.value for cell in sheet[1]]
    assert columns == list(COLUMNS)
    for name in ("student_id", "assistance"):
        cells = [row[columns.index(name)] for row in sheet.iter_rows(min_row=2)]
        assert {cell.data_type for cell in cells if cell.value is not None} == {"s"}
        assert [cell.value for cell in cells][-len(NASTY) :] == NASTY
    assert {cell.data_type for row in book["games"].iter_rows() for cell in row} <= {"s", "n"}
    score = [row[columns.index("score")] for row in sheet.iter_rows(min_row=2)][-1]
    assert (score.value, score.data_type) == (-6, "n")
    local = sheet.cell(2, columns.index("t_local") + 1)
    assert local.value == datetime(2026, 3, 2, 9, 0)  # noqa: DTZ001
    assert local.is_date


def test_a_sheet_that_is_full_is_said(filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "SHEET_LIMIT", 10)
    with pytest.raises(ExportError, match="an Excel sheet holds 9 rows"):
        export(filled, tmp_path / "out.xlsx", "xlsx", progress=False)
    assert list(tmp_path.glob("out*")) == [], "no half a file is left"


def test_a_workbook_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "out.xlsx").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(ExportError, match="no Excel workbook"):
        read_events(tmp_path / "out.xlsx", "xlsx")


# DataShop


def test_datashop_has_its_columns_in_order(filled: Store, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    export(filled, out, "datashop", progress=False)
    lines = [line.split("\t") for line in out.read_text(encoding="utf-8").splitlines()]
    heading = [
        "Anon Student Id", "Session Id", "Time", "Time Zone", "Student Response Type", "Student Response Subtype",
        "Tutor Response Type", "Tutor Response Subtype", "Level", "Problem Name", "Problem Start Time", "Step Name",
        "Attempt At Step", "Outcome", "Selection", "Action", "Input", "Feedback Text", "Feedback Classification",
        "Help Level", "Total Num Hints", "Condition Name", "Condition Type", "KC", "KC Category", "School", "Class",
    ]  # fmt: skip
    assert [name.split("(")[0] for name in lines[0][:27]] == heading
    assert all(name.startswith("CF(") for name in lines[0][27:])
    assert {len(line) for line in lines} == {len(DATASHOP_COLUMNS)}
    rows = [dict(zip(lines[0], line, strict=True)) for line in lines[1:5]]
    assert [row["Outcome"] for row in rows] == ["CORRECT", "INCORRECT", "HINT", "CORRECT"]
    # The first 4+9 is done at once; the second takes a wrong try, a hint and a right one.
    assert [row["Step Name"] for row in rows] == ["4+9 (1)", "4+9 (2)", "4+9 (2)", "4+9 (2)"]
    assert [row["Attempt At Step"] for row in rows] == ["1", "1", "2", "3"]
    assert rows[0]["KC(Fact)"] == "4+9"
    assert rows[0]["Problem Name"] == "game-sit-1"
    assert rows[0]["Level(Lesson)"] == "01"
    assert (rows[0]["Time"], rows[0]["Time Zone"]) == ("2026-03-02 08:00:02.000", "UTC")
    assert rows[0]["Problem Start Time"] == "2026-03-02 08:00:00.000"
    assert rows[0]["CF(rt_ms)"] == "1500"
    assert all(len(row["Anon Student Id"]) <= 55 for row in rows)


def test_datashop_lines_stay_lines(store: Store, tmp_path: Path) -> None:
    store.open_session("s-anna", session_id="sit-1", lesson="one\ttwo\nthree")
    store.append(made_event(0))
    export(store, tmp_path / "out", "datashop", progress=False)
    assert read_events(tmp_path / "out", "datashop") == store.events()


# xAPI


def test_xapi_statements(filled: Store, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    export(filled, out, "xapi", progress=False)
    statements = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    first = statements[0]
    assert uuid.UUID(first["id"]) == uuid.UUID(filled.events()[1].event_id)
    assert first["actor"]["account"]["name"] == "s-anna"
    assert first["actor"]["account"]["homePage"].startswith("http")
    assert first["verb"]["id"] == "http://adlnet.gov/expapi/verbs/answered"
    assert first["object"]["definition"]["type"] == "http://adlnet.gov/expapi/activities/cmi.interaction"
    assert first["result"]["success"] is True
    assert first["result"]["response"] == "4c+9d"
    assert first["result"]["duration"] == "PT1.500S"
    assert 1500 in first["result"]["extensions"].values()
    assert first["timestamp"] == "2026-03-02T08:00:02.000Z"
    assert [statement["result"]["success"] for statement in statements[:3]] == [True, False, True]
    uuid.UUID(first["context"]["registration"])


# Names, groups, files


def test_names_only_when_they_are_asked_for(store: Store, tmp_path: Path) -> None:
    names = Names.of(store)
    names.import_roster([RosterRow(number, text) for number, text in enumerate(NASTY)], store)
    for number, person in enumerate(names.people()):
        store.append(made_event(0, student_id=person.student_id, game_id=f"g{number}"))
    without, with_names = tmp_path / "without.csv", tmp_path / "with.csv"
    export(store, without, "csv", progress=False)
    export(store, with_names, "csv", names=names, progress=False)
    assert "HYPERLINK" not in without.read_text(encoding="utf-8")
    with with_names.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [exports.restore(line["name"]) for line in lines] == NASTY
    assert read_events(with_names, "csv") == store.events()
    export(store, tmp_path / "with.xlsx", "xlsx", names=names, progress=False)
    sheet = load_workbook(tmp_path / "with.xlsx")["events"]
    cells = [row[1] for row in sheet.iter_rows(min_row=2)]
    assert [(cell.value, cell.data_type) for cell in cells] == [(text, "s") for text in NASTY]
    with pytest.raises(ExportError, match="holds no names"):
        export(store, tmp_path / "out", "xapi", names=names)


@pytest.mark.parametrize(("size", "shown"), [(4, ""), (5, "3a")])
def test_a_class_of_fewer_than_five_is_not_named(store: Store, tmp_path: Path, size: int, shown: str) -> None:
    store.put_students({f"s-{number}": "3a" for number in range(size)})
    store.append(made_event(0, student_id="s-0"))
    export(store, tmp_path / "out.csv", "csv", progress=False)
    table = pd.read_csv(tmp_path / "out.csv", keep_default_na=False, encoding="utf-8-sig")
    assert table["class_name"].tolist() == [shown]
    export(store, tmp_path / "out.xlsx", "xlsx", progress=False)
    book = load_workbook(tmp_path / "out.xlsx")
    for sheet in book:
        column = [cell.value for cell in sheet[1]].index("class_name")
        assert [row[column].value or "" for row in sheet.iter_rows(min_row=2)] == [shown]
    unnamed = exports.unnamed_classes(store)
    assert unnamed == (() if shown else ("3a",))
    exports.export_table(frames.games(store), tmp_path / "games.csv", unnamed=unnamed)
    games = pd.read_csv(tmp_path / "games.csv", keep_default_na=False, encoding="utf-8-sig")
    assert games["class_name"].tolist() == [shown]


def test_unnamed_are_only_small_classes_with_chosen_events(store: Store) -> None:
    store.put_students({"s-0": "3a", "s-1": "3b", "s-2": None} | {f"s-{number}": "4" for number in range(10, 15)})
    for student in ("s-0", "s-2", "s-10"):
        store.append(made_event(0, student_id=student, game_id=f"g-{student}"))
    assert exports.unnamed_classes(store) == ("3a", "3b")
    assert exports.unnamed_classes(store, choose()) == ("3a",)
    assert exports.unnamed_classes(store, choose(student="s-10")) == ()


def test_a_choice_of_rows(filled: Store, tmp_path: Path) -> None:
    export(filled, tmp_path / "out", "csv", choose(student="s-ben"), progress=False)
    assert read_events(tmp_path / "out", "csv") == filled.events(student_id="s-ben")


def test_files_that_are_there_are_kept(filled: Store, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(ExportError, match="exists already and was not overwritten"):
        export(filled, out, "csv", progress=False)
    assert out.read_text(encoding="utf-8") == "mine"
    export(filled, out, "csv", overwrite=True, progress=False)
    assert len(read_events(out, "csv")) == 21
    with pytest.raises(ExportError, match="is a folder"):
        export(filled, tmp_path, "csv")
    with pytest.raises(ExportError, match="no format is called 'pdf'"):
        export(filled, tmp_path / "x", "pdf")  # type: ignore[arg-type]
    with pytest.raises(ExportError, match="is no file"):
        read_events(tmp_path / "nothing", "csv")


def test_all_about_one_student(filled: Store, tmp_path: Path) -> None:
    person = Names.of(filled).add(filled, "=Ali", class_name="3a")
    filled.append(made_event(0, student_id=person.student_id, game_id="own"))
    out = tmp_path / "ali.zip"
    assert export_person(filled, person, out) == 1
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["events.csv", "sessions.csv", "student.csv"]
        archive.extractall(tmp_path)
    assert read_events(tmp_path / "events.csv", "csv") == filled.events(student_id=person.student_id)
    student = pd.read_csv(tmp_path / "student.csv", encoding="utf-8-sig", dtype=str)
    assert exports.restore(student.loc[0, "name"]) == "=Ali"


def test_every_field_has_its_column() -> None:
    assert set(FIELDS) <= set(COLUMNS)
    assert {f"CF({name})" for name in FIELDS} - set(DATASHOP_COLUMNS) == {"CF(student_id)", "CF(session_id)"}
