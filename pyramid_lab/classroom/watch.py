"""What the tutor sees while the class plays: who is playing, who is stuck and why, which facts the class needs now.

Made from the events that the children's boards write. No rankings: children stand in the order of their names, and
nothing is shown that compares one child with another.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import Final

from pyramid_lab.log.events import Event, facts_to

QUIET_SECONDS: Final = 90.0
"""A child with an open page and nothing done for so long may need a hand."""
WRONG_IN_A_ROW: Final = 3
HINTS_IN_A_ROW: Final = 3
LOST_IN_A_ROW: Final = 3
FEW_TRIES: Final = 4
"""Below so many tries in the class, a fact says nothing yet."""
NEED_WRONG_SHARE: Final = 0.25
NEED_SLOW_MS: Final = 6000
"""Median time of right tries from which a fact counts as slow for the class, searching on the board included."""
NEEDED_FACTS: Final = 3
REMEMBERED: Final = 400
"""Times of right tries kept for each fact."""


@dataclass(slots=True)
class Progress:
    """One child's sitting so far.

    Attributes:
        correct, wrong: attempts; those that were blocked or a slip count as neither.
        heard: when the last event was seen, on the register's clock; ``None`` before the first.
        lost_in_a_row: games that ended without a way on, since the last that was won.
        last_wrong: fact of the last attempt, if it was wrong: it may still be taken back as a slip.
    """

    correct: int = 0
    wrong: int = 0
    games: int = 0
    won: int = 0
    wrong_in_a_row: int = 0
    hints_in_a_row: int = 0
    heard: float | None = None
    last: datetime | None = None
    playing: bool = False
    paused: bool = False
    lost_in_a_row: int = 0
    last_wrong: str | None = None

    def trouble(self, now: float) -> str:
        """Why this child may need a hand, in the tutor's words; empty when nothing says so."""
        if self.lost_in_a_row >= LOST_IN_A_ROW:
            return f"{self.lost_in_a_row} games in a row came to a dead end."
        if self.wrong_in_a_row >= WRONG_IN_A_ROW:
            return f"{self.wrong_in_a_row} wrong tries in a row."
        if self.hints_in_a_row >= HINTS_IN_A_ROW:
            return f"{self.hints_in_a_row} hints in a row."
        if not self.paused and self.heard is not None and now - self.heard >= QUIET_SECONDS:
            minutes = int((now - self.heard) // 60)
            return f"Nothing for {minutes} minutes." if minutes > 1 else "Nothing for over a minute."
        return ""


@dataclass(slots=True)
class _FactCount:
    correct: int = 0
    wrong: int = 0
    times: deque[int] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    who: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class FactNeed:
    """How the class stands with one fact in this lesson.

    Attributes:
        tries: right and wrong ones.
        median_ms: of right tries with a time; ``None`` if there are none.
        children: who tried it wrong at least once.
        need: why the class needs it now; empty when it does not, or too little is known.
    """

    fact: str
    tries: int
    wrong: int
    median_ms: int | None
    children: int
    need: str

    @property
    def urgency(self) -> float:
        """For the order of the list: the share of wrong tries, and slowness where there are none."""
        share = self.wrong / self.tries if self.tries else 0.0
        return share + (self.median_ms or 0) / 100_000


class Watch:
    """Follows the events of a class.

    Args:
        target: what a pair should total.
    """

    def __init__(self, target: int = 13) -> None:
        self._progress: dict[str, Progress] = {}
        self._facts = {fact: _FactCount() for fact in facts_to(target)}
        self.events = 0
        """Events heard so far."""

    def hear(self, events: Iterable[Event], now: float) -> None:
        """Take in events, each of them once.

        Args:
            now: of the register's clock, in seconds.
        """
        for event in events:
            self.events += 1
            progress = self._progress.setdefault(event.student_id, Progress())
            progress.heard = now
            progress.last = event.t_utc
            slipped = self._facts.get(progress.last_wrong or "") if event.event_type == "slip" else None
            if slipped is not None:
                slipped.wrong -= 1
                slipped.who[event.student_id] -= 1
            _follow(progress, event)
            fact = self._facts.get(event.fact or "")
            if fact is not None and event.event_type == "attempt" and event.error_class != "misclick":
                if event.outcome == "correct":
                    fact.correct += 1
                    if event.rt_ms:
                        fact.times.append(event.rt_ms)
                elif event.outcome == "incorrect":
                    fact.wrong += 1
                    fact.who[event.student_id] += 1

    def progress_of(self, student_id: str) -> Progress:
        """How one child gets on; all zeros before the first event."""
        return self._progress.get(student_id, Progress())

    def facts(self) -> list[FactNeed]:
        """Every fact, the one the class needs most first; those of which too little is known last."""
        found = [_need(name, count) for name, count in self._facts.items()]
        return sorted(found, key=lambda fact: (fact.tries < FEW_TRIES, not fact.need, -fact.urgency))

    def needed(self) -> list[FactNeed]:
        """The few facts the class needs now."""
        return [fact for fact in self.facts() if fact.need][:NEEDED_FACTS]


def _follow(progress: Progress, event: Event) -> None:
    kind = event.event_type
    if kind == "deal":
        progress.games += 1
        progress.playing = True
        progress.paused = False
        progress.wrong_in_a_row = progress.hints_in_a_row = 0
    elif kind == "slip":
        if progress.last_wrong is not None:
            progress.wrong -= 1
            progress.wrong_in_a_row = max(0, progress.wrong_in_a_row - 1)
            progress.last_wrong = None
    elif kind == "attempt":
        progress.last_wrong = None
        if event.outcome == "correct":
            progress.correct += 1
            progress.wrong_in_a_row = progress.hints_in_a_row = 0
        elif event.outcome == "incorrect" and event.error_class != "misclick":
            progress.wrong += 1
            progress.wrong_in_a_row += 1
            progress.last_wrong = event.fact or ""
    elif kind == "hint":
        progress.hints_in_a_row += 1
    elif kind in ("pause", "resume"):
        progress.paused = kind == "pause"
    elif kind == "end":
        progress.playing = False
        progress.won += event.outcome == "won"
        progress.lost_in_a_row = progress.lost_in_a_row + 1 if event.outcome == "lost" else 0
    elif kind == "undo":
        # Taking moves back out of a dead end goes on with the game.
        progress.playing = True


def _need(name: str, count: _FactCount) -> FactNeed:
    tries = count.correct + count.wrong
    middle = round(median(count.times)) if count.times else None
    need = ""
    if tries >= FEW_TRIES:
        if count.wrong / tries >= NEED_WRONG_SHARE:
            need = f"{count.wrong} of {tries} tries were wrong"
        elif middle is not None and middle >= NEED_SLOW_MS:
            need = f"right, but slow: {middle / 1000:.0f} s in the middle"
    return FactNeed(name, tries, count.wrong, middle, len(+count.who), need)
