"""What an event says about a try, against the rules and hand-made positions."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_lab.core.cards import Card, pack
from pyramid_lab.core.deal import Deal
from pyramid_lab.core.position import DRAW, Move, Position
from pyramid_lab.core.rules import RULE_SETS, Rules, rule_set
from pyramid_lab.log.events import (
    ERROR_CLASSES,
    Event,
    InvalidEventError,
    error_class,
    event_id_of,
    fact_of,
    facts_to,
    record,
    rules_of,
    rules_text,
)
from tests.log.made_events import made_event


def position(cards: str, rules: Rules) -> Position:
    """The start of a deal that begins with these cards; the rest follow as in a new pack."""
    first = cards.split()
    rest = [card.text for card in pack(rules.target) if card.text not in first]
    return Position.start(rules, Deal.from_text(" ".join(first + rest), rules.target))


# Three rows, one-pass: 2c / 3c Kd / 8h 5d 10c, then the stock, face down: 6h 7s ...
SMALL = position("2c 3c Kd 8h 5d Tc 6h 7s", rule_set({"base": "one-pass", "rows": 3}))


def tried(where: Position, *cards: str, **context: Any) -> Event:
    given_context: dict[str, Any] = {
        "event_id": event_id_of("page", 1, "attempt"),
        "student_id": "s-anna",
        "session_id": "sit-1",
        "game_id": "game-1",
        "event_index": 1,
        "t_utc": datetime(2026, 3, 2, 8, tzinfo=UTC),
    }
    return record("attempt", where, [Card.parse(card) for card in cards], **(given_context | context))


def test_a_right_pair_is_told_in_full() -> None:
    event = tried(SMALL, "8h", "5d", rt_ms=1400)
    assert (event.first_card, event.second_card) == ("8h", "5d")
    assert (event.first_place, event.second_place) == ("r3c1", "r3c2")
    assert (event.value_a, event.value_b, event.total) == (8, 5, 13)
    assert (event.outcome, event.reason, event.error_class) == ("correct", None, None)
    assert event.fact == "5+8"
    assert (event.n_exposed, event.n_legal, event.n_legal_cards, event.legal_facts) == (3, 1, 2, "5+8")
    # 8h and 5d lie together on 3c alone; Kd still lies under the ten.
    assert (event.newly_exposed, event.best_newly_exposed) == (1, 1)
    assert (event.stock_left, event.redeals_left, event.waste_top) == (46, 0, None)
    assert event.score == 2  # one-pass: a pair in the pyramid scores 2


def test_a_wrong_total_belongs_to_the_fact_of_the_first_card() -> None:
    event = tried(SMALL, "5d", "Tc", rt_ms=2000)
    assert (event.outcome, event.reason, event.total) == ("incorrect", "wrong_total", 15)
    assert event.fact == "5+8"
    assert event.error_class == "off_by_two"
    assert event.newly_exposed is None
    assert event.score == 0
    assert tried(SMALL, "Tc", "5d").fact == "3+10"


def test_a_covered_card_blocks_whatever_the_total() -> None:
    right_total = tried(SMALL, "3c", "Tc")
    assert (right_total.outcome, right_total.reason, right_total.error_class) == ("blocked", "covered", "blocked")
    assert (right_total.total, right_total.fact) == (13, "3+10")
    assert tried(SMALL, "Kd").outcome == "blocked"


def test_kings_alone_and_kings_paired() -> None:
    free = SMALL.play(Move.parse("8h+5d"))
    one_king = position("2c 3c 4d Kd 5d Tc", rule_set({"base": "one-pass", "rows": 3}))
    alone = tried(one_king, "Kd")
    assert (alone.outcome, alone.fact, alone.value_b, alone.total) == ("correct", "K", None, 13)
    paired = tried(one_king, "Kd", "5d")
    assert (paired.outcome, paired.reason, paired.error_class) == ("incorrect", "king_alone", "king_paired")
    assert tried(free, "Tc").reason == "needs_partner"


def test_the_waste_that_was_seen_and_unlimited_redeals() -> None:
    turned = SMALL.play(DRAW)
    assert tried(turned, "8h", "5d").waste_top == "6h"
    cardems = position("2c 3c Kd 8h 5d Tc 6h 7s", rule_set({"base": "cardems", "rows": 3}))
    assert tried(cardems, "8h", "5d").redeals_left is None
    three = position("2c 3c Kd 8h 5d Tc 6h 7s 9d", rule_set({"base": "three-pile", "rows": 3})).play(DRAW)
    event = tried(three, "6h", "7s")
    assert event.waste_top == "6h 7s 9d"
    assert (event.first_place, event.second_place, event.outcome) == ("pile1", "pile2", "correct")
    assert tried(three.play(Move.parse("6h+7s")), "8h", "5d").waste_top == "- - 9d"


def test_the_score_is_the_one_after_the_event() -> None:
    classic = position("2c 3c Kd 8h 5d Tc 6h 7s", rule_set({"base": "classic", "rows": 3}))
    assert tried(classic, "8h", "5d").score == 10
    cardems = position("2c 3c Kd 8h 5d Tc 6h 7s", rule_set({"base": "cardems", "rows": 3}))
    first = tried(cardems, "8h", "5d")
    assert first.score == 20
    context = {"event_id": event_id_of("p", 2, "undo"), "student_id": "s", "session_id": "x", "game_id": "g"}
    after = cardems.play(Move.parse("8h+5d"))
    undone = record("undo", after, after=cardems, event_index=2, t_utc=datetime.now(UTC), **context)  # type: ignore[arg-type]
    assert undone.score == 0


def test_a_time_that_is_missing_keeps_its_reason() -> None:
    assert tried(SMALL, "8h", "5d", rt_ms=None, reason="no_start").reason == "no_start"
    assert tried(SMALL, "5d", "Tc", rt_ms=None, reason="no_start").reason == "wrong_total"


@pytest.mark.parametrize(
    ("values", "rt_ms", "expected"),
    [
        ((3, 11), 1500, "face_as_ten"),
        ((12, 3), 1500, "face_as_ten"),
        ((3, 13), 1500, "face_as_ten"),
        ((1, 2), 1500, "ace_as_eleven"),
        ((4, 6), 1500, "make_ten"),
        ((13, 5), 1500, "king_paired"),
        ((5, 7), 1500, "off_by_one"),
        ((6, 8), 1500, "off_by_one"),
        ((5, 6), 1500, "off_by_two"),
        ((7, 8), 1500, "off_by_two"),
        ((2, 5), 1500, "other"),
        ((5, 7), 299, "misclick"),
        ((5, 7), 300, "off_by_one"),
        ((5, 7), None, "off_by_one"),
    ],
)
def test_error_classes(values: tuple[int, int], rt_ms: int | None, expected: str) -> None:
    assert error_class(values, 13, "incorrect", rt_ms) == expected
    assert error_class(values[::-1], 13, "incorrect", rt_ms) == expected
    assert expected in ERROR_CLASSES


def test_facts_by_target() -> None:
    assert facts_to(13) == ("A+Q", "2+J", "3+10", "4+9", "5+8", "6+7", "K")
    assert facts_to(10) == ("A+9", "2+8", "3+7", "4+6", "5+5", "10")
    assert fact_of([Card.parse("Qh"), Card.parse("Ac")]) == "A+Q"
    assert fact_of([Card.parse("Tc")], 10) == "10"


@pytest.mark.parametrize("name", list(RULE_SETS))
def test_rules_are_written_by_name_or_in_full(name: str) -> None:
    assert rules_text(rule_set(name)) == name
    changed = rule_set(name).replace(rows=4)
    assert rules_of(rules_text(changed)) == changed
    assert rules_of(name) == rule_set(name)


def test_the_same_message_gives_the_same_id() -> None:
    assert event_id_of("page", 3, "attempt") == event_id_of("page", 3, "attempt")
    different = {event_id_of(page, n, kind) for page in "ab" for n in (1, 2) for kind in ("attempt", "end")}
    assert len(different) == 8


@pytest.mark.parametrize("written", ["ABCDEF01-2345-4789-8abc-def012345678", "{abcdef01234547898abcdef012345678}"])
def test_one_id_is_kept_in_one_form_however_it_is_written(written: str) -> None:
    assert made_event(0, event_id=written).event_id == "abcdef01-2345-4789-8abc-def012345678"


def test_times_are_kept_in_utc_to_the_millisecond() -> None:
    local = datetime(2026, 10, 25, 2, 50, 0, 123999, tzinfo=timezone(timedelta(hours=2)))
    event = made_event(0, t_utc=local)
    assert event.t_utc == datetime(2026, 10, 25, 0, 50, 0, 123000, tzinfo=UTC)
    assert event.to_dict()["t_utc"] == "2026-10-25T00:50:00.123+00:00"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"t_utc": datetime(2026, 1, 1)}, "time zone"),  # noqa: DTZ001
        ({"event_id": "seven"}, "event_id is a UUID, not 'seven'"),
        ({"event_type": "atempt"}, "event_type is one of"),
        ({"rt_ms": -5}, "rt_ms is out of range"),
        ({"rt_ms": 1.5}, "rt_ms is a whole number, not 1.5"),
        ({"rt_ms": True}, "rt_ms is a whole number"),
        ({"student_id": ""}, "student_id is missing"),
        ({"student_id": "x" * 56}, "55 at most"),
        ({"assistance": "a\x00b"}, "control character"),
        ({"assistance": "a\nb"}, "control character"),
        ({"assistance": "\ud800"}, "control character"),
        ({"outcome": "right"}, "outcome is one of correct, incorrect, blocked"),
    ],
)
def test_what_cannot_be_is_refused_by_name(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidEventError, match=said):
        made_event(0, **fields)


def test_unknown_and_missing_fields_are_named() -> None:
    values = made_event(0).to_dict()
    with pytest.raises(InvalidEventError, match="no field 'colour'"):
        Event.from_dict(values | {"colour": "red"})
    del values["student_id"]
    with pytest.raises(InvalidEventError, match="needs student_id"):
        Event.from_dict(values)
    with pytest.raises(InvalidEventError, match="no ISO 8601 time: 'noon'"):
        Event.from_dict(made_event(0).to_dict() | {"t_utc": "noon"})


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufffe\uffff"), max_size=50)
)
def test_any_text_comes_back_from_json(text: str) -> None:
    event = made_event(0, assistance=text)
    assert Event.from_dict(json.loads(event.to_json())) == event
    assert event.assistance == (text or None)
