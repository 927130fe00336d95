from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyramid_lab.core import DRAW, Deal, Position, rule_set
from pyramid_lab.insight import classroom, next_deals, solver_judge
from pyramid_lab.insight.simulate import SimulatedStudent, Skill
from pyramid_lab.solver import Unwinnable, Winnable, solve
from tests.insight.log_rows import PAIRS, Row


@cache
def played(*slow: str, games: int = 16) -> pd.DataFrame:
    known, counted = Skill(known_s=0.5, spread=0.3), Skill(counted_s=3.2, learning="counted")
    skills = {fact: counted if fact in slow else known for fact in PAIRS}
    student = SimulatedStudent("ann", skills, slip_counted=0.03, slip_known=0.0)
    return classroom([student], games, np.random.default_rng(21))[0]


class Finder:
    """Remembers what was wished for, and finds so many nothings."""

    def __call__(self, rules: Any, n: int, **wish: Any) -> list[Any]:
        self.rules, self.n, self.wish = rules, n, wish
        return [None] * n


def test_the_facts_that_are_not_fast_are_wished_for() -> None:
    find = Finder()
    found = next_deals(played("5+8", "6+7"), "ann", 3, find=find)
    assert set(found.rich_in) == {"5+8", "6+7"}
    assert (find.n, find.wish["difficulty"]) == (3, "easy")
    assert find.rules == rule_set("one-pass")  # as played last
    assert "5+8" in found.why
    assert found.why.count(".") == 1


def test_once_every_fact_is_fast_the_deals_are_hard() -> None:
    found = next_deals(played(games=24), "ann", find=Finder())
    assert (found.rich_in, found.difficulty) == ((), "hard")
    assert "Every pair is fast" in found.why


def test_without_tries_the_deals_are_easy(row: Row) -> None:
    find = Finder()
    found = next_deals(pd.DataFrame([row()]), "bo", find=find)
    assert (found.rich_in, found.difficulty, find.rules) == ((), "easy", "classic")
    assert "Nothing sure is known" in found.why


def test_where_no_deal_is_so_rich_the_wish_is_eased_and_it_says_so() -> None:
    def find(rules: Any, n: int, *, rich_in: tuple[str, ...], **wish: Any) -> list[Any]:
        return [None] * n if len(rich_in) < 2 else []

    found = next_deals(played("5+8", "6+7"), "ann", 2, find=find)
    assert len(found.deals) == 2
    assert len(found.rich_in) == 1
    assert "as far as deals of this size can be" in found.why


def test_the_deals_are_winnable_and_rich() -> None:
    found = next_deals(played("5+8"), "ann", 1, rules="classic")
    (deal,) = found.deals
    assert isinstance(solve(Position.start(rule_set("classic"), deal.deal)), Winnable)
    assert deal.facts["5+8"] >= 3


def test_other_deals_after_more_games() -> None:
    first, second = Finder(), Finder()
    next_deals(played("5+8", games=1), "ann", find=first)
    next_deals(played("5+8", games=2), "ann", find=second)
    assert first.wish["start"] != second.wish["start"]


def test_the_judge_says_what_a_move_did_to_the_win() -> None:
    judge = solver_judge()
    verdicts: dict[str, tuple[Position, Any]] = {}
    rules = rule_set("one-pass")
    for seed in range(1000, 1080):
        position = Position.start(rules, Deal.from_seed(seed))
        answer = solve(position)
        if isinstance(answer, Unwinnable):
            verdicts.setdefault("nothing to lose", (position, DRAW))
            continue
        assert isinstance(answer, Winnable)
        verdicts.setdefault("kept", (position, answer.line[0]))
        for move in answer.line:
            for other in position.legal_moves():
                if isinstance(solve(position.play(other)), Unwinnable):
                    verdicts.setdefault("lost", (position, other))
            position = position.play(move)
    assert set(verdicts) == {"nothing to lose", "kept", "lost"}
    for verdict, (position, move) in verdicts.items():
        assert judge(position, move) == verdict


def test_without_a_budget_nothing_is_proved() -> None:
    position = Position.start(rule_set("one-pass"), Deal.from_seed(1000))
    assert solver_judge(max_nodes=0)(position, DRAW) == "not proved"


@pytest.mark.parametrize("student", ["ann", "nobody"])
def test_why_is_one_sentence(student: str) -> None:
    why = next_deals(played("2+J", games=10), student, find=Finder()).why
    assert why.endswith(".")
    assert "nan" not in why
