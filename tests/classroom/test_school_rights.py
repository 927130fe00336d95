"""Who reads and writes what in a school's log: the database's own rights, tried on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ProgrammingError

from pyramid_lab.classroom.school import School, SchoolError, password, read_secret, set_up, url_for
from pyramid_lab.cli import cli
from pyramid_lab.core import Deal, Position, rule_set
from pyramid_lab.log import frames
from pyramid_lab.log.errors import StoreAwayError
from pyramid_lab.log.events import Event, new_id, record
from pyramid_lab.log.store import Store
from tests.log.conftest import PostgresServer

pytestmark = pytest.mark.postgres

SECRET = b"a secret of at least thirty-two signs"
CLASSES = {"2b": [f"s-two{number}" for number in range(5)], "3a": [f"s-three{number}" for number in range(5)]}
TUTORS = {"t-kim": ["2b"], "t-lee": ["3a"]}
START = Position.start(rule_set("classic"), Deal.from_seed(17))


def event(student: str, index: int = 0) -> Event:
    return record(
        "deal" if index == 0 else "draw",
        START,
        event_id=new_id(),
        student_id=student,
        session_id=f"sitting-{student}",
        game_id=f"game-{student}",
        event_index=index,
        t_utc=datetime(2026, 11, 30, 12, tzinfo=UTC),
    )


def owned_database(postgres: PostgresServer, name: str) -> str:
    """A new database whose owner may make roles and is no superuser; gives the owner's URL."""
    url = postgres.new_database(name)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE ROLE "owner of {name}" LOGIN CREATEROLE')
        connection.execute(f'ALTER DATABASE "{name}" OWNER TO "owner of {name}"')
    return str(make_url(url).set(username=f"owner of {name}"))


@pytest.fixture
def owner(postgres: PostgresServer, request: pytest.FixtureRequest) -> str:
    return owned_database(postgres, request.node.name[:40])


@pytest.fixture
def school(owner: str, tmp_path: Path) -> School:
    with Store(owner, outbox=tmp_path / "owner") as store:
        store.put_students({student: name for name, students in CLASSES.items() for student in students})
        return set_up(store, TUTORS, SECRET)


@pytest.fixture
def log_of(school: School, tmp_path: Path) -> Iterator[object]:
    """log_of(user): the school's log as this user's server opens it."""
    opened: list[Store] = []

    def open_log(user: str) -> Store:
        opened.append(Store(url_for(school, SECRET, user), outbox=tmp_path / f"outbox-{user}"))
        return opened[-1]

    yield open_log
    for store in opened:
        store.close()


def test_ten_students_write_and_each_tutor_sees_one_class(log_of: object) -> None:
    assert callable(log_of)
    for students in CLASSES.values():
        for student in students:
            log: Store = log_of(student)
            log.open_session(student, session_id=f"sitting-{student}", lesson="Lesson 1")
            log.append(event(student))
            log.append(event(student, 1))
            assert log.state.saved
            assert {each.student_id for each in log.events()} == {student}
    for tutor, (class_name,) in TUTORS.items():
        log = log_of(tutor)
        assert {each.student_id for each in log.events()} == set(CLASSES[class_name])
        assert len(log.events()) == 10
        assert set(frames.students(log)["student_id"]) == set(CLASSES[class_name])
        assert set(frames.sessions(log)["student_id"]) == set(CLASSES[class_name])


def test_a_student_writes_nothing_for_another_and_changes_or_erases_nothing(log_of: object, tmp_path: Path) -> None:
    assert callable(log_of)
    one: Store = log_of("s-two0")
    one.append(event("s-two0"))
    log_of("s-two1").append(event("s-two1"))
    forged = event("s-two1", 1)
    one.append(forged)
    assert one.state.reason == "refused" or not one.state.saved
    assert forged not in log_of("t-kim").events()
    for statement in (
        "UPDATE events SET score = 999",
        "DELETE FROM events",
        "UPDATE students SET class_name = '3a'",
        "INSERT INTO students (student_id, class_name, t_utc) VALUES ('s-two0', '3a', 'x')",
        "INSERT INTO class_tutors VALUES ('s-two0', '2b')",
        "SELECT * FROM class_tutors",
        "ALTER TABLE events DISABLE ROW LEVEL SECURITY",
        "DROP TABLE events",
        "CREATE TABLE mine (x int)",
        "SET ROLE pyramid_lab_tutor",
        "SET ROLE postgres",
        'GRANT pyramid_lab_tutor TO "s-two0"',
        "ALTER ROLE \"s-two1\" PASSWORD 'x'",
    ):
        with pytest.raises(ProgrammingError), one.engine.begin() as connection:
            connection.exec_driver_sql(statement)


def test_a_tutor_reads_only_and_gives_nobody_a_class(log_of: object) -> None:
    assert callable(log_of)
    kim: Store = log_of("t-kim")
    for statement in (
        "DELETE FROM events",
        "INSERT INTO class_tutors VALUES ('t-kim', '3a')",
        "UPDATE class_tutors SET class_name = '3a'",
        "UPDATE students SET class_name = '2b'",
    ):
        with pytest.raises(ProgrammingError), kim.engine.begin() as connection:
            connection.exec_driver_sql(statement)
    with kim.reading() as connection:
        rows = connection.execute(sa.text("SELECT role_name, class_name FROM class_tutors")).fetchall()
    assert [tuple(row) for row in rows] == [("t-kim", "2b")]


def test_setting_up_again_follows_the_class_lists(owner: str, school: School, log_of: object, tmp_path: Path) -> None:
    assert callable(log_of)
    log_of("s-two0").append(event("s-two0"))
    with Store(owner, outbox=tmp_path / "owner") as store:
        store.put_students({"s-two0": "3a"})
        again = set_up(store, {"t-lee": ["3a"]}, SECRET)
    assert set(again.tutors) == {"t-lee"}
    assert {each.student_id for each in log_of("t-lee").events()} == {"s-two0"}
    with pytest.raises(StoreAwayError):
        log_of("t-kim").events()


def test_what_cannot_be_set_up_is_named(owner: str, tmp_path: Path) -> None:
    with Store(owner, outbox=tmp_path / "owner") as store:
        store.put_students({"s-two0": "2b"})
        with pytest.raises(SchoolError, match="no students in class '4c'"):
            set_up(store, {"t-kim": ["4c"]}, SECRET)
        with pytest.raises(SchoolError, match="cannot be a user"):
            set_up(store, {'"; DROP TABLE events; --': ["2b"]}, SECRET)
        with pytest.raises(SchoolError, match="is a student's pseudonym"):
            set_up(store, {"s-two0": ["2b"]}, SECRET)
    with (
        Store(tmp_path / "log.sqlite3", outbox=tmp_path / "outbox") as store,
        pytest.raises(SchoolError, match="Postgre"),
    ):
        set_up(store, {}, SECRET)


def test_the_hubs_file_and_secret_are_read_or_said_to_be_wrong(tmp_path: Path) -> None:
    school = School("postgresql+psycopg://db/pyramid_lab", ("s-1",), {"t-kim": ("2b",)})
    school.save(tmp_path / "school.json")
    assert School.load(tmp_path / "school.json") == school
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    for name in ("other.json", "none.json"):
        with pytest.raises(SchoolError, match="run it again"):
            School.load(tmp_path / name)
    (tmp_path / "short").write_text("short", encoding="utf-8")
    with pytest.raises(SchoolError, match="shorter than 32"):
        read_secret(tmp_path / "short")
    with pytest.raises(SchoolError, match="is no student or tutor"):
        url_for(school, SECRET, "root")
    assert password(SECRET, "s-1") != password(SECRET, "s-2")
    assert password(SECRET, "s-1") in url_for(school, SECRET, "s-1")


@pytest.mark.parametrize("place", ["log.sqlite3", "postgresql://nobody@127.0.0.1:9/none", "nonsense://"])
def test_a_refused_database_leaves_no_secret_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    said = CliRunner().invoke(cli, ["school", f"--store={place}", "--tutor=t-kim=2b"])
    assert said.exit_code == 1 and said.output.startswith("Error: ")
    assert list(tmp_path.glob("*")) == []
