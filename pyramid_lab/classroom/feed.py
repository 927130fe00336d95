"""New events of the class, read from the store as they come."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from pyramid_lab.log.errors import StoreError
from pyramid_lab.log.events import FIELDS, Event
from pyramid_lab.log.schema import events as table
from pyramid_lab.log.store import Store, StoreState

# A database with several writers shows a row with a smaller number after one with a larger: look back this far.
_LOOK_BACK: Final = 500


class Feed:
    """Follows a store. Not for several threads at once.

    Args:
        store: the store that the children's boards write to.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waiting = 0
        """Rows that wait in this computer's outbox."""
        self._known: dict[str, int] = {}
        self._problem = ""
        self._first = 0
        self._newest = self._newest_number()

    @property
    def message(self) -> str:
        """Whether everything is saved, in the tutor's words."""
        if self._problem:
            return self._problem
        return StoreState(self.waiting, 0, self._store.state.reason if self.waiting else None).message

    @property
    def saved(self) -> bool:
        """Whether every row is in the store."""
        return not self._problem and not self.waiting

    def mend(self) -> None:
        """Write what waits in this computer's outbox, also what a kernel that is gone has left there. May take as long
        as the database's patience."""
        self._store.flush()

    def news(self) -> list[Event]:
        """Events that were written since the last call; none while the store cannot be read, which :attr:`message`
        then says."""
        self.waiting = len(self._store.waiting())
        try:
            if self._newest is None:
                self._newest = self._newest_number()
            query = (
                sa.select(table.c.seq, *(table.c[name] for name in FIELDS))
                .where(table.c.seq > (self._newest or 0) - _LOOK_BACK)
                .order_by(table.c.seq)
            )
            found = []
            with self._store.reading() as connection:
                rows = [dict(row) for row in connection.execute(query).mappings()]
        except StoreError as error:
            # What the database's driver adds in brackets is for nobody in a classroom.
            why = str(error).partition(" (")[0]
            left = "1 entry waits" if self.waiting == 1 else f"{self.waiting} entries wait"
            self._problem = (
                f"{why[0].upper()}{why[1:]}. Boards go on; {left} safely on this computer and will be written later."
            )
            return []
        self._problem = ""
        first = self._first
        for row in rows:
            number = row.pop("seq")
            if number > first and row["event_id"] not in self._known:
                self._known[row["event_id"]] = number
                found.append(Event.from_dict(row))
            self._newest = max(self._newest or 0, number)
        self._known = {key: seq for key, seq in self._known.items() if seq > (self._newest or 0) - _LOOK_BACK}
        return found

    def _newest_number(self) -> int | None:
        """The number of the newest row; ``None`` if the store cannot be read now."""
        try:
            with self._store.reading() as connection:
                newest: int = connection.execute(sa.select(sa.func.coalesce(sa.func.max(table.c.seq), 0))).scalar_one()
        except StoreError:
            return None
        self._first = newest
        return newest
