"""The tables of a log, and bringing a database to this version of them.

``events`` has one column for each field of an event, so that any SQL tool reads it without help; ``sessions`` says
which lesson a sitting belonged to; ``students`` gives pseudonyms and classes, so that a school's database can keep each
class to its own tutors. Names are never in here. Times are texts such as ``2026-11-30T08:15:00.250Z``: they read well,
and they sort as they should in every database.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    select,
    text,
)

from pyramid_lab.log.errors import NewerSchemaError, NotALogError
from pyramid_lab.log.events import FIELDS, ID_LENGTH, NEEDED_TEXTS, NUMBER_FIELDS

SCHEMA_HEAD: Final = "0001"
"""The newest migration in ``migrations/versions``."""

VERSION_TABLE: Final = "schema_version"
_MIGRATION_LOCK: Final = 4_913_613  # any fixed number; taken in PostgreSQL while a schema is brought up to date

metadata = MetaData()

_BIG: Final = BigInteger().with_variant(Integer(), "sqlite")
_NEEDED: Final = ("schema_version", "event_index", "t_utc", *NEEDED_TEXTS)


# Texts that are indexed need a length in some databases.
_LENGTHS: Final = {"event_id": 36, "t_utc": 24} | dict.fromkeys(("student_id", "session_id", "game_id"), ID_LENGTH)


def _column(name: str) -> Column[Any]:
    text_kind = String(_LENGTHS[name]) if name in _LENGTHS else Text()
    return Column(
        name,
        _BIG if name in NUMBER_FIELDS else text_kind,
        nullable=name not in _NEEDED,
        unique=True if name == "event_id" else None,
    )


events = Table(
    "events",
    metadata,
    Column("seq", _BIG, primary_key=True, autoincrement=True),
    *(_column(name) for name in FIELDS),
    Index("ix_events_game", "game_id", "event_index"),
    Index("ix_events_student", "student_id"),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_id", String(ID_LENGTH), primary_key=True),
    Column("student_id", String(ID_LENGTH), nullable=False),
    Column("lesson", Text()),
    Column("t_utc", String(24), nullable=False),
    Column("tz", Text()),
    Column("app_version", Text()),
)

students = Table(
    "students",
    metadata,
    Column("student_id", String(ID_LENGTH), primary_key=True),
    Column("class_name", Text()),
    Column("t_utc", String(24), nullable=False),
)


def time_text(moment: datetime) -> str:
    """A time as the tables keep it: UTC, ms, ``2026-11-30T08:15:00.250Z``.

    Raises:
        ValueError: the time has no zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone; use datetime.now(UTC) or give it one")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_of(text_: str) -> datetime:
    """The time that :func:`time_text` wrote, aware, in UTC."""
    return datetime.fromisoformat(text_)


def found_version(connection: Connection) -> str | None:
    """The schema version of a database; ``None`` for an empty one.

    Raises:
        NotALogError: the database holds other tables.
    """
    names = set(inspect(connection).get_table_names())
    if VERSION_TABLE in names:
        found: str | None = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
        return found
    if names:
        listed = ", ".join(sorted(names)[:5])
        raise NotALogError(
            f"this database holds other things ({listed}) and is no Pyramid Lab log; nothing was changed"
        )
    return None


def is_current(connection: Connection, where: str) -> bool:
    """Whether the schema is this version's.

    Raises:
        NewerSchemaError: it is newer.
        NotALogError: the database is no log.
    """
    found = found_version(connection)
    if found is not None and found > SCHEMA_HEAD:
        raise NewerSchemaError(
            f"{where} was written by a newer Pyramid Lab (schema {found}; this one knows up to {SCHEMA_HEAD}). "
            "Install the newer version to use it; nothing was changed."
        )
    return found == SCHEMA_HEAD


def upgrade(connection: Connection) -> None:
    """Run the migrations that are missing, inside the caller's transaction."""
    # Alembic is needed once in the life of a log, and takes time and memory in every child's kernel if it is
    # imported with this module.
    from alembic import command
    from alembic.config import Config

    config = Config()
    folder = str(files("pyramid_lab.log").joinpath("migrations"))
    config.set_main_option("script_location", folder.replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def lock_schema(connection: Connection) -> None:
    """In a server database, wait for another process that is bringing the schema up to date."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(text(f"pg_advisory_xact_lock({_MIGRATION_LOCK})")))


def is_other_file(path: Path) -> bool:
    """Whether there is a file that is no SQLite database.

    SQLite itself is asked. Whoever opens the file otherwise and closes it lets go of every lock that this process has
    on it (POSIX), and the next program takes the write-ahead log of a board that still plays for left over: all that
    the board writes from then on is lost. See https://sqlite.org/howtocorrupt.html, section 2.2.
    """
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode == sqlite3.SQLITE_NOTADB  # whatever else is wrong is told where the log is used
    return False
