"""The commands that keep the log, as a tutor types them."""

from __future__ import annotations

import csv
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, tzinfo
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pyramid_lab.cli import cli
from pyramid_lab.log import frames
from pyramid_lab.log.exports import read_events
from pyramid_lab.log.names import Names
from pyramid_lab.log.store import Store
from tests.log.made_events import made_event

Run = Callable[..., Result]


@pytest.fixture
def run(place: Path) -> Run:
    def command(*words: str, answer: str | None = None, store: str | None = None) -> Result:
        return CliRunner().invoke(cli, [*words, "--store", store or str(place)], input=answer)

    return command


@pytest.fixture
def played(place: Path) -> Path:
    """A log in which Ali and =Bo have played a game each."""
    with Store(place) as store:
        names = Names.of(store)
        for name, class_name in (("Ali", "3a"), ("=Bo", "3b"), ("Ali", "3b")):
            person = names.add(store, name, class_name=class_name, roster_id=None)
            store.open_session(person.student_id, session_id=f"sit-{person.student_id}", lesson="01")
            for index, kind in enumerate(("deal", "attempt", "end")):
                store.append(
                    made_event(
                        index,
                        kind,
                        student_id=person.student_id,
                        game_id=f"game-{person.student_id}",
                        session_id=f"sit-{person.student_id}",
                        outcome={"attempt": "correct", "end": "won"}.get(kind),
                    )
                )
    return place


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second that does not end."""

    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Stopped:
            return cls(2026, 3, 2, 9, 0, tzinfo=tz)

    monkeypatch.setattr("pyramid_lab.cli.log.datetime", Stopped)


def write_sql(place: Path, statement: str) -> None:
    with closing(sqlite3.connect(place)) as other, other:
        other.execute(statement)


def people(place: Path) -> list[str]:
    with Store(place) as store:
        return [person.name for person in Names.of(store).people()]


def events(place: Path) -> int:
    with Store(place) as store:
        return len(store.events())


def test_students_are_added_imported_and_listed(run: Run, place: Path, tmp_path: Path) -> None:
    assert "No students yet" in run("student", "list").output
    added = run("student", "add", "Zoë O'Neill", "--class", "3a", "--id", "007")
    assert re.search(r"Zoë O'Neill is s-\w{10}\. Names are in .*names\.sqlite3", added.output)
    roster = tmp_path / "roster.csv"
    roster.write_bytes('name;class\n"Ali\nV.";3a\n=1+1;3b\n'.encode("utf-8-sig"))
    assert "2 new, 0 changed, 0 unchanged" in run("student", "import", str(roster)).output
    assert "0 new, 0 changed, 2 unchanged" in run("student", "import", str(roster)).output
    listed = run("student", "list", "--class", "3a").output.splitlines()
    assert len(listed) == 2
    assert listed[0].endswith("007")
    assert "Ali V." in listed[1]
    again = tmp_path / "again.csv"
    again.write_text(run("student", "list", "--csv").output, encoding="utf-8")
    assert "0 new, 0 changed, 3 unchanged" in run("student", "import", str(again)).output
    assert people(place) == ["Zoë O'Neill", "Ali\nV.", "=1+1"]


def test_names_that_programs_take_for_something_else_come_through(run: Run, place: Path, tmp_path: Path) -> None:
    odd = [
        "NA",
        "Null",
        "None",
        "nan",
        "True",
        "1e5",
        "007",
        "7",
        "5-7",
        '=HYPERLINK("http://x","a")',
        "-2+3",
        "@SUM(A1)",
    ]
    roster, listed = tmp_path / "roster.csv", tmp_path / "listed.csv"
    with roster.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["name", "id"], *([name, f"0{number}"] for number, name in enumerate(odd))])
    run("student", "import", str(roster))
    listed.write_text(run("student", "list", "--csv").output, encoding="utf-8")
    elsewhere = tmp_path / "elsewhere" / "log.sqlite3"
    assert run("student", "import", str(listed), store=str(elsewhere)).exit_code == 0
    with Store(place) as here, Store(elsewhere) as there:
        assert Names.of(there).people() == Names.of(here).people()
        assert [(person.name, person.roster_id) for person in Names.of(here).people()] == [
            (name, f"0{number}") for number, name in enumerate(odd)
        ]
        assert set(frames.students(there)["student_id"]) == {person.student_id for person in Names.of(here).people()}


def test_a_wrong_roster_is_named_and_nothing_is_written(run: Run, place: Path, tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("name,class\nAli,3a\n,3b\n", encoding="utf-8")
    result = run("student", "import", str(roster))
    assert result.exit_code == 1
    assert "line 3: the name is empty" in result.output
    assert not place.exists()


def test_a_wrong_file_is_named_with_what_is_wrong(run: Run, played: Path, tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("Vorname,Klasse\nAli,3a\n", encoding="utf-8")
    assert f"{roster}: nothing was imported" in run("student", "import", str(roster)).output.replace("\n", " ")
    sheet = tmp_path / "sheet.csv"
    for raw, said in ((b"first\n\xe9\n", "is no UTF-8 text, at byte 7"), (b"", ": the file is empty")):
        sheet.write_bytes(raw)
        result = run("log", "enter", str(sheet), "--deal", "table-17-U", "--student", "=Bo")
        assert result.exit_code == 1
        assert f"{sheet}{'' if said.startswith(':') else ' '}{said}" in result.output


def test_a_name_a_line_is_imported_and_the_first_is_said_to_be_one(run: Run, place: Path, tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("Ada\nBo\n", encoding="utf-8")
    result = run("student", "import", str(roster))
    assert result.exit_code == 0, result.output
    assert "every line is a name, also the first: Ada." in result.output
    assert "Not used" not in result.output
    assert people(place) == ["Ada", "Bo"]
    assert "0 new, 0 changed, 2 unchanged" in run("student", "import", str(roster)).output


def test_a_roster_in_another_folder_is_looked_for_by_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for typed, said in (
        ("roster.csv", f"there is no file roster.csv in {tmp_path};"),
        ("gone/roster.csv", f"there is no file roster.csv in {tmp_path / 'gone'}, for there is no such folder;"),
    ):
        result = run("student", "import", typed)
        assert result.exit_code == 2
        assert f"{said} name the file with its folder" in result.output


def test_a_second_student_of_a_name_is_added_and_told_apart(run: Run, place: Path) -> None:
    first = run("student", "add", "Ada", "--class", "3a").output
    assert "already" not in first
    known = re.findall(r"s-\w{10}", first)[0]
    second = run("student", "add", " Ada ").output
    new = re.findall(r"s-\w{10}", second)[0]
    assert f"The name Ada was there already ({known} 3a); in a list they are now Ada (3a, 1) and Ada (2)." in second
    assert f"'pyramid-lab student erase {new}'" in second
    assert people(place) == ["Ada", "Ada"]
    assert run("student", "erase", new, "--yes").exit_code == 0
    other_class = run("student", "add", "Ada", "--class", "3b").output
    assert "in a list they are now Ada (3a, 1) and Ada (3b, 2)." in other_class
    assert "erase" not in other_class
    assert "Ada (3a, 1), Ada (3b, 2) and Ada (3a, 3)." in run("student", "add", "Ada", "--class", "3a").output
    assert "already" not in run("student", "add", "Ada B.", "--class", "3a").output


def test_an_id_belongs_to_one_student(run: Run, place: Path) -> None:
    assert run("student", "add", "Ada", "--id", "18").exit_code == 0
    second = run("student", "add", "Eve", "--id", "18")
    assert second.exit_code == 1
    assert "the id '18' is Ada's already" in second.output
    assert people(place) == ["Ada"]


def test_a_class_that_nobody_is_in(run: Run, played: Path) -> None:
    for words in (("student", "list"), ("student", "list", "--csv"), ("student", "erase", "Ali", "--yes")):
        result = run(*words, "--class", "4z")
        assert result.exit_code == 1
        assert result.output == "Error: There is no class '4z'. Classes with students: 3a, 3b.\n"
    assert events(played) == 9


@pytest.mark.parametrize("words", [["export"], ["export", "--table", "games"], ["review"]])
def test_a_file_about_a_class_that_nobody_is_in_is_not_written(
    run: Run, played: Path, tmp_path: Path, words: list[str]
) -> None:
    out = tmp_path / ("good.html" if words == ["review"] else "good.csv")
    out.write_text("from yesterday", encoding="utf-8")
    result = run(*words, "--out", str(out), *([] if words == ["review"] else ["--force"]), "--class", "4z")
    assert result.exit_code == 1
    assert "There is no class '4z'. Classes with students: 3a, 3b." in result.output
    assert out.read_text(encoding="utf-8") == "from yesterday"


def test_a_class_that_only_the_log_knows_is_one(run: Run, played: Path, tmp_path: Path) -> None:
    Path(f"{played.with_suffix('')}.names.sqlite3").unlink()
    result = run("export", "--out", str(tmp_path / "out.csv"), "--class", "3b")
    assert "6 rows" in result.output, result.output


def test_erasing_asks_first(run: Run, played: Path) -> None:
    twice = run("student", "erase", "Ali", "--yes")
    assert twice.exit_code == 1
    assert "2 students are called Ali" in twice.output
    refused = run("student", "erase", "Ali", "--class", "3a", answer="n\n")
    assert refused.exit_code == 1
    assert events(played) == 9
    done = run("student", "erase", "Ali", "--class", "3a", answer="y\n")
    assert "Ali is erased: 3 events in 1 games." in done.output
    assert people(played) == ["=Bo", "Ali"]
    assert events(played) == 6
    assert "nobody is called Zoe" in run("student", "erase", "Zoe", "--yes").output


def test_all_about_one_student_in_a_file(run: Run, played: Path, tmp_path: Path) -> None:
    out = tmp_path / "bo.zip"
    assert "3 events of =Bo" in run("student", "export", "=Bo", "--out", str(out)).output
    assert out.is_file()
    assert "exists already" in run("student", "export", "=Bo", "--out", str(out)).output


@pytest.mark.parametrize(("form", "rows"), [("csv", 9), ("xlsx", 9), ("datashop", 3), ("xapi", 3)])
def test_exports(run: Run, played: Path, tmp_path: Path, form: str, rows: int) -> None:
    out = tmp_path / "out"
    result = run("export", "--format", form, "--out", str(out))
    assert result.exit_code == 0, result.output
    assert f"{rows} rows." in result.output
    assert len(read_events(out, form)) == rows  # type: ignore[arg-type]


def test_the_ending_of_a_file_says_the_format(run: Run, played: Path, tmp_path: Path) -> None:
    for ending in ("csv", "xlsx", "XLSX"):
        out = tmp_path / f"log-{ending}.{ending}"
        assert "9 rows." in run("export", "--out", str(out)).output
        assert len(read_events(out, ending.lower())) == 9  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "log.xlsx", "--format", "csv"], "log.xlsx ends as xlsx does, but --format says csv; leave --format"),
        (["--out", "log.csv", "--format", "xapi"], "log.csv ends as csv does, but --format says xapi; leave --format"),
        (["--out", "log.docx"], "log.docx ends in .docx, which says no format; end the name in .csv or .xlsx"),
        (["--out", "log"], "log has no ending to say the format; end the name in .csv or .xlsx, or give --format csv|"),
        (["--out", "log.xlsx", "--table", "games"], "--table games goes with --format csv"),
    ],
)
def test_a_file_is_not_written_under_the_name_of_another_format(
    run: Run, played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    result = run("export", *words)
    assert result.exit_code == 2
    assert said in result.output
    assert sorted(tmp_path.iterdir()) == before


def test_a_students_file_is_a_zip(run: Run, played: Path, tmp_path: Path) -> None:
    result = run("student", "export", "=Bo", "--out", str(tmp_path / "bo.csv"))
    assert result.exit_code == 2
    assert f"bo.csv does not end in .zip; write {tmp_path / 'bo.zip'}" in result.output


def test_an_export_of_some(run: Run, played: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out.csv")
    assert "6 rows" in run("export", "--out", out, "--class", "3b").output
    assert "3 rows" in run("export", "--out", out, "--force", "--student", "=Bo").output
    assert "3 rows" in run("export", "--out", out, "--force", "--table", "attempts", "--lesson", "01").output
    assert "is no date" in run("export", "--out", out, "--force", "--until", "soon").output
    assert run("export", "--out", out, "--table", "games", "--format", "xapi").exit_code == 2


def test_an_export_says_where_it_is_and_which_classes_it_does_not_name(
    run: Run, played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run("export", "--out", "out.csv").output
    assert f"{tmp_path / 'out.csv'}: 9 rows." in said
    assert "Left out is the name of the classes 3a, 3b: with fewer than 5 students" in said
    assert "--with-names" in said
    assert "class 3b:" in run("export", "--out", "out.csv", "--force", "--class", "3b").output
    assert "Left out" not in run("export", "--out", "out.csv", "--force", "--with-names").output
    research = run("export", "--out", "out.txt", "--format", "datashop").output
    assert "never name such a class" in research
    assert "--with-names" not in research
    for table in ("attempts", "games", "sessions", "students"):
        assert "the classes 3a, 3b:" in run("export", "--out", f"{table}.csv", "--table", table).output
        with (tmp_path / f"{table}.csv").open(encoding="utf-8-sig", newline="") as file:
            assert {line["class_name"] for line in csv.DictReader(file)} == {""}


@pytest.mark.parametrize(
    "choice",
    [
        ["--since", "2027-01-01"],
        ["--table", "games", "--lesson", "99"],
        ["--format", "xapi", "--until", "2026-01-01"],
        ["--format", "xlsx", "--until", "2026-01-01"],
    ],
)
def test_an_export_of_nothing_says_so_and_writes_nothing(
    run: Run, played: Path, tmp_path: Path, choice: list[str]
) -> None:
    out = tmp_path / ("out" if "--format" in choice else "out.csv")
    out.write_text("from yesterday", encoding="utf-8")
    result = run("export", "--out", str(out), "--force", *choice)
    assert result.exit_code == 1
    assert f"there is nothing to export: the log holds no such rows. {out} was not written." in result.output
    assert out.read_text(encoding="utf-8") == "from yesterday"


def test_a_mistyped_folder_is_not_made(run: Run, played: Path, tmp_path: Path) -> None:
    typo = tmp_path / "Docments"
    for words in (
        ["export", "--out", str(typo / "out.csv")],
        ["student", "export", "=Bo", "--out", str(typo / "bo.zip")],
        ["backup", "--to", str(typo / "backups")],
    ):
        result = run(*words)
        assert result.exit_code == 1
        assert f"here is no folder {typo}; make it" in result.output
        assert not typo.exists()


def test_names_leave_only_when_asked(run: Run, played: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run("export", "--out", str(out))
    assert "Ali" not in out.read_text(encoding="utf-8")
    run("export", "--out", str(out), "--with-names", "--force")
    assert "Ali" in out.read_text(encoding="utf-8")


def test_pruning_shows_before_it_removes(run: Run, played: Path) -> None:
    assert "Would remove 3 games (9 events)" in run("prune", "--older-than", "1d", "--dry-run").output
    assert events(played) == 9
    assert "Would remove 0 games" in run("prune", "--older-than", "90y", "--yes").output
    assert run("prune", "--older-than", "soon").exit_code == 2
    assert "Removed 3 games (9 events)" in run("prune", "--older-than", "1d", "--yes").output
    assert events(played) == 0
    assert len(people(played)) == 3


def test_a_backup_opens_with_its_names(run: Run, played: Path, tmp_path: Path) -> None:
    result = run("backup", "--to", str(tmp_path / "stick"))
    assert result.exit_code == 0, result.output
    (copy,) = [path for path in (tmp_path / "stick").iterdir() if "names" not in path.name]
    assert events(copy) == 9
    assert people(copy) == ["Ali", "=Bo", "Ali"]
    run("backup", "--to", str(tmp_path / "other"), "--without-names")
    assert len(list((tmp_path / "other").iterdir())) == 1


def test_two_backups_in_one_second_both_stay(run: Run, played: Path, tmp_path: Path, moment: None) -> None:
    for _ in range(3):
        assert run("backup", "--to", str(tmp_path / "stick")).exit_code == 0
    copies = [path for path in (tmp_path / "stick").iterdir() if "names" not in path.name]
    assert len(copies) == 3
    for copy in copies:
        assert (events(copy), people(copy)) == (9, ["Ali", "=Bo", "Ali"])


def test_a_backup_that_cannot_be_written_is_named(run: Run, played: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    result = run("backup", "--to", str(tmp_path / "file" / "backups"))
    assert result.exit_code == 1
    assert f"No backup can be put into {tmp_path / 'file' / 'backups'}" in result.output
    assert "Errno" not in result.output


def test_a_place_where_no_log_can_be_is_named_and_nothing_is_imported(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    roster = tmp_path / "roster.csv"
    roster.write_text("name\nAli\n", encoding="utf-8")
    place = tmp_path / "file" / "log.sqlite3"
    for words in (["student", "import", str(roster)], ["student", "add", "Ali"]):
        result = run(*words, store=str(place))
        assert result.exit_code == 1
        assert f"{place}: the log's database cannot be reached" in result.output
        assert "nothing was changed" in result.output
        assert "Errno" not in result.output
        assert "wait" not in result.output


COMMANDS = [
    ["log", "check"],
    ["prune", "--older-than", "1d", "--yes"],
    ["backup", "--to", "{folder}"],
    ["export", "--out", "{folder}.csv"],
    ["student", "list"],
    ["student", "add", "Ali"],
    ["student", "erase", "s-anna", "--yes"],
]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda place: place.unlink() or place.mkdir(), "is a folder; name a file in it"),
        (lambda place: place.write_text("Dear parents"), "is no Pyramid Lab log"),
        (lambda place: place.write_bytes(place.read_bytes()[:20_000]), "is damaged"),
        (lambda place: write_sql(place, "UPDATE schema_version SET version_num = '0999'"), "newer Pyramid Lab"),
    ],
    ids=["folder", "letter", "half", "newer"],
)
def test_every_command_names_a_log_that_is_none_and_leaves_it_alone(
    run: Run, played: Path, tmp_path: Path, spoil: Callable[[Path], object], said: str
) -> None:
    spoil(played)
    before = played.read_bytes() if played.is_file() else b""
    for words in COMMANDS:
        result = run(*(word.format(folder=tmp_path / "out") for word in words))
        assert result.exit_code == 1, (words, result.output)
        assert said in result.output, words
        assert not result.output.startswith("Traceback")
        assert (played.read_bytes() if played.is_file() else b"") == before, words


def test_no_backup_of_a_damaged_page(run: Run, place: Path, tmp_path: Path) -> None:
    with Store(place) as store:
        for index in range(300):
            store.append(made_event(index))
    whole = bytearray(place.read_bytes())
    middle = len(whole) // 2 // 4096 * 4096
    whole[middle : middle + 4096] = b"\xa5" * 4096
    place.write_bytes(whole)
    result = run("backup", "--to", str(tmp_path / "stick"))
    assert result.exit_code == 1
    assert "is damaged" in result.output
    assert "log check" in result.output
    assert list((tmp_path / "stick").iterdir()) == []


def test_the_check_says_what_to_do_and_ends_with_one(run: Run, played: Path) -> None:
    assert run("log", "check").output == "The log is sound.\n"
    with sqlite3.connect(played) as other:
        other.execute("DELETE FROM events WHERE event_index = 1")
    other.close()
    result = run("log", "check")
    assert result.exit_code == 1
    assert "error: events are missing in game" in result.output
    assert "1 findings, 1 of them errors." in result.output


@pytest.mark.parametrize(
    "words",
    [
        ("export", "--out", "out.csv"),
        ("log", "check"),
        ("backup",),
        ("prune", "--older-than", "1y"),
        ("student", "erase", "Ali"),
    ],
)
def test_a_path_that_is_no_log(
    run: Run, tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong, said in (("typo.sqlite3", "there is no log at"), (".", "is a folder")):
        result = run(*words, store=wrong)
        assert result.exit_code == 1
        assert said in result.output
        assert ("Play a lesson first (pyramid-lab), or name another log" in result.output) == (wrong != ".")
        assert not isinstance(result.exception, ValueError)
    assert not (tmp_path / "typo.sqlite3").exists()


def test_where_the_log_is(run: Run, played: Path) -> None:
    output = run("log", "where").output
    assert str(played) in output
    assert "names.sqlite3" in output


def test_looking_at_a_log_that_is_not_there_makes_none(run: Run, place: Path) -> None:
    assert "there is no log at" in run("student", "list").output
    assert not place.exists()


def test_a_roster_that_renames_a_child_says_who_was_who(run: Run, place: Path, tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("name,id\nAda,7\n", encoding="utf-8")
    run("student", "import", str(roster))
    roster.write_text("name,id\nOther,7\n", encoding="utf-8")
    assert "renamed: Ada is now Other." in run("student", "import", str(roster)).output
    for accent in ("Zo\u00eb", "Zoe\u0308"):  # one letter, or a letter and its accent: the same name
        roster.write_text(f"name,id\n{accent},8\n", encoding="utf-8")
        assert "renamed" not in run("student", "import", str(roster)).output


def test_columns_that_are_not_used_are_named(run: Run, place: Path, tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("sep=;\nName;Klasse;ID;\nAda;3a;7;\n", encoding="utf-8")
    assert "Not used: the columns Klasse." in run("student", "import", str(roster)).output
