"""From logged events to tries that can be measured, with a reason for every row that says nothing about speed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pandas as pd

from pyramid_lab.insight.thresholds import Thresholds
from pyramid_lab.insight.tries import TARGET, Rows, Words, is_asked, reasons, target_at
from pyramid_lab.log.events import FIELDS, NUMBER_FIELDS, TEXT_FIELDS, Event, facts_to

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
_USUAL: Final = {"event_type": "attempt", "session_id": "", "game_id": ""}
_ORDER: Final = ["student_id", "t_utc", "event_index"]
_TIME: Final = pd.DatetimeTZDtype("ms", "UTC")
# Texts of which many rows share one; an event's own id stays a text.
_SHARED: Final = tuple(name for name in TEXT_FIELDS if name != "event_id")


class MissingColumnError(ValueError):
    """A frame of events lacks a column that a measure needs; the message names it."""


def events_frame(events: Iterable[Event]) -> pd.DataFrame:
    """Events as a frame: a row each, the columns of :data:`pyramid_lab.log.events.FIELDS`, times in UTC."""
    rows = [[getattr(event, name) for name in FIELDS] for event in events]
    typed = _typed(pd.DataFrame(rows, columns=list(FIELDS)))
    texts = typed[list(_SHARED)].astype(object)
    return typed.assign(**{name: texts[name].where(texts[name].notna(), None) for name in _SHARED})


def _typed(events: pd.DataFrame) -> pd.DataFrame:
    """The frame with every column of an event, numbers as float (NaN for unknown), times as UTC, texts as categories:
    a class's log has hundreds of thousands of rows and few words."""
    missing = [name for name in _NEEDED if name not in events.columns]
    if missing:
        raise MissingColumnError(
            f"the events have no column {', '.join(missing)}; the frames of pyramid_lab.log have them all"
        )
    columns: dict[str, object] = {}
    for name in FIELDS:
        column = events[name] if name in events.columns else _unknown(events.index)
        if name in NUMBER_FIELDS:
            numbers = column if column.dtype == np.float64 else pd.to_numeric(column, errors="coerce")
            columns[name] = numbers.astype("float64")
        elif name == "t_utc":
            columns[name] = pd.to_datetime(column, utc=True, errors="coerce").astype(_TIME)
        elif name in _SHARED:
            columns[name] = _categories(column, _USUAL.get(name))
        else:
            columns[name] = column.astype(object).where(column.notna(), None)
    for name in _FOUND_BY_LOG:
        told = name in events.columns
        columns[name] = events[name].astype("boolean").fillna(False).astype(bool) if told else False
    return pd.DataFrame(columns, index=events.index)


def _unknown(index: pd.Index) -> pd.Series:
    return pd.Series(pd.Categorical.from_codes(np.full(len(index), -1), pd.Index([], dtype=object)), index)


def _categories(column: pd.Series, usual: str | None) -> pd.Series:
    """Texts as categories in the order of the alphabet, of which each is there; ``usual`` for those missing."""
    found = column.astype("category")
    if usual is not None and found.hasnans:
        found = found.cat.set_categories([*found.cat.categories.drop(usual, errors="ignore"), usual]).fillna(usual)
    codes = found.cat.codes.to_numpy()
    used = np.bincount(codes[codes >= 0], minlength=len(found.cat.categories)) > 0
    return found.cat.set_categories(found.cat.categories[used].astype(object).sort_values())


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
    if not all(isinstance(kinds[name], pd.CategoricalDtype) for name in _SHARED):
        return False
    student, time = events["student_id"].cat.codes.to_numpy(), events["t_utc"].astype("int64").to_numpy()
    other, same = student[1:] > student[:-1], student[1:] == student[:-1]
    index = events["event_index"].to_numpy()
    later = (time[1:] > time[:-1]) | ((time[1:] == time[:-1]) & (index[1:] >= index[:-1]))
    return bool((other | (same & later)).all())


def main_target(events: pd.DataFrame) -> int:
    """The target (10 to 13) that most attempts in the frame were made at; 13 for an empty frame."""
    targets = _targets(events.loc[events["event_type"] == "attempt", "rule_set"]).value_counts()
    return int(targets.index.to_numpy()[0]) if len(targets) else TARGET


def _targets(rule_sets: pd.Series) -> pd.Series[float]:
    """The target of each row's rules; NaN for a row that names none."""
    targets = np.array([*map(target_at, rule_sets.cat.categories), np.nan], float)
    return pd.Series(targets[rule_sets.cat.codes], rule_sets.index)


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
        A row for each attempt at a known fact, in order, with the event's columns (texts as categories) and

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
    left_out = reasons(_columns(rows), settings.shortest_ms)
    at = (rows["event_type"] == "attempt") & rows["fact"].isin(facts_to(target))
    at &= _targets(rows["rule_set"]).fillna(target) == target
    tries = rows[at].assign(left_out=left_out[at])
    for name in ("student_id", "fact"):
        tries[name] = tries[name].cat.remove_unused_categories()
    tries["error_class"] = tries["error_class"].astype(object).mask(tries["left_out"] == "slip", "misclick")
    right = (tries["outcome"] == "correct").astype("float64").where(tries["outcome"].isin(("correct", "incorrect")))
    tries["right"] = right.mask((tries["error_class"] == "misclick") | (tries["left_out"] == "told"))
    group = [tries["student_id"], tries["fact"]]
    tries["try_number"] = tries["right"].notna().groupby(group, observed=True).cumsum().astype("int64")
    tries["rt_s"] = tries["rt_ms"] / 1000
    counted = tries["rt_s"].where(tries["left_out"] == "")
    longest = counted.groupby(tries["student_id"], observed=True).transform("median") * settings.longest_medians
    tries["winsorised"] = counted > longest
    tries["speed_s"] = counted.clip(upper=longest)
    tries["scan"] = (tries["n_exposed"] + 1) / (tries["n_legal_cards"] + 1)
    return tries.reset_index(drop=True)


def _columns(rows: pd.DataFrame) -> Rows:
    def words(name: str) -> Words:
        column = rows[name].cat
        return Words([*column.categories, None], column.codes.to_numpy())

    return Rows(
        student_id=words("student_id"), game_id=words("game_id"), event_type=words("event_type"),
        outcome=words("outcome"), clock=words("clock"), assistance=words("assistance"),
        second_card=words("second_card"), reason=words("reason"), rt_ms=rows["rt_ms"].to_numpy(),
        rt_first_ms=rows["rt_first_ms"].to_numpy(), first_move=rows["first_move"].to_numpy(),
        interrupted=rows["interrupted"].to_numpy(),
    )  # fmt: skip


def latest(tries: pd.DataFrame, count: int) -> pd.DataFrame:
    """The last so many timed tries at each fact of each student, with every other try since the first of them."""
    timed = tries["speed_s"].notna()
    group = [tries["student_id"], tries["fact"]]
    later = timed[::-1].groupby([column[::-1] for column in group], observed=True).cumsum()[::-1]
    return tries[(later < count) | ((later == count) & timed)].reset_index(drop=True)


def left_out_counts(tries: pd.DataFrame) -> pd.DataFrame:
    """How many attempts of each student count for speed, and why the others do not.

    Args:
        tries: as :func:`clean` gives them.

    Returns:
        A row for each student and reason with ``student_id``, ``left_out`` (``""``: counts), ``n``.
    """
    return tries.groupby(["student_id", "left_out"], sort=True, observed=True).size().rename("n").reset_index()
