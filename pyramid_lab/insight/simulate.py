"""The simulated student: plays real deals with known retrieval and counting times, so that measures can be checked.

Nothing here reads a clock or hidden randomness: every draw comes from the numpy generator that is passed in, and the
calendar from ``start``.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from pyramid_lab.core import DRAW, REDEAL, Card, Deal, Move, Outcome, Position, Rules, rule_set
from pyramid_lab.insight.cleaning import events_frame
from pyramid_lab.log.events import Event, fact_of, facts_to, record

Learning = Literal["known", "counted", "sudden", "gradual"]
Noise = Literal["lognormal", "gamma", "heavy"]

LEARNING: Final[tuple[Learning, ...]] = ("known", "counted", "sudden", "gradual")
NOISE: Final[tuple[Noise, ...]] = ("lognormal", "gamma", "heavy")

START: Final = datetime(2026, 9, 7, 8, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Skill:
    """How one fact is answered, try by try.

    Attributes:
        known_s: median time when the fact is known, s.
        counted_s: median time when it is counted, s.
        learning: ``known`` or ``counted`` throughout; ``sudden``: counted before try number ``begins``, known from it
            on; ``gradual``: the median falls on a straight line in log time over ``lasts`` tries.
        begins: number of tries before learning begins.
        lasts: tries that gradual learning takes.
        spread: standard deviation of log time.
    """

    known_s: float = 0.75
    counted_s: float = 2.5
    learning: Learning = "known"
    begins: int = 0
    lasts: int = 20
    spread: float = 0.45

    def median_s(self, tries: int) -> float:
        """The true median time after so many tries, s."""
        if self.learning == "known":
            return self.known_s
        if self.learning == "counted":
            return self.counted_s
        if self.learning == "sudden":
            return self.counted_s if tries < self.begins else self.known_s
        way = min(max((tries - self.begins) / self.lasts, 0.0), 1.0)
        return float(self.counted_s ** (1 - way) * self.known_s**way)


@dataclass(frozen=True, slots=True)
class SimulatedStudent:
    """A student with known abilities; see :func:`random_student` and :func:`play_game`.

    A response time is motor time, plus search time for each card looked at after the first (the exposed cards are
    looked at in random order until one takes part in a legal discard), plus the time of the fact; Kings need no fact.

    Attributes:
        student_id: pseudonym.
        skills: skill by fact, for every pair of the target.
        motor_s: median motor time, s.
        search_s: mean time for each card looked at, s.
        motor_spread: standard deviation of log motor time.
        noise: family of the fact's time around its median.
        lapse: share of tries with the mind elsewhere, 2 to 6 times as long.
        slip_known, slip_counted: chance of a wrong partner for a known and a counted fact.
        misclick: chance of a stray double tap on two cards, under 300 ms.
        overlook: chance to turn a card although a discard is there.
        looks_ahead: chance to weigh all legal discards and take the one that uncovers most.
    """

    student_id: str
    skills: Mapping[str, Skill]
    motor_s: float = 1.0
    search_s: float = 0.3
    motor_spread: float = 0.2
    noise: Noise = "lognormal"
    lapse: float = 0.02
    slip_known: float = 0.03
    slip_counted: float = 0.10
    misclick: float = 0.005
    overlook: float = 0.05
    looks_ahead: float = 0.2


@dataclass(slots=True)
class Practice:
    """What a simulated student has behind him or her: tries by fact, grown by :func:`play_game`."""

    tries: dict[str, int] = field(default_factory=dict)
    truth: list[dict[str, Any]] = field(default_factory=list)


def random_student(
    student_id: str,
    rng: np.random.Generator,
    *,
    learning: Learning | Sequence[Learning] = LEARNING,
    noise: Noise = "lognormal",
    target: int = 13,
    spread: float = 0.45,
) -> SimulatedStudent:
    """A student with abilities drawn at random around those of ``docs/measures.md``.

    Args:
        student_id: pseudonym.
        rng: source of every draw.
        learning: how facts are learnt; one is drawn for each fact.
        noise: family of the fact times.
        target: the facts' total.
        spread: standard deviation of log fact time.
    """
    kinds: tuple[Learning, ...] = (learning,) if isinstance(learning, str) else tuple(learning)
    pace = float(np.exp(rng.normal(0, 0.1)))
    skills = {}
    for step, fact in enumerate(facts_to(target)[:-1], start=1):
        skills[fact] = Skill(
            known_s=float(np.clip(0.75 * np.exp(rng.normal(0, 0.15)), 0.4, 1.1)),
            counted_s=float((0.9 + 0.42 * step) * pace * np.exp(rng.normal(0, 0.08))),
            learning=kinds[int(rng.integers(len(kinds)))],
            begins=int(rng.integers(4, 25)),
            lasts=int(rng.integers(10, 40)),
            spread=spread,
        )
    return SimulatedStudent(
        student_id=student_id,
        skills=skills,
        motor_s=float(np.exp(rng.normal(np.log(1.1), 0.25))),
        search_s=float(rng.uniform(0.12, 0.5)),
        motor_spread=float(rng.uniform(0.12, 0.3)),
        noise=noise,
        overlook=float(rng.uniform(0.0, 0.15)),
        looks_ahead=float(rng.uniform(0.0, 0.9)),
    )


def play_game(
    student: SimulatedStudent,
    deal: Deal,
    rng: np.random.Generator,
    *,
    rules: Rules | str = "one-pass",
    practice: Practice | None = None,
    session_id: str = "session",
    start: datetime = START,
    tz: str = "UTC",
) -> Iterator[Event]:
    """One game, event by event, by the exact rules, until it is won or lost.

    Args:
        student: who plays.
        deal: what is dealt.
        rng: source of every draw, the ids too.
        rules: rule set; its target must be that of the deal and of the student's skills.
        practice: tries so far; grown as the game goes on, with the truth about each try at a pair.
        session_id: session that the events carry.
        start: time of the deal, aware.
        tz: time zone that the events carry.

    Yields:
        Events as the board would log them.
    """
    chosen = rule_set(rules) if isinstance(rules, str) else rules
    return _Sitting(student, rng, practice or Practice(), session_id, start, tz).play(Position.start(chosen, deal))


class _Sitting:
    """One game being played: who, when, and how many events so far."""

    def __init__(
        self, student: SimulatedStudent, rng: np.random.Generator, practice: Practice, session: str, start: datetime,
        tz: str,
    ) -> None:  # fmt: skip
        self.student, self.rng, self.practice = student, rng, practice
        self.now, self.tz, self.session = start, tz, session
        self.game, self.index = self._id(), 0

    def _id(self) -> str:
        return str(uuid.UUID(bytes=self.rng.bytes(16), version=4))

    def play(self, position: Position) -> Iterator[Event]:
        yield self._event("deal", position)
        fruitless = False  # a whole pass without a discard: turning the waste again changes nothing
        while position.outcome is Outcome.PLAYING:
            discards = position.legal_discards()
            if discards and self.rng.random() >= self.student.overlook:
                yield from self._tries(position, discards)
                position, fruitless = self.after, False
            elif position.stock_left:
                yield self._event("draw", position, rt_s=self._reading(position))
                position = position.play(DRAW)
            elif discards:
                yield from self._tries(position, discards)
                position, fruitless = self.after, False
            elif position.redeal_allowed and not fruitless:
                yield self._event("redeal", position, rt_s=self._reading(position))
                position, fruitless = position.play(REDEAL), True
            else:
                break
        yield self._event(
            "end", position, outcome="stopped" if position.outcome is Outcome.PLAYING else position.outcome.value
        )

    def _event(
        self, kind: str, position: Position, cards: tuple[Card, ...] = (), *, rt_s: float | None = None,
        outcome: str | None = None,
    ) -> Event:  # fmt: skip
        first: int | None = None
        rt = None if rt_s is None else round(rt_s * 1000)
        if rt is not None:
            self.now += timedelta(milliseconds=rt)
            if len(cards) == 2:
                first = round(rt * 0.7)
        context: dict[str, Any] = {} if outcome is None else {"outcome": outcome}
        event = record(
            kind, position, cards, event_id=self._id(), student_id=self.student.student_id, session_id=self.session,
            game_id=self.game, event_index=self.index, t_utc=self.now, tz=self.tz,
            rt_ms=rt if kind == "attempt" else None, rt_first_ms=first if kind == "attempt" else None,
            rt_second_ms=None if first is None or rt is None else rt - first, clock="browser", input="touch",
            assistance="none", source="board", **context,
        )  # fmt: skip
        self.index += 1
        self.now += timedelta(milliseconds=400)
        return event

    def _reading(self, position: Position) -> float:
        """Time to look over all exposed cards and turn one, s."""
        looked = self.student.search_s * len(position.exposed)
        return self._motor() + float(looked * np.exp(self.rng.normal(0, 0.2)))

    def _motor(self) -> float:
        return float(self.student.motor_s * np.exp(self.rng.normal(0, self.student.motor_spread)))

    def _tries(self, position: Position, discards: tuple[Move, ...]) -> Iterator[Event]:
        """Tries at one position until a discard succeeds; leaves the position after it in ``after``."""
        student, rng = self.student, self.rng
        target = position.rules.target
        while True:
            if rng.random() < student.misclick:
                yield from self._misclick(position)
            move, looked = self._found(position, discards)
            cards = move.cards if rng.random() < 0.5 else move.cards[::-1]
            fact = fact_of(cards, target)
            search = sum(student.search_s * np.exp(rng.normal(0, 0.15)) for _ in range(looked - 1))
            seconds = self._motor() + float(search)
            wrong: tuple[Card, ...] | None = None
            if len(cards) == 2:
                skill, tries = student.skills[fact], self.practice.tries.get(fact, 0)
                median = skill.median_s(tries)
                seconds += median * self._around(skill.spread)
                counted = median > np.sqrt(skill.known_s * skill.counted_s)
                if rng.random() < (student.slip_counted if counted else student.slip_known):
                    wrong = self._near_partner(position, cards)
                self.practice.tries[fact] = tries + 1
            if rng.random() < student.lapse:
                seconds *= rng.uniform(2, 6)
            event = self._event("attempt", position, wrong or cards, rt_s=max(seconds, 0.3))
            if len(cards) == 2:
                self.practice.truth.append(
                    {"student_id": student.student_id, "event_id": event.event_id, "fact": fact,
                     "true_s": median, "counted": counted}
                )  # fmt: skip
            yield event
            if wrong is None:
                self.after = position.play(move)
                return

    def _found(self, position: Position, discards: tuple[Move, ...]) -> tuple[Move, int]:
        """The discard that is found, and how many cards were looked at."""
        rng, student = self.rng, self.student
        exposed = position.exposed
        if len(discards) > 1 and rng.random() < student.looks_ahead:
            before = set(exposed)

            def freed(move: Move) -> int:
                after = position.play(move)
                return sum(card not in before and after.place(card).kind == "pyramid" for card in after.exposed)

            best = max(discards, key=freed)
            return best, len(exposed)
        useful = {card: [move for move in discards if card in move.cards] for card in exposed}
        for looked, at in enumerate(rng.permutation(len(exposed)), start=1):
            found = useful[exposed[at]]
            if found:
                return found[int(rng.integers(len(found)))], looked
        return discards[0], len(exposed)

    def _around(self, spread: float) -> float:
        """A factor around a median of 1."""
        rng = self.rng
        if self.student.noise == "gamma":
            shape = 1 / spread**2
            return float(rng.gamma(shape) / max(shape - 1 / 3, 0.1))
        if self.student.noise == "heavy":
            return float(np.exp(np.clip(0.8 * spread * rng.standard_t(4), -2.5, 2.5)))
        return float(np.exp(rng.normal(0, spread)))

    def _near_partner(self, position: Position, cards: tuple[Card, ...]) -> tuple[Card, ...] | None:
        """The first card with a wrong partner near the right one; ``None`` if no other card is exposed."""
        first, second = cards
        others = [card for card in position.exposed if card != first and card.value != second.value]
        if not others:
            return None
        off = np.array([abs(card.value - second.value) for card in others], float)
        chance = np.exp(-off)
        return first, others[int(self.rng.choice(len(others), p=chance / chance.sum()))]

    def _misclick(self, position: Position) -> Iterator[Event]:
        exposed = position.exposed
        for at in range(len(exposed) - 1):
            pair = (exposed[at], exposed[at + 1])
            if pair[0].value + pair[1].value != position.rules.target:
                yield self._event("attempt", position, pair, rt_s=float(self.rng.uniform(0.1, 0.28)))
                return


def practise(
    student: SimulatedStudent,
    games: int,
    rng: np.random.Generator,
    *,
    rules: Rules | str = "one-pass",
    games_per_session: int = 3,
    days_between: float = 3.5,
    start: datetime = START,
    tz: str = "UTC",
    practice: Practice | None = None,
) -> Iterator[Event]:
    """Many games of one student, in sessions some days apart, each with a deal of its own.

    Args:
        student: who plays.
        games: how many games.
        rng: source of every draw, the deals too.
        rules: as in :func:`play_game`.
        games_per_session: games in one sitting.
        days_between: days from one sitting to the next.
        start: time of the first deal, aware.
        tz: time zone that the events carry.
        practice: as in :func:`play_game`.
    """
    chosen = rule_set(rules) if isinstance(rules, str) else rules
    behind = practice or Practice()
    now = start
    for number in range(games):
        session, within = divmod(number, games_per_session)
        if within == 0:
            now = start + timedelta(days=days_between * session)
        deal = Deal.from_seed(int(rng.integers(2**31)), chosen.target)
        name = f"{student.student_id}-session-{session + 1}"
        for event in play_game(student, deal, rng, rules=chosen, practice=behind, session_id=name, start=now, tz=tz):
            now = event.t_utc
            yield event
        now += timedelta(seconds=20)


def classroom(
    students: Iterable[SimulatedStudent], games: int, rng: np.random.Generator, **options: Any
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The log of a class, and the truth that a measure should find again.

    Args:
        students: who plays.
        games: games of each.
        rng: source of every draw; each student gets a generator of his or her own, so that adding one changes no other.
        options: as in :func:`practise`.

    Returns:
        The events as :func:`~pyramid_lab.insight.events_frame` gives them, and a frame with a row for each try at a
        pair, misclicks apart: ``student_id``, ``event_id``, ``fact``, ``true_s`` (true median, s), ``counted``.
    """
    events: list[Event] = []
    truth: list[dict[str, Any]] = []
    everyone = list(students)
    for student, own_rng in zip(everyone, rng.spawn(len(everyone)), strict=True):
        practice = Practice()
        events.extend(practise(student, games, own_rng, practice=practice, **options))
        truth.extend(practice.truth)
    columns = ["student_id", "event_id", "fact", "true_s", "counted"]
    return events_frame(events), pd.DataFrame(truth, columns=columns)
