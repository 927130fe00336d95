"""What a logged try can be used for, from plain values, row by row: the same for a class's frame and a child's page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from pyramid_lab.core.rules import RulesError
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

_MOVES: Final = frozenset({"draw", "redeal", "undo", "redo"})
_AWAY: Final = frozenset({"focus_lost", "focus_back"})
_PAUSED: Final = frozenset({"pause", "resume"})


class Row(NamedTuple):
    """What is asked of an event to say whether its time counts; ``None`` or NaN for unknown."""

    student_id: str
    game_id: str
    event_type: str
    outcome: str | None
    rt_ms: float | None
    clock: str | None
    assistance: str | None
    second_card: str | None = None
    rt_first_ms: float | None = None
    reason: str | None = None
    first_move: bool = False  # these two where the rows of other events are not there to tell
    interrupted: bool = False


@dataclass(slots=True)
class _Shown:
    """What is known of the position that a game shows."""

    fresh: bool = True  # no move since the deal
    left: bool = False
    paused: bool = False
    hinted: bool = False
    told: bool = False
    came_by: str = ""
    mistaken: bool = False
    wrong: int | None = None  # row of the last try, if it was a wrong sum
    taken: int | None = None  # row of the right try that brought this position


def reasons(rows: Iterable[Row], shortest_ms: int) -> list[str]:
    """Why each row says nothing about speed: a key of :data:`LEFT_OUT`, the first that holds, or ``""`` for none.

    Args:
        rows: student by student in the order in which they happened.
        shortest_ms: a quicker answer is no answer.
    """
    games: dict[tuple[str, str], _Shown] = {}
    found: list[str] = []
    for row in rows:
        key = row.student_id, row.game_id
        shown = games.get(key)
        if shown is None:
            shown = games[key] = _Shown()
        kind = row.event_type
        if kind == "attempt":
            found.append(_why(row, shown, shortest_ms))
            if is_asked(row.assistance):
                shown.told = True
            elif row.outcome == "correct":
                games[key] = _Shown(fresh=False, came_by=kind, taken=len(found) - 1)
            else:
                shown.mistaken = True
                shown.wrong = len(found) - 1 if row.outcome == "incorrect" else None
            continue
        found.append("" if row.outcome is None else "wrong try")
        if kind == "undo" and row.reason == WRONG_TAP and shown.taken is not None:
            found[shown.taken] = "slip"
        if kind in _MOVES:
            games[key] = _Shown(fresh=False, came_by=kind)
        elif kind == "deal":
            games[key] = _Shown()
        elif kind == "slip" and shown.wrong is not None:
            found[shown.wrong] = "slip"
            shown.wrong = None
        elif kind == "hint":
            shown.hinted = True
        elif kind in _AWAY:
            shown.left = True
        elif kind in _PAUSED:
            shown.paused = True
    return found


def is_asked(assistance: str | None) -> bool:
    """Whether an attempt answers "how many make 13?": a try at a fact by which no card goes."""
    return isinstance(assistance, str) and assistance.startswith(ASKED)


def _why(row: Row, shown: _Shown, shortest_ms: int) -> str:
    rt_ms = row.rt_ms
    if row.outcome != "correct":
        return "wrong try"
    if is_asked(row.assistance):
        return "asked"
    if shown.told:
        return "told"
    if rt_ms is None or _unknown(rt_ms) or rt_ms < 0:
        return "no time"
    if row.clock not in (None, "browser"):
        return "other clock"
    if rt_ms < shortest_ms:
        return "too short"
    if shown.fresh or row.first_move:
        return "first move"
    if shown.left:
        return "screen left"
    if shown.paused or row.interrupted:
        return "pause"
    if shown.hinted or row.assistance not in (None, "none", ""):
        return "helped"
    if shown.mistaken and row.second_card is not None and _unknown(row.rt_first_ms):
        return "after a mistake"
    if shown.came_by in ("undo", "redo"):
        return "seen before"
    return ""


def _unknown(number: float | None) -> bool:
    return number is None or number != number


def target_at(rule_set: str) -> int:
    """The target of the rules that an event names; 13 for a rule set of a later version."""
    try:
        return rules_of(rule_set).target
    except (RulesError, ValueError):
        return TARGET
