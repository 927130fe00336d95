"""What a logged try can be used for, from plain columns: the same for a class's frame and a child's page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pyramid_lab.core.rules import RulesError
from pyramid_lab.insight.reach import Floats
from pyramid_lab.log.events import ASKED, WRONG_TAP, rules_of

LEFT_OUT: Final = {
    "slip": "the finger slipped: a wrong pair was taken back at once, or at a table the tutor mended a wrong tap",
    "wrong try": "wrong tries, or cards that were not free",
    "asked": "the answer to a question for the missing number, given on other keys",
    "told": "the missing number had been asked for before",
    "no time": "no response time was measured",
    "other clock": "timed by the tutor's hand or the kernel, not by the browser",
    "too short": "too quick to be an answer",
    "first move": "first move after a deal",
    "screen left": "the student looked at another window meanwhile",
    "pause": "the game was paused meanwhile",
    "helped": "a hint was shown",
    "after a mistake": "timed from the first card chosen after a mistake, so without finding it",
    "seen before": "the position had been seen before an undo or redo",
}
"""Why a row says nothing about speed: the word in the column ``left_out``, and the sentence for people."""

TARGET: Final = 13

Flags = npt.NDArray[np.bool_]

_MOVES: Final = frozenset({"draw", "redeal", "undo", "redo"})
_AWAY: Final = frozenset({"focus_lost", "focus_back"})
_PAUSED: Final = frozenset({"pause", "resume"})


@dataclass(frozen=True, slots=True)
class Words:
    """A column of words as a table of the different ones and the place of each row's word in it; ``None`` for unknown.

    A log of a class has a hundred thousand rows and a handful of words: what is asked of a word is asked once.
    """

    table: Sequence[str | None]
    at: npt.NDArray[np.integer[Any]]

    @classmethod
    def of(cls, words: Iterable[str | None]) -> Words:
        """The column of these words."""
        places: dict[str | None, int] = {}
        at = np.array([places.setdefault(word, len(places)) for word in words], np.intp)
        return cls(list(places), at)

    def where(self, holds: Callable[[str | None], bool]) -> Flags:
        """The rows whose word is such."""
        return np.asarray(np.array([holds(word) for word in self.table], bool)[self.at])

    def among(self, *words: str | None) -> Flags:
        """The rows that have one of these words."""
        return self.where(lambda word: word in words)


@dataclass(frozen=True, slots=True)
class Rows:
    """What is asked of events to say whether their times count, column by column; NaN for an unknown time."""

    student_id: Words
    game_id: Words
    event_type: Words
    outcome: Words
    clock: Words
    assistance: Words
    second_card: Words
    reason: Words
    rt_ms: Floats
    rt_first_ms: Floats
    first_move: Flags  # these two where the rows of other events are not there to tell
    interrupted: Flags


def reasons(rows: Rows, shortest_ms: int) -> npt.NDArray[np.object_]:
    """Why each row says nothing about speed: a key of :data:`LEFT_OUT`, the first that holds, or ``""`` for none.

    Args:
        rows: student by student in the order in which they happened.
        shortest_ms: a quicker answer is no answer.
    """
    found = np.full(len(rows.rt_ms), "", object)
    attempt = rows.event_type.among("attempt")
    asked = rows.assistance.where(is_asked)
    correct = rows.outcome.among("correct")
    taken = attempt & correct & ~asked
    mistaken = attempt & ~correct & ~asked
    shown = _Shown.of(rows, taken)
    for reason, holds in (  # the last ones first, so that the first that holds is what stays
        ("seen before", shown.came_by(rows.event_type.among("undo", "redo"))),
        ("after a mistake", shown.seen(mistaken) & ~rows.second_card.among(None) & np.isnan(rows.rt_first_ms)),
        ("helped", shown.seen(rows.event_type.among("hint")) | ~rows.assistance.among(None, "none", "")),
        ("pause", shown.seen(rows.event_type.among(*_PAUSED)) | rows.interrupted),
        ("screen left", shown.seen(rows.event_type.among(*_AWAY))),
        ("first move", shown.fresh(rows.event_type.among("deal")) | rows.first_move),
        ("too short", rows.rt_ms < shortest_ms),
        ("other clock", ~rows.clock.among(None, "browser")),
        ("no time", ~(rows.rt_ms >= 0)),
        ("told", shown.seen(attempt & asked)),
        ("asked", asked),
        ("wrong try", ~correct),
    ):
        found[attempt & holds] = reason
    found[~attempt & ~rows.outcome.among(None)] = "wrong try"
    slip = rows.event_type.among("slip")
    last = shown.last(mistaken | slip)[slip]
    wrong = mistaken & rows.outcome.among("incorrect")
    found[last[(last >= 0) & wrong[last]]] = "slip"
    mended = shown.brought_by()[rows.event_type.among("undo") & rows.reason.among(WRONG_TAP)]
    found[mended[(mended >= 0) & taken[mended]]] = "slip"
    return found


@dataclass(frozen=True, slots=True)
class _Shown:
    """Which rows were seen at the same position of the same game; a position is brought by a move or a deal.

    Attributes:
        order: the rows game by game, each in order.
        place: where each row stands in that.
        begins: for each place, where its position begins.
        moved: for each place, whether a move or a deal of the game brought its position.
    """

    order: npt.NDArray[np.intp]
    place: npt.NDArray[np.intp]
    begins: npt.NDArray[np.intp]
    moved: Flags

    @classmethod
    def of(cls, rows: Rows, taken: Flags) -> _Shown:
        game = rows.student_id.at.astype(np.int64) * len(rows.game_id.table) + rows.game_id.at
        order = np.argsort(game, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        game = game[order]
        first = np.append(True, game[1:] != game[:-1])[: len(game)]
        brings = (taken | rows.event_type.among("deal", *_MOVES))[order]
        new = first | np.append(False, brings[:-1])[: len(game)]
        begins = np.maximum.accumulate(np.where(new, np.arange(len(game)), 0))
        return cls(order, place, begins, ~first[begins])

    def seen(self, what: Flags) -> Flags:
        """The rows before which such a one was seen at their position."""
        before = np.append(0, what[self.order].cumsum())
        return np.asarray((before[:-1] > before[self.begins])[self.place])

    def last(self, what: Flags) -> npt.NDArray[np.intp]:
        """For each row the last such one before it at its position; -1 for none."""
        marks = np.where(what[self.order], np.arange(len(self.order)), -1)
        last = np.append(-1, np.maximum.accumulate(marks))[:-1]
        return np.where(last >= self.begins, self.order[last], -1)[self.place]

    def brought_by(self) -> npt.NDArray[np.intp]:
        """For each row the one that brought its position; -1 for none."""
        return np.where(self.moved, self.order[self.begins - 1], -1)[self.place]

    def came_by(self, what: Flags) -> Flags:
        """The rows whose position such a one brought."""
        by = self.brought_by()
        return np.asarray((by >= 0) & what[by])

    def fresh(self, deal: Flags) -> Flags:
        """The rows before which nothing was moved since the deal."""
        by = self.brought_by()
        return np.asarray((by < 0) | deal[by])


def is_asked(assistance: str | None) -> bool:
    """Whether an attempt answers "how many make 13?": a try at a fact by which no card goes."""
    return isinstance(assistance, str) and assistance.startswith(ASKED)


def target_at(rule_set: str) -> int:
    """The target of the rules that an event names; 13 for a rule set of a later version."""
    try:
        return rules_of(rule_set).target
    except (RulesError, ValueError):
        return TARGET
