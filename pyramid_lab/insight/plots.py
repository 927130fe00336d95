"""Figures of the report: each is an SVG picture and the words that stand for it.

Every mark has a shape or a label of its own beside its colour, and the shades are apart in grey too.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox, BboxTransformFrom, BboxTransformTo, Transform

from pyramid_lab.insight.pictures import TIMED_TRIES, Picture
from pyramid_lab.insight.thresholds import Thresholds

INK: Final = "#1b2a38"
FAINT: Final = "#5d6b78"
SHADES: Final = {"fast": "#dcecf9", "working it out": "#f8d58a", "slow": "#a4471b", "too few tries": "#ffffff"}
"""Fill of each band: pale, middle, dark, so that a grey print keeps their order."""
MARKS: Final = {"fast": "o", "working it out": "D", "slow": "s", "too few tries": "x"}

_STYLE: Final[dict[Any, Any]] = {
    "svg.fonttype": "none", "svg.hashsalt": "pyramid-lab", "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"], "font.size": 9,
    "text.color": INK, "hatch.linewidth": 0.6,
}  # fmt: skip

_Numbers = Sequence[float] | npt.NDArray[np.float64]


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
        panel = _Panel(figure, (0.17, 0.46 / height, 0.81, 1 - 0.72 / height), (left, right), (len(shown) - 0.5, -0.68))
        for low, high, band, hatch in (
            (left, cut, "fast", ""), (cut, slow, "working it out", ""), (slow, right, "slow", "////"),
        ):  # fmt: skip
            face = SHADES[band] if band != "slow" else "#f3ddd2"
            panel.column(low, high, facecolor=face, edgecolor="#e0b8a2" if hatch else face, hatch=hatch, linewidth=0)
            panel.text((low + high) / 2, -0.76, band, ha="center", va="bottom", fontsize=8)
        lows, highs, middles = (
            np.clip(shown[name].to_numpy(float), left, right) for name in ("low_s", "high_s", "fact_time_s")
        )
        for band, mark in MARKS.items():
            at = np.flatnonzero(shown["band"].to_numpy() == band)
            few = band == "too few tries"
            panel.lines(
                np.column_stack([lows[at], highs[at]]), np.column_stack([at, at]), linewidth=1.6,
                linestyle=":" if few else "-", zorder=3,
            )  # fmt: skip
            panel.lines(
                middles[at, None], at[:, None], marker=mark, markersize=6.5, zorder=4, linestyle="",
                markerfacecolor="white" if few else INK,
            )  # fmt: skip
        panel.rows(range(len(shown)), [f"{fact}  ({n})" for fact, n in zip(shown["fact"], shown["n"], strict=True)])
        panel.scale(range(math.ceil(left), math.floor(right) + 1), "time for the sum, seconds")
        svg = _drawn(figure)
    level = round(100 * chosen.interval.level)
    said = "; ".join(
        f"{row['fact']} {row['fact_time_s']:.1f} s ({row['low_s']:.1f} to {row['high_s']:.1f}), {row['band']}"
        for row in shown.to_dict("records")
    )
    return Picture(
        svg,
        f"Fact time of each pair with its {level} % interval: {said}.",
        f"Time for the sum alone (fact time), in seconds: without the student's own time to find and touch cards. Bar: "
        f"where it likely lies ({level} % interval). In brackets: {TIMED_TRIES.format(last=chosen.bands.last_tries)}.",
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
    counts = weeks.groupby("fact", observed=True).size()
    if counts.empty or counts.max() < 2:
        return None
    first, last = weeks["week"].min(), weeks["week"].max()
    span = max((last - first).days / 7, 1.0)
    readings = growth.set_index("fact")["reading"]
    passed = (weeks["week"] - first).dt.days.to_numpy(float) / 7
    times = weeks["median_s"].to_numpy(float)
    of = {str(fact): (passed[at], times[at]) for fact, at in weeks.groupby("fact", observed=True).indices.items()}
    ticks, bottom, top = _seconds(weeks["median_s"])
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.9, 1.9))
        panel = _Panel(figure, (0.075, 0.2, 0.915, 0.77), (-0.5, len(facts) - 0.5), (bottom, top))
        for at in range(0, len(facts), 2):
            panel.column(at - 0.5, at + 0.5, facecolor="#f2f5f8", linewidth=0)
        claimed = {fact for fact in facts if readings.get(fact) in ("quicker", "slower")}
        for sure, names in ((True, claimed), (False, set(facts) - claimed)):
            shown = [(at, *of[fact]) for at, fact in enumerate(facts) if fact in names and fact in of]
            panel.lines(
                [at - 0.38 + 0.76 * since / span for at, since, _ in shown], [np.log2(each) for _, _, each in shown],
                linewidth=1.8 if sure else 0.9, linestyle="-" if sure else ":", marker="o", markersize=3.5, zorder=3,
                markerfacecolor=INK if sure else "white",
            )  # fmt: skip
        panel.lines([panel.x] * len(ticks), [[place] * 2 for place in np.log2(ticks)], color="#d5dbe1", linewidth=0.6)
        panel.rows(np.log2(ticks), [f"{tick:g}" for tick in ticks])
        for at, fact in enumerate(facts):
            name = _under(fact, readings.get(fact))
            panel.text(at, bottom - 0.06 * (top - bottom), name, ha="center", va="top")
        panel.frame()
        figure.text(0.008, 0.585, "time for the sum, s", rotation=90, va="center")
        svg = _drawn(figure)
    said = "; ".join(
        f"{fact} {of[fact][1][0]:.1f} s to {of[fact][1][-1]:.1f} s, {readings.get(fact, '')}"
        for fact in facts
        if fact in of and len(of[fact][1]) > 1
    )
    return Picture(
        svg,
        f"Weekly median own time of each pair, first and last week: {said}.",
        f"Each panel: weekly median of the time without finding and touching cards, {first:%d %b %Y} to "
        f"{last:%d %b %Y}; {int(weeks['n'].sum())} timed tries; weeks with fewer than three are left out. "
        "Full line: almost certainly a change (its 90 % interval leaves out none); dotted: no clear change yet.",
    )


class _Panel:
    """A rectangle of a figure with coordinates of its own.

    Matplotlib's axes would do, and take two thirds of the time of a small figure; a class of thirty has sixty.

    Attributes:
        x, y: coordinates of the left and right, bottom and top edge.
    """

    def __init__(
        self, figure: Figure, box: tuple[float, float, float, float], x: tuple[float, float], y: tuple[float, float]
    ) -> None:
        self.figure, self.x, self.y = figure, x, y
        inside = Bbox([[x[0], y[0]], [x[1], y[1]]])
        self.place: Transform = BboxTransformFrom(inside) + BboxTransformTo(Bbox.from_bounds(*box)) + figure.transFigure

    def column(self, left: float, right: float, **style: Any) -> None:
        """A rectangle from the bottom edge to the top edge."""
        height = self.y[1] - self.y[0]
        self.figure.add_artist(Rectangle((left, self.y[0]), right - left, height, transform=self.place, **style))

    def lines(self, x: Iterable[_Numbers], y: Iterable[_Numbers], **style: Any) -> None:
        """Lines of one style, as one artist with gaps."""
        parts = [np.concatenate([[*part, np.nan] for part in each] or [[]]) for each in (x, y)]
        self.figure.add_artist(Line2D(*parts, transform=self.place, **({"color": INK} | style)))

    def text(self, x: float, y: float, words: str, **style: Any) -> None:
        """Words at a place."""
        self.figure.add_artist(Text(x, y, words, transform=self.place, **style))

    def rows(self, places: Iterable[float], names: Iterable[str]) -> None:
        """Names left of the panel."""
        left = self.x[0] - 0.015 * (self.x[1] - self.x[0])
        for place, name in zip(places, names, strict=True):
            self.text(left, place, name, ha="right", va="center")

    def scale(self, ticks: Iterable[int], unit: str) -> None:
        """Edges, with numbers and the unit below the panel."""
        pitch = (self.y[1] - self.y[0]) / 100
        marks = list(ticks)
        self.frame()
        self.lines([(tick, tick) for tick in marks], [(self.y[0], self.y[0] - pitch)] * len(marks), color=FAINT)
        for tick in marks:
            self.text(tick, self.y[0] - 2 * pitch, f"{tick}", ha="center", va="top")
        self.text((self.x[0] + self.x[1]) / 2, self.y[0] - 10 * pitch, unit, ha="center", va="top")

    def frame(self) -> None:
        """The left and the bottom edge."""
        (left, right), (bottom, top) = self.x, self.y
        self.lines([(left, left, right)], [(top, bottom, bottom)], color=FAINT, linewidth=0.7, zorder=2.5)


def _under(fact: str, reading: object) -> str:
    return f"{fact}\n{reading if isinstance(reading, str) else 'too few weeks'}"


def _seconds(times: pd.Series) -> tuple[list[float], float, float]:
    """Round times to mark on a logarithmic scale, and its lower and upper end as logarithms to base 2."""
    low, high = float(times.min()) * 0.85, float(times.max()) * 1.15
    ticks = [tick for tick in (0.2, 0.5, 1, 2, 4, 8, 16) if low <= tick <= high] or [round(float(times.median()), 1)]
    return ticks, float(np.log2(min(low, ticks[0] * 0.9))), float(np.log2(max(high, ticks[-1] * 1.1)))
