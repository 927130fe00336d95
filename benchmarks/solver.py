"""How fast the solver is: ``python benchmarks/solver.py [--deals 500] [--decks 60]``.

Machines differ and drift, so every figure also stands as a ratio: how many answers come in the time of one round of a
fixed reference loop (plain Python, measured just before and after, on the same machine in the same run).
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

from pyramid_lab.core import Deal, Position, rule_set, splitmix64
from pyramid_lab.solver import best_move, solve
from pyramid_lab.solver.engine import lent_search

DECKS = Path(__file__).parents[1] / "tests" / "data" / "solver" / "microsoft_decks.csv"
REFERENCE_STEPS = 200_000

BATCH = {
    "one-pass": (rule_set("one-pass"), 700),
    "classic": (rule_set("classic"), 2500),
    "classic, 1 redeal": (rule_set({"base": "classic", "redeals": 1}), 190),
    "classic, 0 redeals": (rule_set({"base": "classic", "redeals": 0}), 140),
    "cardems": (rule_set("cardems"), 10_000),
    "three-pile": (rule_set("three-pile"), 140),
}


def reference_loop() -> float:
    """Seconds for one round: the same integers drawn one after the other."""
    begin = time.perf_counter()
    numbers = splitmix64(1)
    for _ in range(REFERENCE_STEPS):
        next(numbers)
    return time.perf_counter() - begin


def timed(questions: Iterable[Callable[[], object]]) -> tuple[list[float], float]:
    """Seconds of each question, and the mean of the reference before and after."""
    before = reference_loop()
    seconds = []
    for question in questions:
        begin = time.perf_counter()
        question()
        seconds.append(time.perf_counter() - begin)
    return sorted(seconds), (before + reference_loop()) / 2


def report(name: str, seconds: list[float], reference: float, wanted: int | None = None) -> None:
    rate = len(seconds) / sum(seconds)
    p50, p99 = (1000 * seconds[int(share * (len(seconds) - 1))] for share in (0.5, 0.99))
    goal = f"  (goal {wanted}/s)" if wanted else ""
    print(
        f"{name:28} {rate:9.1f}/s {rate * reference:9.2f} a reference round"
        f"   p50 {p50:7.2f} p99 {p99:7.2f} max {1000 * seconds[-1]:7.2f} ms{goal}"
    )


def positions(name: str, deals: int) -> list[Position]:
    """A position from somewhere in a random game of each deal."""
    found = []
    for seed in range(deals):
        choose = Random(seed)
        game = [Position.start(rule_set(name), Deal.from_seed(seed))]
        while (moves := game[-1].legal_moves()) and len(game) < 60:
            discards = [move for move in moves if move.cards]
            game.append(game[-1].play(choose.choice(discards or moves)))
        found.append(choose.choice(game))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=500)
    parser.add_argument("--decks", type=int, default=60)
    chosen = parser.parse_args()
    begin = time.perf_counter()
    with lent_search() as search:
        print(f"load the search: {1000 * (time.perf_counter() - begin):.0f} ms; memory {search.memory / 1e6:.0f} MB")
    solve(Position.start(rule_set("classic"), Deal.from_seed(0)))
    print(f"reference round: {1000 * reference_loop():.0f} ms; Python {sys.version.split()[0]}")
    print("\nAny line or proof, one core")
    for name, (rules, wanted) in BATCH.items():
        starts = [Position.start(rules, Deal.from_seed(seed)) for seed in range(chosen.deals)]
        report(name, *timed(lambda p=start: solve(p) for start in starts), wanted)
    print("\nShortest line, Microsoft rules")
    with DECKS.open(encoding="utf-8", newline="") as file:
        decks = [Deal.from_text(row["deck"]) for row in csv.DictReader(file)][: chosen.decks]
    starts = [Position.start(rule_set("microsoft"), deck) for deck in decks]
    report("microsoft", *timed(lambda p=start: solve(p, shortest=True) for start in starts), 15)
    print("\nA hint, or the proof that a position is dead (goal: p99 under 100 ms)")
    for name in ("one-pass", "classic", "cardems", "table", "three-pile"):
        asked = positions(name, chosen.deals)
        report(name, *timed(lambda p=place: best_move(p, prefer="win") for place in asked))


if __name__ == "__main__":
    main()
