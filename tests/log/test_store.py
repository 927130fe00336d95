"""The store keeps what it was given, whatever the disk, the database and the user do."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import warnings
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from pyramid_lab.log import schema
from pyramid_lab.log.errors import DamagedLogError, NewerSchemaError, NotALogError, StoreAwayError, StoreError
from pyramid_lab.log.store import Store, StoreState, store_url
from tests.log.made_events import START, made_event


def rows(place: Path, what: str = "event_index", table: str = "events") -> list[object]:
    """Read the file with nothing of ours."""
    with sqlite3.connect(place) as connection:
        found = [row[0] for row in connection.execute(f"SELECT {what} FROM {table} ORDER BY rowid")]
    connection.close()
    return found


def until(done: threading.Event) -> None:
    assert done.wait(20), "waited 20 s in vain"


@pytest.fixture
def held(place: Path) -> Iterator[sqlite3.Connection]:
    """Another program that can hold the log's write lock; let go at the end."""
    other = sqlite3.connect(place, timeout=30, isolation_level=None, check_same_thread=False)
    yield other
    other.close()


# Keeping


def test_a_row_is_committed_when_append_returns(store: Store, place: Path) -> None:
    assert store.append(made_event(0, "deal"))
    assert rows(place) == [0]
    assert rows(place, "t_utc") == ["2026-03-02T08:00:00.000Z"]
    assert rows(place, "deal") == [made_event(0).deal]


def test_a_committed_row_is_brought_to_the_disk_by_itself(
    store: Store, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought, seen = set[int](), threading.Event()

    def fsync(file: int) -> None:
        brought.add(os.fstat(file).st_ino)
        seen.set()

    monkeypatch.setattr(os, "fsync", fsync)
    store.append(made_event(0, "deal"))
    until(seen)
    assert brought == {place.with_name(f"{place.name}-wal").stat().st_ino}


def test_the_last_row_is_brought_to_the_disk_before_the_store_is_closed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_rows: list[int] = []
    monkeypatch.setattr("pyramid_lab.log.store._DISK_AFTER_S", 60.0)
    monkeypatch.setattr(os, "fsync", lambda file: held_rows.append(len(rows(place))))
    with Store(place) as store:
        for index in range(3):
            store.append(made_event(index, "draw"))
    assert held_rows == [3]


def test_where_the_disk_fails_the_next_row_waits_for_it_and_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = threading.Event()

    def fsync(_file: int) -> None:
        tried.set()
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fsync)
    store.append(made_event(0, "deal"))
    until(tried)
    asked: list[str] = []
    sa.event.listen(store.engine, "before_cursor_execute", lambda *about: asked.append(about[2]))
    for index in range(1, 50):
        store.append(made_event(index, "draw"))
        if "PRAGMA synchronous=FULL" in asked:
            break
    assert asked[-2] == "PRAGMA synchronous=FULL"
    assert asked[-1].startswith("INSERT")


def test_events_come_back_as_they_were(store: Store) -> None:
    events = [made_event(0, "deal"), made_event(1), made_event(2, "draw"), made_event(3, "end", outcome="won")]
    for event in events:
        store.append(event)
    assert store.events() == events
    assert store.events(event_types=["draw"]) == [events[2]]
    assert store.events(student_id="s-ben") == []


def test_the_same_event_again_makes_no_second_row(store: Store, place: Path) -> None:
    first = made_event(1)
    assert store.append(first) is True
    assert store.append(first) is False
    changed = made_event(1, score=99)
    assert store.append(changed) is False
    assert store.events() == [first], "the first one stays"


def test_late_events_take_their_place_in_the_game(store: Store) -> None:
    for index in (0, 2, 1):
        store.append(made_event(index))
    assert [event.event_index for event in store.events(game_id="game-1")] == [0, 1, 2]
    assert [event.event_index for event in store.events()] == [0, 2, 1]


def test_two_windows_on_one_game_both_keep_their_rows(store: Store) -> None:
    one, other = made_event(5), made_event(5, event_id="00000000-0000-4000-8000-000000000001")
    assert store.append(one)
    assert store.append(other)
    assert len(store.events(game_id="game-1")) == 2


def test_in_turn_only_the_next_number_of_a_game_is_written(store: Store) -> None:
    other = "00000000-0000-4000-8000-00000000000"
    assert store.append(made_event(4), in_turn=True)
    assert not store.append(made_event(4, event_id=f"{other}1"), in_turn=True), "the number is taken"
    assert not store.append(made_event(3, event_id=f"{other}2"), in_turn=True), "a later one is there"
    assert store.append(made_event(5, event_id=f"{other}3"), in_turn=True)
    assert store.append(made_event(4, event_id=f"{other}4", game_id="game-2"), in_turn=True), "each game for itself"
    assert [event.event_index for event in store.events(game_id="game-1")] == [4, 5]


def test_of_many_that_go_on_with_a_game_at_once_one_does(place: Path) -> None:
    stores = [Store(place) for _ in range(6)]
    start = threading.Barrier(len(stores))
    written: list[int] = []

    def write(who: int) -> None:
        for index in range(20):
            start.wait(30)
            event = made_event(index, event_id=f"00000000-0000-4000-8000-{who:04}{index:08}")
            written.extend([index] * stores[who].append(event, in_turn=True))

    threads = [threading.Thread(target=write, args=(who,)) for who in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert written == list(range(20))
    assert [event.event_index for event in stores[0].events()] == list(range(20))
    for store in stores:
        store.close()


def test_many_threads_use_one_store(store: Store) -> None:
    def write(who: int) -> None:
        for index in range(10):
            store.append(made_event(index, game_id=f"game-{who}"))

    threads = [threading.Thread(target=write, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.events()) == 80


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.append(made_event(0))


def test_sittings_are_noted_once(store: Store, place: Path) -> None:
    session = store.open_session("s-anna", lesson="01_partners", tz="Europe/Berlin")
    assert store.open_session("s-anna", lesson="other", session_id=session) == session
    assert rows(place, "lesson", "sessions") == ["01_partners"]


def test_no_deprecated_adapter_is_used(place: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Store(place) as store:
            store.append(made_event(0))
            assert len(store.events()) == 1


def test_the_log_is_for_its_owner_only(store: Store, place: Path) -> None:
    assert place.stat().st_mode & 0o077 == 0


# Places


def test_the_default_place_is_the_users_own_or_the_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(tmp_path) in str(store_url().database)
    monkeypatch.setenv("PYRAMID_LAB_STORE", str(tmp_path / "Schüler & Co" / "log.sqlite3"))
    with Store() as store:
        store.append(made_event(0))
    assert rows(tmp_path / "Schüler & Co" / "log.sqlite3") == [0]


@pytest.mark.parametrize("name", ["50% #1.sqlite3", "a b?.sqlite3", "日本.sqlite3"])
def test_odd_file_names(tmp_path: Path, name: str) -> None:
    with Store(tmp_path / name) as store:
        store.append(made_event(0))
    assert rows(tmp_path / name) == [0]


def test_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotALogError, match="is a folder; name a file"):
        Store(tmp_path)


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear parents", encoding="utf-8")
    with pytest.raises(NotALogError, match=r"letter\.txt is no Pyramid Lab log"):
        Store(letter)
    assert letter.read_text(encoding="utf-8") == "Dear parents"


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "photos.db"
    with sqlite3.connect(place) as other:
        other.execute("CREATE TABLE photos (name TEXT)")
    other.close()
    with pytest.raises(NotALogError, match=r"other things \(photos\)"):
        Store(place)
    assert rows(place, "name", "sqlite_master") == ["photos"]


def test_a_newer_log_is_left_alone(place: Path) -> None:
    Store(place).close()
    with sqlite3.connect(place) as other:
        other.execute("UPDATE schema_version SET version_num = '0999'")
    other.close()
    before = place.read_bytes()
    with pytest.raises(NewerSchemaError, match=r"newer Pyramid Lab \(schema 0999"):
        Store(place)
    assert place.read_bytes() == before


def test_half_a_file_is_damage_and_is_left_alone(place: Path) -> None:
    with Store(place) as store:
        for index in range(200):
            store.append(made_event(index))
    whole = place.read_bytes()
    place.write_bytes(whole[: len(whole) // 4])
    with pytest.raises(DamagedLogError, match="damaged"), Store(place) as store:
        store.events()
    assert place.read_bytes() == whole[: len(whole) // 4]


@pytest.mark.parametrize("url", ["oracle9://x", "sqlite//x://", "nodatabase://server/x"])
def test_a_url_that_cannot_be(url: str) -> None:
    with pytest.raises(StoreError, match=r"is no database URL|no database is called|driver"):
        Store(url)


def test_a_log_that_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no log at"):
        Store(tmp_path / "typo.sqlite3", create=False)
    assert not (tmp_path / "typo.sqlite3").exists()


# The schema


def test_the_migrations_make_the_tables_of_this_version(store: Store) -> None:
    made = sa.inspect(store.engine)
    for table in schema.metadata.sorted_tables:
        found = {column["name"]: (str(column["type"]), column["nullable"]) for column in made.get_columns(table.name)}
        wanted = {
            column.name: (column.type.compile(store.engine.dialect), bool(column.nullable)) for column in table.columns
        }
        assert found == wanted
        assert {index["name"] for index in made.get_indexes(table.name)} == {index.name for index in table.indexes}


def test_the_newest_migration_is_the_one_the_code_expects() -> None:
    from importlib.resources import files

    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(files("pyramid_lab.log").joinpath("migrations")))
    assert ScriptDirectory.from_config(config).get_current_head() == schema.SCHEMA_HEAD


# When the database cannot


def test_a_locked_log_lets_the_game_go_on(
    store: Store, place: Path, held: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyramid_lab.log.store._CLICK_PATIENCE_S", 0.05)
    states: list[StoreState] = []
    saved = threading.Event()

    def told(state: StoreState) -> None:
        states.append(state)
        if state.saved:
            saved.set()

    store.on_state = told
    held.execute("BEGIN IMMEDIATE")
    for index in range(3):
        assert store.append(made_event(index))
    assert store.append(made_event(1)) is False, "a repeated message waits once"
    assert rows(place) == []
    assert store.state.waiting == 3
    assert store.state.reason == "locked"
    assert "You can play on: another program is holding the log; 3 entries wait safely" in store.state.message
    assert [event.event_index for event in store.events(game_id="game-1")] == [0, 1, 2], "a game can be resumed"
    held.execute("COMMIT")
    until(saved)
    assert rows(place) == [0, 1, 2]
    assert [state.waiting for state in states] == [1, 2, 3, 0]
    assert store.state.message == "Everything is saved."


def test_what_waited_when_the_program_ended_is_written_by_the_next(
    place: Path, tmp_path: Path, held: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyramid_lab.log.store._CLICK_PATIENCE_S", 0.05)
    outbox = tmp_path / "outbox.sqlite3"
    first = Store(place, outbox=outbox, retry_s=1000)
    held.execute("BEGIN IMMEDIATE")
    first.append(made_event(0))
    first.open_session("s-anna", session_id="sit-1", lesson="01")
    # The program ends here, without closing.
    held.execute("ROLLBACK")
    with Store(place, outbox=outbox) as second:
        assert second.state.saved
    assert rows(place) == [0]
    assert rows(place, "lesson", "sessions") == ["01"]


def test_a_full_disk_lets_the_game_go_on(store: Store, place: Path) -> None:
    store.append(made_event(0))
    full = {"is": True}

    @sa.event.listens_for(store.engine, "connect")
    def limit(connection: sqlite3.Connection, _record: object) -> None:
        if full["is"]:  # SQLite's own limit gives the same error as a disk without room
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={pages}")

    store.engine.dispose()
    store._drop_writer()
    kept = [store.append(made_event(index)) for index in range(1, 200)]
    assert all(kept)
    assert store.state.reason == "full"
    assert "the disk is full" in store.state.message
    full["is"] = False
    store.engine.dispose()
    store.flush()
    assert store.state == StoreState()
    assert rows(place) == list(range(200))


def test_a_read_only_log_lets_the_game_go_on(place: Path, tmp_path: Path) -> None:
    Store(place).close()
    outbox = tmp_path / "outbox.sqlite3"
    with Store(f"sqlite:///file:{place}?mode=ro&uri=true", outbox=outbox) as store:
        assert store.append(made_event(0))
        assert store.state.reason == "read_only"
        assert store.events() == [made_event(0)]
    with Store(place, outbox=outbox) as store:
        assert store.state.saved
    assert rows(place) == [0]


def test_not_even_the_outbox_can_be_written(
    place: Path, tmp_path: Path, held: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyramid_lab.log.store._CLICK_PATIENCE_S", 0.05)
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with Store(place, outbox=tmp_path / "file" / "outbox.sqlite3", retry_s=1000) as store:
        held.execute("BEGIN IMMEDIATE")
        assert store.append(made_event(0))
        assert store.append(made_event(1))
        assert store.append(made_event(1)) is False
        assert store.state.unsafe == 2
        assert store.state.message.startswith("Not saved:")
        assert "Keep this page open" in store.state.message
        held.execute("ROLLBACK")
        store.flush()
        assert store.state.saved
    assert rows(place) == [0, 1]


def test_a_file_that_was_deleted_does_not_swallow_rows(store: Store, place: Path) -> None:
    store.append(made_event(0))
    for path in place.parent.glob(place.name + "*"):
        path.unlink()
    store.append(made_event(1))
    assert rows(place) == [1]


def test_a_folder_that_went_away_comes_back(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    with Store(stick / "log.sqlite3", outbox=tmp_path / "outbox.sqlite3", retry_s=1000) as store:
        store.append(made_event(0))
        stick.rename(tmp_path / "pulled out")
        assert store.append(made_event(1))
        assert store.state.reason == "away"
        (tmp_path / "pulled out").rename(stick)
        assert store.flush().saved
    assert rows(stick / "log.sqlite3") == [0, 1]


def test_a_row_that_the_database_refuses_does_not_hold_up_the_others(store: Store, place: Path) -> None:
    with sqlite3.connect(place) as other:
        other.execute(
            "CREATE TRIGGER no_ben BEFORE INSERT ON events WHEN NEW.student_id = 's-ben' "
            "BEGIN SELECT RAISE(ABORT, 'not your class'); END"
        )
    other.close()
    assert store.append(made_event(0, student_id="s-ben", game_id="b"))
    assert store.append(made_event(1))
    store.flush()
    assert rows(place, "student_id") == ["s-anna"]
    assert store.state.waiting == 0
    assert store.state.reason == "refused"
    assert [row.refused for row in store.waiting(refused=True)] == ["not your class"]


def test_a_refused_row_that_is_only_in_memory_is_set_aside_too(place: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with Store(place, outbox=tmp_path / "file" / "outbox.sqlite3", retry_s=1000) as store:
        with store.transaction() as connection:
            connection.exec_driver_sql(
                "CREATE TRIGGER no_ben BEFORE INSERT ON events WHEN NEW.student_id = 's-ben' "
                "BEGIN SELECT RAISE(ABORT, 'not your class'); END"
            )
        assert store.append(made_event(0, student_id="s-ben"))
        assert store.append(made_event(1))
        assert store.flush().reason == "refused"
        assert [row.key for row in store.waiting(refused=True)] == [made_event(0).event_id]
    assert rows(place) == [1]


# Erasing, keeping for a time, copying


def everything_on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_erasing_leaves_no_trace(
    filled: Store, tmp_path: Path, held: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyramid_lab.log.store._CLICK_PATIENCE_S", 0.05)
    filled._retry_s = 1000
    held.execute("BEGIN IMMEDIATE")
    filled.append(made_event(9, student_id="s-anna", game_id="late"))
    held.execute("ROLLBACK")
    held.close()
    assert b"s-anna" in everything_on_disk(tmp_path)
    removed = filled.erase_student("s-anna")
    assert (removed.games, removed.events, removed.sessions, removed.students, removed.waiting) == (2, 14, 2, 1, 1)
    filled.close()
    assert b"s-anna" not in everything_on_disk(tmp_path)
    assert b"s-ben" in everything_on_disk(tmp_path)


def test_pruning_takes_whole_games_that_are_old(store: Store) -> None:
    for index in (0, 1):
        store.append(made_event(index, game_id="old", session_id="old-sitting", t_utc=START))
    store.append(made_event(0, game_id="begun", t_utc=START))
    store.append(made_event(1, game_id="begun", t_utc=START + timedelta(days=20)))
    would = store.prune(START + timedelta(days=10), dry_run=True)
    assert (would.games, would.events) == (1, 2)
    assert len(store.events()) == 4
    assert store.prune(START + timedelta(days=10)) == would
    assert [event.game_id for event in store.events()] == ["begun", "begun"]
    with pytest.raises(ValueError, match="time zone"):
        store.prune(datetime(2026, 1, 1))  # noqa: DTZ001


def test_pruning_takes_old_sittings_without_games(place: Path) -> None:
    now = {"is": START}
    with Store(place, clock=lambda: now["is"]) as store:
        store.open_session("s-anna", session_id="empty")
        store.open_session("s-anna", session_id="played")
        now["is"] = START + timedelta(days=20)
        store.open_session("s-anna", session_id="new")
        store.append(made_event(0, session_id="played", t_utc=START + timedelta(days=20)))
        assert store.prune(START + timedelta(days=10)).sessions == 1
    assert rows(place, "session_id", "sessions") == ["played", "new"]


def test_a_backup_is_a_whole_log(filled: Store, tmp_path: Path) -> None:
    copy = filled.backup(tmp_path / "copies" / "monday.sqlite3")
    filled.append(made_event(99, game_id="after"))
    with Store(copy) as back:
        assert back.events() == filled.events()[:-1]
    with pytest.raises(StoreError, match="exists already and was not overwritten"):
        filled.backup(copy)


def test_a_closed_database_is_said(place: Path, tmp_path: Path) -> None:
    with Store("postgresql://nobody@127.0.0.1:9/x", outbox=tmp_path / "outbox.sqlite3", retry_s=1000) as store:
        assert store.append(made_event(0))
        assert store.state.reason == "away"
        with pytest.raises(StoreAwayError, match="cannot be reached"):
            store.events()
