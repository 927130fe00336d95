"""Figures of the report: each is an SVG picture and the words that stand for it.

Every mark has a shape or a label of its own beside its colour, and the shades are apart in grey too.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from pyramid_lab.insight.thresholds import Thresholds

INK: Final = "#1b2a38"
FAINT: Final = "#5d6b78"
SHADES: Final = {"fast": "#dcecf9", "working it out": "#f8d58a", "slow": "#a4471b", "too few tries": "#ffffff"}
"""Fill of each band: pale, middle, dark, so that a grey print keeps their order."""
MARKS: Final = {"fast": "o", "working it out": "D", "slow": "s", "too few tries": "x"}

_STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none", "svg.hashsalt": "pyramid-lab", "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"], "font.size": 9,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": FAINT, "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.7, "hatch.linewidth": 0.6,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure.

    Attributes:
        svg: the picture, text kept as text.
        alt: the same in words.
        caption: what it shows, with n, units and what is left out.
    """

    svg: str
    alt: str
    caption: str


def _drawn(figure: Figure) -> str:
    FigureCanvasSVG(figure)
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def fact_time_picture(table: pd.DataFrame, thresholds: Thresholds | None = None) -> Picture | None:
    """Fact time of each pair of one student with its interval, over the bands.

    Args:
        table: rows of :func:`~pyramid_lab.insight.bands` of one student.
        thresholds: sections ``bands``, ``interval``.

    Returns:
        The picture; ``None`` if there is no fact time.
    """
    chosen = thresholds or Thresholds.default()
    shown = table[table["fact_time_s"].notna()]
    if shown.empty:
        return None
    cut, slow = chosen.bands.fast_s, chosen.bands.slow_s
    right = float(np.clip(shown["high_s"].max() * 1.08, slow * 1.6, 8.0))
    left = float(min(0.0, max(shown["low_s"].min() - 0.1, -1.0)))
    with mpl.rc_context(_STYLE):
        height = 0.33 * len(shown) + 0.85
        figure = Figure(figsize=(5.2, height))
        axes = figure.add_axes((0.17, 0.46 / height, 0.81, 1 - 0.72 / height))
        for low, high, band, hatch in (
            (left, cut, "fast", ""), (cut, slow, "working it out", ""), (slow, right, "slow", "////"),
        ):  # fmt: skip
            face = SHADES[band] if band != "slow" else "#f3ddd2"
            axes.axvspan(low, high, facecolor=face, edgecolor="#e0b8a2" if hatch else face, hatch=hatch, linewidth=0)
            axes.text(
                (low + high) / 2, -0.62, band, ha="center", va="bottom", fontsize=8, color=INK,
            )  # fmt: skip
        for at, row in enumerate(shown.itertuples()):
            low, high = max(float(str(row.low_s)), left), min(float(str(row.high_s)), right)
            middle = float(np.clip(float(str(row.fact_time_s)), left, right))
            few = row.band == "too few tries"
            axes.plot([low, high], [at, at], color=INK, linewidth=1.6, linestyle=":" if few else "-", zorder=3)
            axes.plot(
                [middle], [at], marker=MARKS[str(row.band)], color=INK, markersize=6.5, zorder=4,
                markerfacecolor="white" if few else INK,
            )  # fmt: skip
        _name_rows(axes, range(len(shown)), [f"{row.fact}  (n {row.n})" for row in shown.itertuples()])
        axes.set_ylim(len(shown) - 0.5, -0.68)
        axes.set_xlim(left, right)
        axes.set_xlabel("fact time, seconds")
        axes.tick_params(length=2.5)
        svg = _drawn(figure)
    level = round(100 * chosen.interval.level)
    said = "; ".join(
        f"{row.fact} {row.fact_time_s:.1f} s ({row.low_s:.1f} to {row.high_s:.1f}), {row.band}"
        for row in shown.itertuples()
    )
    return Picture(
        svg,
        f"Fact time of each pair with its {level} % interval: {said}.",
        f"Fact time in seconds: what is left of the response time without the student's own time to find and touch "
        f"cards. Bar: {level} % interval; n: timed tries, the last {chosen.bands.last_tries} at most.",
    )


def growth_picture(weeks: pd.DataFrame, growth: pd.DataFrame, facts: Sequence[str]) -> Picture | None:
    """Weekly median own time of each pair of one student, side by side, on one logarithmic scale.

    Args:
        weeks: rows of :func:`~pyramid_lab.insight.weekly` of one student.
        growth: rows of :func:`~pyramid_lab.insight.growth` of one student.
        facts: the pairs, in order.

    Returns:
        The picture; ``None`` with fewer than two weeks of any pair.
    """
    counts = weeks.groupby("fact").size()
    if counts.empty or counts.max() < 2:
        return None
    first, last = weeks["week"].min(), weeks["week"].max()
    span = max((last - first).days / 7, 1.0)
    readings = growth.set_index("fact")["reading"]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.9, 1.9))
        axes = figure.add_axes((0.075, 0.2, 0.915, 0.77))
        for at, fact in enumerate(facts):
            rows = weeks[weeks["fact"] == fact]
            if at % 2 == 0:
                axes.axvspan(at - 0.5, at + 0.5, facecolor="#f2f5f8", linewidth=0)
            place = at - 0.38 + 0.76 * (rows["week"] - first).dt.days.to_numpy(float) / 7 / span
            claimed = readings.get(fact) in ("quicker", "slower")
            axes.plot(
                place, np.log2(rows["median_s"].to_numpy(float)), color=INK, linewidth=1.8 if claimed else 0.9,
                linestyle="-" if claimed else ":", marker="o", markersize=3.5,
                markerfacecolor=INK if claimed else "white",
            )  # fmt: skip
        _second_ticks(axes, weeks["median_s"])
        axes.set_xlim(-0.5, len(facts) - 0.5)
        axes.set_xticks([])
        for at, fact in enumerate(facts):
            name = _under(fact, readings.get(fact))
            axes.text(at, -0.06, name, transform=axes.get_xaxis_transform(), ha="center", va="top")
        figure.text(0.008, 0.585, "own time, s", rotation=90, va="center")
        svg = _drawn(figure)
    said = "; ".join(
        f"{fact} {rows['median_s'].iloc[0]:.1f} s to {rows['median_s'].iloc[-1]:.1f} s, {readings.get(fact, '')}"
        for fact in facts
        if len(rows := weeks[weeks["fact"] == fact]) > 1
    )
    return Picture(
        svg,
        f"Weekly median own time of each pair, first and last week: {said}.",
        f"Each panel: weekly median of the time without finding and touching cards, {first:%d %b %Y} to "
        f"{last:%d %b %Y}, n = {int(weeks['n'].sum())} timed tries; weeks with fewer than three are left out. "
        "Full line: a change that the 90 % interval supports; dotted: none that it does.",
    )


def _name_rows(axes: Axes, places: Iterable[float], names: Iterable[str]) -> None:
    """Names left of the axes. A tick of matplotlib is four artists; a class of thirty has hundreds of them."""
    axes.set_yticks([])
    for place, name in zip(places, names, strict=True):
        axes.text(-0.015, place, name, transform=axes.get_yaxis_transform(), ha="right", va="center")


def _under(fact: str, reading: object) -> str:
    return f"{fact}\n{reading if isinstance(reading, str) else 'too few weeks'}"


def _second_ticks(axes: Axes, times: pd.Series) -> None:
    low, high = float(times.min()) * 0.85, float(times.max()) * 1.15
    ticks = [tick for tick in (0.2, 0.5, 1, 2, 4, 8, 16) if low <= tick <= high] or [round(float(times.median()), 1)]
    places = np.log2(ticks)
    axes.set_ylim(np.log2(min(low, ticks[0] * 0.9)), np.log2(max(high, ticks[-1] * 1.1)))
    _name_rows(axes, places, [f"{tick:g}" for tick in ticks])
    axes.hlines(places, -0.5, 9.5, color="#d5dbe1", linewidth=0.6, zorder=0)
