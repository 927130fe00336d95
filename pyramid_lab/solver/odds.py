"""How many deals can be won? A count over seeds, on all cores, chunk by chunk so that it can be taken up again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

from pyramid_lab.core import Deal, Position, Rules
from pyramid_lab.solver.answer import Unwinnable, Winnable, solve

CHUNK: Final = 250
"""Seeds counted between two results."""


@dataclass(frozen=True, slots=True)
class Count:
    """The answers for the seeds from ``first`` to ``last``, both included."""

    first: int
    last: int
    won: int
    lost: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Odds:
    """The winnable share.

    Attributes:
        deals: deals looked at.
        won: deals proved winnable.
        unknown: deals not decided within the budget; they are left out of the share.
        share: winnable share of the decided deals, 0 to 1.
        low, high: its 95 % interval (Wilson, J. Am. Stat. Assoc. 22, 1927).
    """

    deals: int
    won: int
    unknown: int
    share: float
    low: float
    high: float


def chunks(start: int, deals: int, done: Iterable[Count] = ()) -> list[tuple[int, int]]:
    """The seeds from ``start`` on that ``done`` lacks, as stretches (first, last) of at most :data:`CHUNK`."""
    finished = {(count.first, count.last) for count in done}
    stretches = [(first, min(first + CHUNK, start + deals) - 1) for first in range(start, start + deals, CHUNK)]
    return [stretch for stretch in stretches if stretch not in finished]


def count(rules: Rules, first: int, last: int, max_nodes: int | None = None) -> Count:
    """Decide every deal of a stretch of seeds."""
    won = lost = unknown = 0
    for seed in range(first, last + 1):
        answer = solve(Position.start(rules, Deal.from_seed(seed, rules.target)), max_nodes=max_nodes)
        won += isinstance(answer, Winnable)
        lost += isinstance(answer, Unwinnable)
    unknown = last + 1 - first - won - lost
    return Count(first, last, won, lost, unknown)


def counts(
    rules: Rules, stretches: list[tuple[int, int]], *, jobs: int | None = None, max_nodes: int | None = None
) -> Iterator[Count]:
    """Count stretches of seeds, each result as soon as it is there.

    Args:
        rules: the rules.
        stretches: first and last seed of each, as :func:`chunks` gives them.
        jobs: processes; all cores by default. One job counts in this process.
        max_nodes: budget of each deal.
    """
    jobs = jobs or os.cpu_count() or 1
    if jobs == 1:
        for first, last in stretches:
            yield count(rules, first, last, max_nodes)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_ignore_interrupt) as pool:
        waiting: list[Future[Count]] = [pool.submit(count, rules, *stretch, max_nodes) for stretch in stretches]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupt() -> None:
    # Ctrl-C reaches every process of the terminal; only the first one deals with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def odds(results: Iterable[Count]) -> Odds:
    """The winnable share and its 95 % interval.

    Raises:
        ValueError: no deal has been decided.
    """
    from statsmodels.stats.proportion import proportion_confint

    found = list(results)
    won, unknown = sum(one.won for one in found), sum(one.unknown for one in found)
    decided = won + sum(one.lost for one in found)
    if not decided:
        raise ValueError("no deal has been decided, so there is no share")
    low, high = proportion_confint(won, decided, alpha=0.05, method="wilson")
    return Odds(decided + unknown, won, unknown, won / decided, float(low), float(high))
