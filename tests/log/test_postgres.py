"""A school's log on a real PostgreSQL server."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from pyramid_lab.log import frames, schema
from pyramid_lab.log.check import check
from pyramid_lab.log.errors import NewerSchemaError, NotALogError, StoreAwayError
from pyramid_lab.log.store import Store, StoreState
from tests.log.conftest import PostgresServer
from tests.log.made_events import START, made_event

pytestmark = pytest.mark.postgres


@pytest.fixture
def url(postgres: PostgresServer, request: pytest.FixtureRequest) -> str:
    return postgres.new_database(request.node.name[:60])


def test_events_come_back_as_they_were(url: str, tmp_path: Path) -> None:
    events = [
        made_event(0, "deal"),
        made_event(1, assistance='50% "quoted" \\ back'),
        made_event(2, "end", outcome="won"),
    ]
    with Store(url, outbox=tmp_path / "outbox") as store:
        assert [store.append(event) for event in events] == [True] * 3
        assert store.append(events[1]) is False
        assert store.events() == events
        assert store.events(game_id="game-1", event_types=["end"]) == events[2:]


def test_in_turn_only_the_next_number_of_a_game_is_written(url: str, tmp_path: Path) -> None:
    with Store(url, outbox=tmp_path / "outbox") as store:
        assert store.append(made_event(0, assistance='50% "quoted" \\ back'), in_turn=True)
        assert not store.append(made_event(0, event_id="00000000-0000-4000-8000-000000000001"), in_turn=True)
        assert store.append(made_event(1, rt_ms=None, game_id="game-2"), in_turn=True)
        assert store.append(made_event(1), in_turn=True)
        assert [event.event_index for event in store.events(game_id="game-1")] == [0, 1]


def test_frames_are_the_same_from_both_databases(url: str, filled: Store, tmp_path: Path) -> None:
    filled.append(made_event(20, assistance='50% "quoted" \\ back', student_id="s-ö'b", legal_facts=None, n_legal=0))
    with Store(url, outbox=tmp_path / "outbox") as school:
        school.put_students({"s-anna": "3a", "s-ben": "3b"})
        for student, session, lesson in (
            ("s-anna", "sit-1", "01"), ("s-anna", "sit-2", "02"), ("s-ben", "sit-3", "01"),
        ):  # fmt: skip
            school.open_session(student, session_id=session, lesson=lesson, tz="Europe/Berlin")
        for event in filled.events():
            school.append(event)
        for choice in (
            {},
            {"student": "s-ö'b"},
            {"class_name": "3a"},
            {"lesson": "01"},
            {"since": "2026-03-02T08:00:06Z"},
        ):
            for frame in (frames.attempts, frames.events, frames.games, frames.sessions):
                here, there = frame(filled, **choice), frame(school, **choice)
                assert here.equals(there), (frame.__name__, choice)
                assert list(here.dtypes.astype(str)) == list(there.dtypes.astype(str))
        assert frames.students(filled).equals(frames.students(school))
        assert len(frames.attempts(school, student="s-ö'b")) == 1


def test_a_server_that_goes_away_for_a_while(postgres: PostgresServer, url: str, tmp_path: Path) -> None:
    saved = threading.Event()
    states: list[StoreState] = []

    def told(state: StoreState) -> None:
        states.append(state)
        if state.saved and state.reason is None:
            saved.set()

    with Store(url, outbox=tmp_path / "outbox", retry_s=0.1, on_state=told) as store:
        store.append(made_event(0))
        postgres.stop()
        try:
            for index in (1, 2, 3):
                assert store.append(made_event(index))
            assert store.state.reason == "away"
            assert "cannot be reached" in store.state.message
            with pytest.raises(StoreAwayError):
                store.events()
            with Store(url, outbox=tmp_path / "outbox", retry_s=1000) as opened_meanwhile:
                assert opened_meanwhile.append(made_event(4))
        finally:
            postgres.start()
        assert saved.wait(30)
        store.flush()
        assert [event.event_index for event in store.events(game_id="game-1")] == [0, 1, 2, 3, 4]
        # The connection that died with the server is replaced without a detour.
        assert store.append(made_event(5))
        assert len(store.events()) == 6


def test_a_restart_between_two_clicks_is_not_noticed(postgres: PostgresServer, url: str, tmp_path: Path) -> None:
    states: list[StoreState] = []
    with Store(url, outbox=tmp_path / "outbox", on_state=states.append) as store:
        store.append(made_event(0))
        postgres.stop()
        postgres.start()
        assert store.append(made_event(1))
        assert len(store.events()) == 2
    assert states == []


def test_another_database_and_a_newer_log_are_left_alone(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("CREATE TABLE pupils (name text)")
        with pytest.raises(NotALogError, match="pupils"):
            Store(url)
        other.execute("DROP TABLE pupils")
        Store(url).close()
        other.execute("UPDATE schema_version SET version_num = '0999'")
    with pytest.raises(NewerSchemaError, match="0999"):
        Store(url)


def test_classes_can_be_kept_apart_by_row_level_rights(url: str, postgres: PostgresServer, tmp_path: Path) -> None:
    with Store(url, outbox=tmp_path / "outbox") as store:
        store.put_students({"s-anna": "3a", "s-ben": "3b"})
        store.append(made_event(0, student_id="s-anna"))
        store.append(made_event(0, student_id="s-ben", game_id="b"))
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE ROLE tutor_3a LOGIN")
        admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO tutor_3a")
        admin.execute("ALTER TABLE events ENABLE ROW LEVEL SECURITY")
        admin.execute(
            "CREATE POLICY own_class ON events FOR SELECT TO tutor_3a USING "
            "(student_id IN (SELECT student_id FROM students WHERE class_name = '3a'))"
        )
    with Store(url.replace("postgres@", "tutor_3a@"), outbox=tmp_path / "tutor", retry_s=1000) as tutor:
        assert set(frames.attempts(tutor)["student_id"]) == {"s-anna"}
        tutor.append(made_event(1))
        tutor.flush()
        assert tutor.state.reason == "refused"
        assert "permission denied" in str(tutor.waiting(refused=True)[0].refused)


def test_erase_prune_backup_and_check(url: str, tmp_path: Path) -> None:
    with Store(url, outbox=tmp_path / "outbox") as store:
        for student, game in (("s-anna", "a"), ("s-ben", "b")):
            store.open_session(student, session_id=f"sit-{game}", lesson="01")
            for index in range(3):
                store.append(made_event(index, student_id=student, game_id=game, session_id=f"sit-{game}"))
        assert check(store, START + timedelta(days=1)) == []
        copy = store.backup(tmp_path / "copy.sqlite3")
        with Store(copy) as back:
            assert back.events() == store.events()
        assert store.erase_student("s-anna").events == 3
        assert store.prune(START + timedelta(days=1)).games == 1
        assert store.events() == []


def test_the_migrations_make_the_tables_of_this_version(url: str) -> None:
    with Store(url) as store:
        made = sa.inspect(store.engine)
        for table in schema.metadata.sorted_tables:
            found = {column["name"]: column["nullable"] for column in made.get_columns(table.name)}
            assert found == {column.name: bool(column.nullable) for column in table.columns}
