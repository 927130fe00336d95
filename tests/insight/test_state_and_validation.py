"""The measures find the truth of the simulated student again, and are steady on real answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pyramid_lab.insight import (
    STATES,
    Thresholds,
    classroom,
    clean,
    fact_states,
    fact_times,
    own_times,
    random_student,
    states_now,
)
from pyramid_lab.insight.simulate import NOISE
from pyramid_lab.insight.validate import auc, fast_agreement, split_half
from tests.insight.log_rows import Row

DATA = Path(__file__).parent.parent / "data"

CUT = Thresholds.default().bands.fast_s

Played = tuple[pd.DataFrame, pd.DataFrame]
"""What was logged, and the truth."""


def test_auc_is_the_share_of_pairs_in_order() -> None:
    # Of the four pairs (positive, negative) two are in order, one is tied, one is not.
    assert auc([True, True, False, False], [3, 1, 1, 2]) == pytest.approx(2.5 / 4)
    assert np.isnan(auc([True], [1.0]))


def test_agreement_counts_false_calls_both_ways() -> None:
    found = fast_agreement([1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [5, 4, 3, 2, 1])
    assert (found["auc"], found["false_fast"], found["wrong_calls"], found["found"]) == (1.0, 1 / 3, 0.5, 0.5)


def steady(students: int, games: int, noise: str = "lognormal") -> Played:
    """Students who know some facts and count others, from the first game to the last."""
    rng = np.random.default_rng(62)
    playing = [random_student(f"s{at}", rng, learning=("known", "counted"), noise=noise) for at in range(students)]  # type: ignore[arg-type]
    return classroom(playing, games, rng)


@pytest.fixture(scope="module")
def nine_games() -> Played:
    return steady(40, 9)


@pytest.mark.parametrize("noise", NOISE)
def test_fact_time_tells_counted_from_known_after_six_games(nine_games: Played, noise: str) -> None:
    events, truth = nine_games if noise == "lognormal" else steady(20, 6, noise)
    number = events.groupby("student_id")["game_id"].transform(lambda games: pd.factorize(games)[0])
    first = truth.groupby(["student_id", "fact"], as_index=False)["counted"].first()
    found = fact_times(clean(events[number < 6])).merge(first)
    assert found["fact_time_s"].notna().all()
    assert auc(found["counted"], found["fact_time_s"]) >= 0.95
    assert auc(found["counted"], found["fact_time_s"]) > auc(found["counted"], found["median_s"])


def test_eight_tries_recover_the_fact_time(nine_games: Played) -> None:
    events, truth = nine_games
    tries = clean(events)
    number = tries["speed_s"].notna().groupby([tries["student_id"], tries["fact"]]).cumsum()
    found = fact_times(tries[number <= 8])
    found = found[found["n"] == 8].merge(truth.groupby(["student_id", "fact"], as_index=False)["true_s"].mean())
    assert len(found) > 150
    assert found["fact_time_s"].corr(found["true_s"]) >= 0.9
    inside = (found["low_s"] <= found["true_s"]) & (found["true_s"] <= found["high_s"])
    assert inside.mean() >= 0.8  # a 90 % interval; the mean of a skew time lies a little above its median


def judged(learning: str, noise: str = "lognormal", students: int = 8) -> Played:
    rng = np.random.default_rng(63)
    playing = [random_student(f"s{at}", rng, learning=learning, noise=noise) for at in range(students)]  # type: ignore[arg-type]
    events, truth = classroom(playing, 24, rng)
    return own_times(clean(events)), truth[["event_id", "true_s"]]


def agreement(own: pd.DataFrame, truth: pd.DataFrame) -> dict[str, float]:
    states = fact_states(own).merge(truth, on="event_id")
    return fast_agreement(states["true_s"] <= CUT, states["state"] == "fast", states["p_fast"])


@pytest.mark.parametrize(("learning", "noise"), [("sudden", "lognormal"), ("gradual", "gamma"), ("gradual", "heavy")])
def test_the_state_of_a_fact_is_told(learning: str, noise: str) -> None:
    found = agreement(*judged(learning, noise))
    assert found["auc"] >= 0.95
    assert found["false_fast"] <= 0.05
    assert found["found"] >= 0.5


def test_gradual_learning_is_told_better_than_by_any_simpler_rule() -> None:
    own, truth = judged("gradual")
    found = agreement(own, truth)
    assert found["auc"] >= 0.95
    assert found["false_fast"] <= 0.05
    # Not above: scipy.stats takes a second to load, which only one worker need spend.
    from pyramid_lab.insight import RIVALS, rival_states

    for rule in RIVALS:
        states = rival_states(own, rule).merge(truth, on="event_id")
        other = fast_agreement(states["true_s"] <= CUT, states["fast"], states["score"])
        assert other["auc"] < found["auc"], rule


@pytest.mark.parametrize("per_half, least", [(4, 0.63), (8, 0.77), (12, 0.84)])
def test_overall_speed_is_steady_on_real_answers(per_half: int, least: float) -> None:
    rows = pd.read_csv(DATA / "binary_arithmetic_rt.csv").query("operator == 'add'")
    assert rows["participant"].nunique() == 118
    rng = np.random.default_rng(per_half)
    found = split_half(rows, per_half, rng, person="participant", item="carries", time="rt_s", repeats=20)
    assert found >= least


def fact_rows(row: Row, own: list[float], right: list[bool] | None = None) -> pd.DataFrame:
    """Tries at 5+8 that take 1 s more than a King, and the given own time."""
    rows = [row("draw")]
    for at, seconds in enumerate(own):
        wrong = right is not None and not right[at]
        rows += [
            row(fact="5+8", rt_ms=round(1000 * (1 + seconds)), outcome="incorrect" if wrong else "correct"),
            row(fact="K", rt_ms=1000 + 40 * (at % 5), n_legal_cards=2),
            row(fact="4+9", rt_ms=2500 + 100 * (at % 7)),
        ]
    return own_times(clean(pd.DataFrame(rows)))


def state_of(own: pd.DataFrame) -> pd.Series:
    return states_now(fact_states(own)).set_index("fact").loc["5+8"]


def test_quick_tries_make_a_fact_fast_and_slow_ones_do_not(row: Row) -> None:
    assert state_of(fact_rows(row, [0.6, 0.8, 0.7] * 6))["state"] == "fast"
    slow = state_of(fact_rows(row, [2.8, 3.4, 2.2] * 6))
    assert slow["state"] == "not yet"
    assert slow["p_fast"] < 0.05
    assert slow["low_s"] <= slow["level_s"] <= slow["high_s"]


def test_one_try_with_the_mind_elsewhere_does_not_undo_a_fast_fact(row: Row) -> None:
    assert state_of(fact_rows(row, [0.6, 0.8, 0.7] * 6 + [5.0, 0.7]))["state"] == "fast"


def test_a_fact_that_is_forgotten_is_fast_no_more(row: Row) -> None:
    assert state_of(fact_rows(row, [0.6, 0.8, 0.7] * 5 + [2.5] * 8))["state"] == "not yet"


def test_errors_make_fast_less_sure(row: Row) -> None:
    quick = [1.0] * 15
    clear = state_of(fact_rows(row, quick))
    wrong = state_of(fact_rows(row, quick, right=[at % 3 > 0 for at in range(15)]))
    assert wrong["p_fast"] < clear["p_fast"]


def test_later_tries_change_no_more_than_what_they_tell_of_motor_and_search_time(row: Row) -> None:
    own = fact_rows(row, [0.6, 0.8, 0.7, 2.0, 2.6] * 4)
    whole = fact_states(own)
    part = fact_states(own.iloc[: len(own) // 2])
    merged = part.merge(whole, on="event_id", suffixes=("", "_whole"))
    assert merged["p_fast"].to_numpy() == pytest.approx(merged["p_fast_whole"].to_numpy(), abs=0.05)


def test_without_motor_and_search_time_there_are_too_few_tries(row: Row) -> None:
    states = fact_states(own_times(clean(pd.DataFrame([row() for _ in range(12)]))))
    assert states["state"].eq("too few tries").all()
    assert states["p_fast"].isna().all()
    assert set(states["state"]) <= set(STATES)
