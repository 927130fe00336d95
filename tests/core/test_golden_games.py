"""Whole games whose every point was worked out by hand from the rule sets; see ``tests/data/golden_games.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pyramid_lab.core import Deal, Game, Move, rule_set
from tests.core.core_game import SEED_RULES

GAMES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "golden_games.json").read_text(encoding="utf-8")
)["games"]


def begin(golden: dict[str, Any]) -> Game:
    rules = rule_set(golden["rules"])
    return Game(rules, Deal.from_text(golden["deal"], rules.target))


def final(game: Game) -> dict[str, Any]:
    position = game.position
    return {
        "score": position.score,
        "outcome": game.outcome.value,
        "pyramid_left": position.pyramid_left,
        "stock": position.stock_left,
        "waste": position.waste_left,
        "redeals_left": position.redeals_left,
    }


def test_every_rule_set_of_the_seeds_has_a_game() -> None:
    bases = {golden["rules"] if isinstance(golden["rules"], str) else golden["rules"]["base"] for golden in GAMES}
    assert bases >= {*SEED_RULES, "microsoft", "par"}


@pytest.mark.parametrize("golden", GAMES, ids=lambda golden: golden["name"])
def test_the_points_of_every_move(golden: dict[str, Any]) -> None:
    game = begin(golden)
    assert game.position.score == golden["start"]
    for number, row in enumerate(golden["moves"], start=1):
        before = game.position.score
        after = game.play(Move.parse(row["move"]))
        assert after.score - before == sum(row["points"]), f"move {number}, {row}"
        assert (after.score, after.combo) == (row["score"], row["combo"]), f"move {number}, {row}"
        ended = number == len(golden["moves"])
        assert game.outcome == (golden["final"]["outcome"] if ended else "playing"), f"move {number}, {row}"
    assert final(game) == golden["final"]


@pytest.mark.parametrize("golden", GAMES, ids=lambda golden: golden["name"])
def test_undone_to_the_start_and_redone_to_the_end(golden: dict[str, Any]) -> None:
    game = begin(golden)
    start = game.position
    for row in golden["moves"]:
        game.play(Move.parse(row["move"]))
    end = game.position
    for row in reversed(golden["moves"]):
        assert (game.position.score, game.position.combo) == (row["score"], row["combo"])
        game.undo()
    assert game.position == start
    assert not game.can_undo
    for _ in golden["moves"]:
        game.redo()
    assert game.position == end
    assert final(game) == golden["final"]


def test_the_most_the_seeds_promise() -> None:
    best = {golden["name"]: golden["final"]["score"] for golden in GAMES}
    assert best["classic: the perfect game"] == 960
    assert best["microsoft: the highest score, 5 a match"] == 1290
    assert best["microsoft: the highest score, 5 a card"] == 1410
    assert best["par: lost with six cards left"] == -6


def test_a_table_game_ends_when_the_player_says_so() -> None:
    golden = next(golden for golden in GAMES if golden["rules"] == "table")
    game = begin(golden)
    for row in golden["moves"][:6]:
        game.play(Move.parse(row["move"]))
    assert game.outcome == "playing"
    assert game.finish() == "lost"
    assert final(game) == {**golden["final"], "stock": 22, "waste": 0}
    game.undo()
    assert game.outcome == "playing"
