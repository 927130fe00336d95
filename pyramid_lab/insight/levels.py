"""The filter behind the state of a fact, on plain numbers: the report and a child's page ask the same one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from numpy.polynomial.hermite_e import hermegauss

from pyramid_lab.insight.reach import Floats
from pyramid_lab.insight.thresholds import State, Thresholds
from pyramid_lab.log.events import facts_to

STATES: Final = ("fast", "not yet", "too few tries")

_SHIFTS: Final = 5  # places at which the student's motor and search time is weighed around its estimate
_REACH_SE_AT_LEAST: Final = 0.05  # s
_FLAT: Final = 0.1  # density of a time that says nothing: flat over 10 s


@dataclass(frozen=True, slots=True)
class Seen:
    """Tries at pairs that were right or wrong, ordered by student, fact and try; n of each.

    Attributes:
        student, fact: whose, and of which fact.
        right: whether it was right.
        own_s: time without motor and search time, s; NaN for a try whose time does not count.
        noise_s: standard deviation of what motor and search add, s.
        reach_se_s: standard error of the student's motor and search time, s.
    """

    student: Sequence[str]
    fact: Sequence[str]
    right: npt.NDArray[np.bool_]
    own_s: Floats
    noise_s: Floats
    reach_se_s: Floats


@dataclass(frozen=True, slots=True)
class Levels:
    """After each try: probability that the fact is fast, median and 90 % interval of its own median time, s."""

    p_fast: Floats
    level_s: Floats
    low_s: Floats
    high_s: Floats


@dataclass(frozen=True, slots=True)
class _Model:
    levels: Floats  # (L,) s
    moves: Floats  # (L, L) from row to column
    right: Floats  # (L,) chance to be right
    known: Floats  # (L,) levels of a fact that is known
    times: Floats  # (T,) own times, and
    noises: Floats  # (N,) noises at which
    density: Floats  # (T, N, L) the density of a time is tabulated


def state_of(
    p_fast: npt.ArrayLike, tries: npt.ArrayLike, last_s: npt.ArrayLike, thresholds: Thresholds
) -> npt.NDArray[np.str_]:
    """The state (one of :data:`STATES`) of facts, see :func:`pyramid_lab.insight.fact_states`.

    Args:
        p_fast: probability to be fast; NaN for unknown.
        tries: how many there were.
        last_s: median of the last timed ones, s; NaN without any.
        thresholds: sections ``state``, ``bands``.
    """
    few = np.isnan(p_fast) | (np.asarray(tries) < thresholds.state.min_tries)
    fast = (np.asarray(p_fast) >= thresholds.state.fast_probability) & (np.asarray(last_s) <= thresholds.bands.fast_s)
    return np.select([few, fast], ["too few tries", "fast"], "not yet")


def levels_after(seen: Seen, target: int, thresholds: Thresholds) -> Levels:
    """The filter over all students and facts at once; what it assumes is told at
    :func:`pyramid_lab.insight.fact_states`."""
    model = _model(thresholds.state, thresholds.bands.fast_s)
    pairs = list(zip(seen.student, seen.fact, strict=True))
    begins = np.array([at for at, pair in enumerate(pairs) if at == 0 or pair != pairs[at - 1]], int)
    lengths = np.diff(np.append(begins, len(pairs)))
    sequence = np.repeat(np.arange(len(begins)), lengths)
    place = np.arange(len(pairs)) - begins[sequence]
    _, student = np.unique([seen.student[at] for at in begins], return_inverse=True)
    n_sequences, longest, count = len(begins), int(lengths.max()), len(model.levels)
    shifts, prior_weights = hermegauss(_SHIFTS)
    reach_se = np.maximum(seen.reach_se_s, _REACH_SE_AT_LEAST)
    first = _first([seen.fact[at] for at in begins], target, model, thresholds.state)
    log_weights = np.empty((_SHIFTS, student.max() + 1))
    beliefs = np.empty((_SHIFTS, len(pairs), count))
    evidence = np.ones((longest, n_sequences, count))
    there = np.zeros((n_sequences, longest), bool)
    there[sequence, place] = True
    for at, shift in enumerate(shifts):
        evidence[place, sequence] = _evidence(seen, shift * reach_se, model)
        belief, likelihood = first, np.zeros(n_sequences)
        history = np.empty_like(evidence)
        for step in range(longest):
            if step:
                belief = belief @ model.moves
            belief = belief * evidence[step]
            total = belief.sum(axis=1)
            belief = belief / total[:, None]
            likelihood += np.where(there[:, step], np.log(total), 0)
            history[step] = belief
        beliefs[at] = history[place, sequence]
        log_weights[at] = np.log(prior_weights[at]) + np.bincount(student, likelihood)
    weights = np.exp(log_weights - log_weights.max(axis=0))
    weights /= weights.sum(axis=0)
    belief = np.einsum("sr,srl->rl", weights[:, student[sequence]], beliefs)
    below = belief.cumsum(axis=1)

    def quantile(share: float) -> Floats:
        return np.asarray(model.levels[np.minimum((below < share).sum(axis=1), count - 1)])

    p_fast = np.clip(below[:, thresholds.state.levels_fast - 1], 0, 1)
    return Levels(p_fast, quantile(0.5), quantile(0.05), quantile(0.95))


@lru_cache(maxsize=8)
def _model(settings: State, fast_s: float) -> _Model:
    count = settings.levels
    steps = np.arange(count, dtype=np.float64) - settings.levels_fast + 0.5
    levels = np.asarray(fast_s * settings.level_ratio**steps, np.float64)
    fast = levels < fast_s
    known = np.where(fast, _bell(np.log(levels / settings.known_s) / settings.known_spread), 0.0)
    known /= known.sum()
    moves = np.eye(count) * (1 - settings.quicker - settings.slower)
    for at in range(count):
        moves[at, max(at - 1, 0)] += settings.quicker
        moves[at, min(at + 1, count - 1)] += settings.slower
    jumped = np.where(fast[:, None], np.eye(count), known[None, :])
    moves = (1 - settings.insight) * moves + settings.insight * jumped
    slowness = np.clip(np.log(levels / fast_s) / np.log(2), 0, 1)
    right = settings.right_fast + (settings.right_slow - settings.right_fast) * slowness
    times = np.concatenate([np.linspace(-1, 3, 161), np.linspace(3.1, 12, 90)])
    noises = np.geomspace(0.05, 4, 16)
    return _Model(levels, moves, right, known, times, noises, _density(settings, levels, times, noises))


def _bell(z: Floats) -> Floats:
    """Density of the standard normal."""
    return np.asarray(np.exp(-z * z / 2) / np.sqrt(2 * np.pi))


def _density(settings: State, levels: Floats, times: Floats, noises: Floats) -> Floats:
    """Density of an own time for each level, tabulated over own time and the noise that motor and search add."""
    points, weights = hermegauss(9)
    weights = weights / weights.sum()
    clear = np.maximum(times[:, None, None] - noises[None, :, None] * points, 1e-3)[..., None]
    table = np.zeros((len(times), len(noises), len(levels)))
    logs = np.log(clear) - np.log(levels)
    for spread in settings.spreads:
        table += np.einsum("tnql,q->tnl", _bell(logs / spread) / (spread * clear), weights)
    return (1 - settings.lapse) * table / len(settings.spreads) + settings.lapse * _FLAT


def _between(model: _Model, time: Floats, noise: Floats) -> Floats:
    """The tabulated density at each time and noise, linear between the table's places."""
    result = np.zeros((len(time), len(model.levels)))
    corners = [_corners(model.times, time), _corners(model.noises, noise)]
    density = model.density.reshape(-1, len(model.levels))
    for row, row_share in corners[0]:
        for column, column_share in corners[1]:
            # One place instead of two: numpy takes whole rows at once then.
            part = density.take(row * len(model.noises) + column, axis=0)
            part *= (row_share * column_share)[:, None]
            result += part
    return result


def _corners(grid: Floats, values: Floats) -> list[tuple[npt.NDArray[np.intp], Floats]]:
    """The places of a grid before and after each value, with their shares; values beyond are taken at its end."""
    inside = np.clip(values, grid[0], grid[-1])
    before = np.clip(np.searchsorted(grid, inside, side="right") - 1, 0, len(grid) - 2)
    share = (inside - grid[before]) / (grid[before + 1] - grid[before])
    return [(before, 1 - share), (before + 1, share)]


def _first(facts: Sequence[str], target: int, model: _Model, settings: State) -> Floats:
    """Belief before the first try: known already, counted on, or anything."""
    steps = np.array([facts_to(target).index(name) + 1 for name in facts], float)
    usual = settings.count_from_s + settings.count_step_s * steps
    counting = _bell(np.log(model.levels / usual[:, None]) / settings.count_spread)
    counting /= counting.sum(axis=1, keepdims=True)
    counted = 1 - settings.first_known - settings.first_any
    return np.asarray(settings.first_known * model.known + counted * counting + settings.first_any / len(model.levels))


def _evidence(seen: Seen, shift: Floats, model: _Model) -> Floats:
    """How likely each try is at each level: by right or wrong, and by its time where there is one."""
    evidence = np.where(seen.right[:, None], model.right, 1 - model.right)
    timed = np.flatnonzero(~np.isnan(seen.own_s))
    evidence[timed] *= _between(model, seen.own_s[timed] - shift[timed], seen.noise_s[timed])
    return np.asarray(evidence)
