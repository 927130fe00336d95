"""What the board answers and what it hands to the log, message by message."""

from __future__ import annotations

import dataclasses
import gc
import json
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ipywidgets import Widget
from ipywidgets.widgets.widget import _instances

from pyramid_lab.board import Board, ModeError
from pyramid_lab.board.board import _PLAYING
from pyramid_lab.board.replay import ResumeError, active_ms
from pyramid_lab.core import Deal, InvalidDealError, Move, Outcome, RulesError, rule_set
from pyramid_lab.lesson import play, shared_store
from pyramid_lab.log.events import Event, new_id
from tests.board.page import FakePage, readings

# Three rows: 4♠ / 6♥ 7♠ / K♣ J♠ 2♦; the stock's fourth card is 9♠.
SMALL = rule_set("one-pass").replace(rows=3)
DEAL = 212


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Boards are closed after each test, so that none is taken for the newer board of another."""
    yield
    Widget.close_all()


def small(**options: Any) -> FakePage:
    return FakePage(SMALL, DEAL, **options)


def win(page: FakePage) -> None:
    page.send("try", "Kc")
    page.send("try", "Js", "2d")
    page.send("try", "6h", "7s")
    for _ in range(4):
        page.send("draw")
    page.send("try", "4s", "9s")


def test_a_whole_game_is_one_event_a_try_in_order() -> None:
    page = small()
    win(page)
    assert page.board.game.outcome is Outcome.WON
    assert page.rows("event_index", "event_type", "first_card", "second_card", "fact", "outcome", "score") == [
        (0, "deal", None, None, None, None, 0),
        (1, "attempt", "Kc", None, "K", "correct", 1),
        (2, "attempt", "Js", "2d", "2+J", "correct", 3),
        (3, "attempt", "6h", "7s", "6+7", "correct", 5),
        (4, "draw", None, None, None, None, 5),
        (5, "draw", None, None, None, None, 5),
        (6, "draw", None, None, None, None, 5),
        (7, "draw", None, None, None, None, 5),
        (8, "attempt", "4s", "9s", "4+9", "correct", 6),
        (9, "end", None, None, None, "won", 6),
    ]
    attempt = page.events[2]
    assert (attempt.rt_ms, attempt.rt_first_ms, attempt.rt_second_ms) == (1000, 500, 500)
    assert (attempt.clock, attempt.input, attempt.source, attempt.tz) == ("browser", "mouse", "board", "Europe/Berlin")
    assert page.view["end"]["won"]


def test_a_board_that_nobody_touched_leaves_no_row() -> None:
    page = small()
    page.send("away", gone=True)
    page.send("set", name="guided", value=False)
    assert page.events == []


def test_the_event_is_written_before_the_next_view_and_the_answer_after_both() -> None:
    seen: list[tuple[str, int, int]] = []
    page = small(on_event=lambda event: seen.append((event.event_type, page.view["number"], len(page.answers))))
    page.send("draw")
    assert seen == [("deal", 0, 0), ("draw", 0, 0)]
    assert page.view["number"] == 1
    assert page.answers == [{"kind": "ack", "page": "page-1", "n": 1, "result": "done", "number": 1}]


def test_the_same_message_twice_is_one_move() -> None:
    page = small()
    page.send("try", "Kc")
    assert page.again(page.last) == "duplicate"
    assert len(page.events) == 2
    assert page.board.game.moves == (Move.parse("Kc"),)


def test_three_taps_on_a_king_in_60_ms_are_one_discard_and_one_row() -> None:
    page = small()
    messages = [
        {
            "kind": "try",
            "page": "page-1",
            "n": n,
            "number": 0,
            "cards": ["Kc"],
            "times": readings(None, at),
            "input": "touch",
        }
        for n, at in enumerate((900.0, 930.0, 960.0), start=1)
    ]
    assert [page.again(message) for message in messages] == ["done", "duplicate", "duplicate"]
    assert page.rows("event_type") == [("deal",), ("attempt",)]


def test_a_try_on_an_old_view_is_logged_as_stale_and_plays_nothing() -> None:
    page = small()
    page.send("try", "Js", "2d")
    assert page.send("try", "Js", "2d", number=0, times=readings(2500.0, 3000.0)) == "stale"
    assert page.rows("event_type", "outcome") == [("deal", None), ("attempt", "correct"), ("stale", None)]
    assert page.board.game.moves == (Move.parse("Js+2d"),)


@pytest.mark.parametrize("kind", ["new", "restart", "hint", "draw", "undo"])
def test_a_button_pressed_twice_on_one_view_acts_once(kind: str) -> None:
    page = small()
    page.send("draw")
    number = page.view["number"]
    assert page.send(kind, number=number) == "done"
    assert page.send(kind, number=number) == "stale"
    assert [event.event_type for event in page.events].count("hint") == (kind == "hint")


def test_a_wrong_total_teaches_and_is_logged_in_full() -> None:
    page = small()
    page.send("try", "Kc")
    page.send("try", "2d", "2d")
    assert page.events[-1].reason == "same_card"
    page.send("try", "Js", "6h")
    assert page.events[-1].outcome == "blocked"
    page = FakePage("table", Deal.from_seed(17))
    exposed = page.board.game.position.exposed
    assert [card.text for card in exposed] == ["9s", "Qc", "Ad", "8d", "8c", "9c", "8h"]
    page.send("try", "9s", "8d")
    event = page.events[-1]
    assert (event.outcome, event.total, event.error_class, event.fact) == ("incorrect", 17, "other", "4+9")
    assert page.view["message"] == "9 + 8 is 17, not 13. That is 4 too many. Have another try."
    assert page.view["wrong"] == ["9s", "8d"]
    assert page.view["timing"] == "select"
    assert page.board.game.moves == ()


@pytest.mark.parametrize("second", ["8d", "2c"], ids=["wrong", "covered"])
@pytest.mark.parametrize("retry", [False, True])
def test_both_cards_are_put_back_unless_the_tutor_chose_retry(second: str, retry: bool) -> None:
    page = FakePage("table", 17, **({"retry": True} if retry else {}))
    page.send("try", "9s", second)
    assert page.view["tone"] == "try"
    assert page.view["selected"] == (["9s"] if retry else [])
    if second == "8d":
        kind = "9♠ is still chosen: try another partner." if retry else "Have another try."
        assert page.view["message"].endswith(kind)


def test_a_card_whose_number_was_answered_stays_chosen_and_is_not_asked_for_again() -> None:
    page = FakePage("table", 17, ask="choose")
    page.send("answer", "9s", answer=4)
    page.send("try", "9s", "8d")
    assert page.view["selected"] == ["9s"]
    assert page.view["answered"] == "9s"
    assert page.view["message"].endswith("9♠ is still chosen: try another partner.")


def test_a_covered_card_is_named_with_what_covers_it() -> None:
    page = small()
    assert page.send("try", "6h") == "done"
    assert page.view["message"] == "6♥ is covered by K♣ and J♠."
    assert page.rows("outcome", "reason")[-1] == ("blocked", "covered")
    page.send("try", "2d", "7s")
    assert page.view["message"] == "7♠ is covered by J♠ and 2♦."


def test_a_king_with_a_partner_is_told_that_it_goes_alone() -> None:
    page = small()
    page.send("try", "2d", "Kc")
    assert page.events[-1].error_class == "king_paired"
    assert "goes alone" in page.view["message"]
    page.send("try", "Kc", "2d")
    assert page.view["selected"] == []


def test_a_wrong_pair_taken_back_within_one_and_a_half_seconds_is_a_slip() -> None:
    page = FakePage("table", 17)
    page.send("try", "9s", "8d", times=readings(500.0, 1000.0))
    assert page.view["slip"]
    assert page.send("slip", of=1, times=readings(None, 2400.0)) == "done"
    assert page.rows("event_type")[-1] == ("slip",)
    assert (page.events[-1].first_card, page.events[-1].second_card) == ("9s", "8d")
    assert not page.view["slip"]


@pytest.mark.parametrize(("of", "at"), [(1, 2600.0), (7, 1200.0), (1, 900.0)])
def test_a_late_or_foreign_slip_changes_nothing(of: int, at: float) -> None:
    page = FakePage("table", 17)
    page.send("try", "9s", "8d", times=readings(500.0, 1000.0))
    assert page.send("slip", of=of, times=readings(None, at)) == "stale"
    assert page.rows("event_type")[-1] == ("attempt",)


def test_one_undo_takes_back_a_pair_and_restores_the_score() -> None:
    page = small()
    page.send("try", "Kc")
    before = page.board.game.position
    page.send("try", "Js", "2d")
    page.send("undo")
    assert page.board.game.position == before
    assert page.events[-1].score == 1
    page.send("redo")
    assert page.board.game.position.score == 3
    assert page.rows("event_type")[-2:] == [("undo",), ("redo",)]


def test_in_cardems_an_undo_restores_the_selection_too() -> None:
    page = FakePage(rule_set("cardems").replace(rows=3, name="cardems"), DEAL)
    page.send("try", "Js", "2d")
    page.send("undo")
    assert page.view["selected"] == ["Js"]
    page = small()
    page.send("try", "Js", "2d")
    page.send("undo")
    assert page.view["selected"] == []


def test_a_hint_points_and_the_next_try_says_that_it_was_helped() -> None:
    page = small()
    page.send("hint")
    assert page.view["hint"] == ["Kc"]
    assert page.board.game.moves == ()
    page.send("try", "Kc")
    page.send("try", "Js", "2d")
    assert page.rows("event_type", "assistance")[1:] == [("hint", "none"), ("attempt", "hint"), ("attempt", "none")]


def test_the_solvers_hint_comes_first_and_says_its_aim_and_a_silent_one_is_replaced() -> None:
    page = small(hint=lambda position: Move.parse("draw"))
    page.send("hint")
    assert page.view["hint"] == ["draw"]
    assert page.view["message"] == "Turn a card. That way the pyramid can be cleared."
    page = small(hint=lambda position: None)
    page.send("hint")
    assert page.view["hint"] == ["Kc"]
    assert page.view["message"] == "Look at K♣."
    assert page.view["announce"] == "Hint: king of clubs."


def test_hints_forbidden_are_not_given() -> None:
    page = small(hints=False)
    assert "hint" not in [action["action"] for action in page.view["actions"]]
    assert page.send("hint") == "ignored"
    assert page.events == []


def test_automatic_kings_go_after_a_move_and_one_undo_brings_both_back() -> None:
    page = small(kings="auto")
    page.send("draw")
    assert page.board.game.moves == (Move.parse("draw"), Move.parse("Kc"))
    assert "K♣ went by itself" in page.view["message"]
    by_hand = small()
    by_hand.send("draw")
    by_hand.send("try", "Kc")
    assert page.board.game.position == by_hand.board.game.position
    page.send("undo")
    assert page.board.game.moves == ()
    assert page.board.game.position.score == 0


def test_restart_deals_the_same_cards_in_a_new_game_marked_as_a_replay() -> None:
    page = small()
    page.send("draw")
    old = page.board.game_id
    page.send("restart")
    page.send("draw")
    assert page.board.game.deal == Deal.from_seed(DEAL)
    assert page.board.game_id != old
    assert page.rows("event_type", "outcome", "reason")[2] == ("end", "stopped", "another_game")
    deals = [event.reason for event in page.events if event.event_type == "deal"]
    assert deals == ["seed:212", "seed:212 replay"]
    assert [event.event_index for event in page.events if event.game_id == page.board.game_id] == [0, 1]


def test_a_new_game_takes_the_next_deal() -> None:
    page = small(next_deal=lambda: Deal.from_seed(5))
    page.send("new")
    assert page.board.game.deal == Deal.from_seed(5)
    assert page.events == []


def test_a_game_that_runs_is_given_up_only_when_it_is_asked_for_twice() -> None:
    page = small()

    def asking() -> set[str]:
        return {action["action"] for action in page.view["actions"] if action["sure"] is not None}

    assert asking() == set()
    page.send("hint")
    assert asking() == set()
    page.send("draw")
    assert asking() == {"new", "restart"}
    page.send("pause")
    assert asking() == {"new", "restart"}
    page.send("resume")
    page.send("undo")
    assert asking() == set()
    win(page)
    assert page.board.game.outcome is Outcome.WON
    assert asking() == set()


def test_done_ends_the_game_and_undo_opens_it_again() -> None:
    page = small()
    page.send("draw")
    page.send("finish")
    assert page.rows("event_type", "outcome", "reason")[-1] == ("end", "stopped", "done")
    assert page.view["end"]["title"] == "Done. 6 cards left in the pyramid."
    page.send("undo")
    assert page.view["playing"]
    assert page.board.game.moves == (Move.parse("draw"),)


def test_a_tap_after_the_end_is_no_attempt() -> None:
    page = small()
    win(page)
    assert page.send("try", "9s") == "ignored"
    assert page.rows("event_type")[-1] == ("ignored",)


def test_a_pause_is_logged_and_nothing_can_be_played_in_it() -> None:
    page = small()
    page.send("draw")
    page.send("pause")
    assert page.view["paused"]
    assert page.send("draw") == "ignored"
    assert page.send("try", "Kc") == "ignored"
    page.send("resume")
    page.send("try", "Kc")
    assert page.rows("event_type")[2:] == [("pause",), ("ignored",), ("resume",), ("attempt",)]


def test_time_away_is_logged_once_each_way() -> None:
    page = small()
    page.send("draw")
    for gone in (True, True, False, False):
        page.send("away", gone=gone)
    assert page.rows("event_type")[2:] == [("focus_lost",), ("focus_back",)]


def test_what_cannot_be_saved_is_not_played_and_the_child_is_told() -> None:
    full = True

    def on_event(event: Event) -> None:
        if full:
            raise OSError("No space left on device")

    page = small(on_event=on_event)
    assert "could not be saved" in page.fails("try", "Kc")
    assert page.board.game.moves == ()
    assert page.view["tone"] == "trouble"
    full = False
    page.send("try", "Kc")
    assert page.rows("event_index", "event_type") == [(0, "deal"), (1, "attempt")]


def test_an_end_that_could_not_be_saved_is_saved_with_the_next_event() -> None:
    def on_event(event: Event) -> None:
        if event.event_type == "end" and not allowed:
            raise OSError("disk full")

    allowed = False
    page = small(on_event=on_event)
    win(page)
    assert page.board.game.outcome is Outcome.WON
    allowed = True
    page.send("undo")
    assert page.rows("event_index", "event_type")[-2:] == [(9, "end"), (10, "undo")]


def test_a_fault_in_python_shows_on_the_board_and_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    page = small()
    page.send("draw")

    def broken(self: object, message: object) -> str:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(Board, "_attempt", broken)
    assert "not counted" in page.fails("try", "Kc")
    assert page.rows("event_type", "reason")[-1] == ("error", "ZeroDivisionError: division by zero")
    monkeypatch.undo()
    assert page.send("try", "Kc") == "done"


@given(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["try", "draw", "answer", "set", "slip", "away", "undo", "new", "nonsense", ""]),
            "page": st.one_of(st.text(), st.none(), st.integers()),
            "n": st.one_of(st.integers(), st.text(), st.none()),
            "number": st.one_of(st.just(0), st.integers(), st.none()),
        },
        optional={
            "cards": st.one_of(st.none(), st.lists(st.sampled_from(["Kc", "4s", "X9", ""]), max_size=3), st.text()),
            "times": st.one_of(st.none(), st.dictionaries(st.sampled_from(["t_second", "start"]), st.text())),
            "answer": st.one_of(st.none(), st.integers(-5, 99), st.text()),
            "name": st.text(max_size=5),
            "value": st.one_of(st.booleans(), st.text(max_size=5)),
        },
    )
)
def test_no_message_of_any_shape_breaks_the_board(message: dict[str, Any]) -> None:
    page = small()
    page.board._receive(page.board, message, [])
    page.board._receive(page.board, "no mapping", [])
    on_board = len(page.board.game.position.exposed)
    assert on_board >= 2
    page.send("draw")
    assert page.events[-1].event_type == "draw"
    page.board.close()


def test_the_view_is_plain_json_and_names_no_face_down_card() -> None:
    page = FakePage("one-pass", 17)
    page.send("draw")
    text = json.dumps(page.view)
    hidden = page.board.game.position.stock
    assert len(hidden) == 23
    assert [card.text for card in hidden if f'"{card.text}"' in text] == []
    assert page.view["stock"]["card"] is None


def test_under_classic_rules_the_stocks_top_card_can_be_seen() -> None:
    page = FakePage("classic", 17)
    top = page.board.game.position.stock[0]
    assert page.view["stock"]["card"]["card"] == top.text
    assert page.view["stock"]["card"]["name"].endswith("top of the stock, exposed")


def test_cards_are_named_for_a_screen_reader() -> None:
    names = {card["card"]: card["name"] for card in small().view["pyramid"]}
    assert names["2d"] == "2 of diamonds, row 3, place 3, exposed"
    assert names["6h"] == "6 of hearts, row 2, place 1, covered by king of clubs and jack of spades"


def test_the_passes_are_told_in_words() -> None:
    page = FakePage("classic", 17)
    status = {line["name"]: line["value"] for line in page.view["status"]}
    assert status["pass"] == "1 of 3"
    assert "pass 1 of 3" in page.view["stock"]["draw"]["name"]
    for _ in range(24):
        page.send("draw")
    assert page.view["stock"]["redeal"]["enabled"]
    page.send("redeal")
    assert {line["name"]: line["value"] for line in page.view["status"]}["pass"] == "2 of 3"
    assert page.rows("event_type", "redeals_left")[-1] == ("redeal", 2)


def test_three_piles_take_three_cards_and_pair_with_each_other() -> None:
    page = FakePage("three-pile", 17)
    page.send("draw")
    assert [pile["left"] for pile in page.view["piles"]] == [1, 1, 1]
    assert page.view["stock"]["draw"]["label"] == "Turn 3"
    tops = [pile["card"]["card"] for pile in page.view["piles"]]
    assert tops == [card.text for card in Deal.from_seed(17).cards[28:31]]


def test_asking_the_total_logs_the_answer_before_the_partner() -> None:
    page = FakePage("table", 17, ask="choose")
    page.send("answer", "9s", answer=5)
    assert page.view["message"].startswith("9 + 5 is 14, not 13.")
    assert page.view["answered"] == ""
    page.send("answer", "9s", answer=4)
    assert page.view["answered"] == "9s"
    assert page.view["selected"] == ["9s"]
    asked = [event for event in page.events if event.event_type == "attempt"]
    assert [(event.total, event.outcome, event.fact, event.assistance) for event in asked] == [
        (14, "incorrect", "4+9", "ask_choose"),
        (13, "correct", "4+9", "ask_choose"),
    ]


def test_a_game_with_asked_totals_resumes() -> None:
    page = FakePage("table", 17, ask="choose")
    page.send("answer", "Qc", answer=1)
    page.send("try", "Qc", "Ad")
    after = played_on(page.events, "page-2")
    assert after.board.game.moves == (Move.parse("Qc+Ad"),)


def test_a_table_game_is_logged_as_the_tutors() -> None:
    page = FakePage("three-pile", 17, table=True)
    page.send("draw")
    page.send("try", "8d", "8c")
    assert page.rows("source", "clock", "input")[1:] == [("table", "tutor", "tutor")] * 2
    assert page.view["title"] == "Recording: Three piles"
    assert "hint" not in [action["action"] for action in page.view["actions"]]


def test_at_a_table_undo_mends_a_wrong_tap_and_is_logged_so() -> None:
    page = FakePage("table", 17, table=True)
    page.send("draw")
    page.send("try", "Qc", "Ad")
    assert page.view["message"] == "Noted: Q♣ and A♦, 13."
    assert page.send("undo") == "done"
    page.send("try", "9s", "8d")
    assert page.view["message"] == "Noted: 9 + 8 is 17, not 13."
    assert page.view["selected"] == []
    # The wrong pair took nothing away: what is mended is the note of it, however late the tutor sees it.
    assert page.send("undo", times=readings(None, 90_000.0)) == "done"
    assert page.rows("event_type", "first_card", "reason")[1:] == [
        ("draw", None, None),
        ("attempt", "Qc", None),
        ("undo", None, "wrong_tap"),
        ("attempt", "9s", "wrong_total"),
        ("slip", "9s", None),
    ]
    assert page.board.game.moves == (Move.parse("draw"),)
    page.send("undo")
    assert page.board.game.moves == ()


def test_at_a_table_the_tutor_is_spoken_to_and_not_the_player() -> None:
    page = FakePage("table", 17, table=True, ask="choose")
    card = next(one for one in page.view["pyramid"] if one["card"] == "9s")
    assert card["prompt"] == "Ask the player: what goes with 9♠ to make 13?"
    page.send("answer", "9s", answer=5)
    assert page.view["message"] == "Noted: 9 + 5 is 14, not 13."
    page.send("answer", "9s", answer=4)
    assert page.view["message"] == "Noted: 9 + 4 is 13. Tap the card the player takes."
    assert {row[0] for row in page.rows("source", "event_type") if row[1] == "attempt"} == {"table"}
    names = {action["action"]: action["label"] for action in page.view["actions"]}
    assert names["undo"] == "Mend"
    assert "hint" not in names
    assert {"hints", "undo", "retry"}.isdisjoint(setting["name"] for setting in page.view["settings"])


def test_a_setting_is_changed_on_the_board_and_the_clock_goes_on() -> None:
    page = small()
    page.send("set", name="four_colours", value=True)
    assert page.view["look"]["four_colours"]
    assert page.view["timing"] == "keep"
    page.fails("set", name="ask", value="aloud")
    assert page.view["tone"] == "trouble"
    assert page.board.modes.ask == "off"


def test_settings_locked_by_the_tutor_stay() -> None:
    page = small(settings=False)
    assert page.view["settings"] == []
    assert "cannot be changed" in page.fails("set", name="guided", value=False)
    assert page.board.modes.guided


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"clok": True}, ModeError, "did you mean 'clock'"),
        ({"ask": "shout"}, ModeError, "ask is one of 'off', 'type', 'choose'"),
        ({"clock": "yes"}, ModeError, "clock is True or False"),
        ({"table": True, "kings": "auto"}, ModeError, "would record kings that nobody took"),
        ({"rules": "clasic"}, RulesError, "did you mean 'classic'"),
        ({"deal": "table-17-K2"}, InvalidDealError, "table-17-K2"),
        ({"deal": -1}, InvalidDealError, "-1"),
        ({"deal": "6d 5h"}, InvalidDealError, "2 cards given"),
    ],
)
def test_a_wrong_argument_is_named(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Board(**options)


def test_a_deals_code_gives_rules_and_deal() -> None:
    page = FakePage(deal="table-17-" + FakePage("table", 17).view["deal"][-1])
    assert page.board.game.rules.name == "table"
    assert page.board.game.deal == Deal.from_seed(17)
    assert page.view["deal"].startswith("table-17-")


def played_on(events: list[Event], name: str, **options: Any) -> FakePage:
    board = Board.resume(events[-1].game_id, events, on_event=events.append, **options)
    return FakePage(board=board, name=name)


def test_a_resumed_game_has_position_score_undo_and_redo() -> None:
    page = small()
    page.send("draw")
    page.send("try", "Kc")
    page.send("try", "Js", "2d")
    page.send("undo")
    page.send("try", "Js", "7s")
    after = played_on(page.events, "page-2")
    assert after.board.game.to_dict() == page.board.game.to_dict()
    assert after.board.session_id == page.board.session_id
    after.send("redo")
    assert after.board.game.moves == (Move.parse("draw"), Move.parse("Kc"), Move.parse("Js+2d"))
    assert [event.event_index for event in page.events] == list(range(len(page.events)))
    assert after.view["deal"] == "deal 212"


def test_the_older_board_of_a_resumed_game_says_where_it_goes_on() -> None:
    page = small()
    page.send("draw")
    played_on(page.events, "page-2")
    assert "newer board" in page.view["message"]
    assert page.view["actions"] == []
    count = len(page.events)
    assert page.send("draw") == "closed"
    assert len(page.events) == count


def from_number(log: list[Event]) -> Any:
    """The log as a board asks for it: the events of a game from a number on."""
    return lambda game_id, number: [event for event in log if event.game_id == game_id and event.event_index >= number]


def in_turn(log: list[Event]) -> Callable[[Event], bool]:
    """Write to the log unless it holds this event's number, or a later one, as a store does."""

    def append(event: Event) -> bool:
        if list(from_number(log)(event.game_id, event.event_index)):
            return False
        log.append(event)
        return True

    return append


def another_process(log: list[Event], name: str) -> FakePage:
    """The newest game of the log, taken up by a board that this process's other boards know nothing of."""
    _PLAYING.clear()
    board = Board.resume(log[-1].game_id, list(log), on_event=in_turn(log), elsewhere=from_number(log))
    return FakePage(board=board, name=name)


def test_a_game_that_another_process_has_played_on_is_not_played_on_here() -> None:
    log: list[Event] = []
    first = small(on_event=in_turn(log), elsewhere=from_number(log))
    first.send("draw")
    second = another_process(log, "page-2")
    second.send("try", "Kc")
    count = len(log)
    assert first.send("try", "Kc") == "closed"
    assert "played on somewhere else" in first.view["message"]
    assert "run this cell again" in first.view["message"]
    assert (first.view["actions"], first.view["playing"]) == ([], False)
    assert first.send("undo") == "closed"
    assert len(log) == count
    second.send("try", "Js", "2d")
    third = another_process(log, "page-3")
    assert third.board.game.to_dict() == second.board.game.to_dict()
    assert [event.event_index for event in log] == list(range(len(log)))


ANOTHER_PROCESS = """
import sys
from pyramid_lab.lesson import play

board = play(resume=sys.argv[1], place=sys.argv[2])
board._receive(board, {"kind": "draw", "page": "another", "n": 1, "number": 0}, [])
assert board.view["message"].startswith("Turned"), board.view["message"]
"""


def test_two_processes_with_one_game_in_one_log_leave_one_game(tmp_path: Path) -> None:
    place = tmp_path / "log.sqlite3"
    here = FakePage(board=play(SMALL, DEAL, place=place, student="s1"))
    here.send("draw")
    there = [sys.executable, "-c", ANOTHER_PROCESS, here.board.game_id, str(place)]
    subprocess.run(there, check=True, timeout=120)
    assert here.send("draw") == "closed"
    again = FakePage(board=play(SMALL, DEAL, place=place, student="s1"), name="page-2")
    assert again.board.game_id == here.board.game_id
    assert again.board.game.position.stock_left == 44
    again.send("draw")
    log = shared_store(place).events(game_id=again.board.game_id)
    assert [(event.event_index, event.event_type) for event in log] == [
        (0, "deal"),
        (1, "draw"),
        (2, "draw"),
        (3, "draw"),
    ]
    shared_store(place).close()


def test_a_cell_that_is_run_five_times_is_one_game(tmp_path: Path) -> None:
    place = tmp_path / "log.sqlite3"
    pages = []
    for run in range(5):
        pages.append(FakePage(board=play(SMALL, DEAL, place=place, student="s1"), name=f"page-{run}"))
        assert pages[-1].send("draw") == "done"
    assert [page.send("draw") for page in pages[:-1]] == ["closed"] * 4
    assert len(pages[-1].board.game.moves) == 5
    log = shared_store(place).events()
    assert [event.event_type for event in log] == ["deal", *["draw"] * 5]
    assert [event.event_index for event in log] == list(range(6))
    shared_store(place).close()


def test_an_unfinished_game_that_cannot_be_taken_up_is_said_and_the_deal_begins_again(tmp_path: Path) -> None:
    place = tmp_path / "log.sqlite3"
    page = FakePage(board=play(SMALL, DEAL, place=place, student="s1"))
    page.send("draw")
    store = shared_store(place)
    first, last = store.events(game_id=page.board.game_id)
    store.append(dataclasses.replace(last, event_id=new_id(), event_type="undo"))
    board = play(SMALL, DEAL, place=place, student="s1")
    assert board.game.moves == ()
    assert board.game_id != first.game_id
    assert "cannot be taken up" in board.notice["text"]
    assert "two places at once" in board.notice["text"]
    store.close()


def test_a_look_away_from_another_board_of_the_game_only_takes_a_number() -> None:
    log: list[Event] = []
    first = small(on_event=in_turn(log), elsewhere=from_number(log))
    first.send("draw")
    second = another_process(log, "page-2")
    first.send("away", gone=True)
    second.send("away", gone=True)
    assert second.send("try", "Kc") == "done"
    assert [event.event_index for event in log] == list(range(len(log)))
    assert first.send("draw") == "closed"


def test_a_game_played_in_two_places_at_once_is_named_and_not_guessed() -> None:
    log: list[Event] = []
    first = small(on_event=log.append)
    first.send("draw")
    _PLAYING.clear()
    # Two boards that were never told of each other, as on two computers whose logs are put together later.
    second = FakePage(board=Board.resume(log[-1].game_id, list(log), on_event=log.append), name="page-2")
    second.send("try", "Kc")
    first.send("draw")
    with pytest.raises(ResumeError, match="in two places at once from its event 2 on"):
        Board.resume(log[-1].game_id, log)


def test_the_time_between_two_sittings_is_not_played_time() -> None:
    clock = datetime(2026, 9, 7, 8, 0, tzinfo=UTC)
    page = small(now=lambda: clock)
    page.send("draw")
    clock += timedelta(seconds=5)
    page.send("away", gone=True)  # the last that is heard of this sitting
    clock += timedelta(hours=3)
    events = list(page.events)
    options: dict[str, Any] = {"on_event": events.append, "now": lambda: clock, "session_id": "another sitting"}
    after = FakePage(board=Board.resume(events[-1].game_id, events, **options), name="page-2")
    after.send("draw")
    clock += timedelta(seconds=7)
    after.send("draw")
    assert active_ms(events) == 12_000


@pytest.mark.parametrize("cut", range(1, 11))
def test_a_game_can_be_resumed_after_every_event(cut: int) -> None:
    page = small()
    win(page)
    events = page.events[:cut]
    after = played_on(events, "page-2")
    played = [event for event in events if event.event_type in ("draw", "attempt")]
    assert len(after.board.game.moves) == len(played)
    assert after.board.game.position.score == events[-1].score


def test_a_game_with_automatic_kings_resumes_with_them() -> None:
    page = small(kings="auto")
    page.send("draw")
    after = played_on(page.events, "page-2")
    assert after.board.game.to_dict() == page.board.game.to_dict()
    assert after.board.modes.kings == "auto"


def test_records_are_the_best_of_the_students_earlier_games() -> None:
    log: list[Event] = []
    clock = datetime(2026, 9, 7, 8, 0, tzinfo=UTC)

    def now() -> datetime:
        nonlocal clock
        clock += timedelta(seconds=2)
        return clock

    def history(types: tuple[str, ...] | None) -> list[Event]:
        return [event for event in log if types is None or event.event_type in types]

    options: dict[str, Any] = {"on_event": log.append, "history": history, "now": now, "student_id": "s1"}
    page = small(**options)
    win(page)
    first = page.board.record()
    assert first is not None
    # Eight moves, two seconds apart, and the end two seconds later.
    assert (first.best_score, first.fewest_moves, first.fastest_win_ms) == (6, 8, 16_000)
    again = small(**options)
    again.send("draw")
    assert log[-2].reason == "seed:212 replay"
    other = FakePage(SMALL.replace(redeals=1), DEAL, **options)
    record = other.board.record()
    assert record is not None
    assert record.best_score is None


def test_a_lost_game_says_how_far_back_a_way_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    # As if every position with fewer than 20 of the 46 cards in the stock were proved to be lost.
    page = small(dead=lambda position: position.stock_left < 20)
    found = []
    monkeypatch.setattr("threading.Thread.start", lambda thread: found.append(thread))
    for _ in range(46):
        page.send("draw")
    assert page.board.game.outcome is Outcome.PLAYING  # K, J and 2 can still be taken
    page.board._look_back()
    found[0].run()
    assert page.board.notice["text"] == "There was still a way 20 steps ago."
    events = len(page.events)
    page.send("back")
    assert page.board.game.position.stock_left == 20
    taken_back = page.events[events:]
    assert [event.event_type for event in taken_back] == ["undo"] * 20
    # The child pressed once: one response time, not twenty.
    assert [event.rt_ms is None for event in taken_back] == [False] + [True] * 19
    page.send("back")
    assert len(page.events) == events + 20
    assert page.board.game.position.stock_left == 20


@pytest.mark.parametrize("modes", [{"undo": False}, {"table": True}])
def test_where_nothing_is_undone_no_way_back_is_offered(modes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    page = small(dead=lambda position: position.stock_left < 20, **modes)
    found = []
    monkeypatch.setattr("threading.Thread.start", lambda thread: found.append(thread))
    for _ in range(46):
        page.send("draw")
    page.board._look_back()
    found[0].run()
    assert page.board.notice == {
        "number": page.view["number"],
        "text": "There was still a way 20 steps ago.",
        "back": 0,
    }
    page.send("back")
    assert page.board.game.position.stock_left == 0


def test_the_clock_runs_from_the_first_move_to_the_end_and_rests_in_a_pause() -> None:
    page = small(clock=True)

    def runs() -> bool:
        return bool(page.view["clock"]["running"])

    assert not runs()
    page.send("try", "Kc")
    assert runs()
    page.send("pause")
    assert not runs()
    page.send("resume")
    assert runs()
    page.send("finish")
    assert not runs()


@pytest.mark.parametrize("keeps_picture", [True, False])
def test_a_page_that_nobody_saves_keeps_no_picture(keeps_picture: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    page = FakePage("one-pass", 212, keeps_picture=keeps_picture)
    page.board._ipython_display_()
    assert "application/vnd.jupyter.widget-view+json" in shown[0]
    assert len(shown) == (2 if keeps_picture else 1)


def test_a_saved_notebook_shows_the_position_and_how_to_go_on() -> None:
    page = small()
    page.send("try", "Kc")
    bundle = page.board._repr_mimebundle_()
    assert bundle is not None
    data = bundle[0]
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "deal 212, 1 move made, score 1" in data["text/plain"]
    assert f'play(resume="{page.board.game_id}")' in data["text/plain"]
    assert "<svg" in data["text/html"]
    assert "K♣" not in data["text/html"]
    # A page that shows no widgets shows this picture instead; the words name what is missing there.
    assert "python -m pip install jupyterlab_widgets" in data["text/html"]
    assert "python -m pip install jupyterlab_widgets" in data["text/plain"]


def test_where_there_are_no_cells_a_child_is_not_told_to_run_one_nor_to_install_anything() -> None:
    bundle = FakePage("one-pass", 212, keeps_picture=False).board._repr_mimebundle_()
    assert bundle is not None
    for kind in ("text/plain", "text/html"):
        assert "To go on, load this page again." in bundle[0][kind]
        assert "cell" not in bundle[0][kind]
        assert "install" not in bundle[0][kind]


def test_two_hundred_boards_created_and_closed_leave_nothing() -> None:
    before = len(_instances)
    boards = []
    blocks = []
    for seed in range(200):
        page = FakePage("classic", seed)
        page.send("draw")
        boards.append(weakref.ref(page.board))
        page.board.close()
        if seed + 1 in (50, 200):
            del page
            gc.collect()
            blocks.append(sys.getallocatedblocks())
    assert len(_instances) == before
    assert sum(board() is not None for board in boards) == 0
    # A board is thousands of pieces of memory while it lives; 150 more boards leave less than one does (caches).
    assert blocks[1] - blocks[0] < 1000
