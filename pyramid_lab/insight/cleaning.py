"""From logged events to tries that can be measured, with a reason for every row that says nothing about speed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pandas as pd

from pyramid_lab.insight.thresholds import Thresholds
from pyramid_lab.insight.tries import TARGET, Row, is_asked, reasons, target_at
from pyramid_lab.log.events import FIELDS, NUMBER_FIELDS, Event, facts_to

COLUMNS: Final = (
    "event_id", "student_id", "session_id", "game_id", "deal", "rule_set", "event_index", "event_type", "t_utc", "tz",
    "rt_ms", "rt_first_ms", "clock", "first_card", "second_card", "first_place", "second_place", "value_a", "value_b",
    "total", "outcome", "error_class", "fact", "n_exposed", "n_legal", "n_legal_cards", "legal_facts", "newly_exposed",
    "best_newly_exposed", "assistance",
)  # fmt: skip
"""The fields of an event that the measures use; reading no others from a long log saves time."""

# The log's frame of attempts alone has no rows of other events; it says in these columns what they would tell.
_FOUND_BY_LOG: Final = ("first_move", "interrupted")
_NEEDED: Final = ("student_id", "fact", "outcome", "rt_ms")
_ORDER: Final = ["student_id", "t_utc", "event_index"]
_TIME: Final = pd.DatetimeTZDtype("ms", "UTC")


class MissingColumnError(ValueError):
    """A frame of events lacks a column that a measure needs; the message names it."""


def events_frame(events: Iterable[Event]) -> pd.DataFrame:
    """Events as a frame: a row each, the columns of :data:`pyramid_lab.log.events.FIELDS`, times in UTC."""
    rows = [[getattr(event, name) for name in FIELDS] for event in events]
    return _typed(pd.DataFrame(rows, columns=list(FIELDS)))


def _typed(events: pd.DataFrame) -> pd.DataFrame:
    """The frame with every column of an event, numbers as float (NaN for unknown) and times as UTC."""
    missing = [name for name in _NEEDED if name not in events.columns]
    if missing:
        raise MissingColumnError(
            f"the events have no column {', '.join(missing)}; the frames of pyramid_lab.log have them all"
        )
    columns: dict[str, object] = {}
    for name in FIELDS:
        if name not in events.columns:
            columns[name] = np.nan if name in NUMBER_FIELDS else None
        elif name in NUMBER_FIELDS:
            columns[name] = pd.to_numeric(events[name], errors="coerce").astype("float64")
        elif name == "t_utc":
            columns[name] = pd.to_datetime(events[name], utc=True, errors="coerce").astype(_TIME)
        else:
            columns[name] = events[name].astype(object).where(events[name].notna(), None)
    for name in _FOUND_BY_LOG:
        columns[name] = events[name].fillna(False).astype(bool) if name in events.columns else False
    typed = pd.DataFrame(columns, index=events.index)
    for name, usual in (("event_type", "attempt"), ("session_id", ""), ("game_id", "")):
        typed[name] = typed[name].where(typed[name].notna(), usual)
    return typed


def in_order(events: pd.DataFrame) -> pd.DataFrame:
    """Events typed, student by student in the order in which they happened, index 0 to n-1.

    Args:
        events: rows with the columns of an event; those that are missing and not needed are filled with unknown.

    Raises:
        MissingColumnError: ``student_id``, ``fact``, ``outcome`` or ``rt_ms`` is not there.
    """
    if _is_in_order(events):
        return events
    typed = _typed(events)
    return typed.sort_values(_ORDER, kind="stable", ignore_index=True)


def _is_in_order(events: pd.DataFrame) -> bool:
    """Whether the frame came from :func:`in_order`: a log of a class is long, and typing it takes a second."""
    kinds = events.dtypes.to_dict()
    if list(events.columns) != [*FIELDS, *_FOUND_BY_LOG] or kinds["t_utc"] != _TIME:
        return False
    if any(kinds[name] != np.float64 for name in NUMBER_FIELDS) or any(
        kinds[name] != np.bool_ for name in _FOUND_BY_LOG
    ):
        return False
    student, time = events["student_id"].to_numpy(), events["t_utc"].astype("int64").to_numpy()
    same = student[1:] == student[:-1]
    index = events["event_index"].to_numpy()
    later = (time[1:] > time[:-1]) | ((time[1:] == time[:-1]) & (index[1:] >= index[:-1]))
    return bool(events["student_id"].is_monotonic_increasing and later[same].all())


def main_target(events: pd.DataFrame) -> int:
    """The target (10 to 13) that most attempts in the frame were made at; 13 for an empty frame."""
    texts = events.loc[events["event_type"] == "attempt", "rule_set"]
    counts = texts.map(_targets(texts)).value_counts()
    return int(counts.index.to_numpy()[0]) if len(counts) else TARGET


def _targets(rule_sets: pd.Series) -> dict[str, int]:
    return {text: target_at(text) for text in rule_sets.dropna().unique()}


def asked(events: pd.DataFrame) -> pd.Series[bool]:
    """Which rows answer the board's question for a missing number: tries at a fact, but no discards."""
    kinds = [word for word in events["assistance"].unique() if is_asked(word)]
    return (events["event_type"] == "attempt") & events["assistance"].isin(kinds)


def is_discard(events: pd.DataFrame) -> pd.Series[bool]:
    """Which rows took a pair or a King away."""
    return (events["event_type"] == "attempt") & (events["outcome"] == "correct") & ~asked(events)


def clean(events: pd.DataFrame, thresholds: Thresholds | None = None, *, target: int = TARGET) -> pd.DataFrame:
    """The attempts, each with what it can be used for.

    No speed is read from: wrong tries; times below ``cleaning.shortest_ms``; the first move after a deal; a position
    during which the page was left or the game paused; one for which a hint was shown, or that had been seen before an
    undo; times that no browser measured. A time beyond ``cleaning.longest_medians`` of the student's medians is cut
    to that (winsorised). A blocked try and a misclick are no wrong answer: they count for neither speed nor accuracy.
    A wrong pair that was taken back at once (a slip) and a tap that the tutor mended are misclicks. Where the board
    asks for the missing number, the answer counts for accuracy, and neither it nor the discard that it tells counts
    for speed.

    Args:
        events: rows with the columns of an event, attempts alone or everything; see :func:`in_order`.
        thresholds: section ``cleaning``.
        target: attempts at pairs to this target.

    Returns:
        A row for each attempt at a known fact, in order, with the event's columns and

        - ``try_number``: 1, 2 ... within student and fact, tries that count for accuracy only;
        - ``right``: 1.0 right, 0.0 wrong, NaN for neither;
        - ``rt_s``: response time, s;
        - ``left_out``: a key of :data:`LEFT_OUT`, or ``""`` if the time counts;
        - ``speed_s``: the time that counts, winsorised, s; NaN if left out;
        - ``winsorised``: whether it was cut;
        - ``scan``: cards a scan is expected to look at, ``(n_exposed + 1) / (n_legal_cards + 1)``.

    Raises:
        MissingColumnError: see :func:`in_order`.
    """
    settings = (thresholds or Thresholds.default()).cleaning
    rows = in_order(events)
    columns = (rows[name].tolist() for name in Row._fields)
    rows = rows.assign(left_out=reasons(map(Row, *columns), settings.shortest_ms))
    tries = rows[(rows["event_type"] == "attempt") & rows["fact"].isin(facts_to(target))].copy()
    if tries["rule_set"].notna().any():
        tries = tries[tries["rule_set"].map(_targets(tries["rule_set"])).fillna(target) == target].copy()
    tries["error_class"] = tries["error_class"].mask(tries["left_out"] == "slip", "misclick")
    right = tries["outcome"].map({"correct": 1.0, "incorrect": 0.0}).astype("float64")
    tries["right"] = right.mask((tries["error_class"] == "misclick") | (tries["left_out"] == "told"))
    tries["try_number"] = tries["right"].notna().groupby([tries["student_id"], tries["fact"]]).cumsum().astype("int64")
    tries["rt_s"] = tries["rt_ms"] / 1000
    counted = tries["rt_s"].where(tries["left_out"] == "")
    longest = counted.groupby(tries["student_id"]).transform("median") * settings.longest_medians
    tries["winsorised"] = counted > longest
    tries["speed_s"] = counted.clip(upper=longest)
    tries["scan"] = (tries["n_exposed"] + 1) / (tries["n_legal_cards"] + 1)
    return tries.reset_index(drop=True)


def latest(tries: pd.DataFrame, count: int) -> pd.DataFrame:
    """The last so many timed tries at each fact of each student, with every other try since the first of them."""
    timed = tries["speed_s"].notna()
    group = [tries["student_id"], tries["fact"]]
    later = timed[::-1].groupby([column[::-1] for column in group]).cumsum()[::-1]
    return tries[(later < count) | ((later == count) & timed)].reset_index(drop=True)


def left_out_counts(tries: pd.DataFrame) -> pd.DataFrame:
    """How many attempts of each student count for speed, and why the others do not.

    Args:
        tries: as :func:`clean` gives them.

    Returns:
        A row for each student and reason with ``student_id``, ``left_out`` (``""``: counts), ``n``.
    """
    return tries.groupby(["student_id", "left_out"], sort=True).size().rename("n").reset_index()
