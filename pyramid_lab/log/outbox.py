"""Rows that could not be written yet, kept on this computer until they can.

The outbox is a small SQLite file of its own. Several processes may share it; each row carries a key, so one that two of
them send on still makes a single row in the store.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

Kind = Literal["event", "session"]
_PATIENCE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """One row that waits.

    Attributes:
        number: its place in the queue.
        kind: which table it is for.
        key: the row's own id.
        values: the row.
        refused: what the database said against the row itself, or ``None``.
    """

    number: int
    kind: Kind
    key: str
    values: dict[str, Any]
    refused: str | None = None


class Outbox:
    """A queue of rows in a file, or in memory when even the file cannot be written.

    Args:
        path: the file; made, with its folder, when the first row has to wait.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._memory: list[Waiting] = []
        self._refused: list[Waiting] = []
        self._lock = threading.Lock()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=_PATIENCE_S, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS waiting (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, "
                "key TEXT NOT NULL, body TEXT NOT NULL, refused TEXT, UNIQUE (kind, key))"
            )
            yield connection
        finally:
            connection.close()

    @property
    def in_memory(self) -> int:
        """Rows that are only in this process's memory, because the file could not be written either."""
        return len(self._memory) + len(self._refused)

    def add(self, kind: Kind, key: str, values: dict[str, Any]) -> bool:
        """Keep a row; on the disk when this returns, if that can be.

        Returns:
            False if a row of this kind and key waits already.
        """
        with self._lock:
            if any(row.kind == kind and row.key == key for row in self._memory):
                return False
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self._open() as connection:
                    for row in (*self._memory, Waiting(0, kind, key, values)):
                        added = connection.execute(
                            "INSERT INTO waiting (kind, key, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                            (row.kind, row.key, json.dumps(row.values, ensure_ascii=False)),
                        ).rowcount
                self._memory.clear()
                return added == 1
            except (sqlite3.Error, OSError):
                self._memory.append(Waiting(-1, kind, key, values))
                return True

    def rows(self, limit: int | None = None, *, refused: bool = False) -> list[Waiting]:
        """The rows that wait, oldest first; with ``refused`` those that the database would not take."""
        found: list[Waiting] = []
        if self.path.is_file():
            with self._open() as connection:
                found = [
                    Waiting(number, kind, key, json.loads(body), reason)
                    for number, kind, key, body, reason in connection.execute(
                        f"SELECT number, kind, key, body, refused FROM waiting WHERE refused IS "
                        f"{'NOT NULL' if refused else 'NULL'} ORDER BY number LIMIT ?",
                        (-1 if limit is None else limit,),
                    )
                ]
        return [*found, *(self._refused if refused else self._memory)][: limit or None]

    def count(self) -> int:
        """How many rows wait; those that were refused are not counted."""
        if not self.path.is_file():
            return len(self._memory)
        with self._open() as connection:
            on_disk: int = connection.execute("SELECT count(*) FROM waiting WHERE refused IS NULL").fetchone()[0]
        return on_disk + len(self._memory)

    def remove(self, rows: Iterable[Waiting]) -> None:
        """Take out rows that the store has now."""
        taken = {(row.kind, row.key) for row in rows}
        with self._lock:
            self._memory = [row for row in self._memory if (row.kind, row.key) not in taken]
            self._refused = [row for row in self._refused if (row.kind, row.key) not in taken]
        if self.path.is_file():
            with self._open() as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("DELETE FROM waiting WHERE kind = ? AND key = ?", sorted(taken))
                connection.execute("COMMIT")

    def refuse(self, row: Waiting, reason: str) -> None:
        """Set a row aside that the database will never take, so that it does not hold up the others."""
        with self._lock:
            left = [one for one in self._memory if (one.kind, one.key) != (row.kind, row.key)]
            if len(left) < len(self._memory):
                self._memory = left
                self._refused.append(replace(row, refused=reason))
                return
        with self._open() as connection:
            connection.execute("UPDATE waiting SET refused = ? WHERE kind = ? AND key = ?", (reason, row.kind, row.key))

    def remove_where(self, belongs: Callable[[Waiting], bool]) -> int:
        """Take out every row, refused ones too, of which ``belongs`` is true; gives their number."""
        gone = [row for row in (*self.rows(), *self.rows(refused=True)) if belongs(row)]
        self.remove(gone)
        return len(gone)
