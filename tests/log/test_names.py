"""Names: rosters as teachers have them, pseudonyms, and what is left when someone is erased."""

from __future__ import annotations

import csv
import io
import sqlite3
import stat
import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_lab.log.errors import NotALogError, RosterError, StoreError
from pyramid_lab.log.names import Names, RosterRow, new_pseudonym, read_roster
from pyramid_lab.log.spreadsheet import neutralise, restore
from pyramid_lab.log.store import Store

Connect = Callable[..., sqlite3.Connection]

# Everything a name may hold: no control characters but tabs and line breaks.
NAME_TEXT = st.text(
    st.one_of(st.characters(exclude_categories=["Cc", "Cs"]), st.sampled_from("\n\t,;\"'=+-@")), min_size=1, max_size=30
).filter(lambda text: text.strip())


@pytest.fixture
def names(store: Store) -> Names:
    return Names.of(store)


def listed(names: Names) -> list[tuple[str, str | None, str | None]]:
    return [(person.name, person.class_name, person.roster_id) for person in names.people()]


def bring(names: Names, store: Store, text: str) -> str:
    return str(names.import_roster(read_roster(text.encode()), store))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rosters_as_programs_write_them(delimiter: str, encoding: str, end: str) -> None:
    lines = [["Name", "Class", "ID"], ["Zoë Müller", "3b", "007"], ["José, jr; II", "3b", "7"]]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(lines)
    rows = read_roster(out.getvalue().encode(encoding))
    assert rows == [RosterRow(2, "Zoë Müller", "3b", "007"), RosterRow(3, "José, jr; II", "3b", "7")]


def test_first_and_last_name_and_columns_that_do_not_matter() -> None:
    rows = read_roster(b"sep=;\nMail;First name;Last name;Class\na@x;Ada;Byron;3a\n")
    assert rows == [RosterRow(2, "Ada Byron", "3a")]


def test_a_line_break_in_quotes_is_one_student(names: Names, store: Store) -> None:
    assert bring(names, store, 'name,id\n"Ali\nV.",id9\nBo,id10\n') == "2 new, 0 changed, 0 unchanged"
    assert listed(names) == [("Ali\nV.", None, "id9"), ("Bo", None, "id10")]
    assert names.people()[0].label == "Ali V."


def test_the_same_roster_again_changes_nothing(names: Names, store: Store) -> None:
    roster = "name,class,id\nAli,3a,\nAli,3a,\nAli,3b,\nZoe,3b,007\nZoe,3b,7\n"
    assert bring(names, store, roster) == "5 new, 0 changed, 0 unchanged"
    before = names.people()
    assert bring(names, store, roster) == "0 new, 0 changed, 5 unchanged"
    assert names.people() == before
    assert len({person.student_id for person in before}) == 5


def test_a_new_class_or_name_is_a_change(names: Names, store: Store) -> None:
    bring(names, store, "name,class,id\nAli,3a,\nZoe,3a,7\n")
    ali, zoe = names.people()
    assert bring(names, store, "name,class,id\nAli,4a,\nZoé Q.,4a,7\nBo,4a,8\n") == "1 new, 2 changed, 0 unchanged"
    assert [(person.student_id, person.name, person.class_name) for person in names.people()[:2]] == [
        (ali.student_id, "Ali", "4a"),
        (zoe.student_id, "Zoé Q.", "4a"),
    ]
    with closing(sqlite3.connect(str(store.path))) as log:
        assert log.execute("SELECT DISTINCT class_name FROM students").fetchall() == [("4a",)]


def test_equal_names_in_two_classes_are_not_guessed_at(names: Names, store: Store) -> None:
    bring(names, store, "name,class\nAli,3a\nAli,3b\n")
    # Two of the name are known and neither is in 4a: whose class has changed cannot be told.
    assert bring(names, store, "name,class\nAli,4a\n") == "1 new, 0 changed, 0 unchanged"


def test_accents_written_in_one_piece_or_two_are_one_name(names: Names, store: Store) -> None:
    bring(names, store, "name\n" + unicodedata.normalize("NFC", "Zoë"))
    assert bring(names, store, "name\n" + unicodedata.normalize("NFD", "Zoë")).startswith("0 new")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the roster is empty"),
        (";;\n;;\n", "the roster is empty"),
        ("Ali,3a\nBo,3b\n", "line 1: the heading needs a column called name"),
        ("Ali\nBo;3b\n", "put a line above it that says what each column is, with the word name"),
        ("Müller, Zoe\nAli\n", "line 1: the heading needs a column called name"),
        ("class\n3a\n", "line 1: the heading needs a column called name"),
        ("Ali\n\nB\x07o\n", "line 3: the name holds a control character"),
        ("name,class\nAli,3a\n,3a\n", "line 3: the name is empty"),
        ("name,class\nAli,3a\nMüller, Zoe,3b\n", "line 3: 3 cells, but the heading has 2"),
        ('name,class\n"Ali,3a\nBo,3b\n', "line 2: the quotation marks do not close"),
        ("name,id\nAli,7\nBo,7\n", "line 3: the id '7' stands in line 2 already"),
        ("name,name\nAli,Bo\n", "line 1: two columns are both a name"),
        ("name\nA\x07li\n", "line 2: the name holds a control character"),
        ("name\n" + "x" * 201, "line 2: the name has 201 characters"),
    ],
)
def test_errors_name_the_line_and_nothing_is_written(names: Names, store: Store, text: str, said: str) -> None:
    with pytest.raises(RosterError) as caught:
        bring(names, store, text)
    assert said in str(caught.value)
    assert names.people() == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ali\nBo\n", ["Ali", "Bo"]),
        ("\n  Ali \r\n\r\nBo", ["Ali", "Bo"]),
        ('"Müller, Zoe"\nAli\n', ["Müller, Zoe", "Ali"]),
        ('Ali\n"M; Zoe"\n', ["Ali", "M; Zoe"]),
        ("Ali;\nBo;\n", ["Ali", "Bo"]),
        ("Ali\nAli\n", ["Ali", "Ali"]),
        ("sep=;\nAli\n", ["Ali"]),
        ("Ali\n", ["Ali"]),
        ("name\nAli\n", ["Ali"]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_name_a_line_is_a_roster(text: str, found: list[str], encoding: str) -> None:
    assert [row.name for row in read_roster(text.encode(encoding))] == found


def test_all_wrong_lines_are_named_at_once() -> None:
    with pytest.raises(RosterError) as caught:
        read_roster(b"name,class\n,3a\nAli,3a\n,3b\n")
    assert [line for line, _ in caught.value.problems] == [2, 4]


def test_a_roster_that_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(RosterError, match="no text file"):
        read_roster(b"PK\x03\x04\x81\x8d\x8f\x90")
    with pytest.raises(RosterError, match="is a folder"):
        read_roster(tmp_path)


def pseudonyms(store: Store) -> dict[str, str | None]:
    """What the log itself knows of students, read with nothing of ours."""
    with closing(sqlite3.connect(str(store.path))) as log:
        return dict(log.execute("SELECT student_id, class_name FROM students"))


def test_nothing_is_half_written_when_the_log_cannot_be(
    names: Names, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(names, store, "name,class,id\nAli,3a,1\n")
    before = names.people()

    def away(_: object) -> None:
        raise StoreError("away")

    roster = "name,class,id\nAli Q.,4a,1\nBo,4a,2\n"
    with monkeypatch.context() as broken, pytest.raises(StoreError, match="away"):
        broken.setattr(store, "put_students", away)
        bring(names, store, roster)
    assert names.people() == before
    assert bring(names, store, roster) == "1 new, 1 changed, 0 unchanged"
    assert set(pseudonyms(store).values()) == {"4a"}


def no_room(path: Path, real: Connect) -> sqlite3.Connection:
    connection = real(path, isolation_level=None)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={pages}")  # gives the same error as a disk without room
    return connection


def read_only(path: Path, real: Connect) -> sqlite3.Connection:
    return real(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)


@pytest.mark.parametrize(
    ("connect", "said"), [(no_room, "database or disk is full"), (read_only, "attempt to write a readonly database")]
)
def test_names_that_cannot_be_written_leave_the_log_alone(
    names: Names,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    connect: Callable[[Path, Connect], sqlite3.Connection],
    said: str,
) -> None:
    bring(names, store, "name,class,id\nAli,3a,1\n")
    people, known = names.people(), pseudonyms(store)
    children = "".join(f"{'a long name ' * 10}{number},4a,{number + 2}\n" for number in range(60))
    roster = f"name,class,id\nAli Q.,4a,1\n{children}"
    real = sqlite3.connect
    with monkeypatch.context() as broken, pytest.raises(StoreError) as caught:
        broken.setattr(sqlite3, "connect", lambda path, **_: connect(path, real))
        bring(names, store, roster)
    assert said in str(caught.value)
    assert str(names.path) in str(caught.value)
    assert "nothing was changed" in str(caught.value)
    assert (names.people(), pseudonyms(store)) == (people, known)
    assert bring(names, store, roster) == "60 new, 1 changed, 0 unchanged"
    assert bring(names, store, roster) == "0 new, 0 changed, 61 unchanged"
    assert set(pseudonyms(store)) == {person.student_id for person in names.people()}


def test_a_folder_of_names_that_cannot_be_made_is_named(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreError, match=r"the names in .*file.names\.sqlite3 cannot be written"):
        Names(tmp_path / "file" / "names.sqlite3").add(store, "Ali")
    assert pseudonyms(store) == {}


def test_an_import_that_was_killed_between_names_and_log_is_made_whole_by_the_next(names: Names, store: Store) -> None:
    roster = "name,class\nAli,3a\nBo,3a\n"
    bring(names, store, roster)
    with closing(sqlite3.connect(str(store.path))) as log, log:
        log.execute("DELETE FROM students")
    assert bring(names, store, roster) == "0 new, 0 changed, 2 unchanged"
    assert set(pseudonyms(store)) == {person.student_id for person in names.people()}


def test_pseudonyms_say_nothing_about_the_name(names: Names, store: Store) -> None:
    one, other = names.add(store, "Ali"), names.add(store, "Ali")
    assert one.student_id != other.student_id
    assert one.student_id.startswith("s-")
    assert len({new_pseudonym() for _ in range(2000)}) == 2000


def test_names_are_never_in_the_log(names: Names, store: Store, tmp_path: Path) -> None:
    names.add(store, "Wilhelmina Distelfink", class_name="3a", roster_id="id-4711")
    store.close()
    log = b"".join(path.read_bytes() for path in tmp_path.glob("log.sqlite3*"))
    assert b"Distelfink" not in log
    assert b"id-4711" not in log
    assert stat.S_IMODE(names.path.stat().st_mode) & 0o077 == 0


def test_erasing_a_name_leaves_no_trace(names: Names, store: Store) -> None:
    gone = names.add(store, "Wilhelmina Distelfink")
    stays = names.add(store, "Bo")
    assert names.erase(gone.student_id) is True
    assert names.erase(gone.student_id) is False
    assert b"Distelfink" not in names.path.read_bytes()
    assert names.people() == [stays]
    assert names.name_of(gone.student_id) is None


def test_finding_by_name_pseudonym_or_the_schools_id(names: Names, store: Store) -> None:
    bring(names, store, "name,class,id\nAli,3a,\nAli,3b,\nNA,3a,7\n")
    first, second, na = names.people()
    assert names.find("Ali") == [first, second]
    assert names.find("Ali", "3b") == [second]
    assert names.find(second.student_id) == [second]
    assert names.find("7") == [na]
    assert names.find("na") == []


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    letter = tmp_path / "letter"
    letter.write_text("Dear parents", encoding="utf-8")
    with pytest.raises(NotALogError, match="no file of names"):
        Names(letter)
    with pytest.raises(NotALogError, match="is a folder"):
        Names(tmp_path)


@given(st.lists(st.tuples(NAME_TEXT, st.sampled_from([",", ";"])), min_size=1, max_size=5))
def test_any_name_comes_through_a_roster(pairs: list[tuple[str, str]]) -> None:
    delimiter = pairs[0][1]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(["student_id", "name"])
    for number, (name, _) in enumerate(pairs):
        writer.writerow([f"s-{number}", neutralise(name.strip())])
    rows = read_roster(out.getvalue().encode("utf-8-sig"))
    assert [row.name for row in rows] == [name.strip() for name, _ in pairs]


# Cells


@given(st.text(max_size=40))
def test_every_text_comes_back_from_a_cell(text: str) -> None:
    assert restore(neutralise(text)) == text


@pytest.mark.parametrize(
    "text",
    ['=HYPERLINK("http://x","a")', "+1", "-2+3", "@SUM(A1)", "\t=1", " =1", "\n=1", "＝1", "'=1", "''=1"],
)
def test_what_begins_like_a_formula_is_kept_text(text: str) -> None:
    assert neutralise(text) == "'" + text


@pytest.mark.parametrize("text", ["007", "1e5", "5-7", "3/10", "1.2.2026", "12:30", "TRUE", "false", "1" * 16])
def test_what_a_spreadsheet_would_change_is_kept_text(text: str) -> None:
    assert neutralise(text) == "'" + text


@pytest.mark.parametrize(
    "text", ["", "Ali", "O'Neill", "'t Hooft", "4+9", "A+Q", "12", "NA", "null", "s-k7m2q9x4hd", "7c"]
)
def test_other_texts_are_not_touched(text: str) -> None:
    assert neutralise(text) == text
    assert restore(text) == text


def test_one_name_with_another_id_is_another_child(names: Names, store: Store) -> None:
    assert bring(names, store, "name,class,id\nAda,3a,7\n") == "1 new, 0 changed, 0 unchanged"
    assert bring(names, store, "name,class,id\nAda,3a,007\n") == "1 new, 0 changed, 0 unchanged"
    assert sorted(person.roster_id or "" for person in names.people()) == ["007", "7"]
