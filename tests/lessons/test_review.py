"""The review at the end of a lesson, on a game counted by hand."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta

import pytest

from pyramid_lab.core import DRAW, Card, Deal, Move, Position, rule_set
from pyramid_lab.lesson import review
from pyramid_lab.lesson_review import fact_picture, fact_table, review_html
from pyramid_lab.log.events import Event, record

# Three rows: 4♠ / 6♥ 7♠ / K♣ J♠ 2♦; the stock's fourth card is 9♠.
RULES = rule_set("one-pass").replace(rows=3)
DEAL = Deal.from_seed(212)


def played() -> list[Event]:
    """Each try with its time in ms: K 900 | J+7 (wrong) 3000, J+2 2000 | 6+7 1500 | four draws | 4+9 (hinted) 4000."""
    events: list[Event] = []
    position = Position.start(RULES, DEAL)
    moment = datetime(2026, 9, 7, 8, 0, tzinfo=UTC)

    def note(kind: str, cards: str = "", rt_ms: int | None = None) -> None:
        nonlocal moment, position
        chosen = [Card.parse(text) for text in cards.split()]
        moment += timedelta(seconds=10)
        event = record(
            kind,
            position,
            chosen,
            event_id=f"00000000-0000-4000-8000-{len(events):012d}",
            student_id="s1",
            session_id="t1",
            game_id="g1",
            event_index=len(events),
            t_utc=moment,
            tz="UTC",
            rt_ms=rt_ms,
            clock="browser",
            input="mouse",
            assistance="none",
            source="board",
        )
        events.append(event)
        if kind == "draw":
            position = position.play(DRAW)
        elif event.outcome == "correct":
            position = position.play(Move.discard(*chosen))

    note("deal")
    note("attempt", "Kc", 900)
    note("attempt", "Js 2d", 2000)
    note("attempt", "6h 7s", 1500)
    for _ in range(4):
        note("draw", rt_ms=700)
    note("attempt", "9s", 3000)
    note("hint", "4s 9s")
    note("attempt", "4s 9s", 4000)
    assert position.pyramid_left == 0
    return events


def test_the_table_counts_tries_right_ones_and_times() -> None:
    table = fact_table(played())
    assert list(table.index) == ["A+Q", "2+J", "3+10", "4+9", "5+8", "6+7", "K"]
    assert table["tries"].to_dict() == {"A+Q": 0, "2+J": 1, "3+10": 0, "4+9": 2, "5+8": 0, "6+7": 1, "K": 1}
    assert table.loc["4+9", "right"] == 1
    assert table.loc["4+9", "accuracy"] == 0.5
    assert math.isnan(table.loc["5+8", "accuracy"])
    # The first move after a deal and a hinted try say nothing about speed.
    assert table["timed"].to_dict() == {"A+Q": 0, "2+J": 1, "3+10": 0, "4+9": 0, "5+8": 0, "6+7": 1, "K": 0}
    assert table.loc["2+J", "median_s"] == pytest.approx(2.0)
    assert table.loc["6+7", "median_s"] == pytest.approx(1.5)


def test_the_page_shows_table_and_picture_and_says_both_in_words() -> None:
    page = review_html(played())
    assert "5 tries in all" in page
    assert re.search(r"<th scope='row'>4\+9</th><td>2</td><td>1</td><td>50%</td><td>–</td>", page)
    assert "few tries: says little yet" in page
    assert "2+J 2.0 s, 6+7 1.5 s." in page
    assert "src='data:image/png;base64,iVBOR" in page


def to_ten() -> list[Event]:
    """One try that makes 10, right."""
    rules = rule_set("one-pass").replace(rows=4, target=10)
    position = Position.start(rules, Deal.from_seed(40, 10))
    pair = next(move.cards for move in position.legal_discards() if len(move.cards) == 2)
    return [
        record(
            kind,
            position,
            cards,
            event_id=f"10000000-0000-4000-8000-{number:012d}",
            student_id="s1",
            session_id="t1",
            game_id="g10",
            event_index=number,
            t_utc=datetime(2026, 9, 8, 8, 0, number, tzinfo=UTC),
            rt_ms=1500 if cards else None,
            clock="browser",
        )
        for number, (kind, cards) in enumerate([("deal", ()), ("attempt", pair)])
    ]


def test_no_try_is_hidden_whatever_it_had_to_make() -> None:
    both = [*played(), *to_ten()]
    one = review_html(both, target=10)
    shown, folded = one.split("<details>")
    assert "make 10: 1 try in all" in shown
    assert "make 13" not in shown
    assert "<summary>Also tried to make 13: 5 tries</summary>" in folded
    assert "5 tries in all" in folded

    several = review_html(both, target=[10, 11, 13])
    assert several.index("make 10: 1 try") < several.index("makes 11 has been tried yet") < several.index("make 13: 5")
    assert "<details>" not in several
    assert several.count("<img") == 2
    assert "<details>" not in review_html(played())  # one total is all there is


def test_without_a_try_it_says_how_to_get_one() -> None:
    page = review_html([event for event in played() if event.event_type != "attempt"])
    assert "No tries yet" in page
    assert "<table" not in page


def test_a_picture_leaves_no_figure_open() -> None:
    import matplotlib.pyplot as plt

    assert fact_picture(fact_table(played())).startswith(b"\x89PNG")
    assert plt.get_fignums() == []  # matplotlib warns of more than 20


def test_on_a_page_of_a_class_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYRAMID_LAB_SESSION", "sitting-1")
    review()
    assert capsys.readouterr().out == ""
