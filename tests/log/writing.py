"""What the writing processes of the tests do."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path

from pyramid_lab.log.store import Store
from tests.log.made_events import made_event


def write(place: str, outbox: Path, who: int, count: int, acknowledged: Connection) -> None:
    """Write a game of ``count`` events and say each id once ``append`` has returned; then how many still wait."""
    with Store(place, outbox=outbox) as store:
        for index in range(count):
            event = made_event(index, game_id=f"game-{who}")
            store.append(event)
            acknowledged.send(event.event_id)
        waits = store.flush().waiting
    acknowledged.send(waits)
    acknowledged.close()
