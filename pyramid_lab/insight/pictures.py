"""The report's pictures as values, drawn in this process or in a second one; to ask for them loads no matplotlib."""

from __future__ import annotations

import atexit
import gc
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final, Literal

Which = Literal["fact_time_picture", "growth_picture"]
"""A function of :mod:`pyramid_lab.insight.plots`."""

TIMED_TRIES: Final = "the last {last} timed tries at most; wrong, interrupted and first tries of a game are not timed"
"""What the number of tries beside a time counts; everywhere the same."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure.

    Attributes:
        svg: the picture, text kept as text.
        alt: the same in words.
        caption: what it shows, with n, units and what is left out.
    """

    svg: str
    alt: str
    caption: str


def begun(beside: Executor | None, which: Which, *of: Any) -> Callable[[], Picture | None]:
    """Begin a picture.

    Args:
        beside: draws it; ``None`` draws it in this process when it is asked for.
        which: the function that draws it.
        of: what that function takes.

    Returns:
        Gives the picture when called; waits for it if need be.
    """
    here = partial(_drawn, which, *of)
    if beside is None:
        return here
    try:
        drawing = beside.submit(_drawn, which, *of)
    except BrokenExecutor:
        return here

    def finished() -> Picture | None:
        try:
            return drawing.result()
        except BrokenExecutor:  # a second process can be ended from outside, or not come up at all
            return here()

    return finished


def _drawn(which: Which, *of: Any) -> Picture | None:
    found: Picture | None = getattr(import_module("pyramid_lab.insight.plots"), which)(*of)
    return found


@contextmanager
def second_process() -> Iterator[Executor | None]:
    """A process that draws pictures, loading what it needs for that at once; ``None`` where there can be none."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    try:
        # An interruption ends this process, and with it the second one, which has nothing to tell of it.
        beside = ProcessPoolExecutor(1, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
        beside.submit(_load)
    except (OSError, ImportError, NotImplementedError, BrokenExecutor):  # no semaphores, no memory, no processes
        yield None
        return
    try:
        yield beside
    finally:
        beside.shutdown(wait=False, cancel_futures=True)


def _load() -> None:
    import_module("pyramid_lab.insight.plots")
    atexit.register(gc.freeze)  # as for every command: see pyramid_lab.cli.main
