"""The Python side of a flash round: what is asked, what is said, what is logged."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from pyramid_lab.board.flash import Flash, prompts_of
from pyramid_lab.core import Deal
from pyramid_lab.core.rules import RulesError
from pyramid_lab.log.events import Event, fact_of, facts_to, rules_of


class Round:
    """A flash round with its log, answered as the page would."""

    def __init__(self, **options: Any) -> None:
        self.log: list[Event] = []
        self.fail = False
        options.setdefault("seed", lambda: 7)
        self.flash = Flash(
            on_event=self._keep,
            student_id="s1",
            session_id="t1",
            now=lambda: datetime(2026, 9, 7, 8, 0, tzinfo=UTC),
            **options,
        )

    def _keep(self, event: Event) -> None:
        if self.fail:
            raise OSError("disk full")
        self.log.append(event)

    @property
    def view(self) -> dict[str, Any]:
        return self.flash.view

    def say(self, value: object, **more: Any) -> None:
        content = {"kind": "answer", "number": self.view["number"], "value": value, "rt_ms": 900, "input": "mouse"}
        self.flash._receive(None, content | more, None)

    def right(self, **more: Any) -> None:
        prompt = self.flash.prompt
        assert prompt is not None
        self.say(self.flash.rules.target - prompt.rank, **more)

    @property
    def fact(self) -> str:
        prompt = self.flash.prompt
        assert prompt is not None
        return fact_of([prompt], self.flash.rules.target)

    def answer_all(self, *, slow: str = "", wrong: str = "") -> list[str]:
        """Answer to the round's end, one fact slowly or first wrongly whenever it comes; the facts in order."""
        asked = []
        while self.flash.prompt is not None:
            asked.append(self.fact)
            if self.fact == wrong:
                self.say(self.flash.prompt.rank)
            self.right(rt_ms=5000 if self.fact == slow else 900)
        return asked


def test_it_asks_for_every_card_but_those_that_go_alone_in_the_deals_order() -> None:
    deal = Deal.from_seed(7)
    asked = prompts_of(deal)
    assert len(asked) == 48
    assert asked == tuple(card for card in deal.cards if card.rank != 13)
    assert {card.rank for card in prompts_of(deal, ["5+8"])} == {5, 8}
    assert len(prompts_of(Deal.from_seed(7, 10))) == 36


@pytest.mark.parametrize("target", [10, 11, 12, 13])
def test_every_fact_comes_once_before_one_comes_again(target: int) -> None:
    facts = facts_to(target)[:-1]
    orders = set()
    for seed in range(25):
        asked = Round(seed=lambda seed=seed: seed, count=12, target=target).answer_all()
        assert sorted(asked[: len(facts)]) == sorted(facts)
        assert all(one != other for one, other in pairwise(asked))
        orders.add(tuple(asked[: len(facts)]))
    assert len(orders) > 10  # no order to learn by heart


@pytest.mark.parametrize("fact", facts_to(13)[:-1])
@pytest.mark.parametrize("how", ["slow", "wrong"])
def test_what_was_slow_or_wrong_in_this_round_comes_more_often(how: str, fact: str) -> None:
    for seed in range(10):
        asked = Round(seed=lambda seed=seed: seed, count=12).answer_all(**{how: fact})
        assert len(asked) == 12
        assert asked.count(fact) == 3  # once with all, and in each half round after that
        assert min(asked.count(other) for other in facts_to(13)[:-1]) == 1


def test_a_fact_that_comes_again_comes_as_its_other_card() -> None:
    game = Round(facts=["5+8"], count=4)
    asked = []
    while game.flash.prompt is not None:
        asked.append(game.flash.prompt.rank)
        game.right()
    assert set(asked) == {5, 8}
    assert asked[:2] == asked[2:]
    assert asked[0] != asked[1]


def test_a_right_answer_says_the_sum_logs_it_and_asks_for_the_next() -> None:
    game = Round()
    prompt = game.flash.prompt
    assert prompt is not None
    assert game.view["prompt"]["label"] == prompt.label
    game.right()
    assert game.flash.prompt != prompt
    assert game.view["message"].endswith("is 13.")
    assert game.view["tone"] == "good"
    deal, attempt = game.log
    assert (deal.event_type, deal.event_index) == ("deal", 0)
    assert (attempt.event_type, attempt.outcome, attempt.rt_ms, attempt.event_index) == ("attempt", "correct", 900, 1)
    assert (attempt.first_card, attempt.total, attempt.clock) == (prompt.text, 13, "browser")
    assert attempt.assistance == "flash"  # no time of a board is compared with it
    assert attempt.deal == Deal.from_seed(7).text
    assert rules_of(attempt.rule_set).target == 13


def test_a_wrong_answer_says_what_they_make_and_asks_for_the_same_card_again() -> None:
    game = Round(facts=["5+8"])
    prompt = game.flash.prompt
    assert prompt is not None
    game.say(prompt.rank)
    total = 2 * prompt.rank
    assert game.view["message"] == f"{prompt.rank} + {prompt.rank} is {total}, not 13. Try another."
    assert game.flash.prompt == prompt
    assert (game.log[-1].outcome, game.log[-1].total, game.log[-1].fact) == ("incorrect", total, "5+8")


def test_the_same_message_twice_counts_once_and_an_old_one_not_at_all() -> None:
    game = Round()
    number = game.view["number"]
    game.right()
    rows = len(game.log)
    game.say(5, number=number)
    assert len(game.log) == rows
    assert game.view["number"] == number + 1


@pytest.mark.parametrize("value", [0, 13, -1, 99, "5", None, 2.5, True])
def test_what_is_no_answer_changes_nothing(value: object) -> None:
    game = Round()
    game.say(value)
    assert game.log == []
    assert game.view["number"] == 0


def test_a_round_ends_and_another_can_be_asked_for() -> None:
    game = Round(count=2)
    game.right()
    assert game.view["again"] == ""
    game.right()
    assert game.flash.prompt is None
    assert game.view["again"] == "Another round"
    assert [event.event_type for event in game.log] == ["deal", "attempt", "attempt", "end"]
    game.flash._receive(None, {"kind": "again", "number": game.view["number"]}, None)
    assert game.view["done"] == 0
    game.right()
    assert len({event.game_id for event in game.log}) == 2


def test_what_cannot_be_logged_is_not_counted_and_said() -> None:
    game = Round()
    prompt = game.flash.prompt
    game.fail = True
    game.right()
    assert game.flash.prompt == prompt
    assert "not counted" in game.view["message"]
    game.fail = False
    game.right()
    assert [event.event_type for event in game.log] == ["deal", "attempt"]


@pytest.mark.parametrize("rt_ms", [None, -5, 10**9, "900", True])
def test_a_time_that_cannot_be_is_left_out_with_a_reason(rt_ms: object) -> None:
    game = Round()
    prompt = game.flash.prompt
    assert prompt is not None
    game.say(13 - prompt.rank, rt_ms=rt_ms, why="away")
    assert (game.log[-1].rt_ms, game.log[-1].reason) == (None, "away")


def test_a_time_zone_that_cannot_be_kept_is_left_out() -> None:
    game = Round()
    game.say(1, tz=["x"])
    assert game.log[-1].tz is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": 0}, "1 card or more, not 0"),
        ({"facts": ["5+9"]}, "'5\\+9' is no pair that makes 13"),
        ({"facts": ["K"]}, "'K' is no pair"),
        ({"target": 9}, "target"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, RulesError), match=words):
        Round(**options)
