"""Is a position winnable, and how? The questions asked of one position."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyramid_lab.core import DRAW, REDEAL, Deal, Move, Outcome, Position
from pyramid_lab.solver.engine import NO_CARD, Status, Step, check_position, lent_search

SLICE: Final = 2000
"""Nodes between two looks at the clock and at ``cancel``: a few milliseconds."""

# Plain numbers: comparing with the members of an enumeration would take longer than many a search.
_DRAW: Final = int(Step.DRAW)
_REDEAL: Final = int(Step.REDEAL)


@dataclass(frozen=True, slots=True)
class Winnable:
    """The position can be won.

    Attributes:
        line: the moves of one way to win, empty if the position is won already.
        shortest: whether no way is shorter.
    """

    line: tuple[Move, ...]
    shortest: bool = False


@dataclass(frozen=True, slots=True)
class Unwinnable:
    """No sequence of moves wins: proved."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not proved either way.

    Attributes:
        reason: ``"nodes"``, ``"time"``, ``"cancelled"`` or ``"size"``: what ended the search.
    """

    reason: str


Answer = Winnable | Unwinnable | Unknown


def solve(
    position: Position,
    *,
    shortest: bool = False,
    max_nodes: int | None = None,
    max_seconds: float | None = None,
    cancel: Callable[[], bool] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """Decide a position exactly.

    Args:
        position: any position that can occur, under any rules.
        shortest: find a line of the fewest steps; a discard, a draw and a redeal are one step each.
        max_nodes: give up after so many positions looked at.
        max_seconds: give up after so many seconds (looked at every few milliseconds).
        cancel: asked every few milliseconds, from this thread; when it says true the search ends.
        clock: seconds, for ``max_seconds``.

    Returns:
        :class:`Winnable` with a line, :class:`Unwinnable`, or :class:`Unknown` if a budget ran out.

    Raises:
        InvalidPositionError: the position cannot occur.
        ValueError: a budget is negative.
    """
    for name, budget in (("max_nodes", max_nodes), ("max_seconds", max_seconds)):
        if budget is not None and not budget >= 0:
            raise ValueError(f"{name} is 0 or more, not {budget!r}")
    check_position(position)
    if position.outcome is Outcome.WON:
        return Winnable((), shortest=True)
    with lent_search() as search:
        # The first search of a process loads the compiled code: that is no part of the time for searching.
        end = None if max_seconds is None else clock() + max_seconds
        search.put(position, shortest)
        while True:
            if cancel is not None and cancel():
                return Unknown("cancelled")
            if end is not None and clock() >= end:
                return Unknown("time")
            left = SLICE if max_nodes is None else min(SLICE, max_nodes - search.nodes)
            if left <= 0:
                return Unknown("nodes")
            status = search.run(left)
            if status is Status.WINNABLE:
                return Winnable(moves_of(position.deal, search.line()), shortest)
            if status is Status.UNWINNABLE:
                return Unwinnable()
            if status is Status.TOO_DEEP:
                return Unknown("size")


def moves_of(deal: Deal, line: bytes) -> tuple[Move, ...]:
    """The moves of a line that the search gave."""
    cards = deal.cards
    moves = []
    for kind, first, second in zip(line[::3], line[1::3], line[2::3], strict=True):
        if kind == _DRAW:
            moves.append(DRAW)
        elif kind == _REDEAL:
            moves.append(REDEAL)
        elif second == NO_CARD:
            moves.append(Move.discard(cards[first]))
        else:
            moves.append(Move.discard(cards[first], cards[second]))
    return tuple(moves)
