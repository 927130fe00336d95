from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from pyramid_lab.core import Deal, Position, rule_set
from pyramid_lab.insight import SimulatedStudent, Skill, classroom, play_game, practise, random_student
from pyramid_lab.insight.flexibility import replayed
from pyramid_lab.insight.simulate import LEARNING, NOISE, START, Practice
from tests.insight.log_rows import PAIRS


def test_the_same_generator_plays_the_same_games() -> None:
    generators = np.random.default_rng(7), np.random.default_rng(7)
    first, second = (list(practise(random_student("ann", rng), 3, rng)) for rng in generators)
    assert first == second


def test_adding_a_student_changes_no_other() -> None:
    students = [SimulatedStudent(name, {fact: Skill() for fact in PAIRS}) for name in ("ann", "bo")]
    one, _ = classroom(students[:1], 2, np.random.default_rng(4))
    two, _ = classroom(students, 2, np.random.default_rng(4))
    pd.testing.assert_frame_equal(one, two[two["student_id"] == "ann"])


@pytest.mark.parametrize("rules", ["one-pass", "classic", "three-pile"])
def test_games_are_played_by_the_rules_to_their_end(rules: str) -> None:
    rng = np.random.default_rng(1)
    events = list(play_game(random_student("ann", rng), Deal.from_seed(3), rng, rules=rules))
    assert [event.event_index for event in events] == list(range(len(events)))
    assert (events[0].event_type, events[-1].event_type) == ("deal", "end")
    frame = pd.DataFrame([event.to_dict() for event in events])
    moves = list(replayed(frame.to_dict("records")))
    done = frame["event_type"].isin(["draw", "redeal"]) | (frame["outcome"] == "correct")
    assert len(moves) == int(done.sum()) > 10
    last = moves[-1][1].play(moves[-1][2])
    assert events[-1].outcome == ("stopped" if last.outcome.value == "playing" else last.outcome.value)
    assert Position.start(rule_set(rules), Deal.from_seed(3)) == moves[0][1]


def test_sudden_and_gradual_learning_follow_their_curves() -> None:
    sudden = Skill(known_s=0.8, counted_s=3.2, learning="sudden", begins=5)
    assert [sudden.median_s(tries) for tries in (0, 4, 5, 50)] == [3.2, 3.2, 0.8, 0.8]
    gradual = Skill(known_s=0.8, counted_s=3.2, learning="gradual", begins=4, lasts=10)
    # Half way on a line in log time is the geometric mean.
    assert [gradual.median_s(tries) for tries in (0, 4, 9, 14, 60)] == pytest.approx([3.2, 3.2, 1.6, 0.8, 0.8])


@pytest.mark.parametrize("noise", NOISE)
def test_every_noise_is_centred_on_its_median(noise: str) -> None:
    skills = {fact: Skill(known_s=2.0, spread=0.4) for fact in PAIRS}
    student = SimulatedStudent(
        "ann", skills, motor_s=1e-6, search_s=0.0, noise=noise, lapse=0.0, slip_known=0.0, misclick=0.0,  # type: ignore[arg-type]
    )  # fmt: skip
    times = [
        event.rt_ms / 1000
        for event in practise(student, 40, np.random.default_rng(5))
        if event.event_type == "attempt" and event.fact != "K" and event.rt_ms
    ]
    assert np.median(times) == pytest.approx(2.0, rel=0.07)


def test_slips_are_wrong_sums_and_the_truth_is_told_for_each_try() -> None:
    skills = {fact: Skill(counted_s=2.0, learning="counted") for fact in PAIRS}
    student = SimulatedStudent("ann", skills, slip_counted=0.5, misclick=0.0)
    practice = Practice()
    events = list(practise(student, 6, np.random.default_rng(2), practice=practice))
    pairs = [event for event in events if event.event_type == "attempt" and event.fact != "K"]
    assert [event.event_id for event in pairs] == [row["event_id"] for row in practice.truth]
    assert 0.3 < np.mean([event.outcome == "incorrect" for event in pairs]) < 0.6
    assert all(row["true_s"] == 2.0 and row["counted"] for row in practice.truth)


def test_sessions_lie_days_apart_and_time_goes_on_within_them() -> None:
    rng = np.random.default_rng(9)
    events = list(practise(random_student("ann", rng), 4, rng, games_per_session=2, days_between=7))
    assert [event.t_utc for event in events] == sorted(event.t_utc for event in events)
    starts = [event.t_utc for event in events if event.event_type == "deal"]
    assert starts[0] == START
    assert starts[2] == START + timedelta(days=7)
    assert len({event.session_id for event in events}) == 2


def test_a_random_student_has_every_pair_of_the_target() -> None:
    student = random_student("ann", np.random.default_rng(1), target=10)
    assert list(student.skills) == ["A+9", "2+8", "3+7", "4+6", "5+5"]
    assert {skill.learning for skill in student.skills.values()} <= set(LEARNING)
