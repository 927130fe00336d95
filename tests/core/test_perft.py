"""Counted legal move sequences ("perft"): the core against numbers that the slow game counted, and against it live."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_lab.core import RULE_SETS, Deal, Move, Position
from tests.core.core_game import game_pair, rules_pair
from tests.core.count_moves import PERFT_FILE, VARIANTS
from tests.core.count_moves import position as slow_position
from tests.core.rule_changes import rule_changes
from tests.core.slow_game import NAMED, SlowGame, count, shuffled, walk

POSITIONS: list[dict[str, Any]] = json.loads(PERFT_FILE.read_text(encoding="utf-8"))["positions"]


def core_count(position: Position, depth: int) -> int:
    moves = position.legal_moves()
    if depth == 1:
        return len(moves)
    return sum(core_count(position.play(move), depth - 1) for move in moves)


def name(entry: dict[str, Any]) -> str:
    changes = " ".join(f"{key}={value}" for key, value in entry["changes"].items())
    return f"{entry['base']} {changes} after {len(entry['moves'].split())}".replace("  ", " ")


def test_every_named_rule_set_is_counted() -> None:
    assert {entry["base"] for entry in POSITIONS if not entry["changes"]} == set(RULE_SETS) == set(NAMED)
    assert len(POSITIONS) == 4 * len(VARIANTS)


@pytest.mark.parametrize("entry", POSITIONS, ids=name)
def test_counts_of_the_slow_game(entry: dict[str, Any]) -> None:
    rules, _ = rules_pair(entry["base"], entry["changes"])
    position = Position.start(rules, Deal.from_text(entry["deal"], rules.target))
    for move in entry["moves"].split():
        position = position.play(Move.parse(move))
    assert [core_count(position, depth + 1) for depth in range(len(entry["counts"]))] == entry["counts"]


@pytest.mark.parametrize("entry", POSITIONS, ids=name)
def test_the_file_says_what_the_slow_game_says_today(entry: dict[str, Any]) -> None:
    _, slow_rules = rules_pair(entry["base"], entry["changes"])
    slow = slow_position(slow_rules, entry["deal"].split(), entry["moves"].split())
    shallow = [depth for depth, number in enumerate(entry["counts"], start=1) if number <= 60]
    assert [count(slow, depth) for depth in shallow] == [entry["counts"][depth - 1] for depth in shallow]


@given(rule_changes(), st.integers(0, 10_000), st.integers(0, 40))
def test_counts_under_any_rules(changes: tuple[str, dict[str, Any]], number: int, length: int) -> None:
    base, fields = changes
    _, slow_rules = rules_pair(base, fields)
    deal = shuffled(number, slow_rules["target"])
    game, slow = game_pair(base, fields, deal)
    for move, after in walk(SlowGame(slow_rules, deal), number, length):
        game.play(Move.parse(move))
        slow = after
    for depth in (1, 2, 3):
        assert core_count(game.position, depth) == count(slow, depth)
