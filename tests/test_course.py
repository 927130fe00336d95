"""What the lessons call: the deal chosen for a child, the verdict on a position, odds; and what the lessons claim."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from pyramid_lab import course
from pyramid_lab.board.flash import Flash
from pyramid_lab.core import Card, Deal, Game, Move, Position, rule_set
from pyramid_lab.core.rules import Rules
from pyramid_lab.course import (
    Need,
    choose_deal,
    class_report,
    compare_rules,
    needs_of,
    odds,
    odds_picture,
    picture,
    play_next,
    simulated_class,
    verdict,
    who_plays,
)
from pyramid_lab.insight import practise, random_student
from pyramid_lab.lesson import shared_store
from pyramid_lab.log.events import Event
from pyramid_lab.log.names import Names
from pyramid_lab.log.store import Store
from pyramid_lab.solver import Unwinnable, Winnable, solve

ONE_PASS = rule_set("one-pass")


def tries(fact: str, count: int, *, wrong: int = 0, ms: int = 1000, **more: object) -> Iterator[Event]:
    for number in range(count):
        fields = {"assistance": "none", "outcome": "incorrect" if number < wrong else "correct"} | more
        yield Event(
            event_id=str(uuid.uuid4()),
            student_id="s1",
            session_id="t1",
            game_id="g1",
            deal=Deal.from_seed(1).text,
            rule_set="one-pass",
            event_index=number,
            event_type="attempt",
            t_utc=datetime(2026, 9, 7, 8, 0, tzinfo=UTC),
            rt_ms=ms,
            fact=fact,
            **fields,  # type: ignore[arg-type]
        )


def everything(**slow: int) -> list[Event]:
    return [
        event
        for fact in ("A+Q", "2+J", "3+10", "4+9", "5+8", "6+7")
        for event in tries(fact, 10, ms=slow.get(fact.replace("+", "_"), 1000))
    ]


def test_needs_begin_with_wrong_facts_then_rare_ones_then_slow_ones() -> None:
    log = [
        *tries("A+Q", 10, ms=900),
        *tries("2+J", 10, ms=1500),
        *tries("3+10", 3),
        *tries("4+9", 10, wrong=3),
        *tries("5+8", 10, ms=2500),
        *tries("6+7", 10, wrong=5),
    ]
    assert needs_of(log) == (
        Need("6+7", "wrong"),
        Need("4+9", "wrong"),
        Need("3+10", "few"),
        Need("5+8", "slow"),
        Need("2+J", "slow"),
        Need("A+Q", "slow"),
    )


def test_only_the_newest_tries_say_what_is_needed_now() -> None:
    log = [*tries("6+7", 30, wrong=30), *tries("6+7", 20, ms=500), *everything(**{"5_8": 3000})]
    assert needs_of(log)[0] == Need("5+8", "slow")


def test_hints_flash_rounds_and_misclicks_do_not_make_a_fact_slow_or_wrong() -> None:
    log = everything(**{"5_8": 2000})
    log += tries("A+Q", 10, ms=9000, assistance="hint")
    log += tries("2+J", 10, ms=9000, assistance="flash")
    log += tries("3+10", 10, wrong=10, error_class="misclick")
    assert needs_of(log)[0] == Need("5+8", "slow")


def test_without_a_try_nothing_is_needed_and_any_winnable_deal_will_do() -> None:
    assert needs_of([]) == ()
    chosen = choose_deal([])
    assert chosen.needs == ()
    assert isinstance(solve(Position.start(ONE_PASS, chosen.deal)), Winnable)
    assert "can be won" in chosen.reason


@pytest.mark.parametrize("name", ["one-pass", "classic", "three-pile"])
def test_the_chosen_deal_can_be_won_is_rich_in_the_needed_facts_and_says_so(name: str) -> None:
    rules = rule_set(name)
    log = everything(**{"5_8": 4000, "6_7": 3000})
    chosen = choose_deal(log, rules)
    assert [need.fact for need in chosen.needs] == ["5+8", "6+7"]
    assert isinstance(solve(Position.start(rules, chosen.deal)), Winnable)
    inside = chosen.deal.cards[: rules.n_pyramid]
    counted = tuple(sum(card.rank in ranks for card in inside) for ranks in ((5, 8), (6, 7)))
    assert chosen.cards == counted
    assert min(counted) >= 5  # 28 of 52 cards hold 4.3 of a fact's 8 on average
    for words in ("5+8", "6+7", "longest", *map(str, counted)):
        assert words in chosen.reason


def test_a_deal_that_was_played_is_not_chosen_again_and_the_same_log_gives_the_same_deal() -> None:
    log = everything(**{"5_8": 4000})
    first = choose_deal(log).deal
    assert choose_deal(log).deal == first
    assert choose_deal([*log, _played(first)]).deal != first


def _played(deal: Deal) -> Event:
    return Event(
        event_id=str(uuid.uuid4()),
        student_id="s1",
        session_id="t1",
        game_id="g2",
        deal=deal.text,
        rule_set="one-pass",
        event_index=0,
        event_type="deal",
        t_utc=datetime(2026, 9, 7, 9, 0, tzinfo=UTC),
    )


def test_rules_under_which_nothing_can_be_won_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "winnable_deals", lambda rules, seeds: iter(()))
    with pytest.raises(ValueError, match="can be won under One pass"):
        choose_deal([])


def test_the_verdict_on_a_position() -> None:
    start = picture("one-pass", 1330, rows=4)
    assert verdict(start).startswith("Yes. There is a way, ")
    assert verdict(start.play(Move.parse("Ad+Qd"))).startswith("No.")
    game = Game(ONE_PASS.replace(rows=3), Deal.from_seed(212))
    for move in ["Kc", "Js+2d", "6h+7s", "draw", "draw", "draw", "draw"]:
        game.play(Move.parse(move))
    assert verdict(game.position) == "Yes. There is a way, 1 move long. Can you find one?"
    game.play(Move.parse("4s+9s"))
    assert verdict(game.position) == "It is won already!"


def test_odds_are_counted_deal_by_deal_with_an_interval() -> None:
    table = odds("one-pass", 80)
    # Which deals of the first 80 can be won, from the solver's own proofs.
    truth = [isinstance(solve(Position.start(ONE_PASS, Deal.from_seed(seed))), Winnable) for seed in range(1, 81)]
    assert (table["answer"] == "winnable").tolist() == truth
    assert table["moves"].notna().tolist() == truth
    last = table.iloc[-1]
    assert last["n_winnable"] == sum(truth)
    # A flat prior: (hits + 1) / (n + 2).
    assert last["share"] == pytest.approx((sum(truth) + 1) / 82)
    assert last["low"] < sum(truth) / 80 < last["high"]
    page = odds_picture(table).data
    assert f"{sum(truth)} of 80 deals can be won" in page
    assert "alt=" in page


def test_the_rules_beside_each_other_say_what_the_rules_say() -> None:
    page = compare_rules("classic", "cardems").data
    for name in ("classic", "cardems"):
        assert rule_set(name).title in page
        for line in rule_set(name).describe():
            assert line.replace("'", "&#x27;") in page


def test_the_report_shows_a_simulated_class_of_ten_until_somebody_has_played(tmp_path: Path) -> None:
    events, names = simulated_class()
    assert events["student_id"].nunique() == len(names) == 10
    page = class_report(place=tmp_path / "log.sqlite3").data
    assert "Nobody has played yet" in page
    for name in names.values():
        assert name in page


# What the lessons say of their deals.


@pytest.mark.parametrize(
    ("rules", "seed"),
    [
        (ONE_PASS.replace(rows=3), 212),
        (ONE_PASS.replace(rows=4), 112),
        (ONE_PASS.replace(rows=4), 145),
        (ONE_PASS.replace(rows=5), 137),
        (ONE_PASS, 268),
        (ONE_PASS, 321),
        (ONE_PASS.replace(rows=5), 491),
        (ONE_PASS.replace(rows=5), 184),
        (rule_set("three-pile").replace(rows=5), 2),
        (rule_set("classic"), 3),
        (rule_set("cardems"), 17),
        (rule_set("table"), 63),
        (ONE_PASS.replace(rows=4, target=10), 40),
        (ONE_PASS.replace(rows=4, target=11), 106),
        (ONE_PASS.replace(rows=4, target=12), 67),
    ],
)
def test_every_deal_of_a_lesson_can_be_won(rules: Rules, seed: int) -> None:
    assert isinstance(solve(Position.start(rules, Deal.from_seed(seed, rules.target))), Winnable)


def test_lesson_2_four_cards_are_free_and_four_and_jack_cover_the_king() -> None:
    position = picture("one-pass", 112, rows=4)
    assert [card.text for card in position.exposed] == ["7h", "9d", "4c", "9c"]
    assert [card.text for card in position.coverers(Card.parse("Kd"))] == ["4s", "Jc"]


def test_lesson_4_a_nine_has_two_partners_and_every_pair_can_still_win() -> None:
    position = picture("one-pass", 491, rows=5)
    pairs = position.legal_discards()
    assert set(pairs) == {Move.parse("8h+5s"), Move.parse("9c+4s"), Move.parse("9c+4h")}
    assert all(isinstance(solve(position.play(pair)), Winnable) for pair in pairs)


def test_lesson_5_the_first_pair_in_the_boards_order_is_a_trap() -> None:
    game = Game(ONE_PASS.replace(rows=4), Deal.from_seed(1330))
    position = game.position
    trap, good, king = (
        Move.parse("Ad+Qd"),
        Move.parse("Ah+Qd"),
        [m for m in position.legal_discards() if len(m.cards) == 1],
    )
    assert set(position.legal_discards()) == {trap, good, *king}
    assert [move.cards[0].rank for move in king] == [13]
    assert isinstance(solve(position.play(trap)), Unwinnable)
    assert isinstance(solve(position.play(good)), Winnable)
    assert game.hint() == trap  # the first one
    answer = solve(position, shortest=True)
    assert isinstance(answer, Winnable)
    assert len(answer.line) == 10


def test_lesson_7_the_sums() -> None:
    scoring = rule_set("classic").scoring
    assert sorted(scoring.row_bonus) == [25, 50, 75, 100, 125, 150, 175]
    assert 52 * 5 + sum(scoring.row_bonus) == 960


def test_lesson_10_of_a_hundred_deals_a_handful_can_be_won() -> None:
    # "Only about one deal in twenty", lesson 3.
    share = (odds("one-pass", 1000)["answer"] == "winnable").mean()
    assert 1 / 30 < share < 1 / 15


def test_a_class_of_ten_that_played_the_course_gets_its_report(tmp_path: Path) -> None:
    """Boards of every lesson's rules, and flash rounds, of ten simulated children in one log."""
    rng = np.random.default_rng(8)
    lessons = (
        ONE_PASS.replace(rows=3),
        ONE_PASS.replace(rows=5),
        ONE_PASS,
        rule_set("three-pile"),
        rule_set("classic"),
        rule_set("cardems"),
        rule_set("table"),
        ONE_PASS.replace(rows=4, target=10),
    )
    place = tmp_path / "log.sqlite3"
    with Store(place) as store:
        for number in range(10):
            child = random_student(f"child-{number}", rng)
            younger = random_student(child.student_id, rng, target=10)
            for week, rules in enumerate(lessons):
                who = younger if rules.target == 10 else child
                start = datetime(2026, 9, 7, 8, 0, tzinfo=UTC) + timedelta(weeks=week)
                for event in practise(who, 2, rng, rules=rules, start=start):
                    store.append(event)
                flash_round(store, child.student_id, rules.target, start)
        page = class_report(place=place).data
    assert "Nobody has played" not in page
    for number in range(10):
        assert f"child-{number}" in page
    assert "10 students" in page


def flash_round(store: Store, student_id: str, target: int, start: datetime) -> None:
    flash = Flash(
        target=target, count=6, seed=lambda: 5, on_event=store.append, student_id=student_id, now=lambda: start
    )
    while flash.prompt is not None:
        value = target - flash.prompt.rank
        answer = {"kind": "answer", "number": flash.view["number"], "value": value, "rt_ms": 1200, "input": "touch"}
        flash._receive(None, answer, None)


def test_the_names_are_asked_for_where_there_are_any_but_not_on_a_page_of_a_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYRAMID_LAB_STORE", str(tmp_path / "log.sqlite3"))
    monkeypatch.delenv("PYRAMID_LAB_STUDENT", raising=False)
    assert who_plays() is None
    store = shared_store()
    person = Names.of(store).add(store, "Émile <b>", class_name="3a")
    picker = who_plays()
    assert person.student_id in [value for _, value in picker.children[0].options]
    assert "Run All Cells" in picker.children[-1].value
    monkeypatch.setenv("PYRAMID_LAB_STUDENT", person.student_id)  # as if chosen
    assert who_plays().person == person
    monkeypatch.setenv("PYRAMID_LAB_SESSION", "sitting-1")
    assert who_plays() is None


def test_the_next_deal_is_proved_under_the_rules_it_is_played_by_and_goes_on_until_its_end(tmp_path: Path) -> None:
    place = tmp_path / "log.sqlite3"
    board = play_next("one-pass", rows=5, hints=False, place=place)
    rules = ONE_PASS.replace(rows=5)
    assert board.game.rules == rules
    assert board.modes.hints is False
    first = next(s for s in range(1, 99) if isinstance(solve(Position.start(rules, Deal.from_seed(s))), Winnable))
    assert board.game.deal == Deal.from_seed(first)
    assert play_next("one-pass", rows=5, place=place).game.deal == board.game.deal
