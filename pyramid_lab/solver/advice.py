"""What to do in a position: the best move, whether it is dead, and a background worker that thinks ahead."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Final, Literal, Self

from pyramid_lab.core import Move, Position
from pyramid_lab.solver.answer import Answer, Unknown, Unwinnable, Winnable, solve

Preference = Literal["win", "shortest", "score"]

SHORTEST_NODES: Final = 20_000
"""How far :func:`best_move` looks for a shortest line before it takes the line it has: some tenths of a second."""


@dataclass(frozen=True, slots=True)
class BestMove:
    """A move, and what it is best by.

    Attributes:
        move: the move; ``None`` if the position is won already, dead, or not decided.
        by: ``"shortest"``: it begins a line of proved fewest steps; ``"score"``: it begins the line of most points of
            those looked at (for each move that keeps the win, one line); ``"win"``: it keeps the win, no more is known;
            ``"won"``, ``"dead"``: there is nothing left to do, nothing that helps; ``"unknown"``: a budget ran out.
        line: the line that the move begins, empty without a move.
        score: the score at the end of the line, ``None`` without a line.
    """

    move: Move | None
    by: Literal["shortest", "score", "win", "won", "dead", "unknown"]
    line: tuple[Move, ...] = ()
    score: int | None = None


def best_move(
    position: Position,
    *,
    prefer: Preference = "shortest",
    max_nodes: int = SHORTEST_NODES,
    max_seconds: float | None = None,
    cancel: Callable[[], bool] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> BestMove:
    """A move that keeps the win, if there is one.

    Args:
        position: any position that can occur.
        prefer: ``"win"`` any such move, the quickest to find; ``"shortest"`` the first of a shortest line;
            ``"score"`` the first of the line of most points, of one line looked at for each move that keeps the win.
        max_nodes: how far to look for something better than any winning move; whether the position can be won is
            decided whatever this is.
        max_seconds: give up after so long; what has been found by then is returned.
        cancel: as in :func:`~pyramid_lab.solver.solve`.
        clock: seconds, for ``max_seconds``.

    Raises:
        InvalidPositionError: the position cannot occur.
        ValueError: a budget is negative, or ``prefer`` is unknown.
    """
    if prefer not in ("win", "shortest", "score"):
        raise ValueError(f"prefer is 'win', 'shortest' or 'score', not {prefer!r}")
    end = None if max_seconds is None else clock() + max_seconds

    def ask(place: Position, *, shortest: bool = False, nodes: int | None = None) -> Answer:
        left = max_seconds if end is None else max(0.0, end - clock())
        return solve(place, shortest=shortest, max_nodes=nodes, max_seconds=left, cancel=cancel, clock=clock)

    answer = ask(position)
    if isinstance(answer, Unwinnable):
        return BestMove(None, "dead")
    if isinstance(answer, Unknown):
        return BestMove(None, "unknown")
    if not answer.line:
        return BestMove(None, "won")
    best = _best(position, answer.line, "win")
    if prefer == "shortest":
        answer = ask(position, shortest=True, nodes=max_nodes)
        if isinstance(answer, Winnable):
            best = _best(position, answer.line, "shortest")
    elif prefer == "score":
        lines = [best.line]
        for move in position.legal_moves():
            answer = ask(position.play(move), nodes=max_nodes)
            if isinstance(answer, Winnable):
                lines.append((move, *answer.line))
        best = max((_best(position, line, "score") for line in lines), key=lambda found: found.score or 0)
    return best


def _best(position: Position, line: tuple[Move, ...], by: Literal["shortest", "score", "win"]) -> BestMove:
    for move in line:
        position = position.play(move)
    return BestMove(line[0], by, line, position.score)


def is_dead(
    position: Position,
    *,
    max_nodes: int | None = None,
    max_seconds: float | None = None,
    cancel: Callable[[], bool] | None = None,
) -> bool | None:
    """Whether it is proved that no sequence of moves wins any more; ``None`` if a budget ran out first.

    Raises:
        InvalidPositionError: the position cannot occur.
        ValueError: a budget is negative.
    """
    answer = solve(position, max_nodes=max_nodes, max_seconds=max_seconds, cancel=cancel)
    return None if isinstance(answer, Unknown) else isinstance(answer, Unwinnable)


class Answers:
    """Thinks about the position on the board while the player does, in one background thread.

    :meth:`ask` whenever the position changes: it returns at once, the search for the earlier position is given up, and
    the new one begins. :meth:`get` reads the answer, at once or after waiting. Use it as a context manager or call
    :meth:`close`; the thread is a daemon and holds up nobody's exit.

    Args:
        on_answer: called with the position and its best move when that is found; from the background thread.
        prefer: as in :func:`best_move`.
        max_seconds: the longest search for one position.
    """

    def __init__(
        self,
        on_answer: Callable[[Position, BestMove], None] | None = None,
        *,
        prefer: Preference = "shortest",
        max_seconds: float = 10.0,
    ) -> None:
        self._on_answer = on_answer
        self._search = partial(best_move, prefer=prefer, max_seconds=max_seconds)
        self._changed = threading.Condition()
        self._wanted: Position | None = None
        self._answered: tuple[Position, BestMove] | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="pyramid-lab-answers", daemon=True)
        self._thread.start()

    def ask(self, position: Position) -> None:
        """Begin with this position; asking again for the same one changes nothing."""
        with self._changed:
            if self._closed:
                raise ValueError("these answers are closed")
            if self._wanted != position:
                self._wanted = position
                self._changed.notify_all()

    def cancel(self) -> None:
        """Give up the present search; there will be no answer until :meth:`ask` is called again."""
        with self._changed:
            self._wanted = None
            self._changed.notify_all()

    def get(self, position: Position, timeout: float = 0.0) -> BestMove | None:
        """The answer for a position that has been asked for, waiting at most ``timeout`` seconds; else ``None``."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or self._wanted != position or self._answer_for(position) is not None, timeout
            )
            return self._answer_for(position)

    def close(self) -> None:
        """End the thread and wait for it."""
        with self._changed:
            self._closed = True
            self._wanted = None
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer_for(self, position: Position | None) -> BestMove | None:
        if position is None or self._answered is None or self._answered[0] != position:
            return None
        return self._answered[1]

    def _given_up(self, position: Position) -> bool:
        return self._wanted is not position

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._closed or (self._wanted is not None and self._answer_for(self._wanted) is None)
                )
                if self._closed:
                    return
                position = self._wanted
            assert position is not None
            best = self._search(position, cancel=partial(self._given_up, position))
            with self._changed:
                # A search that was given up has found nothing that could be relied on.
                if self._wanted is not position:
                    continue
                self._answered = (position, best)
                self._changed.notify_all()
            if self._on_answer is not None:
                self._on_answer(position, best)
