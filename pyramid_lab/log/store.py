"""The store: where events are kept, one committed row each.

SQLite by default, any SQLAlchemy URL for a school. What cannot be written now (the database is locked, full, read-only
or away) waits in an outbox on this computer and is written later, in order; the game goes on.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import platformdirs
import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Dialect, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from pyramid_lab.log import schema
from pyramid_lab.log.errors import DamagedLogError, NoLogError, NotALogError, StoreAwayError, StoreError
from pyramid_lab.log.events import FIELDS, Event, app_version, new_id
from pyramid_lab.log.outbox import Kind, Outbox, Waiting

PLACE_VARIABLE: Final = "PYRAMID_LAB_STORE"
"""Environment variable that gives the store's path or URL when none is named."""

_APP: Final = "pyramid-lab"
# A child who clicks waits this long for a database that is busy; then the row goes to the outbox.
_CLICK_PATIENCE_S: Final = 2.0
_DISK_AFTER_S: Final = 0.02
_PATIENCE_S: Final = 30.0
_LONGEST_RETRY_S: Final = 15.0
_BATCH: Final = 500

_REASONS: Final = {
    "locked": "another program is holding the log",
    "full": "the disk is full",
    "read_only": "the log can only be read, not written",
    "damaged": "the log's file is damaged; run: pyramid-lab log check",
    "away": "the log's database cannot be reached",
    "refused": "the log's database does not accept some rows; run: pyramid-lab log check",
}


@dataclass(frozen=True, slots=True)
class StoreState:
    """Whether everything is written, for the board to show.

    Attributes:
        waiting: rows that are not in the store yet.
        unsafe: how many of them are only in memory, because the outbox cannot be written either.
        reason: ``locked``, ``full``, ``read_only``, ``damaged``, ``away``, ``refused`` or ``None``.
    """

    waiting: int = 0
    unsafe: int = 0
    reason: str | None = None

    @property
    def saved(self) -> bool:
        """Whether every row is in the store."""
        return not self.waiting and self.reason is None

    @property
    def message(self) -> str:
        """The state in words, for a tutor or an older child."""
        if self.saved:
            return "Everything is saved."
        why = _REASONS.get(self.reason or "", "the log cannot be written now")
        if not self.waiting:
            return f"You can play on: {why}; what you do is kept on this computer and will be written later."
        rows = "1 entry waits" if self.waiting == 1 else f"{self.waiting} entries wait"
        if self.unsafe:
            return (
                f"Not saved: {why}, and this computer's disk cannot be written. Keep this page open; {rows} in memory."
            )
        return f"You can play on: {why}; {rows} safely on this computer and will be written later."


@dataclass(frozen=True, slots=True)
class Removed:
    """How many rows were removed, or would be.

    Attributes:
        games, events, sessions, students, waiting: counts; ``waiting`` are rows that were still in the outbox.
    """

    games: int = 0
    events: int = 0
    sessions: int = 0
    students: int = 0
    waiting: int = 0


def default_place() -> str:
    """Where the log is when nothing is said: ``$PYRAMID_LAB_STORE``, else a file in the user's data folder."""
    named = os.environ.get(PLACE_VARIABLE)
    return named or str(platformdirs.user_data_path(_APP, appauthor=False) / "log.sqlite3")


def store_url(place: str | Path | None = None) -> URL:
    """The SQLAlchemy URL of a place: a path to a SQLite file, or a URL as it is.

    Raises:
        StoreError: the URL cannot be read.
    """
    place = default_place() if place is None else place
    if isinstance(place, Path) or "://" not in place:
        return URL.create("sqlite", database=str(Path(place).expanduser().absolute()))
    try:
        url = make_url(place)
    except ArgumentError:
        raise StoreError(
            f"{place!r} is no database URL; one looks like sqlite:///C:/school/log.sqlite3 or "
            "postgresql://user@server/pyramid_lab"
        ) from None
    if url.drivername == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    return url


def place_beside(url: URL, ending: str, folder: Path) -> Path:
    """A path for a file that goes with a store: beside a SQLite file, else in ``folder``, named after the URL."""
    path = _sqlite_path(url)
    if path is not None:
        return path.with_name(path.stem + ending)
    return folder / (sha256(str(url.set(password=None)).encode()).hexdigest()[:12] + ending)


def _sqlite_path(url: URL) -> Path | None:
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    database = str(url.database).removeprefix("file:")
    return Path(database)


class Store:
    """A log of events.

    ``append`` returns when the row is committed; one store may be used by many threads, one database by many processes.
    A committed row outlives its process, however that ends. SQLite's file is also brought to the disk, against a power
    cut, by a thread of its own some milliseconds later: a child need not wait for the disk.

    Args:
        place: a path, a SQLAlchemy URL, or ``None`` for :func:`default_place`.
        outbox: file in which rows wait when the database cannot take them; by default in the user's own folder.
        on_state: called with the new :class:`StoreState` whenever it changes, from any thread.
        clock: gives the time, for rows that are not events.
        retry_s: seconds between the first tries to write what waits.
        create: make the SQLite file if it is not there; if False, that is an error.

    Raises:
        NotALogError: the path is a folder, another kind of file, or a database with other tables.
        NewerSchemaError: a newer Pyramid Lab wrote it.
        DamagedLogError: the file is damaged.
        StoreError: the URL cannot be read, its driver is not installed, or there is no file and none is to be made.

    A database that cannot be reached is no error: rows wait until it can.
    """

    def __init__(
        self,
        place: str | Path | None = None,
        *,
        outbox: Path | None = None,
        on_state: Callable[[StoreState], None] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        retry_s: float = 1.0,
        create: bool = True,
    ) -> None:
        self.url = store_url(place)
        self.path = _sqlite_path(self.url)
        self.on_state = on_state
        self._clock = clock
        self._retry_s = retry_s
        self._outbox = Outbox(outbox or _outbox_place(self.url))
        self._lock = threading.RLock()
        self._flush_lock = threading.Lock()
        self._closed = threading.Event()
        self._flusher: threading.Thread | None = None
        self._writer: Connection | None = None
        self._to_disk: _ToDisk | None = None
        self._file: tuple[int, int] | None = None
        self._ready = False
        self._reason: str | None = None
        self._told = StoreState()
        if self.path is not None:
            _check_file(self.path)
            if not create and not self.path.exists():
                raise NoLogError(f"there is no log at {self.path} yet")
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
        self.engine = _engine(self.url)
        self._waiting = self._count_waiting()
        try:
            self._prepare()
        except StoreAwayError:
            self._wake()
        except BaseException:
            self.engine.dispose()
            raise
        if self._waiting:
            self.flush()
            if self._waiting:
                self._wake()

    # Writing

    def append(self, event: Event, *, in_turn: bool = False) -> bool:
        """Keep an event. When this returns it is committed, in the store or in the outbox.

        Args:
            in_turn: only if the store holds no event of this game with this number or a later one; asked and written
                in one statement, so that of two processes only one can go on with a game. While the outbox is in use
                each process goes on alone.

        Returns:
            True if it is new, False if an event with this ``event_id`` is kept already (the first one stays) or if it
            was not its turn.

        Raises:
            StoreError: the store is closed.
        """
        return self._keep("event", event.event_id, _event_row(event), in_turn)

    def open_session(
        self, student_id: str, *, lesson: str | None = None, tz: str | None = None, session_id: str | None = None
    ) -> str:
        """Note that a student sits down to a lesson; gives the session's id.

        Args:
            student_id: the pseudonym.
            lesson: name of the lesson, such as ``01_first_pairs``.
            tz: IANA name of the student's time zone.
            session_id: an id of the caller's own; noting the same one again changes nothing.
        """
        session_id = session_id or new_id()
        row = {
            "session_id": session_id,
            "student_id": student_id,
            "lesson": lesson,
            "t_utc": schema.time_text(self._clock()),
            "tz": tz,
            "app_version": app_version(),
        }
        self._keep("session", session_id, row)
        return session_id

    def _keep(self, kind: Kind, key: str, row: dict[str, Any], in_turn: bool = False) -> bool:
        with self._lock:
            if self._closed.is_set():
                raise StoreError("this store is closed; open it again to write")
            if self._ready and not self._waiting:
                try:
                    return self._write(kind, row, in_turn)
                except (DBAPIError, StoreError) as error:
                    self._reason = _reason(error)
                    self._drop_writer()
            added = self._outbox.add(kind, key, row)
            self._waiting = self._count_waiting()
        self._tell()
        self._wake()
        return added

    def _write(self, kind: Kind, row: dict[str, Any], in_turn: bool) -> bool:
        self._follow_file()
        for attempt in (1, 2):
            try:
                if self._writer is None:
                    self._writer = self._open_writer()
                if self._to_disk is not None and self._to_disk.failed:
                    self._to_disk = None
                    self._writer.exec_driver_sql("PRAGMA synchronous=FULL")  # which tells what is wrong
                added = _put(self._writer, kind, [row], in_turn=in_turn) == 1
                if self._to_disk is not None:
                    self._to_disk.soon()
                return added
            except DBAPIError as error:
                # A server that was restarted leaves a dead connection behind: a new one is tried at once.
                self._drop_writer()
                if attempt == 2 or not error.connection_invalidated:
                    raise
        raise AssertionError("unreachable")

    def _open_writer(self) -> Connection:
        connection = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        connection.detach()
        if self._is_sqlite:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={int(_CLICK_PATIENCE_S * 1000)}")
            if self.path is not None and connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal":
                connection.exec_driver_sql("PRAGMA synchronous=NORMAL")
                self._to_disk = self._to_disk or _ToDisk(self.path.with_name(self.path.name + "-wal"))
        elif self.engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET lock_timeout = {int(_CLICK_PATIENCE_S * 1000)}")
        return connection

    def _drop_writer(self) -> None:
        if self._writer is not None:
            with suppress(DBAPIError):
                self._writer.close()
            self._writer = None

    def _follow_file(self) -> None:
        """Notice that the SQLite file was deleted or replaced: an open connection would write into the old one."""
        if self.path is None or self._file is None:
            return
        if _identity(self.path) == self._file:
            return
        self._drop_writer()
        self.engine.dispose()
        self._ready = False
        self._prepare()

    def _prepare(self) -> None:
        """Bring the schema up to date and begin to write.

        Raises:
            StoreAwayError: the database cannot be reached or written now.
        """
        if self._ready:
            return
        try:
            if self.path is not None:
                _check_file(self.path)
                _create_private(self.path)
            where = str(self.path or self.url.render_as_string(hide_password=True))
            with self.engine.connect() as connection:
                current = schema.is_current(connection, where)
            if not current:
                with self.transaction() as connection:
                    schema.lock_schema(connection)
                    if not schema.is_current(connection, where):
                        schema.upgrade(connection)
        except (DBAPIError, OSError) as error:
            self._reason = _reason(error)
            if self._reason == "damaged":
                raise DamagedLogError(
                    f"{self.path} is damaged ({_said(error)}). Nothing was changed. Put a backup in its place, or save "
                    f"what can be read: sqlite3 {self.path} .recover"
                ) from error
            raise StoreAwayError(f"{_REASONS[self._reason]} ({_said(error)})") from error
        self._file = _identity(self.path) if self.path is not None else None
        self._ready = True
        if not self._waiting:
            self._reason = None

    # What waits

    @property
    def state(self) -> StoreState:
        """Whether everything is written, and if not, why."""
        return StoreState(self._waiting, self._outbox.in_memory, self._reason)

    def flush(self) -> StoreState:
        """Try now to write what waits in the outbox, in order; gives the state after it."""
        with self._flush_lock:
            try:
                with self._lock:
                    self._follow_file()
                    self._prepare()
                while rows := self._outbox.rows(_BATCH):
                    self._outbox.remove(self._send(rows))
                self._reason = "refused" if self._outbox.rows(1, refused=True) else None
            except (DBAPIError, StoreError, sqlite3.Error) as error:
                self._reason = _reason(error)
        with self._lock:
            self._waiting = self._count_waiting()
        self._tell()
        return self.state

    def _send(self, rows: Sequence[Waiting]) -> list[Waiting]:
        """Write rows, setting aside those that the database refuses; gives those that it took."""
        try:
            with self.transaction() as connection:
                for row in rows:
                    _put(connection, row.kind, [row.values])
        except DBAPIError as error:
            if _reason(error) != "refused":
                raise
            if len(rows) == 1:
                self._outbox.refuse(rows[0], _said(error))
                return []
            return [taken for row in rows for taken in self._send([row])]
        return list(rows)

    def waiting(self, *, refused: bool = False) -> list[Waiting]:
        """The rows in the outbox; with ``refused`` those that the database would not take."""
        return self._outbox.rows(refused=refused)

    def _count_waiting(self) -> int:
        with suppress(sqlite3.Error):
            return self._outbox.count()
        return max(self._outbox.in_memory, 1)

    def _tell(self) -> None:
        state = self.state
        with self._lock:
            changed, self._told = state != self._told, state
        if changed and self.on_state is not None:
            self.on_state(state)

    def _wake(self) -> None:
        with self._lock:
            if self._flusher is None and not self._closed.is_set():
                self._flusher = threading.Thread(target=self._keep_trying, name="pyramid-lab outbox", daemon=True)
                self._flusher.start()

    def _keep_trying(self) -> None:
        pause = self._retry_s
        while not self._closed.wait(pause):
            self.flush()
            with self._lock:
                if self._ready and not self._waiting:
                    self._flusher = None
                    return
            pause = min(pause * 1.5, _LONGEST_RETRY_S)

    # Reading

    @property
    def _is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    def n_events_at_most(self) -> int:
        """The number of the last event, at once: so many there are, less those that were erased.

        Raises:
            StoreAwayError, DamagedLogError: the database cannot be read.
        """
        with self.reading() as connection:
            return connection.execute(sa.select(sa.func.max(schema.events.c.seq))).scalar() or 0

    def events(
        self,
        *,
        student_id: str | None = None,
        session_id: str | None = None,
        game_id: str | None = None,
        event_types: Iterable[str] | None = None,
        first_index: int = 0,
    ) -> list[Event]:
        """Events in the order they were written; those of one game in the order they happened. Rows that still wait in
        the outbox are among them.

        Args:
            student_id, session_id, game_id: only those of this student, sitting, game.
            event_types: only these types.
            first_index: only those with this number in their game, or a later one.

        Raises:
            StoreAwayError: the database cannot be read now.
        """
        wanted = {"student_id": student_id, "session_id": session_id, "game_id": game_id}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        types = None if event_types is None else set(event_types)
        table = schema.events
        query = sa.select(*(table.c[name] for name in FIELDS)).where(
            *(table.c[name] == value for name, value in wanted.items())
        )
        if types is not None:
            query = query.where(table.c.event_type.in_(sorted(types)))
        if first_index:
            query = query.where(table.c.event_index >= first_index)
        query = query.order_by(*([table.c.event_index] if game_id else []), table.c.seq)
        with self.reading() as connection:
            found = [_event(row._mapping) for row in connection.execute(query)]
        known = {event.event_id for event in found}
        for row in self._outbox.rows():
            if row.kind == "event" and row.key not in known:
                values = row.values
                if (
                    all(values[name] == value for name, value in wanted.items())
                    and (types is None or values["event_type"] in types)
                    and values["event_index"] >= first_index
                ):
                    found.append(_event(values))
        if game_id:
            found.sort(key=lambda event: event.event_index)
        return found

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read with.

        Raises:
            StoreAwayError: the database cannot be reached.
            DamagedLogError: a page of the file cannot be read.
        """
        with self._lock:
            self._follow_file()
            self._prepare()
        with self._in_words(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn a database's errors into ours."""
        try:
            yield
        except DBAPIError as error:
            reason = _reason(error)
            if reason == "damaged":
                raise DamagedLogError(f"{self.path} is damaged ({_said(error)}); run: pyramid-lab log check") from error
            raise StoreAwayError(f"{_REASONS[reason]} ({_said(error)})") from error

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection inside one transaction that may write; committed at the end, undone on an error."""
        if not self._is_sqlite:
            with self.engine.begin() as connection:
                yield connection
            return
        # The write lock is taken at once: a transaction that reads first and then wants to write loses to others.
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                with suppress(DBAPIError):
                    connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")

    # Students' pseudonyms and classes

    def class_names(self) -> list[str]:
        """The classes that students are in, also those whose names are kept elsewhere."""
        named = schema.students.c.class_name
        with self.reading() as connection:
            return list(
                connection.execute(sa.select(named).where(named.is_not(None)).distinct().order_by(named)).scalars()
            )

    def put_students(self, classes: Mapping[str, str | None]) -> None:
        """Keep pseudonyms with their classes; a pseudonym that is known gets the class given here."""
        now = schema.time_text(self._clock())
        table = schema.students
        with self._lock:
            self._prepare()
        with self._in_words(), self.transaction() as connection:
            for student_id, class_name in classes.items():
                changed = connection.execute(
                    sa.update(table).where(table.c.student_id == student_id).values(class_name=class_name)
                )
                if not changed.rowcount:
                    connection.execute(sa.insert(table).values(student_id=student_id, class_name=class_name, t_utc=now))

    def erase_student(self, student_id: str) -> Removed:
        """Remove every row of one student, from the outbox too, and overwrite it on the disk where SQLite keeps it.

        Backups made before still hold the rows.
        """
        waiting = self._outbox.remove_where(lambda row: row.values.get("student_id") == student_id)
        counts = {}
        with self._erasing() as connection:
            table = schema.events
            games = sa.select(sa.func.count(sa.distinct(table.c.game_id))).where(table.c.student_id == student_id)
            n_games = connection.execute(games).scalar_one()
            for each in (schema.events, schema.sessions, schema.students):
                counts[each.name] = connection.execute(sa.delete(each).where(each.c.student_id == student_id)).rowcount
        with self._lock:
            self._waiting = self._count_waiting()
        return Removed(games=n_games, waiting=waiting, **counts)

    def prune(self, before: datetime, *, dry_run: bool = False) -> Removed:
        """Remove whole games that ended before a time, and sessions from before it that hold no game any more.

        Args:
            before: aware.
            dry_run: count only.
        """
        moment = schema.time_text(before)
        events, sessions = schema.events, schema.sessions
        old = sa.select(events.c.game_id).group_by(events.c.game_id).having(sa.func.max(events.c.t_utc) < moment)
        kept = sa.select(events.c.session_id).where(events.c.game_id.not_in(old))
        old_sessions = (sessions.c.t_utc < moment) & sessions.c.session_id.not_in(kept)
        with self.reading() as connection:
            n_games = connection.execute(sa.select(sa.func.count()).select_from(old.subquery())).scalar_one()
            n_events = connection.execute(
                sa.select(sa.func.count()).select_from(events).where(events.c.game_id.in_(old))
            ).scalar_one()
            n_sessions = connection.execute(
                sa.select(sa.func.count()).select_from(sessions).where(old_sessions)
            ).scalar_one()
        if not dry_run:
            with self._erasing() as connection:
                n_sessions = connection.execute(sa.delete(sessions).where(old_sessions)).rowcount
                n_events = connection.execute(sa.delete(events).where(events.c.game_id.in_(old))).rowcount
        return Removed(games=n_games, events=n_events, sessions=n_sessions)

    @contextmanager
    def _erasing(self) -> Iterator[Connection]:
        with self._lock:
            self._prepare()
        with self._in_words(), self.transaction() as connection:
            if self._is_sqlite:
                connection.exec_driver_sql("PRAGMA secure_delete=ON")
            yield connection
        if self._is_sqlite:
            with self._in_words(), self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM")
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup(self, target: Path) -> Path:
        """Copy the whole log into a new SQLite file, also while others write; gives the file's path.

        Raises:
            StoreError: the file exists already, cannot be written, or does not read back whole.
        """
        target = target.expanduser().absolute()
        if target.exists():
            raise StoreError(f"{target} exists already and was not overwritten; name another file")
        part = target.with_name(target.name + ".part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            part.unlink(missing_ok=True)
            _create_private(part)
            if self._is_sqlite:
                with self.reading() as connection, sqlite3.connect(part) as copy:
                    source = connection.connection.driver_connection
                    assert isinstance(source, sqlite3.Connection)
                    source.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
                copy.close()
            else:
                self._copy_rows(part)
            with sqlite3.connect(part) as copy:
                verdict = copy.execute("PRAGMA quick_check").fetchone()[0]
            copy.close()
            if verdict != "ok":
                raise StoreError(f"the copy is not sound ({verdict}); it was thrown away")
            part.rename(target)
        except (sqlite3.DatabaseError, OSError) as error:
            if _reason(error) == "damaged":
                raise DamagedLogError(
                    f"{self.path} is damaged ({_said(error)}), so no backup was made; run: pyramid-lab log check"
                ) from error
            raise StoreError(f"no backup can be written to {target} ({_said(error)}); name another place") from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        return target

    def _copy_rows(self, part: Path) -> None:
        with Store(part, outbox=part.with_suffix(".outbox")) as copy:
            for table in schema.metadata.sorted_tables:
                with self.reading() as connection, copy.transaction() as writer:
                    rows = connection.execution_options(yield_per=_BATCH).execute(sa.select(table))
                    for batch in rows.mappings().partitions():
                        writer.execute(sa.insert(table), [dict(row) for row in batch])
            with copy.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("PRAGMA journal_mode=DELETE")

    # Closing

    def close(self) -> None:
        """Try once more to write what waits, and let go of the database. What still waits stays in the outbox."""
        if self._closed.is_set():
            return
        self._closed.set()
        flusher = self._flusher
        if flusher is not None and flusher is not threading.current_thread():
            flusher.join(timeout=_CLICK_PATIENCE_S)
        if self._waiting and not (flusher and flusher.is_alive()):
            self.flush()
        with self._lock:
            if self._to_disk is not None:
                self._to_disk.now()
            self._drop_writer()
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self.url.render_as_string(hide_password=True)}: {self.state.message}>"


class _ToDisk:
    """Brings SQLite's write-ahead log to the disk soon after a row was committed, and not before: that takes from one
    to a dozen ms, longer than all the rest of an answer to a click."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wanted = threading.Event()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.failed = False

    def soon(self) -> None:
        """Within some ms, in a thread of its own."""
        self._wanted.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep_on, name="pyramid-lab disk", daemon=True)
            self._thread.start()

    def now(self) -> None:
        """Now, if anything is left, and end the thread."""
        self._wanted.set()
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=_CLICK_PATIENCE_S)
            self._thread = None

    def _keep_on(self) -> None:
        # A row that comes in the very moment of the end has its turn, too.
        while self._wanted.is_set() or not self._ended.is_set():
            self._wanted.wait()
            self._ended.wait(_DISK_AFTER_S)
            self._wanted.clear()
            try:
                # SQLite holds its locks on other files: closing this one lets none of them go.
                with self._path.open("r+b") as file:
                    os.fsync(file.fileno())
            except FileNotFoundError:
                continue  # SQLite itself has brought it all into the log and to the disk
            except OSError:
                self.failed = True
                return


def _outbox_place(url: URL) -> Path:
    folder = platformdirs.user_state_path(_APP, appauthor=False) / "outbox"
    return folder / (sha256(str(url.set(password=None)).encode()).hexdigest()[:16] + ".sqlite3")


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise NotALogError(f"{path} is a folder; name a file in it, such as {path / 'log.sqlite3'}")
    if schema.is_other_file(path):
        raise NotALogError(f"{path} is no Pyramid Lab log (no SQLite file); nothing was changed. Name another file.")


def _create_private(path: Path) -> None:
    """Make the file, readable by its owner only, unless it is there."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def _engine(url: URL) -> Engine:
    options: dict[str, Any] = {}
    backend = url.get_backend_name()
    if backend == "sqlite":
        options["connect_args"] = {"timeout": _PATIENCE_S, "check_same_thread": False}
        if url.database in (None, "", ":memory:"):
            options["poolclass"] = StaticPool
    elif url.drivername == "postgresql+psycopg":
        # A server that vanishes without a word must be noticed within seconds, not after the system's minutes.
        options["connect_args"] = {
            "connect_timeout": 3,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 2,
            "tcp_user_timeout": 5000,
        }
        options["pool_pre_ping"] = True
    try:
        engine = sa.create_engine(url, **options)
    except NoSuchModuleError:
        raise StoreError(f"no database is called {url.drivername!r}; sqlite and postgresql are tested") from None
    except ModuleNotFoundError as error:
        hint = "python -m pip install 'pyramid-lab[school]'" if backend == "postgresql" else f"the package {error.name}"
        raise StoreError(f"the driver for {backend} is not installed; install {hint}") from None
    if backend == "sqlite":
        sa.event.listen(engine, "connect", _set_up_sqlite)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    cursor = connection.cursor()
    try:
        # Write-ahead logging stays in the file once it is set. It cannot be set while others are at work in the file,
        # on a file that is read-only, or on some network drives: then the journal stays what it is, which is slower
        # and as safe.
        with suppress(sqlite3.OperationalError):
            if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                cursor.execute("PRAGMA journal_mode=WAL")
        # FULL, because a battery that runs out must not take the last tries with it; for single rows see _ToDisk.
        cursor.execute("PRAGMA synchronous=FULL")
    finally:
        cursor.close()


def _event_row(event: Event) -> dict[str, Any]:
    row = event.to_dict()
    row["t_utc"] = schema.time_text(event.t_utc)
    return row


def _event(row: Mapping[Any, Any]) -> Event:
    return Event.from_dict(dict(row))


def _put(connection: Connection, kind: Kind, rows: Sequence[dict[str, Any]], *, in_turn: bool = False) -> int:
    """Insert rows, leaving those alone that are there; gives the number of new ones."""
    if connection.dialect.name not in _CAN_IGNORE:
        return sum(_put_plainly(connection, kind, row, in_turn) for row in rows)
    text, names = _insert(connection.dialect, kind, in_turn)
    # Preserved: the count of rows is asked for after the cursor is closed.
    options = {"preserve_rowcount": True}
    return sum(
        connection.exec_driver_sql(text, row if names is None else tuple(row[name] for name in names), options).rowcount
        for row in rows
    )


_CAN_IGNORE: Final = frozenset({"sqlite", "postgresql"})
"""Databases whose dialect has an insert that leaves alone what is there."""


def _insert(dialect: Dialect, kind: Kind, in_turn: bool) -> tuple[str, Sequence[str] | None]:
    """An insert as the driver takes it, and the values' names in order; ``None`` if it takes them by name."""
    made = _MADE.get((dialect.name, dialect.driver, kind, in_turn))
    if made is None:
        table, key = _table(kind)
        names = [column.name for column in table.columns if column.name != "seq"]
        # Only the one that is used: to load PostgreSQL's takes a child's kernel 50 ms.
        insert = import_module(f"sqlalchemy.dialects.{dialect.name}").insert(table)
        if in_turn:
            given = sa.select(*(sa.bindparam(name, type_=table.c[name].type) for name in names))
            insert = insert.from_select(names, given.where(~_turn_is_over()))
        # Inline: otherwise the new row's number is asked back.
        insert = insert.on_conflict_do_nothing(index_elements=[key]).inline()
        compiled = insert.compile(dialect=dialect, column_keys=None if in_turn else names)
        made = _MADE[dialect.name, dialect.driver, kind, in_turn] = (str(compiled), compiled.positiontup)
    return made


# Compiled once for a process, not for each engine: most of the time of a child's first click.
_MADE: Final[dict[tuple[str, str, Kind, bool], tuple[str, Sequence[str] | None]]] = {}


def write_sooner(url: str) -> None:
    """Make the statements that a store at this URL will need; for a process that waits and has time."""
    dialect = make_url(url).get_dialect()()
    if dialect.name in _CAN_IGNORE:
        _insert(dialect, "session", False)
        _insert(dialect, "event", True)


def _table(kind: Kind) -> tuple[sa.Table, sa.Column[Any]]:
    table = schema.events if kind == "event" else schema.sessions
    return table, table.c.event_id if kind == "event" else table.c.session_id


def _turn_is_over() -> sa.Exists:
    """Whether the game named by the row's own values has this number already, or a later one."""
    held = schema.events.alias("held")
    return sa.exists().where(
        held.c.game_id == sa.bindparam("game_id", type_=held.c.game_id.type),
        held.c.event_index >= sa.bindparam("event_index", type_=held.c.event_index.type),
    )


def _put_plainly(connection: Connection, kind: Kind, row: dict[str, Any], in_turn: bool) -> int:
    """For databases whose dialect has no insert-or-ignore of its own."""
    table, key = _table(kind)
    known = sa.select(key).where(key == row[key.name])
    if connection.execute(known).first() is not None:
        return 0
    if in_turn and connection.execute(sa.select(_turn_is_over()), row).scalar():
        return 0
    try:
        return connection.execute(sa.insert(table), row).rowcount
    except IntegrityError:
        if connection.execute(known).first() is None:
            raise
        return 0


def _said(error: BaseException) -> str:
    text = str(getattr(error, "orig", None) or getattr(error, "strerror", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _reason(error: BaseException) -> str:
    """Why a database did not do what it was asked: a key of ``_REASONS``."""
    said = str(getattr(error, "orig", None) or error).lower()
    if "malformed" in said or "not a database" in said or isinstance(error, DamagedLogError):
        return "damaged"
    if "locked" in said or "lock timeout" in said or "busy" in said:
        return "locked"
    if "full" in said or "no space" in said:
        return "full"
    if "readonly" in said or "read-only" in said or ("permission denied" in said and isinstance(error, OSError)):
        return "read_only"
    if isinstance(error, (sa.exc.DataError, sa.exc.IntegrityError, sa.exc.ProgrammingError)):
        return "refused"
    return "away"
