"""Speed: fact time (what is left of a response time without motor and search time), bands, counting, overall speed."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtr, ndtri, stdtrit

from pyramid_lab.insight.reach import Reach, reach
from pyramid_lab.insight.thresholds import Thresholds
from pyramid_lab.log.events import facts_to

BANDS: Final = ("fast", "working it out", "slow", "too few tries")

_Floats = npt.NDArray[np.float64]


def alone_fact(target: int) -> str:
    """The fact of the card that goes alone: ``K`` for 13."""
    return facts_to(target)[-1]


def target_of(tries: pd.DataFrame) -> int:
    """The target whose facts the tries are at; 13 if there is none."""
    seen = set(tries["fact"].dropna().unique())
    return next((target for target in (13, 12, 11, 10) if seen <= set(facts_to(target))), 13)


_FITTED: Final = ["student_id", "fact", "speed_s", "scan", "n_exposed", "n_legal_cards"]


def _reach(rows: pd.DataFrame, alone: str, thresholds: Thresholds) -> Reach | None:
    """One student's motor and search time; ``None`` below the tries that it needs."""
    speed, scan, exposed, legal = (
        rows[name].to_numpy(float) for name in ("speed_s", "scan", "n_exposed", "n_legal_cards")
    )
    return reach(rows["fact"].tolist(), speed, scan, exposed, legal, alone, thresholds.fact_time)


def own_times(tries: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """Each try's time without the student's own motor and search time.

    Args:
        tries: as :func:`~pyramid_lab.insight.clean` gives them.
        thresholds: section ``fact_time``.

    Returns:
        The tries with, in s, ``own_s`` (``speed_s - motor_s - search_s * (scan - 1)``; may be negative), ``noise_s``
        (standard deviation of what motor and search add to it), ``motor_s``, ``reach_se_s``, ``search_s``; all NaN
        for a student with too few tries for the regression, ``own_s`` also where ``speed_s`` is.
    """
    chosen = thresholds or Thresholds.default()
    alone = alone_fact(target_of(tries))
    columns = ("motor_s", "reach_se_s", "search_s", "noise_s")
    found = {name: np.full(len(tries), np.nan) for name in columns}
    needed = tries[_FITTED]
    for at in tries.groupby("student_id", sort=False, observed=True).indices.values():
        rows = needed.iloc[at]
        fit = _reach(rows, alone, chosen)
        if fit is not None:
            noise = fit.noise_s(rows["n_exposed"].to_numpy(float), rows["n_legal_cards"].to_numpy(float))
            for name, value in zip(columns, (fit.motor_s, fit.se_s, fit.search_s, noise), strict=True):
                found[name][at] = value
    result = tries.assign(**found)
    result["own_s"] = result["speed_s"] - result["motor_s"] - result["search_s"] * (result["scan"] - 1)
    return result


def fact_times(tries: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """Fact time of each student and fact: response time less the student's own motor and search time.

    Per student, over the last ``fact_time.last_tries`` tries at each fact, a Huber regression with the Kings (which
    need no partner) as the zero reference::

        RT = motor + search * (scan - 1) + sum of tau_f for the fact f

    where ``scan`` is the number of cards that a scan which stops at the first useful card is expected to look at; the
    search time is held toward ``fact_time.search_s``. With fewer than ``min_discards`` timed tries or ``min_kings``
    Kings the raw median stands instead, and ``method`` says so.

    Args:
        tries: as :func:`~pyramid_lab.insight.clean` gives them.
        thresholds: sections ``fact_time`` and ``interval``.

    Returns:
        A row for each student and fact tried, in the order of the facts, the card that goes alone last: ``student_id``,
        ``fact``, ``n`` (timed tries), ``median_s`` (raw), ``fact_time_s``, ``low_s``, ``high_s``, ``se_s``, ``method``
        (``fact time`` or ``raw median``). For a raw median the fact time and its interval are NaN.
    """
    chosen = thresholds or Thresholds.default()
    target = target_of(tries)
    alone = alone_fact(target)
    wide = float(ndtri((1 + chosen.interval.level) / 2))
    order = {name: at for at, name in enumerate(facts_to(target))}
    found = []
    for student, rows in tries[_FITTED].groupby("student_id", sort=True, observed=True):
        fit = _reach(rows, alone, chosen)
        for fact, times in sorted(rows.groupby("fact", observed=True)["speed_s"], key=lambda item: order[str(item[0])]):
            tau, error = (np.nan, np.nan) if fit is None else fit.facts.get(str(fact), (np.nan, np.nan))
            found.append(
                (
                    student, fact, int(times.count()), times.median(), tau, tau - wide * error, tau + wide * error,
                    error, "raw median" if np.isnan(tau) else "fact time",
                )
            )  # fmt: skip
    columns = ["student_id", "fact", "n", "median_s", "fact_time_s", "low_s", "high_s", "se_s", "method"]
    return pd.DataFrame(found, columns=columns)


def bands(times: pd.DataFrame, accuracy: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """The band of each student and fact: fast, working it out, slow, too few tries.

    Fast is a fact time up to ``bands.fast_s`` with at least ``bands.min_accuracy`` right; a fact that is quick but not
    right so often is still being worked out. Without a fact time (see :func:`fact_times`) there are too few tries.

    Args:
        times: as :func:`fact_times` gives them.
        accuracy: as :func:`~pyramid_lab.insight.accuracy` gives it.
        thresholds: section ``bands``.

    Returns:
        ``times`` joined with the accuracy, without the card that goes alone, and with ``band``, ``sure`` (probability
        that the fact time lies in the band, 0 to 1; NaN for too few tries) and ``more_games`` (games of one pass until
        there would be enough tries; 0 where there are).
    """
    chosen = (thresholds or Thresholds.default()).bands
    table = times[times["fact"] != alone_fact(target_of(times))].merge(
        accuracy.drop(columns="level", errors="ignore"),
        on=["student_id", "fact"],
        how="left",
        suffixes=("", "_accuracy"),
    )
    tau = table["fact_time_s"].to_numpy(float)
    error = np.maximum(table["se_s"].to_numpy(float), 1e-6)
    few = np.isnan(tau) | (table["n"].to_numpy() < chosen.min_tries)
    accurate = table["share_right"].to_numpy(float) >= chosen.min_accuracy
    quick, slow = tau <= chosen.fast_s, tau > chosen.slow_s
    table["band"] = np.select([few, slow, quick & accurate], ["too few tries", "slow", "fast"], "working it out")
    below_fast = ndtr((chosen.fast_s - tau) / error)
    below_slow = ndtr((chosen.slow_s - tau) / error)
    sure = np.select([slow, quick & accurate, quick], [1 - below_slow, below_fast, below_slow], below_slow - below_fast)
    table["sure"] = np.where(few, np.nan, sure)
    missing = np.maximum(chosen.min_tries - table["n"].to_numpy(), 0)
    table["more_games"] = np.ceil(missing / chosen.tries_per_game).astype(int)
    return table


def counting_slope(own: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """How much longer a fact takes for each step of its smaller addend, and whether that looks like counting on.

    Adults who count on take about 0.4 s a step (Ashcraft & Battaglia 1978, Ashcraft 1982); a fact that is known takes
    no longer for a larger addend. The slope is that of the line through the facts' 10 % trimmed means; the interval is
    a bootstrap of the tries within each fact.

    Args:
        own: as :func:`own_times` gives it.
        thresholds: sections ``counting``, ``bands`` (``min_tries``) and ``interval``.

    Returns:
        A row for each student: ``student_id``, ``slope_s`` (s a step), ``low_s``, ``high_s``, ``n`` (tries),
        ``n_facts``, ``reading`` (``counting on``, ``knowing``, ``cannot tell``, ``too few tries``); numbers are NaN for
        too few.
    """
    chosen = thresholds or Thresholds.default()
    target = target_of(own)
    rng = np.random.default_rng(chosen.interval.seed)
    found = []
    timed = own.loc[own["own_s"].notna(), ["student_id", "fact", "own_s"]]
    by_fact = timed.groupby(["student_id", "fact"], observed=True)["own_s"]
    groups = {key: values.to_numpy(float) for key, values in by_fact}
    nothing = np.empty(0)
    for student in own["student_id"].drop_duplicates().sort_values():
        steps, means, samples, n = [], [], [], 0
        for step, fact in enumerate(facts_to(target)[:-1], start=1):
            times = groups.get((student, fact), nothing)
            if len(times) < chosen.bands.min_tries:
                continue
            steps.append(step)
            n += len(times)
            means.append(trimmed_mean(times))
            drawn = rng.choice(times, size=(chosen.interval.resamples, len(times)))
            samples.append(trimmed_mean(drawn))
        if len(steps) < max(chosen.counting.min_facts, 2):
            found.append((student, np.nan, np.nan, np.nan, n, len(steps), "too few tries"))
            continue
        slope = float(np.polyfit(steps, means, 1)[0])
        drawn_slopes = np.polyfit(steps, np.array(samples), 1)[0]
        tail = (1 - chosen.interval.level) / 2
        low, high = (float(value) for value in np.quantile(drawn_slopes, [tail, 1 - tail]))
        if slope >= chosen.counting.step_s and low > 0:
            reading = "counting on"
        elif high < chosen.counting.step_s:
            reading = "knowing"
        else:
            reading = "cannot tell"
        found.append((student, slope, low, high, n, len(steps), reading))
    columns = ["student_id", "slope_s", "low_s", "high_s", "n", "n_facts", "reading"]
    return pd.DataFrame(found, columns=columns)


def trimmed_mean(times: _Floats) -> _Floats:
    """Means along the last axis without a tenth of the values at either end."""
    n = times.shape[-1]
    cut = int(0.1 * n)
    return np.asarray(np.partition(times, (cut, n - cut - 1), axis=-1)[..., cut : n - cut].mean(axis=-1))


def overall_speed(
    rows: pd.DataFrame, *, person: str = "student_id", item: str = "fact", time: str = "speed_s"
) -> pd.DataFrame:
    """A person's speed as one number, compared at equal items: the geometric mean time, as if everyone had met the
    average item.

    The mean of log time less the mean log time of its item over everybody. The log makes it steadier than the mean or
    the median of the times, and without the items' own difficulty it does not depend on which ones came up: on 118
    adults' binary additions the split-half reliability at 4, 8, 12 answers a half rises from .63, .77, .84 for the
    plain mean of log time to above .69, .81, .86 (``benchmarks/insight_measures.py``).

    Args:
        rows: a row for each answer with the three columns named; rows whose time is missing or not above 0 are left
            out.
        person, item, time: the columns' names; the unit of time is kept.

    Returns:
        ``person``, ``n``, ``speed`` (same unit as ``time``), ``low``, ``high`` (90 % t interval; NaN for one answer).
    """
    used = rows[rows[time] > 0]
    log = used[time].astype(float).map(np.log)
    relative = log - log.groupby(used[item]).transform("mean") + (log.mean() if len(log) else 0.0)
    groups = relative.groupby(used[person], sort=True)
    n, mean = groups.count(), groups.mean()
    half = groups.std() / np.sqrt(n) * stdtrit(np.maximum(n - 1, 1), 0.95)
    return pd.DataFrame(
        {"n": n, "speed": np.exp(mean), "low": np.exp(mean - half), "high": np.exp(mean + half)}
    ).reset_index(names=person)
