"""The event: one record per thing that happened in a game, complete enough to replay and to measure.

An event is never changed after it is made. :func:`record` fills in what a position tells (totals, facts, what was
exposed, what was legal), so that the board, the table recorder and the simulated student all write the same rows.
Only the standard library and :mod:`pyramid_lab.core` are used here.
"""

from __future__ import annotations

import dataclasses
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from typing import Any, Final, NotRequired, Required, TypedDict, Unpack
from unicodedata import category

from pyramid_lab.core.cards import Card, rank_label
from pyramid_lab.core.position import DRAW, REDEAL, IllegalMoveError, Move, Position, Reason
from pyramid_lab.core.rules import RULE_SETS, Rules, rule_set

EVENT_SCHEMA: Final = 1

EVENT_TYPES: Final = (
    "deal", "attempt", "draw", "redeal", "undo", "redo", "hint", "pause", "resume", "focus_lost", "focus_back", "end",
    "slip", "stale", "ignored", "error",
)  # fmt: skip
"""What can happen. ``slip`` is a selection taken back, ``stale`` a try on a picture that is no longer shown,
``ignored`` a click when nothing could be played, ``error`` a fault of ours; none of the four is an attempt."""

OUTCOMES: Final = ("correct", "incorrect", "blocked")
"""Outcomes of an attempt. ``blocked``: a card was not free, whatever the total."""

END_OUTCOMES: Final = ("won", "lost", "stopped")
"""Outcomes of an ``end`` event. ``stopped``: the player said done or began another game."""

ERROR_CLASSES: Final = (
    "misclick", "king_paired", "face_as_ten", "ace_as_eleven", "make_ten", "off_by_one", "off_by_two", "blocked",
    "other",
)  # fmt: skip

CLOCKS: Final = ("browser", "kernel", "tutor")
INPUTS: Final = ("mouse", "touch", "keyboard", "tutor")
SOURCES: Final = ("board", "table")

ASKED: Final = "ask_"
"""Begins the ``assistance`` of an attempt that answers "how many make 13?": a try at a fact by which no card goes."""
WRONG_TAP: Final = "wrong_tap"
"""The ``reason`` of an ``undo`` at a table: the tutor had tapped what the player did not do."""

MISCLICK_MS: Final = 300
ID_LENGTH: Final = 55
"""Longest id of a student, session or game, in characters: what DataShop takes."""
_LONGEST_MS: Final = 2**53

# What makes a try wrong rather than blocked: the cards were free, the sum was not.
_WRONG: Final = frozenset({Reason.WRONG_TOTAL, Reason.KING_ALONE, Reason.NEEDS_PARTNER})

_UUID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
"""A UUID in its usual form, in which ids are kept."""

# The namespace of event ids made from a page and a number; itself a random UUID, fixed for ever.
_PAGE_EVENTS: Final = uuid.UUID("6f6a3a0e-0b0f-4c3c-9a53-1f4c2a7d9be1")


class InvalidEventError(ValueError):
    """A field of an event holds what it cannot hold; the message names the field, the value and the mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened in a game. ``None`` means "not known" or "does not apply"; so does an empty text.

    Attributes:
        schema_version: version of this record, :data:`EVENT_SCHEMA`.
        event_id: a UUID; the store keeps one row for each. See :func:`event_id_of`.
        student_id: random pseudonym of the student.
        session_id: one sitting of a student.
        game_id: one playing of a deal.
        deal: the deal as text, apex first.
        rule_set: name of the rule set, or its fields as JSON if it has no name of its own; see :func:`rules_of`.
        event_index: 0, 1, 2 ... within the game.
        event_type: one of :data:`EVENT_TYPES`.
        t_utc: when, aware, in UTC, cut to milliseconds.
        tz: IANA name of the student's time zone, such as ``Europe/Berlin``.
        rt_ms: ms from the position being ready to the attempt complete.
        rt_first_ms: ms from the position being ready to the first card.
        rt_second_ms: ms from the first card to the second.
        clock: whose clock gave the times: one of :data:`CLOCKS`.
        first_card, second_card: the cards tried, in the order they were chosen, as ``8c``.
        first_place, second_place: where they lay: ``r3c2`` (row, column), ``stock``, ``waste``, ``pile2``, ``discard``.
        value_a, value_b: the values of the first and second card, 1 to 13.
        total: their sum.
        outcome: one of :data:`OUTCOMES` for an attempt, of :data:`END_OUTCOMES` for an end.
        reason: why an attempt was turned down (:class:`~pyramid_lab.core.position.Reason`); for a good one without a
            time, why there is none, such as ``no_start``.
        error_class: one of :data:`ERROR_CLASSES` for an attempt that was not correct.
        fact: the fact this was a try at, smaller first: ``4+9``, ``A+Q``, ``K``; after a wrong total, the one the first
            card belongs to (3 tried with J is a try at ``3+10``).
        n_exposed: cards in play in the position that was seen.
        n_legal: legal discards in it.
        n_legal_cards: cards that take part in a legal discard.
        legal_facts: the facts of the legal discards, each once, as ``4+9 6+7 K``; ``None`` if there is none.
        newly_exposed: covered pyramid cards that the discard set free (correct attempts only).
        best_newly_exposed: the most that any legal discard would have set free; ``None`` if none was legal.
        waste_top: top card of the waste that was seen; with three piles ``7c - 2d``.
        stock_left: cards in the stock that was seen.
        redeals_left: redeals left, ``None`` for unlimited.
        score: the score after the event.
        input: one of :data:`INPUTS`.
        assistance: ``none``, ``hint`` or the name of another help that was on.
        source: one of :data:`SOURCES`.
        app_version: version of Pyramid Lab that wrote the event.

    Raises:
        InvalidEventError: a value is of the wrong kind or out of range.
    """

    schema_version: int = EVENT_SCHEMA
    event_id: str
    student_id: str
    session_id: str
    game_id: str
    deal: str
    rule_set: str
    event_index: int
    event_type: str
    t_utc: datetime
    tz: str | None = None
    rt_ms: int | None = None
    rt_first_ms: int | None = None
    rt_second_ms: int | None = None
    clock: str | None = None
    first_card: str | None = None
    second_card: str | None = None
    first_place: str | None = None
    second_place: str | None = None
    value_a: int | None = None
    value_b: int | None = None
    total: int | None = None
    outcome: str | None = None
    reason: str | None = None
    error_class: str | None = None
    fact: str | None = None
    n_exposed: int | None = None
    n_legal: int | None = None
    n_legal_cards: int | None = None
    legal_facts: str | None = None
    newly_exposed: int | None = None
    best_newly_exposed: int | None = None
    waste_top: str | None = None
    stock_left: int | None = None
    redeals_left: int | None = None
    score: int | None = None
    input: str | None = None
    assistance: str | None = None
    source: str | None = None
    app_version: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.t_utc, datetime) or self.t_utc.tzinfo is None:
            raise InvalidEventError(f"t_utc needs a datetime with a time zone, not {self.t_utc!r}")
        moment = self.t_utc.astimezone(UTC)
        object.__setattr__(self, "t_utc", moment.replace(microsecond=moment.microsecond // 1000 * 1000))
        if not isinstance(self.event_id, str) or _UUID.fullmatch(self.event_id) is None:
            try:
                object.__setattr__(self, "event_id", str(uuid.UUID(self.event_id)))
            except (ValueError, TypeError, AttributeError):
                raise InvalidEventError(f"event_id is a UUID, not {self.event_id!r}") from None
        for name in NEEDED_TEXTS:
            if not getattr(self, name):
                raise InvalidEventError(f"{name} is missing")
        for name, value in zip(TEXT_FIELDS, _TEXTS(self), strict=True):
            if value == "":
                object.__setattr__(self, name, None)
            elif value is not None and not (type(value) is str and value.isprintable() and len(value) <= ID_LENGTH):
                _check_text(name, value)  # what is plainly right, nearly everything, needs no closer look
        for name, value in zip(NUMBER_FIELDS, _NUMBERS(self), strict=True):
            if not (type(value) is int and 0 <= value <= _LONGEST_MS):
                _check_number(name, value)
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in known:
                raise InvalidEventError(f"{name} is one of {', '.join(known)}, not {value!r}")

    def to_dict(self) -> dict[str, Any]:
        """Every field as a plain JSON value, the time as ISO 8601 with ms and offset; see :meth:`from_dict`."""
        values = {name: getattr(self, name) for name in FIELDS}
        values["t_utc"] = self.t_utc.isoformat(timespec="milliseconds")
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Event:
        """The event that :meth:`to_dict` wrote.

        Raises:
            InvalidEventError: a field is unknown, missing or holds what it cannot hold.
        """
        unknown = sorted(set(values) - set(FIELDS))
        if unknown:
            raise InvalidEventError(f"an event has no field {', '.join(map(repr, unknown))}")
        fields = dict(values)
        try:
            if isinstance(fields.get("t_utc"), str):
                fields["t_utc"] = datetime.fromisoformat(fields["t_utc"])
            return cls(**fields)
        except TypeError as error:
            missing = [name for name in (*NEEDED_TEXTS, "event_index", "t_utc") if name not in fields]
            raise InvalidEventError(f"an event needs {', '.join(missing)}") from error
        except ValueError as error:
            if isinstance(error, InvalidEventError):
                raise
            raise InvalidEventError(f"t_utc is no ISO 8601 time: {fields['t_utc']!r}") from error

    def to_json(self) -> str:
        """The event as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))


FIELDS: Final = tuple(item.name for item in dataclasses.fields(Event))
"""The names of an event's fields, in order: also the columns of the store and of the tidy exports."""

NUMBER_FIELDS: Final = (
    "schema_version", "event_index", "rt_ms", "rt_first_ms", "rt_second_ms", "value_a", "value_b", "total", "n_exposed",
    "n_legal", "n_legal_cards", "newly_exposed", "best_newly_exposed", "stock_left", "redeals_left", "score",
)  # fmt: skip
TEXT_FIELDS: Final = tuple(name for name in FIELDS if name not in NUMBER_FIELDS and name != "t_utc")
_TEXTS: Final = attrgetter(*TEXT_FIELDS)
_NUMBERS: Final = attrgetter(*NUMBER_FIELDS)
NEEDED_TEXTS: Final = ("event_id", "student_id", "session_id", "game_id", "deal", "rule_set", "event_type")
_CHOICES: Final = {
    "event_type": EVENT_TYPES,
    "outcome": OUTCOMES + END_OUTCOMES,
    "clock": CLOCKS,
    "input": INPUTS,
    "source": SOURCES,
    "error_class": ERROR_CLASSES,
}


_NO_TEXT: Final = ("Cc", "Cs", "Zl", "Zp")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidEventError(f"{name} is a text, not {value!r}")
    # Databases keep no NUL, half a surrogate pair is no UTF-8, and a line break would part a row of an export.
    if not value.isprintable() and any(category(sign) in _NO_TEXT or sign in "\ufffe\uffff" for sign in value):
        raise InvalidEventError(f"{name} holds a control character: {value!r}")
    if name in ("student_id", "session_id", "game_id") and len(value) > ID_LENGTH:
        raise InvalidEventError(f"{name} has {len(value)} characters; {ID_LENGTH} at most: {value!r}")


def _check_number(name: str, value: object) -> None:
    if value is None and name not in ("schema_version", "event_index"):
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidEventError(f"{name} is a whole number, not {value!r}")
    if abs(value) > _LONGEST_MS or (value < 0 and name != "score"):
        raise InvalidEventError(
            f"{name} is out of range: {value}; a time that cannot be true is left empty, with a reason"
        )


class Context(TypedDict, total=False):
    """What a position does not tell: the fields of :class:`Event` that the caller of :func:`record` gives."""

    event_id: Required[str]
    student_id: Required[str]
    session_id: Required[str]
    game_id: Required[str]
    event_index: Required[int]
    t_utc: Required[datetime]
    tz: NotRequired[str | None]
    rt_ms: NotRequired[int | None]
    rt_first_ms: NotRequired[int | None]
    rt_second_ms: NotRequired[int | None]
    clock: NotRequired[str | None]
    outcome: NotRequired[str | None]
    reason: NotRequired[str | None]
    input: NotRequired[str | None]
    assistance: NotRequired[str | None]
    source: NotRequired[str | None]
    app_version: NotRequired[str | None]


def record(
    event_type: str,
    position: Position,
    cards: Sequence[Card] = (),
    *,
    after: Position | None = None,
    **context: Unpack[Context],
) -> Event:
    """Make an event from the position that was seen and the cards tried, hinted at or taken back.

    Args:
        event_type: one of :data:`EVENT_TYPES`.
        position: the position before the event, which the student was looking at.
        cards: the cards in the order they were chosen: one or two for an attempt.
        after: the position after the event; gives the score. An attempt, a draw and a redeal find it by themselves;
            without it the score is that of ``position``.
        context: ids, times and the rest. ``outcome`` and ``reason`` of an attempt come from the rules; a ``reason``
            given here is kept when the rules have none.

    Raises:
        InvalidEventError: no card for an attempt, or more than two, or a field that cannot be.
    """
    fields: dict[str, Any] = dict(context)
    fields.setdefault("app_version", app_version())
    fields |= _view(position)
    fields |= _chosen(position, cards)
    if event_type == "attempt":
        if not 1 <= len(cards) <= 2:
            raise InvalidEventError(f"an attempt is one card or two, not {len(cards)}")
        judged, after = _judge(position, cards, context.get("rt_ms"))
        given = fields.get("reason")
        fields |= judged
        fields["reason"] = judged["reason"] or given
    elif after is None and event_type in ("draw", "redeal"):
        after = _play(position, DRAW if event_type == "draw" else REDEAL)
    fields["score"] = (after or position).score
    return Event(event_type=event_type, deal=position.deal.text, rule_set=rules_text(position.rules), **fields)


def _view(position: Position) -> dict[str, Any]:
    target = position.rules.target
    exposed = position.exposed
    discards = position.legal_discards()
    redeals = position.redeals_left
    facts = {fact_of(move.cards, target) for move in discards}
    return {
        "n_exposed": len(exposed),
        "n_legal": len(discards),
        "n_legal_cards": len({card for move in discards for card in move.cards}),
        "legal_facts": " ".join(name for name in facts_to(target) if name in facts),
        "best_newly_exposed": max(map(position.newly_exposed, discards), default=None),
        "waste_top": _tops(position),
        "stock_left": position.stock_left,
        "redeals_left": redeals if isinstance(redeals, int) else None,
    }


def _chosen(position: Position, cards: Sequence[Card]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for which, letter, card in zip(("first", "second"), "ab", cards, strict=False):
        fields[f"{which}_card"] = card.text
        fields[f"{which}_place"] = position.place(card).text
        fields[f"value_{letter}"] = card.value
    if cards:
        fields["total"] = sum(card.value for card in cards[:2])
    return fields


def _judge(position: Position, cards: Sequence[Card], rt_ms: int | None) -> tuple[dict[str, Any], Position]:
    target = position.rules.target
    move = Move.discard(*cards)
    try:
        after = position.play(move)
    except IllegalMoveError as error:
        outcome = "incorrect" if error.reason in _WRONG else "blocked"
        return {
            "outcome": outcome,
            "reason": error.reason.value,
            "error_class": error_class([card.value for card in cards], target, outcome, rt_ms),
            "fact": fact_of(cards, target),
        }, position
    return {
        "outcome": "correct",
        "reason": None,
        "fact": fact_of(cards, target),
        "newly_exposed": position.newly_exposed(move),
    }, after


def _play(position: Position, move: Move) -> Position:
    try:
        return position.play(move)
    except IllegalMoveError:
        return position


def _tops(position: Position) -> str | None:
    tops = [top.text if top else "-" for top in position.pile_tops]
    return None if set(tops) <= {"-"} else " ".join(tops)


@cache
def facts_to(target: int = 13) -> tuple[str, ...]:
    """The facts of a target, smaller addend first: ``("A+Q", "2+J", ... "6+7", "K")`` for 13."""
    pairs = (f"{rank_label(small)}+{rank_label(target - small)}" for small in range(1, target // 2 + 1))
    return (*pairs, rank_label(target))


def fact_of(cards: Sequence[Card], target: int = 13) -> str:
    """The fact that a try with these cards was a try at; the first card decides when the total is wrong."""
    first = cards[0].value
    if first == target:
        return rank_label(target)
    small = min(first, target - first)
    return f"{rank_label(small)}+{rank_label(target - small)}"


def error_class(values: Sequence[int], target: int, outcome: str, rt_ms: int | None) -> str | None:
    """The likely reason of an attempt that was not correct, the surest first (see :data:`ERROR_CLASSES`).

    A face card as ten: 3 with J, Q or K; an ace as eleven: A with 2; the make-ten habit: a total of 10. A class is
    given only where the totals of its habit would come out at the target.

    Args:
        values: of the cards tried, 1 to 13.
        target: what a pair should total.
        outcome: one of :data:`OUTCOMES`.
        rt_ms: response time, ms; below :data:`MISCLICK_MS` a wrong try is a misclick.
    """
    if outcome == "correct":
        return None
    if rt_ms is not None and rt_ms < MISCLICK_MS:
        return "misclick"
    if outcome == "blocked":
        return "blocked"
    if len(values) != 2:
        return "other"
    small, large = sorted(values)
    if large > 10 and small + 10 == target:
        return "face_as_ten"
    if large == target:
        return "king_paired"
    if small == 1 and large + 11 == target:
        return "ace_as_eleven"
    if small + large == 10:
        return "make_ten"
    return {1: "off_by_one", 2: "off_by_two"}.get(abs(small + large - target), "other")


def rules_text(rules: Rules) -> str:
    """Rules as the log writes them: the name, or all fields as JSON when no named rule set equals them."""
    if RULE_SETS.get(rules.name) == rules:
        return rules.name
    return json.dumps(rules.to_dict(), sort_keys=True, separators=(",", ":"))


def rules_of(text: str) -> Rules:
    """The rules that :func:`rules_text` wrote.

    Raises:
        RulesError: no rule set has this name, or the fields cannot be.
    """
    return rule_set(json.loads(text) if text.startswith("{") else text)


def event_id_of(page: str, number: int, event_type: str) -> str:
    """The id of an event that a page reported: the same message always gives the same id, so a message that is sent
    again, also to a new kernel, makes no second row.

    Args:
        page: the page's own UUID, made anew at each load.
        number: the page's count of its messages.
        event_type: a message can make two events, such as an attempt and the end of the game.
    """
    return str(uuid.uuid5(_PAGE_EVENTS, f"{page}/{number}/{event_type}"))


def new_id() -> str:
    """A new random id for an event, a session or a game."""
    return str(uuid.uuid4())


@cache
def app_version() -> str:
    """The installed version of Pyramid Lab."""
    try:
        return version("pyramid-lab")
    except PackageNotFoundError:
        return "0"
