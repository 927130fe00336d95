"""Real processes: many that write at once, and some that are killed while they do."""

from __future__ import annotations

import multiprocessing
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from pyramid_lab.log.names import Names
from pyramid_lab.log.store import Store
from tests.log.conftest import PostgresServer
from tests.log.made_events import made_event
from tests.log.writing import write

ENDLESS = 1_000_000


def _processes(place: str, outbox: Path, how_many: int, count: int) -> list[tuple[BaseProcess, Connection]]:
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload(["tests.log.writing", "psycopg"])
    started = []
    for who in range(how_many):
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=write, args=(place, outbox, who, count, theirs), daemon=True)
        process.start()
        theirs.close()
        started.append((process, mine))
    return started


def _all(pipe: Connection) -> list[str | int]:
    found = []
    try:
        while True:
            found.append(pipe.recv())
    except EOFError:
        return found


def test_a_look_at_the_log_meanwhile_costs_an_open_board_nothing(tmp_path: Path) -> None:
    place = tmp_path / "log.sqlite3"
    look = "import sys; from pyramid_lab.log.store import Store; print(len(Store(sys.argv[1]).events()))"

    def seen_elsewhere() -> int:
        done = subprocess.run([sys.executable, "-c", look, str(place)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    with Store(place, outbox=tmp_path / "outbox.sqlite3") as board:
        for number in range(3):
            board.append(made_event(number))
            with Store(place, outbox=tmp_path / "outbox.sqlite3") as review:
                assert len(review.events()) == number + 1
            Names.of(board).people()
            assert seen_elsewhere() == number + 1
        assert board.state.saved


def test_thirty_processes_write_a_new_log_at_once(tmp_path: Path) -> None:
    place = tmp_path / "log.sqlite3"
    said: list[str | int] = []
    for process, pipe in _processes(str(place), tmp_path / "outbox.sqlite3", 30, 20):
        said += _all(pipe)
        process.join(60)
        assert process.exitcode == 0
    waiting = [entry for entry in said if isinstance(entry, int)]
    acknowledged = {entry for entry in said if isinstance(entry, str)}
    assert len(acknowledged) == 600
    with Store(place, outbox=tmp_path / "outbox.sqlite3") as store:
        assert {event.event_id for event in store.events()} == acknowledged
        assert store.state.saved
    assert len(waiting) == 30


def test_killed_writers_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    place, outbox = tmp_path / "log.sqlite3", tmp_path / "outbox.sqlite3"
    acknowledged: set[str | int] = set()
    writers = _processes(str(place), outbox, 8, ENDLESS)
    for number, (process, pipe) in enumerate(writers):
        for _ in range(5 + 3 * number):
            acknowledged.add(pipe.recv())
        process.kill()
        acknowledged.update(_all(pipe))
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
    with closing(sqlite3.connect(place)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with Store(place, outbox=outbox) as store:
        events = store.events()
        assert acknowledged <= {event.event_id for event in events}
        for who in range(8):
            numbers = [event.event_index for event in store.events(game_id=f"game-{who}")]
            assert numbers == list(range(len(numbers))), "every game is whole up to its last event"


@pytest.mark.postgres
def test_thirty_processes_write_to_postgresql_at_once(postgres: PostgresServer, tmp_path: Path) -> None:
    url = postgres.new_database("thirty")
    said: list[str | int] = []
    for process, pipe in _processes(url, tmp_path / "outbox.sqlite3", 30, 10):
        said += _all(pipe)
        process.join(60)
        assert process.exitcode == 0
    with Store(url, outbox=tmp_path / "outbox.sqlite3") as store:
        assert {event.event_id for event in store.events()} == {entry for entry in said if isinstance(entry, str)}
        assert len(store.events()) == 300
