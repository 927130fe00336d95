"""Stores, events and a PostgreSQL server for the tests of the log."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyramid_lab.log.store import Store
from tests.log.made_events import made_event

REQUIRED = os.environ.get("PYRAMID_LAB_REQUIRE_POSTGRES") == "1"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every default place inside the test's own folder."""
    home = tmp_path / "home"
    monkeypatch.delenv("PYRAMID_LAB_STORE", raising=False)
    for variable in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "LOCALAPPDATA", "APPDATA"):
        monkeypatch.setenv(variable, str(home))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "log.sqlite3"


@pytest.fixture
def store(place: Path, tmp_path: Path) -> Iterator[Store]:
    with Store(place, outbox=tmp_path / "outbox.sqlite3", retry_s=0.02) as opened:
        yield opened


@pytest.fixture
def filled(store: Store) -> Store:
    """Two students, three games, with tries, draws, a hint and an end."""
    store.put_students({"s-anna": "3a", "s-ben": "3b"})
    for student, session, lesson in (("s-anna", "sit-1", "01"), ("s-anna", "sit-2", "02"), ("s-ben", "sit-3", "01")):
        store.open_session(student, session_id=session, lesson=lesson, tz="Europe/Berlin")
        kinds = ["deal", "attempt", "draw", "attempt", "hint", "attempt", "end"]
        for index, kind in enumerate(kinds):
            store.append(
                made_event(
                    index,
                    kind,
                    student_id=student,
                    session_id=session,
                    game_id=f"game-{session}",
                    fact="4+9" if kind in ("attempt", "hint") else None,
                    outcome={"attempt": "correct" if index != 3 else "incorrect", "end": "won"}.get(kind),
                )
            )
    return store


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PostgresServer:
    """A private PostgreSQL server in a folder of its own."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self.binaries, self.folder, self.port = binaries, folder, _free_port()
        self.data = folder / "data"
        self._run(
            "initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        # The server refuses to run as root.
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if _is_root() else []
        command = [*user, str(self.binaries / program), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder, timeout=60)

    def start(self) -> None:
        options = (
            f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self.folder} "
            "-c fsync=off -c max_connections=100"
        )
        log = str(self.folder / "server.log")
        self._run("pg_ctl", "-D", str(self.data), "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", "immediate", "stop")

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def new_database(self, name: str) -> str:
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.url(name)


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A running server; without PostgreSQL on this machine its tests are skipped, unless they are required."""
    found = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))]
    found += filter(None, [shutil.which("initdb")] if not found else [])
    if not found:
        message = "PostgreSQL is not installed (Debian: apt-get install postgresql)"
        if REQUIRED:
            pytest.fail(message)
        pytest.skip(message)
    folder = Path(tempfile.mkdtemp(prefix="pl-pg-"))
    if _is_root():
        shutil.chown(folder, "postgres", "postgres")
    try:
        server = PostgresServer(Path(found[-1]).parent, folder)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
