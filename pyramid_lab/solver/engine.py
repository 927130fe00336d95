"""The compiled search: loads ``search.wasm``, fills its input, runs it in slices, reads its answer.

Everything the search needs is inside one instance of the module, so one instance answers one question at a time; a
free instance is lent to each question and taken back. The interpreter lock is free while the search runs.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final, cast

import wasmtime

from pyramid_lab.core import UNLIMITED, InvalidPositionError, Position, Rules

MOST_PASSES: Final = 62
"""More redeals than this change no answer: each useful pass discards a card of the stock."""

_CARDS: Final = 52
_LONGEST: Final = 5120
_MEMORY_LIMIT: Final = 128 * 1024 * 1024  # bytes; the instance asks for about 70 MB and never for more
NO_CARD: Final = 255


class Status(IntEnum):
    """Where a search stands; the numbers are those of ``search.c``."""

    RUNNING = 0
    WINNABLE = 1
    UNWINNABLE = 2
    TOO_DEEP = 3


_STATUS: Final = tuple(Status)


class Step(IntEnum):
    """The kinds of moves in a line; the numbers are those of ``search.c``."""

    DISCARD = 0
    DRAW = 1
    REDEAL = 2


class _Input(ctypes.LittleEndianStructure):
    _fields_ = [
        ("rank", ctypes.c_uint8 * _CARDS),
        ("cards", ctypes.c_uint8),
        ("rows", ctypes.c_uint8),
        ("target", ctypes.c_uint8),
        ("draw", ctypes.c_uint8),
        ("piles", ctypes.c_uint8),
        ("redeals", ctypes.c_uint8),
        ("useful_redeal", ctypes.c_uint8),
        ("unlimited", ctypes.c_uint8),
        ("stock_top", ctypes.c_uint8),
        ("stock_waste", ctypes.c_uint8),
        ("piles_pair", ctypes.c_uint8),
        ("coverer_pairs", ctypes.c_uint8),
        ("win_all", ctypes.c_uint8),
        ("next", ctypes.c_uint8),
        ("shortest", ctypes.c_uint8),
        ("fresh", ctypes.c_uint8),
        ("gone", ctypes.c_uint8 * _CARDS),
    ]


class _Output(ctypes.LittleEndianStructure):
    _fields_ = [
        ("length", ctypes.c_uint32),
        ("nodes", ctypes.c_uint32),
        ("table", ctypes.c_uint32),
        ("line", ctypes.c_uint8 * (3 * _LONGEST)),
    ]


@cache
def _module() -> tuple[wasmtime.Engine, wasmtime.Module]:
    engine = wasmtime.Engine()
    code = files("pyramid_lab.solver").joinpath("search.wasm").read_bytes()
    return engine, wasmtime.Module(engine, code)


_module_lock = threading.Lock()


class Search:
    """One instance of the compiled search."""

    def __init__(self) -> None:
        with _module_lock:
            engine, module = _module()
        self._store = wasmtime.Store(engine)
        self._store.set_limits(memory_size=_MEMORY_LIMIT)
        exports: Any = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._run = exports["run"]
        self._memory = cast(wasmtime.Memory, exports["memory"])
        # The memory never grows, so its address holds for the life of the instance.
        base = ctypes.addressof(self._memory.data_ptr(self._store).contents)
        self._input = _Input.from_address(base + exports["input_at"](self._store))
        self._output = _Output.from_address(base + exports["output_at"](self._store))

    def put(self, position: Position, shortest: bool) -> None:
        """Set the question: a position that exists, and whether the line has to be a shortest one."""
        self._put_rules(position.rules)
        put = self._input
        size = position.rules.pack_size
        put.rank[:size] = [card.rank for card in position.deal.cards]
        put.gone[:size] = [position.gone >> place & 1 for place in range(size)]
        left = position.redeals_left
        put.unlimited = left == UNLIMITED
        put.redeals = 0 if left == UNLIMITED else min(left, MOST_PASSES)
        put.next = position.next
        put.shortest = shortest
        put.fresh = True

    def _put_rules(self, rules: Rules) -> None:
        put = self._input
        put.cards, put.rows, put.target = rules.pack_size, rules.rows, rules.target
        put.draw, put.piles = rules.draw, rules.piles
        put.useful_redeal = min(rules.useful_redeal, _CARDS + 1)
        put.stock_top, put.stock_waste = rules.stock_top_in_play, rules.stock_waste_pair
        put.piles_pair, put.coverer_pairs = rules.piles_pair, rules.coverer_pairs
        put.win_all = rules.win == "all"

    def run(self, nodes: int) -> Status:
        """Search on, at most so many nodes."""
        status: int = self._run(self._store, nodes)
        return _STATUS[status]

    @property
    def nodes(self) -> int:
        """Positions looked at since the question was set."""
        return int(self._output.nodes)

    @property
    def memory(self) -> int:
        """Bytes of the instance's memory; it never grows."""
        return int(self._memory.data_len(self._store))

    def line(self) -> bytes:
        """The winning line, once there is one: three bytes a move, its :class:`Step` and two deal indices."""
        return ctypes.string_at(ctypes.addressof(self._output.line), 3 * self._output.length)


_free: list[Search] = []


@contextmanager
def lent_search() -> Iterator[Search]:
    """An instance of the search for the caller alone; safe to ask for from any thread."""
    try:
        search = _free.pop()
    except IndexError:
        search = Search()
    try:
        yield search
    finally:
        _free.append(search)


def check_position(position: Position) -> None:
    """Refuse a position that cannot occur.

    Raises:
        InvalidPositionError: an index out of range, or a pyramid card gone from under another.
    """
    made = Position.of(
        position.rules,
        position.deal,
        gone=position.gone,
        next=position.next,
        redeals_used=position.redeals_used,
    )
    if made.next != position.next:
        raise InvalidPositionError(f"the stock's next card, at {position.next}, has been discarded")
