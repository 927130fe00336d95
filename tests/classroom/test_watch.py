"""What the tutor is told of a class at play."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pyramid_lab.classroom.watch import HINTS_IN_A_ROW, QUIET_SECONDS, WRONG_IN_A_ROW, Watch
from pyramid_lab.core import Card, Deal, Move, Position, rule_set
from pyramid_lab.log.events import Event, new_id, record

# Row 7 of the deal of seed 17 lies open: 9s Qc Ad 8d 8c 9c 8h, and the stock begins with 2d.
START = Position.start(rule_set("classic"), Deal.from_seed(17))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def event(kind: str, *cards: str, student: str = "s-ana", at: float = 0.0, **more: object) -> Event:
    return record(
        kind,
        START,
        [Card.parse(card) for card in cards],
        event_id=new_id(),
        student_id=student,
        session_id="sitting",
        game_id="game",
        event_index=0,
        t_utc=NOON + timedelta(seconds=at),
        **more,  # type: ignore[arg-type]
    )


def test_the_deal_is_the_one_this_test_speaks_of() -> None:
    assert [str(card) for card in START.exposed][:7] == ["9s", "Qc", "Ad", "8d", "8c", "9c", "8h"]
    assert Move.parse("Qc+Ad") in START.legal_discards()


def test_right_and_wrong_tries_are_counted_and_blocked_ones_are_neither() -> None:
    watch = Watch()
    watch.hear([event("deal"), event("attempt", "Qc", "Ad"), event("attempt", "9s", "8d"), event("attempt", "Kd")], 5.0)
    progress = watch.progress_of("s-ana")
    assert (progress.games, progress.correct, progress.wrong) == (1, 1, 1)
    assert watch.progress_of("s-ben").correct == 0


def test_a_child_with_wrong_tries_in_a_row_may_need_a_hand_until_one_is_right() -> None:
    watch = Watch()
    wrong = [event("attempt", "9s", "8d") for _ in range(WRONG_IN_A_ROW)]
    watch.hear(wrong[:-1], 0.0)
    assert watch.progress_of("s-ana").trouble(1.0) == ""
    watch.hear(wrong[-1:], 2.0)
    assert watch.progress_of("s-ana").trouble(3.0) == f"{WRONG_IN_A_ROW} wrong tries in a row."
    watch.hear([event("attempt", "Qc", "Ad")], 4.0)
    assert watch.progress_of("s-ana").trouble(5.0) == ""


def test_slips_of_the_finger_are_no_wrong_tries() -> None:
    watch = Watch()
    watch.hear([event("attempt", "9s", "8d", rt_ms=120) for _ in range(5)], 0.0)
    assert watch.progress_of("s-ana").wrong == 0
    assert watch.facts()[0].tries == 0


def test_a_wrong_pair_that_was_taken_back_at_once_is_no_wrong_try_and_those_before_it_stay() -> None:
    watch = Watch()
    watch.hear([event("attempt", "9s", "8d"), event("attempt", "9s", "8d"), event("slip", "9s", "8d")], 1.0)
    assert (watch.progress_of("s-ana").wrong, watch.progress_of("s-ana").wrong_in_a_row) == (1, 1)
    watch.hear([event("slip", "9s", "8d")], 2.0)
    assert watch.progress_of("s-ana").wrong == 1
    assert [(fact.wrong, fact.children) for fact in watch.facts() if fact.fact == "4+9"] == [(1, 1)]
    watch.hear([event("attempt", "9s", "8d", student="s-ben"), event("slip", "9s", "8d", student="s-ben")], 3.0)
    assert [(fact.wrong, fact.children) for fact in watch.facts() if fact.fact == "4+9"] == [(1, 1)]


def test_hints_in_a_row_and_long_quiet_are_noticed() -> None:
    watch = Watch()
    watch.hear([event("deal")] + [event("hint") for _ in range(HINTS_IN_A_ROW)], 10.0)
    assert "hints in a row" in watch.progress_of("s-ana").trouble(11.0)
    watch.hear([event("deal", student="s-ben")], 10.0)
    assert watch.progress_of("s-ben").trouble(10.0 + QUIET_SECONDS - 1) == ""
    assert watch.progress_of("s-ben").trouble(10.0 + QUIET_SECONDS) == "Nothing for over a minute."
    assert watch.progress_of("s-ben").trouble(10.0 + 5 * 60) == "Nothing for 5 minutes."


def test_a_paused_child_is_not_stuck() -> None:
    watch = Watch()
    watch.hear([event("deal"), event("pause")], 0.0)
    assert watch.progress_of("s-ana").trouble(1000.0) == ""


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_clock_that_jumps_makes_nobody_stuck(jump: float) -> None:
    watch = Watch()
    watch.hear([event("deal"), event("attempt", "Qc", "Ad", at=jump)], 0.0)
    assert watch.progress_of("s-ana").trouble(1.0) == ""


def test_games_that_come_to_a_dead_end_one_after_another() -> None:
    watch = Watch()
    for _ in range(3):
        watch.hear([event("deal"), event("end", outcome="lost")], 0.0)
    assert watch.progress_of("s-ana").trouble(1.0) == "3 games in a row came to a dead end."
    watch.hear([event("deal"), event("end", outcome="won")], 0.0)
    assert watch.progress_of("s-ana").trouble(1.0) == ""
    assert watch.progress_of("s-ana").won == 1


def test_the_class_needs_the_fact_it_gets_wrong_and_then_the_slow_one() -> None:
    watch = Watch()
    # 4+9 is tried four times by two children, half of them wrong: 9s+8d is a try at 4+9.
    watch.hear([event("attempt", "9s", "8d", student=who) for who in ("s-ana", "s-ben")], 0.0)
    watch.hear([event("attempt", "9s", "8d", student="s-ana")], 0.0)
    # A+Q: always right, but slow.
    watch.hear([event("attempt", "Qc", "Ad", rt_ms=9000) for _ in range(4)], 0.0)
    assert [fact.fact for fact in watch.needed()] == ["A+Q"]  # three tries at 4+9 say too little yet
    watch.hear([event("attempt", "9s", "8d", student="s-ben")], 0.0)
    needed = watch.needed()
    assert [(fact.fact, fact.tries, fact.wrong, fact.children) for fact in needed] == [
        ("4+9", 4, 4, 2),
        ("A+Q", 4, 0, 0),
    ]
    assert needed[1].median_ms == 9000
    assert "slow" in needed[1].need
