"""Streams of certified deals, and how hard a deal is."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from pyramid_lab.core import Deal, Outcome, Position, rule_set
from pyramid_lab.solver import Unwinnable, Winnable, careful_play, difficulty, facts_of, find_deals, solve
from pyramid_lab.solver.deals import fact_name


def test_certified_deals_are_won_by_their_lines() -> None:
    for found in find_deals("table", 5, start=100):
        assert found.deal == Deal.from_seed(found.seed)
        assert found.seed >= 100
        position = Position.start(found.rules, found.deal)
        for move in found.line:
            position = position.play(move)
        assert position.outcome is Outcome.WON
        assert found.facts == facts_of(found.line)


def test_no_winnable_seed_is_left_out() -> None:
    rules = rule_set("three-pile")
    seeds = [found.seed for found in islice(find_deals(rules, start=0), 10)]
    proved = [
        seed
        for seed in range(seeds[-1] + 1)
        if isinstance(solve(Position.start(rules, Deal.from_seed(seed))), Winnable)
    ]
    assert seeds == proved


def test_no_more_seeds_are_tried_than_asked() -> None:
    every = [found.seed for found in find_deals("three-pile", 5)]
    assert [found.seed for found in find_deals("three-pile", tries=every[-1] + 1)] == every
    assert [found.seed for found in find_deals("three-pile", tries=every[-1])] == every[:-1]
    with pytest.raises(ValueError, match="tries is 1 or more, not 0"):
        find_deals("three-pile", tries=0)


def test_unwinnable_deals() -> None:
    for found in find_deals("classic", 3, winnable=False):
        assert not found.winnable
        assert solve(Position.start(found.rules, found.deal)) == Unwinnable()


def test_rich_in_a_fact_means_that_the_line_makes_it_four_times() -> None:
    for found in find_deals("classic", 3, rich_in=["8+5"]):
        pairs = [move for move in found.line if sorted(card.rank for card in move.cards) == [5, 8]]
        assert len(pairs) == 4


def test_a_deal_of_a_wished_level_has_it() -> None:
    (found,) = find_deals("classic", 1, difficulty="hard")
    assert found.difficulty is not None
    assert found.difficulty.level == "hard"
    assert found.difficulty.win_share < 0.02
    assert found.difficulty == difficulty(Position.start(found.rules, found.deal), line=found.line)


def test_a_position_that_plays_itself_is_easy_and_one_without_a_choice_has_no_choice_points() -> None:
    # An apex 5 with its 8 in the stock: the careful player cannot miss it.
    rest = [card for card in Deal.from_seed(3) if card.text not in ("5c", "8d")]
    five = next(card for card in Deal.from_seed(3) if card.text == "5c")
    eight = next(card for card in Deal.from_seed(3) if card.text == "8d")
    deal = Deal((five, *rest[:27], eight, *rest[27:]))
    position = Position.of(rule_set("one-pass"), deal, gone=(1 << 28) - 2)
    measured = difficulty(position, plays=10)
    assert (measured.win_share, measured.level, measured.length) == (1.0, "easy", 2)
    assert measured.choice_points == 0


def test_the_careful_player_plays_the_same_game_from_the_same_random_numbers_and_stops_only_at_its_end() -> None:
    deal = Deal.from_seed(5)
    position = Position.start(rule_set("classic"), deal)
    last = careful_play(position, Random(0))
    assert last == careful_play(position, Random(0))
    assert last.outcome is not Outcome.PLAYING or not last.legal_discards()


@pytest.mark.parametrize(
    ("text", "target", "name"),
    [("8+5", 13, "5+8"), ("q+a", 13, "A+Q"), ("10+3", 13, "3+10"), ("13", 13, "K"), ("6 + 4", 10, "4+6")],
)
def test_facts_are_read_as_people_write_them(text: str, target: int, name: str) -> None:
    assert fact_name(text, target) == name


@pytest.mark.parametrize("text", ["5+7", "x", "", "5+8+0", "14"])
def test_what_is_no_fact_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is no fact of 13"):
        find_deals("classic", 1, rich_in=[text])


def test_wishes_that_cannot_be_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="winnable=True"):
        find_deals("classic", 1, winnable=False, rich_in=["5+8"])
    with pytest.raises(ValueError, match="difficulty"):
        find_deals("classic", 1, difficulty="fiendish")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="start"):
        find_deals("classic", 1, start=-1)
    with pytest.raises(ValueError, match="cannot be won"):
        (found,) = find_deals("classic", 1, winnable=False)
        difficulty(Position.start(found.rules, found.deal))
