"""The short review at the end of a lesson: what was tried, how often it was right, and how long it took.

Imports pandas and matplotlib only when there is something to show, so that a child's page stays small.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyramid_lab.log.events import Event, facts_to
from pyramid_lab.log.store import Store

if TYPE_CHECKING:
    import pandas as pd

FEW_TRIES: Final = 8
"""Below so many tries a fact is said to show little yet."""

_NOTHING: Final = "No tries yet. Play a board above, then press <b>Show the newest tries</b>."


def fact_table(events: Iterable[Event], *, target: int = 13) -> pd.DataFrame:
    """Tries, accuracy and speed of each fact.

    Args:
        events: of one student.
        target: what pairs total, 10 to 13.

    Returns:
        A row for each fact of the target, index ``fact``, with ``tries`` (right and wrong ones; blocked tries and
        misclicks are neither), ``right``, ``accuracy`` (0 to 1, NaN without a try), ``timed`` (tries whose time says
        something about speed, see :func:`pyramid_lab.insight.cleaning.clean`) and ``median_s`` (their median response
        time, s, NaN without one).
    """
    import pandas as pd

    from pyramid_lab.insight.cleaning import clean, events_frame

    tries = clean(events_frame(events), target=target)
    of_fact = tries.groupby("fact", observed=True)
    table = pd.DataFrame(
        {
            "tries": of_fact["right"].count(),
            "right": of_fact["right"].sum(),
            "timed": of_fact["speed_s"].count(),
            "median_s": of_fact["speed_s"].median(),
        }
    ).reindex(pd.Index(facts_to(target), name="fact"))
    counts = ["tries", "right", "timed"]
    table[counts] = table[counts].fillna(0).astype("int64")
    table["accuracy"] = table["right"] / table["tries"].where(table["tries"] > 0)
    return table[["tries", "right", "accuracy", "timed", "median_s"]]


def fact_table_html(table: pd.DataFrame, *, target: int = 13) -> str:
    """The table of :func:`fact_table` for people: HTML with a caption and headed rows and columns."""
    rows = "".join(
        f"<tr><th scope='row'>{escape(str(fact))}</th><td>{row['tries']}</td><td>{row['right']}</td>"
        f"<td>{_percent(row['accuracy'])}</td><td>{_seconds(row['median_s'])}</td>"
        f"<td style='text-align:left'>{_remark(row['tries'])}</td></tr>"
        for fact, row in table.to_dict("index").items()
    )
    heads = "".join(
        f"<th scope='col'>{head}</th>" for head in ("Fact", "Tries", "Right", "Accuracy", "Median time", "")
    )
    return (
        f"<table><caption>What was tried {_said_of(table, target)} in all</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def fact_picture(table: pd.DataFrame) -> bytes:
    """The median times of :func:`fact_table` as bars, with the number of timed tries on each; a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.subplots()
    times = table["median_s"].fillna(0.0)
    bars = axes.barh(range(len(table)), times, color="#2b6ca3", height=0.65)
    axes.bar_label(bars, labels=[_bar_label(row) for row in table.to_dict("records")], padding=4)
    axes.set_yticks(range(len(table)), list(table.index))
    axes.invert_yaxis()
    axes.set_xlim(0, max(float(times.max()) * 1.45, 1.0))
    axes.set_xlabel("median response time of right tries, seconds (looking and pointing included)")
    axes.spines[["top", "right"]].set_visible(False)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return out.getvalue()


def review_html(events: Sequence[Event], *, target: int | Sequence[int] = 13) -> str:
    """Table and picture of one student's events as one piece of HTML; without a try, a sentence that says so.

    Args:
        events: of one student.
        target: what pairs total, 10 to 13, or several of these. What was tried at other totals is folded below.
    """
    from pyramid_lab.insight.tries import target_at

    asked = [target] if isinstance(target, int) else list(target)
    played = sorted({target_at(event.rule_set) for event in events if event.event_type == "attempt"})
    if not played:
        return f"<p>{_NOTHING}</p>"
    parts = [
        _table_and_picture(fact_table(events, target=one), one)
        if one in played
        else f"<p>Nothing that makes {one} has been tried yet.</p>"
        for one in asked
    ]
    for one in played:
        if one not in asked:
            table = fact_table(events, target=one)
            summary = f"<summary>Also tried {_said_of(table, one)}</summary>"
            parts.append(f"<details>{summary}{_table_and_picture(table, one)}</details>")
    return "".join(parts)


def _table_and_picture(table: pd.DataFrame, target: int) -> str:
    picture = base64.b64encode(fact_picture(table)).decode("ascii")
    return (
        f"{fact_table_html(table, target=target)}<p><img style='max-width:100%' "
        f"src='data:image/png;base64,{picture}' alt='{escape(_picture_in_words(table), quote=True)}'></p>"
    )


def _said_of(table: pd.DataFrame, target: int) -> str:
    total = int(table["tries"].sum())
    return f"to make {target}: {total} {'try' if total == 1 else 'tries'}"


def show_review(student_id: str, *, place: str | Path | None = None, target: int | Sequence[int] = 13) -> None:
    """Show a student's table and picture in a notebook, with a button that shows the newest tries.

    Args:
        student_id: the student's pseudonym.
        place: where the log is, see :class:`pyramid_lab.log.store.Store`.
        target: what pairs total, 10 to 13, or several of these; see :func:`review_html`.
    """
    import ipywidgets
    from IPython.display import HTML, display

    def now() -> str:
        with Store(place) as store:
            return review_html(store.events(student_id=student_id), target=target)

    # What is shown first is plain output: it stays readable in a saved notebook. The button's answer is a widget,
    # which also works on a page without a notebook.
    first: Any = display(HTML(now()), display_id=True)
    button = ipywidgets.Button(description="Show the newest tries", layout=ipywidgets.Layout(width="16em"))
    newest = ipywidgets.HTML()

    def show(_: ipywidgets.Button) -> None:
        newest.value = now()
        first.update(HTML(""))

    button.on_click(show)
    display(ipywidgets.VBox([button, newest]))


def _percent(share: float) -> str:
    return "–" if share != share else f"{share:.0%}"  # NaN is not equal to itself


def _seconds(time: float) -> str:
    return "–" if time != time else f"{time:.1f} s"


def _remark(tries: int) -> str:
    if tries == 0:
        return "not tried yet"
    return "few tries: says little yet" if tries < FEW_TRIES else ""


def _bar_label(row: Mapping[Any, Any]) -> str:
    if row["timed"] == 0:
        return "no time yet"
    return f"{row['median_s']:.1f} s ({row['timed']} timed)"


def _picture_in_words(table: pd.DataFrame) -> str:
    timed = table[table["timed"] > 0]
    if timed.empty:
        return "Bars of the median response time of each fact: no times yet."
    facts = ", ".join(f"{fact} {_seconds(time)}" for fact, time in timed["median_s"].items())
    return f"Bars of the median response time of each fact: {facts}."
