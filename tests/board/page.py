"""A page without a browser: sends a board the messages that board.js would send, and keeps what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyramid_lab.board import Board
from pyramid_lab.log.events import Event


def readings(first: float | None = 500.0, second: float = 1000.0, **changes: Any) -> dict[str, Any]:
    """The times of a try: shown at 0, cards chosen at `first` and `second`, in ms of the page's clock."""
    return {
        "start": "shown",
        "t_shown": 0.0,
        "t_first": first,
        "t_second": second,
        "away_first_ms": 0.0,
        "away_second_ms": 0.0,
        "wall_shown": 5_000_000.0,
        "wall_second": 5_000_000.0 + second,
        **changes,
    }


class HandlerFault(AssertionError):
    """A message ended in an exception of the board's Python."""


class FakePage:
    """One load of a page with one board on it."""

    def __init__(
        self, *arguments: Any, on_event: Callable[[Event], object] | None = None, name: str = "page-1", **options: Any
    ) -> None:
        self.events: list[Event] = []

        def keep(event: Event) -> bool:
            if on_event is not None and on_event(event) is False:
                return False
            self.events.append(event)
            return True

        self.board: Board = options.pop("board", None) or Board(*arguments, on_event=keep, **options)
        self.answers: list[dict[str, Any]] = []
        self.board.send = lambda content, buffers=None: self.answers.append(content)
        self.name = name
        self.n = 0

    @property
    def view(self) -> dict[str, Any]:
        return dict(self.board.view)

    def send(self, kind: str, *cards: str, **more: Any) -> str:
        """Send one message about the present view; gives how it was answered."""
        self.n += 1
        message = {
            "kind": kind,
            "page": self.name,
            "n": self.n,
            "view": "view-1",
            "number": self.view["number"],
            "times": readings(first=None if len(cards) < 2 else 500.0),
            "input": "mouse",
            "trusted": True,
            "tz": "Europe/Berlin",
            **({"cards": list(cards)} if cards else {}),
            **more,
        }
        self.last = message
        return self.again(message)

    def fails(self, kind: str, *cards: str, **more: Any) -> str:
        """Send a message that is to end in a fault; gives what the board says of it."""
        with pytest.raises(HandlerFault) as fault:
            self.send(kind, *cards, **more)
        return str(fault.value)

    def again(self, message: dict[str, Any]) -> str:
        """Deliver a message as it is.

        Raises:
            HandlerFault: the board's Python raised. The board tells the page and goes on, which a test must not miss.
        """
        self.board._receive(self.board, message, [])
        result = str(self.answers[-1]["result"])
        if result == "error":
            raise HandlerFault(self.view["message"])
        return result

    def rows(self, *names: str) -> list[tuple[Any, ...]]:
        """Fields of the events so far."""
        return [tuple(getattr(event, name) for name in names) for event in self.events]
