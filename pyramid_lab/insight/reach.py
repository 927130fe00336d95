"""How long a student takes to find and press a card: one student's robust regression, from plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pyramid_lab.insight.thresholds import FactTime

Floats = npt.NDArray[np.float64]

MAD: Final = 0.6744897501960817
"""Median absolute deviation of a normal with a standard deviation of 1."""

_PRIOR_ROWS: Final = 10  # the ridge as rows, enough of them that the robust fit takes none for an outlier
_ROUNDS: Final = 200
_SETTLED: Final = 1e-9  # s


@dataclass(frozen=True, slots=True)
class Reach:
    """A student's motor and search time, in s, and what is left for each fact.

    Attributes:
        motor_s: time to press, with no card to search for.
        se_s: standard error of motor and search time together at the student's mean scan.
        search_s: time for each card that is looked at.
        noise: spread of motor and search time in units of what is expected.
        facts: for each fact its fact time and the standard error of that.
    """

    motor_s: float
    se_s: float
    search_s: float
    noise: float
    facts: dict[str, tuple[float, float]]

    def own_s(self, speed_s: Floats, scan: Floats) -> Floats:
        """The times without motor and search time, s."""
        return np.asarray(speed_s - self.motor_s - self.search_s * (scan - 1))

    def noise_s(self, n_exposed: Floats, n_legal_cards: Floats) -> Floats:
        """Standard deviation of what motor and search add to each time, s."""
        return self.noise * _spread(n_exposed, n_legal_cards, self.motor_s, self.search_s)


def reach(
    facts: Sequence[str],
    speed_s: Floats,
    scan: Floats,
    n_exposed: Floats,
    n_legal_cards: Floats,
    alone: str,
    settings: FactTime,
) -> Reach | None:
    """One student's motor and search time: a Huber regression with the Kings as the zero reference.

    Args:
        facts: of each try, in order.
        speed_s: time that counts, s; NaN if it does not.
        scan: cards a scan is expected to look at.
        n_exposed, n_legal_cards: what was exposed, and how many of these cards could be discarded.
        alone: the fact of the card that goes alone.
        settings: thresholds.

    Returns:
        ``None`` for fewer tries than the regression needs.
    """
    usable = np.flatnonzero(~(np.isnan(speed_s) | np.isnan(scan)))
    newest: dict[str, list[int]] = {}
    for at in usable.tolist():
        newest.setdefault(facts[at], []).append(at)
    kept = sorted(at for places in newest.values() for at in places[-settings.last_tries :])
    names = [facts[at] for at in kept]
    kings = np.array([name == alone for name in names], bool)
    if len(kept) < settings.min_discards or kings.sum() < max(settings.min_kings, 1):
        return None
    times, cards = speed_s[kept], scan[kept]
    pairs = [name for name in dict.fromkeys(names) if name != alone]
    design = np.column_stack(
        [np.ones(len(kept)), cards - 1, *(np.array([one == name for one in names], float) for name in pairs)]
    )
    prior = np.zeros((_PRIOR_ROWS, design.shape[1]))
    prior[:, 1] = np.sqrt(settings.search_weight / _PRIOR_ROWS)
    values, covariance = huber(
        np.vstack([design, prior]), np.append(times, settings.search_s * prior[:, 1]), settings.huber_k
    )
    errors = np.sqrt(np.diag(covariance))
    usual = np.zeros(design.shape[1])
    usual[:2] = 1.0, design[:, 1].mean()
    motor_s, search_s = float(values[0]), max(float(values[1]), 0.0)
    residual = times[kings] - values[0] - values[1] * design[kings, 1]
    spread = _spread(n_exposed[kept], n_legal_cards[kept], motor_s, search_s)
    ratio = float(np.median(np.abs(residual) / spread[kings])) / MAD
    return Reach(
        motor_s=motor_s,
        se_s=float(np.sqrt(usual @ covariance @ usual)),
        search_s=search_s,
        noise=float(np.clip(ratio, 0.6, 1.8)),
        facts={name: (float(values[2 + at]), float(errors[2 + at])) for at, name in enumerate(pairs)},
    )


def huber(design: Floats, answer: Floats, k: float) -> tuple[Floats, Floats]:
    """Huber's M-estimate of a linear regression, with the median absolute deviation as its scale.

    Iterated weighted least squares, and Huber's first covariance (Huber 1981, ch. 7): statsmodels' ``RLM`` with
    ``HuberT`` in its standard form, and a test holds it to that. It is written out here because a child's page has
    to do without statsmodels, which takes a second to load and as much memory as all the rest.

    Args:
        design: (n, p), of full column rank.
        answer: (n,).
        k: residuals beyond k scales pull less.

    Returns:
        The coefficients (p,) and their covariance (p, p).
    """
    n, p = design.shape
    gram = np.linalg.inv(design.T @ design)
    values: Floats = gram @ (design.T @ answer)
    scale = 0.0
    for _ in range(_ROUNDS):
        residual = answer - design @ values
        scale = float(np.median(np.abs(residual))) / MAD
        if scale < _SETTLED:
            break  # most answers lie on the line
        weights = np.minimum(1.0, k * scale / np.maximum(np.abs(residual), _SETTLED))
        weighted = design * weights[:, None]
        last, values = values, np.asarray(np.linalg.solve(design.T @ weighted, weighted.T @ answer), np.float64)
        if np.abs(values - last).max() < _SETTLED:
            break
    residual = answer - design @ values
    if scale < _SETTLED:
        return values, gram * float(residual @ residual) / (n - p)
    z = residual / scale
    inside = np.abs(z) <= k
    share = inside.mean()
    correction = 1 + p / n * inside.var() / share**2
    pull = float((np.clip(z, -k, k) ** 2).sum())
    return values, correction**2 * pull / (n - p) * scale**2 / share**2 * gram


def _spread(n_exposed: Floats, n_legal_cards: Floats, motor_s: float, search_s: float) -> Floats:
    """Expected spread of motor and search time, s: a fifth of the motor time, and the spread of a scan that stops at
    the first of k cards among n (the variance of the smallest of k numbers drawn from 1..n)."""
    n = n_exposed
    k = np.clip(n_legal_cards, 0, n)
    scan = k * (n + 1) * (n - k) / ((k + 1) ** 2 * (k + 2))
    return np.asarray(np.sqrt((0.2 * max(motor_s, 0.4)) ** 2 + max(search_s, 0.05) ** 2 * np.nan_to_num(scan, nan=1.0)))
