from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyramid_lab.insight import (
    Thresholds,
    accuracy,
    bands,
    clean,
    counting_slope,
    fact_times,
    overall_speed,
    own_times,
)
from pyramid_lab.insight.speed import trimmed_mean
from tests.insight.log_rows import PAIRS, Row


def rounds(row: Row, times: dict[str, float], count: int, *, motor: float = 1.0, search: float = 0.3, **extra: Any):
    """Rows of ``count`` tries at each fact: motor + search * (scan - 1) + the fact's time, a little noise."""
    rng = np.random.default_rng(4)
    rows = [row("draw")]
    for _ in range(count):
        for fact, seconds in {**times, "K": 0.0}.items():
            exposed, useful = int(rng.integers(4, 10)), int(rng.integers(1, 4))
            scan = (exposed + 1) / (useful + 1)
            total = motor + search * (scan - 1) + seconds + float(rng.normal(0, 0.02))
            rows.append(row(fact=fact, rt_ms=round(1000 * total), n_exposed=exposed, n_legal_cards=useful, **extra))
    return rows


def test_fact_time_is_what_motor_and_search_leave(row: Row) -> None:
    truth = {"A+Q": 0.4, "2+J": 0.6, "3+10": 0.8, "4+9": 1.5, "5+8": 2.2, "6+7": 3.0}
    table = fact_times(clean(pd.DataFrame(rounds(row, truth, 12)))).set_index("fact")
    for fact, seconds in truth.items():
        assert table.loc[fact, "fact_time_s"] == pytest.approx(seconds, abs=0.05)
        assert table.loc[fact, "low_s"] < table.loc[fact, "fact_time_s"] < table.loc[fact, "high_s"]
    assert table["method"].drop("K").eq("fact time").all()
    assert list(table.index) == [*truth, "K"]


def test_a_slow_hand_and_a_slow_eye_leave_fact_time_alone(row: Row) -> None:
    truth = dict.fromkeys(PAIRS, 1.0)
    quick = fact_times(clean(pd.DataFrame(rounds(row, truth, 12, motor=0.7, search=0.2))))
    slow = fact_times(clean(pd.DataFrame(rounds(row, truth, 12, motor=2.5, search=0.6))))
    assert (slow["median_s"] - quick["median_s"]).min() > 1.5
    assert slow["fact_time_s"].dropna().to_numpy() == pytest.approx(quick["fact_time_s"].dropna().to_numpy(), abs=0.1)


def test_one_try_with_the_mind_elsewhere_hardly_moves_it(row: Row) -> None:
    rows = rounds(row, dict.fromkeys(PAIRS, 1.0), 12)
    spoilt = [dict(one) for one in rows]
    next(one for one in spoilt if one.get("fact") == "5+8")["rt_ms"] = 40_000
    before, after = (fact_times(clean(pd.DataFrame(each))).set_index("fact")["fact_time_s"] for each in (rows, spoilt))
    assert after["5+8"] == pytest.approx(before["5+8"], abs=0.05)


@pytest.mark.parametrize(("count", "kings"), [(3, True), (12, False)])
def test_with_too_few_tries_or_kings_the_raw_median_stands(row: Row, count: int, kings: bool) -> None:
    rows = [one for one in rounds(row, dict.fromkeys(PAIRS, 1.0), count) if kings or one.get("fact") != "K"]
    table = fact_times(clean(pd.DataFrame(rows)))
    assert table["method"].eq("raw median").all()
    assert table["fact_time_s"].isna().all()
    assert table["median_s"].notna().all()


def test_times_without_any_spread_are_no_trouble(row: Row) -> None:
    rows = [row("draw")] + [row(fact=fact) for _ in range(10) for fact in [*PAIRS, "K"]]
    table = fact_times(clean(pd.DataFrame(rows)))
    assert table["fact_time_s"].drop(table.index[table["fact"] == "K"]).abs().max() < 0.5


def test_own_times_average_to_the_fact_time(row: Row) -> None:
    truth = {"A+Q": 0.4, "2+J": 0.6, "3+10": 0.8, "4+9": 1.5, "5+8": 2.2, "6+7": 3.0}
    own = own_times(clean(pd.DataFrame(rounds(row, truth, 12))))
    assert own.groupby("fact")["own_s"].median().drop("K").to_dict() == pytest.approx(truth, abs=0.08)
    assert own["noise_s"].min() > 0


def banded(times: dict[str, float], n: int, wrong: int = 0, error: float = 0.1) -> pd.DataFrame:
    facts = list(times)
    table = pd.DataFrame(
        {
            "student_id": "ann", "fact": facts, "n": n, "median_s": 3.0, "fact_time_s": list(times.values()),
            "low_s": 0.0, "high_s": 9.0, "se_s": error, "method": "fact time",
        }
    )  # fmt: skip
    right = pd.DataFrame(
        {
            "student_id": "ann", "fact": facts, "n": n + wrong, "n_right": n,
            "share_right": n / (n + wrong), "mean": 0.9, "low": 0.8, "high": 0.95,
        }
    )  # fmt: skip
    return bands(table, right)


def test_bands_are_cut_at_one_and_a_quarter_and_two_seconds() -> None:
    found = banded({"A+Q": 1.25, "2+J": 1.26, "3+10": 2.0, "4+9": 2.01}, 20)
    assert found["band"].tolist() == ["fast", "working it out", "working it out", "slow"]


def test_fast_needs_nine_in_ten_right() -> None:
    assert banded({"4+9": 0.8}, 18, wrong=2)["band"].tolist() == ["fast"]
    assert banded({"4+9": 0.8}, 17, wrong=3)["band"].tolist() == ["working it out"]


def test_too_few_tries_say_how_many_games_would_do() -> None:
    found = banded({"4+9": 0.8}, 4)
    assert found["band"].tolist() == ["too few tries"]
    # Four tries are missing, and a game of one pass brings about 1.9.
    assert found["more_games"].tolist() == [3]
    assert found["sure"].isna().all()


def test_a_band_is_surer_the_farther_from_its_edge() -> None:
    found = banded({"A+Q": 0.4, "2+J": 1.24, "3+10": 4.0}, 20, error=0.2).set_index("fact")
    assert found.loc["A+Q", "sure"] > 0.99
    assert found.loc["2+J", "sure"] == pytest.approx(0.52, abs=0.03)
    assert found.loc["3+10", "sure"] > 0.99


@pytest.mark.parametrize(("step", "reading"), [(0.45, "counting on"), (0.0, "knowing")])
def test_the_counting_slope_is_read_in_words(row: Row, step: float, reading: str) -> None:
    truth = {fact: 0.8 + step * small for small, fact in enumerate(PAIRS, start=1)}
    found = counting_slope(own_times(clean(pd.DataFrame(rounds(row, truth, 12))))).iloc[0]
    assert found["reading"] == reading
    assert found["slope_s"] == pytest.approx(step, abs=0.05)
    assert found["low_s"] <= found["slope_s"] <= found["high_s"]


@pytest.mark.parametrize("n", [8, 10, 25])
def test_the_trimmed_mean_is_that_of_scipy(n: int) -> None:
    # Not above: it takes a second to load, which only one worker need spend.
    from scipy import stats

    times = np.random.default_rng(n).exponential(size=(3, n))
    assert trimmed_mean(times) == pytest.approx(stats.trim_mean(times, 0.1, axis=1))


def test_no_slope_through_too_few_facts(row: Row) -> None:
    truth = {"A+Q": 0.8, "2+J": 1.2, "3+10": 1.6}
    found = counting_slope(own_times(clean(pd.DataFrame(rounds(row, truth, 12))))).iloc[0]
    assert found["reading"] == "too few tries"
    assert np.isnan(found["slope_s"])


def test_overall_speed_does_not_depend_on_which_items_came_up() -> None:
    # Everyone takes 1 s for "easy" and 4 s for "hard"; bo met more hard ones.
    rows = pd.DataFrame(
        {
            "student_id": ["ann"] * 10 + ["bo"] * 10,
            "fact": ["easy"] * 8 + ["hard"] * 2 + ["easy"] * 2 + ["hard"] * 8,
            "speed_s": [1.0] * 8 + [4.0] * 2 + [1.0] * 2 + [4.0] * 8,
        }
    )
    found = overall_speed(rows).set_index("student_id")["speed"]
    assert found["ann"] == pytest.approx(found["bo"]) == pytest.approx(2.0)


def test_a_tutor_can_move_the_bands(row: Row) -> None:
    tries = clean(pd.DataFrame(rounds(row, dict.fromkeys(PAIRS, 1.5), 12)))
    easy = Thresholds.default().with_changes({"bands": {"fast_s": 1.8}})
    times, right = fact_times(tries), accuracy(tries)
    assert set(bands(times, right)["band"]) == {"working it out"}
    assert set(bands(times, right, easy)["band"]) == {"fast"}
