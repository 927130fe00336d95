"""Rule sets as data: the named ones as the seeds have them, changes by name, and what cannot be, refused by name."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given

from pyramid_lab.core import (
    RULE_SETS,
    Card,
    Deal,
    Game,
    InvalidPositionError,
    Position,
    Rules,
    RulesError,
    pack,
    rule_set,
)
from tests.core.core_game import put_up, rules_pair
from tests.core.rule_changes import rule_changes
from tests.core.slow_game import NAMED


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_named_rule_set_has_the_fields_of_its_seed(name: str) -> None:
    rules = rule_set(name)
    for key, value in NAMED[name].items():
        if key == "scoring":
            for kind, points in value.items():
                assert getattr(rules.scoring, kind) == points, kind
        elif key == "useful_redeal" and rules.redeals == 0:
            continue  # without redeals it says nothing
        else:
            assert getattr(rules, key) == value, key
    assert rules.name == name
    assert rules.title
    assert rules.source


def test_the_rule_sets_by_name() -> None:
    assert list(RULE_SETS) == ["classic", "one-pass", "cardems", "table", "three-pile", "microsoft", "par"]
    assert rule_set(RULE_SETS["par"]) is RULE_SETS["par"]
    with pytest.raises(TypeError):
        RULE_SETS["mine"] = RULE_SETS["par"]  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        RULE_SETS["par"].redeals = 5  # type: ignore[misc]


@given(rule_changes())
def test_rules_come_back_from_their_values(changes: tuple[str, dict[str, Any]]) -> None:
    rules, _ = rules_pair(*changes)
    assert Rules.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    assert rule_set(json.loads(json.dumps(rules.to_dict()))) == rules
    assert rules.n_pyramid == sum(range(1, rules.rows + 1))
    assert rules.pack_size == len(pack(rules.target))
    assert all(line.endswith(".") for line in rules.describe())


def test_a_change_lays_over_its_base() -> None:
    changed = Rules.from_dict({"base": "classic", "redeals": 0, "scoring": {"card": 7}})
    assert (changed.redeals, changed.scoring.card) == (0, 7)
    assert changed.scoring.row_bonus == RULE_SETS["classic"].scoring.row_bonus
    assert changed.name != "classic"
    assert changed == RULE_SETS["classic"].replace(redeals=0, scoring={"card": 7})
    assert Rules.from_dict({"base": "classic"}) == RULE_SETS["classic"]
    assert Rules.from_dict({"base": "classic", "redeals": 2}) == RULE_SETS["classic"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"redeal": 1}, "unknown rule 'redeal' (did you mean 'redeals'?)"),
        ({"scoring": {"cards": 1}}, "unknown rule 'scoring.cards' (did you mean 'scoring.card'?)"),
        ({"rows": 2}, "rows is a whole number from 3 to 7, not 2"),
        ({"rows": 8}, "rows is a whole number from 3 to 7, not 8"),
        ({"rows": 4.0}, "rows is a whole number"),
        ({"rows": True}, "rows is a whole number"),
        ({"target": 9}, "target is a whole number from 10 to 13, not 9"),
        ({"target": 14}, "target is a whole number from 10 to 13, not 14"),
        ({"draw": 0}, "draw is a whole number from 1 to 3"),
        ({"draw": 4}, "draw is a whole number from 1 to 3"),
        ({"piles": 2}, "piles is 1 or 3, not 2"),
        ({"redeals": -1}, "redeals"),
        ({"redeals": "often"}, "redeals is a whole number from 0 to 999, or 'unlimited', not 'often'"),
        ({"redeals": 10**30}, f"redeals is a whole number from 0 to 999, or 'unlimited', not {10**30}"),
        ({"win": "waste"}, "win is 'pyramid' or 'all', not 'waste'"),
        ({"combo": 1}, "combo is true or false, not 1"),
        ({"stock_top_in_play": "yes"}, "stock_top_in_play is true or false"),
        ({"useful_redeal": 0}, "useful_redeal"),
        ({"scoring": 5}, "scoring is a table of points"),
        ({"scoring": {"card": "5"}}, "scoring.card is a whole number"),
        ({"scoring": {"clear": 100}}, "scoring.clear is a list of whole numbers"),
        ({"scoring": {"clear": [1.5]}}, "each number of scoring.clear"),
        ({"scoring": {"row_bonus": [1, 2]}}, "scoring.row_bonus needs 7 numbers"),
        ({"piles": 3}, "piles = 3 needs draw = 3"),
        ({"piles": 3, "draw": 3, "redeals": 1}, "piles = 3 needs redeals = 0"),
        ({"piles": 3, "draw": 3, "stock_top_in_play": True}, "piles = 3 does not go with stock_top_in_play"),
        ({"piles_pair": True}, "piles_pair needs piles = 3"),
        ({"stock_waste_pair": True}, "stock_waste_pair needs stock_top_in_play"),
    ],
)
def test_what_cannot_be_is_refused_by_name(values: dict[str, Any], said: str) -> None:
    with pytest.raises(RulesError) as error:
        Rules.from_dict(values)
    assert said in str(error.value)


@pytest.mark.parametrize("name", ["clasic", "", "CLASSIC", 5, None, ["classic"]])
def test_a_rule_set_that_is_not_there(name: Any) -> None:
    with pytest.raises(RulesError, match="no rule set is called") as error:
        rule_set(name)
    assert "three-pile" in str(error.value)


def test_a_smaller_target_cuts_the_pack() -> None:
    rules = rule_set({"base": "table", "target": 10, "rows": 4})
    assert (rules.pack_size, rules.n_pyramid) == (40, 10)
    position = Game(rules, Deal.from_seed(2, 10)).position
    assert (position.pyramid_left, position.stock_left) == (10, 30)
    # 10 goes alone as the king does at 13, and two fives are a pair.
    fives = put_up(rules, {(1, 1): "5c"}, waste="5d")
    assert [str(move) for move in fives.legal_moves()] == ["5c+5d"]
    ten = put_up(rules, {(1, 1): "Tc"})
    assert [str(move) for move in ten.legal_moves()] == ["Tc"]


def test_a_deal_of_another_pack_is_refused() -> None:
    with pytest.raises(InvalidPositionError, match="a pack for pairs to 10"):
        Game("classic", Deal.from_seed(1, 10))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"gone": 1}, "cannot be gone while"),
        ({"gone": 1 << 52}, "outside 0 to 51"),
        ({"gone": -1}, "outside 0 to 51"),
        ({"next": 27}, "not 27"),
        ({"next": 53}, "not 53"),
        ({"redeals_used": 3}, "3 redeals used"),
        ({"redeals_used": -1}, "-1 redeals used"),
        ({"combo": -1}, "a combo is 0 or more"),
    ],
)
def test_a_position_that_cannot_be(values: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidPositionError) as error:
        Position.of(rule_set("classic"), Deal.from_seed(1), **values)
    assert said in str(error.value)


def test_positions_and_cards_do_not_change() -> None:
    position = Position.start(rule_set("classic"), Deal.from_seed(1))
    for thing, name in ((position, "score"), (Card.parse("Kh"), "rank"), (position.legal_moves()[0], "cards")):
        with pytest.raises(AttributeError, match="does not change"):
            setattr(thing, name, 5)
