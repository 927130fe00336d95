"""A second simulation, unlike :mod:`~pyramid_lab.insight.simulate` in every part, so that no measure is fitted to one
idea of a child.

No deals are played: positions are drawn. Times are shifted Wald and ex-Gaussian, not lognormal; the hand is slower on
some days and warms up; a scan forgets what it has seen; facts are learnt by the power law of practice (Newell &
Rosenbloom 1981), by a mixture of counting and retrieval that shifts (Siegler 1987), or at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from pyramid_lab.log.events import facts_to

Way = Literal["stays", "sudden", "power", "mixture"]
"""How a fact is learnt: not at all, at once, by the power law of practice, as retrieval replaces counting."""

PAIRS: Final = {fact: (at, 13 - at) for at, fact in enumerate(facts_to(13)[:-1], start=1)}
"""The two values of each pair."""

_Floats = npt.NDArray[np.float64]

WALD_SHAPE: Final = 4.0  # of the time above its shift: a standard deviation of half the mean
_UNIT: Final = float(stats.invgauss.median(1 / WALD_SHAPE, scale=WALD_SHAPE))  # median of a Wald time with mean 1
SHIFT: Final = 0.25  # share of a fact's median time below which no answer comes


@dataclass(frozen=True, slots=True)
class Child:
    """One child of this kind; times in s.

    Attributes:
        motor, tail: mean of the normal and of the exponential part of the time to press a card.
        look: time to look at one more card.
        forgets: a scan may look at a card twice.
        known, counted: median time of each fact once it is known, and while it is counted.
        ways: how each fact is learnt.
        pace: exponent of the power law, or steepness of the shift from counting to knowing.
        turn: try at which a fact turns.
        mixed: median time of each fact for each share of :data:`SHARES` of tries at which it is known.
    """

    motor: float
    tail: float
    look: float
    forgets: bool
    known: _Floats
    counted: _Floats
    ways: tuple[Way, ...]
    pace: _Floats
    turn: _Floats
    mixed: tuple[_Floats, ...]


SHARES: Final = np.linspace(0, 1, 41)


def child(rng: np.random.Generator, ways: tuple[Way, ...]) -> Child:
    """A child drawn at random, each fact learnt in one of the ways."""
    facts = len(PAIRS)
    step = rng.uniform(0.32, 0.55)
    counted = rng.uniform(0.7, 1.3) + step * np.arange(1, facts + 1) * rng.uniform(0.85, 1.15, facts)
    known, counted = rng.uniform(0.45, 1.0, facts), np.maximum(counted, 1.5)
    return Child(
        motor=rng.uniform(0.6, 1.4), tail=rng.uniform(0.1, 0.3), look=rng.uniform(0.12, 0.45),
        forgets=bool(rng.random() < 0.5), known=known, counted=counted,
        ways=tuple(ways[int(at)] for at in rng.integers(len(ways), size=facts)),
        pace=rng.uniform(0.4, 0.9, facts), turn=rng.uniform(5, 30, facts),
        mixed=tuple(_mixed_medians(*both) for both in zip(known, counted, strict=True)),
    )  # fmt: skip


def other_classroom(
    rng: np.random.Generator, students: int, games: int, ways: tuple[Way, ...], *, games_a_day: int = 3
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The log of a class of such children, and the truth.

    Args:
        rng: source of every draw.
        students: how many.
        games: games of each.
        ways: how facts are learnt; one is drawn for each fact of each child.
        games_a_day: games in a sitting; sittings are two days apart.

    Returns:
        The events, and a row for each try at a pair: ``event_id``, ``student_id``, ``fact``, ``true_s`` (median of the
        fact's time at that try, s), ``counted`` (whether that is nearer to counting than to knowing).
    """
    rows: list[dict[str, Any]] = []
    truth: list[dict[str, Any]] = []
    for number in range(students):
        _play(rng, child(rng, ways), f"other-{number}", games, games_a_day, rows, truth)
    return pd.DataFrame(rows), pd.DataFrame(truth)


def _play(
    rng: np.random.Generator, who: Child, name: str, games: int, games_a_day: int, rows: list[dict[str, Any]],
    truth: list[dict[str, Any]],
) -> None:  # fmt: skip
    tries = np.zeros(len(PAIRS), int)
    now = pd.Timestamp("2026-09-07 08:00", tz="UTC")
    form = 1.0
    for game in range(games):
        day, within = divmod(game, games_a_day)
        if within == 0:
            form = float(np.exp(rng.normal(0, 0.1)))
            now = pd.Timestamp("2026-09-07 08:00", tz="UTC") + pd.Timedelta(days=2 * day)
        facts = np.repeat(np.arange(len(PAIRS) + 1), [*rng.binomial(4, 0.48, len(PAIRS)), rng.binomial(4, 0.75)])
        common = {
            "student_id": name, "session_id": f"{name}-{day}", "game_id": f"{name}-{game}", "tz": "UTC",
            "rule_set": "one-pass", "clock": "browser", "assistance": "none",
        }  # fmt: skip
        rows.append(common | {"event_id": f"{len(rows):032x}", "event_index": 0, "event_type": "deal", "t_utc": now})
        for index, fact in enumerate(rng.permutation(facts), start=1):
            exposed = int(rng.integers(3, 11))
            useful = min(int(rng.choice([1, 2, 3, 4, 5], p=[0.1, 0.5, 0.15, 0.2, 0.05])), exposed)
            warm = 1 + 0.25 * np.exp(-index / 4) * (within == 0)
            seconds = form * warm * (rng.normal(who.motor, 0.08 * who.motor) + rng.exponential(who.tail))
            looked = rng.geometric(useful / exposed) if who.forgets else rng.permutation(exposed)[:useful].min() + 1
            seconds += who.look * rng.gamma(4, 1 / 4, min(int(looked), 3 * exposed) - 1).sum()
            label, a, b, right = "K", 13, None, True
            if fact < len(PAIRS):
                label = list(PAIRS)[fact]
                a, b = PAIRS[label]
                median, draw = _time(rng, who, fact, tries[fact])
                tries[fact] += 1
                seconds += draw
                counted = bool(median > (who.known[fact] + who.counted[fact]) / 2)
                right = bool(rng.random() < (0.88 if counted else 0.96))
                truth.append(
                    {"event_id": f"{len(rows):032x}", "student_id": name, "fact": label, "true_s": median,
                     "counted": counted}
                )  # fmt: skip
            if rng.random() < 0.03:
                seconds += rng.exponential(6.0)
            now += pd.Timedelta(seconds=float(seconds) + 0.5)
            rows.append(
                common
                | {
                    "event_id": f"{len(rows):032x}", "event_index": index, "event_type": "attempt", "t_utc": now,
                    "fact": label, "outcome": "correct" if right else "incorrect",
                    "rt_ms": max(round(1000 * seconds), 260), "value_a": a, "value_b": b,
                    "total": 13 if right else 12, "n_exposed": exposed, "n_legal": 1, "n_legal_cards": useful,
                    "legal_facts": label, "error_class": None if right else "off_by_one",
                }
            )  # fmt: skip


def _time(rng: np.random.Generator, who: Child, fact: int, tries: int) -> tuple[float, float]:
    """The true median time of a fact at a try, s, and a time drawn."""
    known, counted, way = who.known[fact], who.counted[fact], who.ways[fact]
    if way == "mixture":
        knows = 1 / (1 + np.exp(-who.pace[fact] / 2 * (tries - who.turn[fact])))
        median = float(np.interp(knows, SHARES, who.mixed[fact]))
        return median, _wald(rng, known if rng.random() < knows else counted)
    if way == "stays":
        median = known if who.turn[fact] < 17.5 else counted
    elif way == "sudden":
        median = known if tries >= who.turn[fact] else counted
    else:
        median = known + (counted - known) * (1 + tries / 3) ** -who.pace[fact]
    return float(median), _wald(rng, float(median))


def _wald(rng: np.random.Generator, median: float) -> float:
    scale = (1 - SHIFT) * median / _UNIT
    return float(SHIFT * median + rng.wald(scale, WALD_SHAPE * scale))


def _mixed_medians(known: float, counted: float) -> _Floats:
    times = np.linspace(0.3 * known, 2.5 * counted, 300)
    below = [
        stats.invgauss.cdf((times / median - SHIFT) * _UNIT / (1 - SHIFT), 1 / WALD_SHAPE, scale=WALD_SHAPE)
        for median in (known, counted)
    ]
    return np.array([np.interp(0.5, share * below[0] + (1 - share) * below[1], times) for share in SHARES])
