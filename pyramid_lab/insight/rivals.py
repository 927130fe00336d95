"""Simpler rules for "this fact is fast", to compare :func:`~pyramid_lab.insight.fact_states` with on the same data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import brentq

from pyramid_lab.insight.speed import alone_fact, target_of
from pyramid_lab.insight.thresholds import Thresholds
from pyramid_lab.log.events import facts_to

_Scored = tuple[list[float], list[bool]]  # after each try: the higher the faster; called fast

_TIME_LIMIT_S: Final = 4.0  # of the Elo score, s of own time
_ELO_STEP: Final = 0.4


def _last_ten(rows: pd.DataFrame, step: int, thresholds: Thresholds) -> _Scored:
    """Median own time and share right of the last ten tries."""
    bands = thresholds.bands
    median = rows["own_s"].rolling(10, min_periods=1).median().fillna(np.inf)
    right = rows["right"].rolling(10, min_periods=1).mean()
    enough = np.arange(1, len(rows) + 1) >= bands.min_tries
    fast = (median <= bands.fast_s) & (right >= bands.min_accuracy) & enough
    return list(-median.clip(upper=99)), list(fast)


def _accuracy_only(rows: pd.DataFrame, step: int, thresholds: Thresholds) -> _Scored:
    """Two-state knowledge tracing that sees right and wrong alone (Corbett & Anderson 1994)."""
    return _traced(rows, step, thresholds, with_times=False)


def _two_state(rows: pd.DataFrame, step: int, thresholds: Thresholds) -> _Scored:
    """Two-state knowledge tracing with one lognormal time for counting and one for knowing."""
    return _traced(rows, step, thresholds, with_times=True)


def _traced(rows: pd.DataFrame, step: int, thresholds: Thresholds, *, with_times: bool) -> _Scored:
    settings = thresholds.state
    counted_s = settings.count_from_s + settings.count_step_s * step
    belief, learns, lapse = 0.3, 0.05, 0.05
    recent: list[float] = []
    scores, fast = [], []
    for number, (right, own) in enumerate(zip(rows["right"], rows["own_s"], strict=True), start=1):
        know, count = (0.97, 0.90) if right else (0.03, 0.10)
        if with_times and not np.isnan(own):
            time = float(np.clip(own, 0.15, 12))
            know *= (1 - lapse) * stats.lognorm.pdf(time, 0.5, scale=settings.known_s) + lapse * 0.3
            count *= (1 - lapse) * stats.lognorm.pdf(time, 0.45, scale=counted_s) + lapse * 0.3
            recent.append(time)
        belief = belief * know / (belief * know + (1 - belief) * count)
        belief += (1 - belief) * learns
        quick = not with_times or (bool(recent) and np.median(recent[-5:]) <= thresholds.bands.fast_s)
        scores.append(belief)
        fast.append(bool(belief >= 0.9 and number >= 5 and quick))
    return scores, fast


def _flat_three_seconds(rows: pd.DataFrame, step: int, thresholds: Thresholds) -> _Scored:
    """The last answer right and given within 3 s of raw time, as fact-practice programs count."""
    return list(-rows["rt_s"].fillna(99.0).clip(upper=99)), list((rows["right"] == 1) & (rows["rt_s"] <= 3.0))


def _elo(rows: pd.DataFrame, step: int, thresholds: Thresholds) -> _Scored:
    """A rating of the fact with the high speed, high stakes score of Maris & van der Maas (2012), Klinkenberg et al.
    (2011): ``S = (2x - 1)(1 - t/d)``, expected ``coth(r) - 1/r``, for an own time limit of d = 4 s. Fast is a rating
    at which the expected score is that of a right answer in ``bands.fast_s``."""
    at_cut = 1 - thresholds.bands.fast_s / _TIME_LIMIT_S
    cut = float(brentq(lambda rating: _expected(rating) - at_cut, 1e-3, 1e3))
    rating = 0.0
    scores, fast = [], []
    for number, (right, own) in enumerate(zip(rows["right"], rows["own_s"], strict=True), start=1):
        if not (right and np.isnan(own)):
            time = 0.5 * _TIME_LIMIT_S if np.isnan(own) else float(np.clip(own, 0, _TIME_LIMIT_S))
            score = (1 if right else -1) * (1 - time / _TIME_LIMIT_S)
            rating += _ELO_STEP * (score - _expected(rating)) * 10
        scores.append(rating)
        fast.append(rating >= cut and number >= 5)
    return scores, fast


def _expected(rating: float) -> float:
    return rating / 3 if abs(rating) < 1e-4 else float(1 / np.tanh(rating) - 1 / rating)


RIVALS: Final[dict[str, Callable[[pd.DataFrame, int, Thresholds], _Scored]]] = {
    "two-state tracing": _two_state,
    "last ten": _last_ten,
    "Elo, high speed high stakes": _elo,
    "accuracy only": _accuracy_only,
    "flat 3 s": _flat_three_seconds,
}


def rival_states(own: pd.DataFrame, rule: str, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """What a simpler rule says after each try at a pair.

    Args:
        own: as :func:`~pyramid_lab.insight.own_times` gives it.
        rule: a key of :data:`RIVALS`.
        thresholds: sections ``bands`` and ``state``.

    Returns:
        ``student_id``, ``fact``, ``try_number``, ``event_id``, ``score`` (the higher the faster), ``fast`` (bool), in
        the order of :func:`~pyramid_lab.insight.fact_states`.

    Raises:
        KeyError: no such rule.
    """
    chosen = thresholds or Thresholds.default()
    judge = RIVALS[rule]
    target = target_of(own)
    rows = own[own["right"].notna() & (own["fact"] != alone_fact(target))]
    rows = rows.sort_values(["student_id", "fact", "try_number"], kind="stable", ignore_index=True)
    result = rows[["student_id", "fact", "try_number", "event_id"]].copy()
    result["score"], result["fast"] = np.nan, False
    for at in rows.groupby(["student_id", "fact"], sort=False, observed=True).indices.values():
        one = rows.iloc[at]
        scores, fast = judge(one, facts_to(target).index(one["fact"].iloc[0]) + 1, chosen)
        result.loc[at, "score"], result.loc[at, "fast"] = scores, fast
    return result
