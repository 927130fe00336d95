"""Every field of the rules against a breadth-first search without pruning, on positions small enough for it."""

from __future__ import annotations

from random import Random

import pytest

from pyramid_lab.core import Outcome, Position
from pyramid_lab.solver import Answer, Winnable, solve
from tests.solver.plain_search import fewest_steps, random_position, random_rules

TOO_MANY = 1500  # positions; rare ones are left out
CASES = 600


def length(answer: Answer, position: Position) -> int | None:
    """Steps of the answer's line, which has to win; ``None`` if there is no way."""
    if not isinstance(answer, Winnable):
        return None
    for move in answer.line:
        position = position.play(move)
    assert position.outcome is Outcome.WON
    return len(answer.line)


@pytest.mark.parametrize("part", range(8))
def test_random_rules_and_positions_are_decided_as_by_a_search_without_pruning(part: int) -> None:
    compared = won = 0
    for seed in range(part * CASES, (part + 1) * CASES):
        rng = Random(seed)
        rules = random_rules(rng)
        position = random_position(rng, rules, rng.randint(2, min(10, rules.n_pyramid)), rng.randint(2, 9))
        try:
            wanted = fewest_steps(position, TOO_MANY)
        except OverflowError:
            continue
        compared += 1
        won += wanted is not None
        assert (length(solve(position), position) is None) == (wanted is None), f"seed {seed}"
        assert length(solve(position, shortest=True), position) == wanted, f"seed {seed}"
    assert compared > CASES * 0.9
    assert won > CASES * 0.1


def test_late_positions_of_whole_games_are_decided_alike() -> None:
    compared = won = 0
    for seed in range(400):
        rng = Random(seed)
        rules = random_rules(rng, rows=7)
        position = random_position(rng, rules, rng.randint(8, 28), rng.randint(0, 6))
        try:
            wanted = fewest_steps(position, TOO_MANY)
        except OverflowError:
            continue
        compared += 1
        won += wanted is not None
        assert (length(solve(position), position) is None) == (wanted is None), f"seed {seed}"
        assert length(solve(position, shortest=True), position) == wanted, f"seed {seed}"
    assert compared > 200
