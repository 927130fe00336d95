"""How quick the game is: ``python benchmarks/core.py``.

Each figure is a ratio to a reference loop that runs beside it (100,000 additions in plain Python, about a few
milliseconds anywhere), so that it can be compared between machines; the plain time is shown for the reader. The limits
are 50 µs for a move in ``Game`` and 100 ms for ``import pyramid_lab``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

from pyramid_lab.core import RULE_SETS, Deal, Game, Move

ROUNDS = 15


def reference() -> None:
    total = 0
    for number in range(100_000):
        total += number


def seconds(action: Callable[[], object]) -> float:
    begin = perf_counter()
    action()
    return perf_counter() - begin


def a_game(name: str) -> tuple[Deal, list[Move]]:
    """A whole game by the hints: what a child plays, and every kind of move in it."""
    deal = Deal.from_seed(7)
    game = Game(name, deal)
    while (move := game.hint()) is not None:
        game.play(move)
    return deal, list(game.moves)


def moves_of(name: str) -> tuple[Callable[[], None], int]:
    deal, moves = a_game(name)

    def play() -> None:
        game = Game(name, deal)
        for move in moves:
            game.play(move)

    return play, len(moves)


def undos_of(name: str) -> tuple[Callable[[], None], int]:
    deal, moves = a_game(name)
    game = Game(name, deal)
    for move in moves:
        game.play(move)

    def there_and_back() -> None:
        for _ in moves:
            game.undo()
        for _ in moves:
            game.redo()

    return there_and_back, 2 * len(moves)


def views_of(name: str) -> tuple[Callable[[], None], int]:
    """What the board asks of each position: what may be done, and how the game stands."""
    deal, moves = a_game(name)
    game = Game(name, deal)
    positions = [game.position, *(game.play(move) for move in moves)]

    def ask() -> None:
        for position in positions:
            position.legal_moves()

    return ask, len(positions)


def row(what: str, action: Callable[[], object], count: int, unit: str) -> None:
    action()
    pairs = [(seconds(reference), seconds(action) / count) for _ in range(ROUNDS)]
    ratio = median(own / base for base, own in pairs)
    scale = 1e6 if unit == "µs" else 1e3
    print(f"{what:<34}{ratio:>12.5f}{median(own for _, own in pairs) * scale:>10.1f} {unit}")


def start_python(*imports: str) -> Callable[[], object]:
    code = "; ".join(f"import {name}" for name in imports) or "pass"
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def main() -> None:
    print(f"{'':<34}{'x reference':>12}{'median':>10}")
    row("the reference loop", reference, 1, "µs")
    for name in RULE_SETS:
        row(f"a move in Game, {name}", *moves_of(name), "µs")
    row("an undo or redo, classic", *undos_of("classic"), "µs")
    row("legal_moves, classic", *views_of("classic"), "µs")
    row("Deal.from_seed", lambda: [Deal.from_seed(seed) for seed in range(20)], 20, "µs")
    row("a new Python process", start_python(), 1, "ms")
    row("... with import pyramid_lab", start_python("pyramid_lab"), 1, "ms")


if __name__ == "__main__":
    main()
