"""What was practised and how it grows: accuracy, rate, weeks, growth."""

from __future__ import annotations

from itertools import combinations
from typing import Final, cast
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import betaincinv

from pyramid_lab.insight.cleaning import in_order, is_discard
from pyramid_lab.insight.speed import alone_fact, target_of
from pyramid_lab.insight.thresholds import Thresholds

_Floats = npt.NDArray[np.float64]
_SHORTEST_S: Final = 0.15  # an own time at or below nought has no logarithm; this is as quick as anyone answers


def share_interval(hits: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.9) -> tuple[_Floats, _Floats, _Floats]:
    """A share with its uncertainty, from a flat Beta(1, 1) prior: mean and both ends of the interval."""
    yes = np.asarray(hits, float)
    no = np.asarray(n, float) - yes
    tail = (1 - level) / 2
    mean = (yes + 1) / (yes + no + 2)
    return mean, betaincinv(yes + 1, no + 1, tail), betaincinv(yes + 1, no + 1, 1 - tail)


def accuracy(tries: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """How often each student is right, fact by fact. Blocked tries and misclicks are no answers and do not count.

    Args:
        tries: as :func:`~pyramid_lab.insight.clean` gives them.
        thresholds: section ``interval``.

    Returns:
        ``student_id``, ``fact``, ``n``, ``n_right``, ``share_right`` (0 to 1), ``mean``, ``low``, ``high`` (posterior
        mean and interval with a Beta(1, 1) prior). Facts never tried have no row.
    """
    level = (thresholds or Thresholds.default()).interval.level
    counted = tries[tries["right"].notna()]
    table = (
        counted.groupby(["student_id", "fact"], sort=True, observed=True)["right"]
        .agg(n="count", n_right="sum")
        .reset_index()
    )
    table["n_right"] = table["n_right"].astype(int)
    table["share_right"] = table["n_right"] / table["n"]
    table["mean"], table["low"], table["high"] = share_interval(table["n_right"], table["n"], level)
    return table


def rate(events: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """Right discards per active minute, for each sitting of each student: to compare with him- or herself only.

    Active time is the time between one event and the next of a session; gaps longer than ``cleaning.pause_s``, and the
    time away from the page or paused, are left out. It is counted in UTC, so a change of the clocks changes nothing.

    Args:
        events: everything that was logged, rows with the columns of an event.
        thresholds: section ``cleaning``.

    Returns:
        ``student_id``, ``session_id``, ``begins`` (UTC), ``games``, ``attempts``, ``discards`` (right ones),
        ``active_min``, ``per_min`` (NaN without active time).
    """
    longest = (thresholds or Thresholds.default()).cleaning.pause_s
    rows = in_order(events)
    sitting = [rows["student_id"], rows["session_id"]]
    gap = rows["t_utc"].groupby(sitting, observed=True).diff().dt.total_seconds()
    previous = rows["event_type"].groupby(sitting, observed=True).shift()
    away = previous.isin(("focus_lost", "pause"))
    rows = rows.assign(
        gap_s=gap.where((gap <= longest) & ~away, 0.0),
        attempt=rows["event_type"] == "attempt",
        discard=is_discard(rows),
    )
    table = (
        rows.groupby(["student_id", "session_id"], sort=True, observed=True)
        .agg(
            begins=("t_utc", "min"), games=("game_id", "nunique"), attempts=("attempt", "sum"),
            discards=("discard", "sum"), active_min=("gap_s", "sum"),
        )
        .reset_index()
        .sort_values(["student_id", "begins"], kind="stable", ignore_index=True)
    )  # fmt: skip
    table["active_min"] = table["active_min"] / 60
    table["per_min"] = table["discards"] / table["active_min"].where(table["active_min"] > 0)
    return table


def local_times(times: pd.Series, zones: pd.Series) -> pd.Series:
    """Moments as wall-clock times where they happened, without a zone; UTC where the zone is unknown.

    Args:
        times: aware, UTC.
        zones: IANA names, or ``None``.
    """
    local = times.dt.tz_convert("UTC").dt.tz_localize(None)
    for name in zones.dropna().unique():
        at = zones == name
        local = local.mask(at, times.dt.tz_convert(_zone(name)).dt.tz_localize(None))
    return pd.Series(local)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # a name that is no zone, or one that this system does not know
        return ZoneInfo("UTC")


def weekly(own: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """Median own time of each pair, week by week; a week begins on Monday where the student is.

    Args:
        own: as :func:`~pyramid_lab.insight.own_times` gives it.
        thresholds: section ``growth``.

    Returns:
        ``student_id``, ``fact``, ``week`` (Monday), ``n`` (timed tries), ``median_s`` (own time, at least 0.15 s);
        weeks with fewer than ``growth.min_tries``, and those
        more than ``growth.last_weeks`` before the student's last, are left out.
    """
    settings = (thresholds or Thresholds.default()).growth
    least = settings.min_tries
    timed = _timed(own, settings.last_weeks)
    table = timed.groupby(["student_id", "fact", "week"], sort=True, observed=True)["time_s"].agg(
        n="count", median_s="median"
    )
    return pd.DataFrame(table[table["n"] >= least].reset_index())


def _timed(own: pd.DataFrame, last_weeks: int) -> pd.DataFrame:
    pair = own["fact"] != alone_fact(target_of(own))
    timed = own.loc[pair & own["own_s"].notna() & own["t_utc"].notna(), ["student_id", "fact", "t_utc", "tz", "own_s"]]
    local = local_times(timed["t_utc"], timed["tz"])
    day = local.dt.normalize()
    week = day - pd.to_timedelta(day.dt.day_of_week, unit="D")
    timed = timed.assign(week=week, time_s=timed["own_s"].clip(lower=_SHORTEST_S))
    newest = week.groupby(timed["student_id"], observed=True).transform("max")
    return pd.DataFrame(timed[week > newest - pd.Timedelta(weeks=last_weeks)])


def growth(own: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """How the time of each pair changes from week to week.

    The slope of Theil and Sen through the logs of the weekly medians: the median of the slopes between any two weeks.
    Its interval is a bootstrap of the tries within each week. A change is claimed only if the interval leaves out 0.

    Args:
        own: as :func:`~pyramid_lab.insight.own_times` gives it.
        thresholds: sections ``growth`` and ``interval``.

    Returns:
        ``student_id``, ``fact``, ``n`` (tries in the weeks used), ``weeks``, ``change`` (relative change of the time
        each week: -0.1 is a tenth quicker), ``low``, ``high``, ``reading`` (``quicker``, ``slower``, ``no clear
        change``, ``too few weeks``).
    """
    chosen = thresholds or Thresholds.default()
    tail = (1 - chosen.interval.level) / 2
    rng = np.random.default_rng(chosen.interval.seed)
    found = []
    timed = _timed(own, chosen.growth.last_weeks).sort_values(["student_id", "fact", "week", "time_s"])
    times = timed.groupby(["student_id", "fact", "week"], sort=True, observed=True)["time_s"]
    table = pd.DataFrame(times.agg(n="count", median="median").reset_index())
    sizes = table["n"].to_numpy()
    samples = _resampled_medians(
        np.log(timed["time_s"].to_numpy(float)), sizes.cumsum() - sizes, sizes, chosen.interval.resamples, rng
    )
    enough = sizes >= chosen.growth.min_tries
    week = (table["week"] - pd.Timestamp(0)).dt.days.to_numpy(float) / 7
    for key, every in table.groupby(["student_id", "fact"], sort=True, observed=True).indices.items():
        student, fact = cast("tuple[str, str]", key)
        at = np.asarray(every)[enough[every]]
        n, weeks = int(sizes[at].sum()), week[at]
        if len(at) < max(chosen.growth.min_weeks, 2):
            found.append((student, fact, n, len(at), np.nan, np.nan, np.nan, "too few weeks"))
            continue
        slope = float(_theil_sen(weeks, np.log(table["median"].to_numpy(float)[at])[None])[0])
        low, high = np.quantile(_theil_sen(weeks, samples[at].T), [tail, 1 - tail])
        reading = "quicker" if high < 0 else "slower" if low > 0 else "no clear change"
        found.append((student, fact, n, len(weeks), np.expm1(slope), np.expm1(low), np.expm1(high), reading))
    return pd.DataFrame(found, columns=["student_id", "fact", "n", "weeks", "change", "low", "high", "reading"])


def _resampled_medians(
    ordered: _Floats, begins: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], count: int, rng: np.random.Generator
) -> _Floats:
    """Medians of bootstrap samples of each group, without drawing the samples: the k-th smallest of n uniform numbers
    is Beta(k, n + 1 - k), and it says which of the sorted values stands there.

    Args:
        ordered: the values, group after group, sorted within each.
        begins, sizes: where each group begins, and how many values it has, at least 1.
        count: samples of each group.
        rng: source of every draw.

    Returns:
        A row for each group, a column for each sample.
    """
    begin, n = begins[:, None], sizes[:, None]
    low = (n + 1) // 2
    place = rng.beta(low, n + 1 - low, (len(n), count))
    next_place = place + (1 - place) * rng.beta(1, np.maximum(n - low, 1), place.shape)
    lower, upper = (ordered[begin + np.minimum((where * n).astype(np.int64), n - 1)] for where in (place, next_place))
    return np.where(n % 2 == 1, lower, (lower + upper) / 2)


def _theil_sen(at: _Floats, values: _Floats) -> _Floats:
    """``scipy.stats.theilslopes`` for each row of ``values`` at once: 400 resamples of each fact are too many calls."""
    pairs = list(combinations(range(len(at)), 2))
    return np.asarray(np.median([(values[:, b] - values[:, a]) / (at[b] - at[a]) for a, b in pairs], axis=0))
