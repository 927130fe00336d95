"""The state of a fact over time: how sure we are, after each try, that a student has it fast."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.polynomial.hermite_e import hermegauss
from scipy import stats
from scipy.interpolate import RegularGridInterpolator

from pyramid_lab.insight.speed import alone_fact, target_of
from pyramid_lab.insight.thresholds import State, Thresholds
from pyramid_lab.log.events import facts_to

STATES: Final = ("fast", "not yet", "too few tries")

_Floats = npt.NDArray[np.float64]
_SHIFTS: Final = 5  # places at which the student's motor and search time is weighed around its estimate
_REACH_SE_AT_LEAST: Final = 0.05  # s
_FLAT: Final = 0.1  # density of a time that says nothing: flat over 10 s


def fact_states(own: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """The state of each fact after each try: a Bayesian filter over levels of the fact's own time.

    A fact's own median time is one of ``state.levels`` levels, a constant factor apart, with ``bands.fast_s`` midway
    between two of them. Between tries it may move one level down (practice) or up, or jump from counting to knowing
    (insight). A right try shows the level through a lognormal time of uncertain spread, to which the spread of the
    student's own motor and search time is added, with a share of times that say nothing; being right or wrong tells a
    little more. The student's motor and search time is itself only estimated: five values around it are weighed by how
    well they explain all of the student's tries.

    It replaces two-state knowledge tracing with its one time for "counts" and one for "knows" (Corbett & Anderson
    1994), which has no place for a fact that becomes quicker bit by bit, takes the way through for knowing, and calls
    it fast too early; ``docs/measures.md`` compares them. Levels with a drift are a local-level model (Harvey 1989) on
    a grid (Kitagawa 1987).

    A fact is *fast* after at least ``min_tries`` tries if the probability that its median lies within
    ``bands.fast_s`` is at least ``fast_probability``, and the median of the ``last_tries`` last timed ones lies within
    it too: a check that does not depend on the model. Only tries up to that one are used, except for motor and search
    time, which come from the whole log.

    Args:
        own: as :func:`~pyramid_lab.insight.own_times` gives it.
        thresholds: sections ``state``, ``bands``.

    Returns:
        A row for each try at a pair that was right or wrong, ordered by student, fact and try: ``student_id``,
        ``fact``, ``try_number``, ``event_id``, ``t_utc``, ``right``, ``own_s``, ``p_fast`` (0 to 1), ``level_s``,
        ``low_s``, ``high_s`` (median and 90 % interval of the fact's own median time, s), ``state`` (one of
        :data:`STATES`). Numbers are NaN and the state is "too few tries" for a student whose motor and search time is
        not known.
    """
    chosen = thresholds or Thresholds.default()
    target = target_of(own)
    columns = ["student_id", "fact", "try_number", "event_id", "t_utc", "right", "own_s"]
    rows = own[own["right"].notna() & (own["fact"] != alone_fact(target))]
    rows = rows.sort_values(["student_id", "fact", "try_number"], kind="stable", ignore_index=True)
    result = rows[columns].copy()
    for name in ("p_fast", "level_s", "low_s", "high_s"):
        result[name] = np.nan
    known = np.flatnonzero(rows["motor_s"].notna())
    if len(known):
        found = _filtered(rows.iloc[known], target, chosen)
        for name, values in found.items():
            result.loc[known, name] = values
    last = (
        result["own_s"].dropna().groupby([result["student_id"], result["fact"]])
        .rolling(chosen.state.last_tries, min_periods=1).median().droplevel([0, 1])
        .reindex(result.index)
    )  # fmt: skip
    last = last.groupby([result["student_id"], result["fact"]]).ffill()
    few = result["p_fast"].isna() | (result["try_number"] < chosen.state.min_tries)
    fast = (result["p_fast"] >= chosen.state.fast_probability) & (last <= chosen.bands.fast_s)
    result["state"] = np.select([few, fast], ["too few tries", "fast"], "not yet")
    return result


def states_now(states: pd.DataFrame) -> pd.DataFrame:
    """The last row of :func:`fact_states` for each student and fact."""
    return states.groupby(["student_id", "fact"], sort=True).tail(1).reset_index(drop=True)


@dataclass(frozen=True, slots=True)
class _Model:
    levels: _Floats  # (L,) s
    moves: _Floats  # (L, L) from row to column
    right: _Floats  # (L,) chance to be right
    known: _Floats  # (L,) levels of a fact that is known
    density: RegularGridInterpolator  # (own time, noise) -> (L,) density of a time


@lru_cache(maxsize=8)
def _model(settings: State, fast_s: float) -> _Model:
    count = settings.levels
    steps = np.arange(count, dtype=np.float64) - settings.levels_fast + 0.5
    levels = np.asarray(fast_s * settings.level_ratio**steps, np.float64)
    fast = levels < fast_s
    known = np.where(fast, stats.norm.pdf(np.log(levels / settings.known_s) / settings.known_spread), 0.0)
    known /= known.sum()
    moves = np.eye(count) * (1 - settings.quicker - settings.slower)
    for at in range(count):
        moves[at, max(at - 1, 0)] += settings.quicker
        moves[at, min(at + 1, count - 1)] += settings.slower
    jumped = np.where(fast[:, None], np.eye(count), known[None, :])
    moves = (1 - settings.insight) * moves + settings.insight * jumped
    slowness = np.clip(np.log(levels / fast_s) / np.log(2), 0, 1)
    right = settings.right_fast + (settings.right_slow - settings.right_fast) * slowness
    return _Model(levels, moves, right, known, _density(settings, levels))


def _density(settings: State, levels: _Floats) -> RegularGridInterpolator:
    """Density of an own time for each level, tabulated over own time and the noise that motor and search add."""
    times = np.concatenate([np.linspace(-1, 3, 161), np.linspace(3.1, 12, 90)])
    noises = np.geomspace(0.05, 4, 16)
    points, weights = hermegauss(9)
    weights = weights / weights.sum()
    spreads = np.array(settings.spreads)
    clear = np.maximum(times[:, None, None] - noises[None, :, None] * points, 1e-3)[..., None, None]
    each = stats.norm.pdf(np.log(clear / levels[:, None]) / spreads) / (spreads * clear)
    table = np.einsum("tnqls,q->tnl", each, weights) / len(spreads)
    return RegularGridInterpolator(
        (times, noises), (1 - settings.lapse) * table + settings.lapse * _FLAT, method="linear"
    )


def _filtered(rows: pd.DataFrame, target: int, thresholds: Thresholds) -> dict[str, _Floats]:
    """The filter over all students and facts at once; ``rows`` are ordered by student, fact and try."""
    model = _model(thresholds.state, thresholds.bands.fast_s)
    group = rows.groupby(["student_id", "fact"], sort=False)
    sequence, place = group.ngroup().to_numpy(), group.cumcount().to_numpy()
    heads = rows[place == 0]
    _, student = np.unique(heads["student_id"], return_inverse=True)
    n_sequences, longest, count = len(heads), int(place.max()) + 1, len(model.levels)
    shifts, prior_weights = hermegauss(_SHIFTS)
    reach_se = np.maximum(rows["reach_se_s"].to_numpy(float), _REACH_SE_AT_LEAST)
    first = _first(heads["fact"], target, model, thresholds.state)
    log_weights = np.empty((_SHIFTS, student.max() + 1))
    beliefs = np.empty((_SHIFTS, len(rows), count))
    evidence = np.ones((n_sequences, longest, count))
    there = np.zeros((n_sequences, longest), bool)
    there[sequence, place] = True
    for at, shift in enumerate(shifts):
        evidence[sequence, place] = _evidence(rows, shift * reach_se, model)
        belief, likelihood = first, np.zeros(n_sequences)
        history = np.empty((n_sequences, longest, count))
        for step in range(longest):
            if step:
                belief = belief @ model.moves
            belief = belief * evidence[:, step]
            total = belief.sum(axis=1)
            belief = belief / total[:, None]
            likelihood += np.where(there[:, step], np.log(total), 0)
            history[:, step] = belief
        beliefs[at] = history[sequence, place]
        log_weights[at] = np.log(prior_weights[at]) + np.bincount(student, likelihood)
    weights = np.exp(log_weights - log_weights.max(axis=0))
    weights /= weights.sum(axis=0)
    belief = np.einsum("sr,srl->rl", weights[:, student[sequence]], beliefs)
    below = belief.cumsum(axis=1)

    def quantile(share: float) -> _Floats:
        return np.asarray(model.levels[np.minimum((below < share).sum(axis=1), count - 1)])

    return {
        "p_fast": np.clip(below[:, thresholds.state.levels_fast - 1], 0, 1),
        "level_s": quantile(0.5),
        "low_s": quantile(0.05),
        "high_s": quantile(0.95),
    }


def _first(facts: pd.Series, target: int, model: _Model, settings: State) -> _Floats:
    """Belief before the first try: known already, counted on, or anything."""
    steps = np.array([facts_to(target).index(name) + 1 for name in facts], float)
    usual = settings.count_from_s + settings.count_step_s * steps
    counting = stats.norm.pdf(np.log(model.levels / usual[:, None]) / settings.count_spread)
    counting /= counting.sum(axis=1, keepdims=True)
    counted = 1 - settings.first_known - settings.first_any
    return np.asarray(settings.first_known * model.known + counted * counting + settings.first_any / len(model.levels))


def _evidence(rows: pd.DataFrame, shift: _Floats, model: _Model) -> _Floats:
    """How likely each try is at each level: by right or wrong, and by its time where there is one."""
    right = (rows["right"].to_numpy() == 1.0)[:, None]
    evidence = np.where(right, model.right, 1 - model.right)
    own = rows["own_s"].to_numpy(float)
    timed = np.flatnonzero(~np.isnan(own))
    times, noises = model.density.grid
    points = np.column_stack(
        [
            np.clip(own[timed] - shift[timed], times[0], times[-1]),
            np.clip(rows["noise_s"].to_numpy(float)[timed], noises[0], noises[-1]),
        ]
    )
    evidence[timed] *= model.density(points)
    return np.asarray(evidence)
