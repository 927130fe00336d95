"""The published and the independently computed results, deal by deal. Every line is replayed through the rules."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pyramid_lab.core import Deal, Outcome, Position, Rules, rule_set
from pyramid_lab.solver import Unwinnable, Winnable, solve

DATA = Path(__file__).parents[1] / "data" / "solver"

RULES = {
    "B": rule_set("one-pass"),
    "A2": rule_set("classic"),
    "A1": rule_set({"base": "classic", "redeals": 1}),
    "A0": rule_set({"base": "classic", "redeals": 0}),
    "C": rule_set("cardems"),
    "D3": rule_set("three-pile"),
}

SHORTEST = {"B": 50, "A2": 20, "A0": 50, "C": 15, "D3": 40}  # deals, so that all takes seconds


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def won_by(answer: Winnable, rules: Rules, deal: Deal) -> bool:
    position = Position.start(rules, deal)
    for move in answer.line:
        position = position.play(move)
    return position.outcome is Outcome.WON


@pytest.mark.parametrize("name", RULES)
def test_500_deals_are_decided_right(name: str) -> None:
    rules = RULES[name]
    for row in rows("six_rule_sets.csv"):
        deal = Deal.from_text(row["deal"])
        answer = solve(Position.start(rules, deal))
        assert isinstance(answer, Winnable if row[name] == "1" else Unwinnable), row["deal"]
        if isinstance(answer, Winnable):
            assert won_by(answer, rules, deal), row["deal"]


def test_500_microsoft_decks_are_decided_right() -> None:
    rules = rule_set("microsoft")
    for row in rows("microsoft_decks.csv"):
        deal = Deal.from_text(row["deck"])
        answer = solve(Position.start(rules, deal))
        assert isinstance(answer, Winnable if row["solvable"] == "1" else Unwinnable), row["deal_id"]
        if isinstance(answer, Winnable):
            assert won_by(answer, rules, deal), row["deal_id"]


@pytest.mark.parametrize("name", ["B", "A2", "A0", "C", "D3"])
def test_shortest_lines_have_the_proved_number_of_steps(name: str) -> None:
    rules = RULES[name]
    proved = [row for row in rows("six_rule_sets.csv") if row[f"steps_{name}"]]
    for row in proved[:: max(1, len(proved) // SHORTEST[name])]:
        deal = Deal.from_text(row["deal"])
        answer = solve(Position.start(rules, deal), shortest=True)
        assert isinstance(answer, Winnable)
        assert won_by(answer, rules, deal)
        assert len(answer.line) == int(row[f"steps_{name}"]), row["deal"]


def test_shortest_lines_of_the_microsoft_decks() -> None:
    rules = rule_set("microsoft")
    for row in rows("microsoft_decks.csv")[::10]:
        deal = Deal.from_text(row["deck"])
        answer = solve(Position.start(rules, deal), shortest=True)
        steps = str(len(answer.line)) if isinstance(answer, Winnable) else ""
        assert steps == row["optimal_steps"], row["deal_id"]


def test_a_dead_waste_card_still_lies_on_the_one_below() -> None:
    """This deal has been called winnable by a search that took dead cards out of the waste."""
    text = (
        "6H 4C JC QH 7H JD AH 7S 9D AD TS KS 9C 4H 6S TD AC 2H QS 3S 5C 2D 6C 7D 3C JS 4S TH 9H 2C 8H KC 6D 5D KH "
        "8D 2S 3H AS QC 8S 9S 7C TC 4D 3D 5H KD 5S JH QD 8C"
    )
    assert solve(Position.start(RULES["A1"], Deal.from_text(text))) == Unwinnable()
