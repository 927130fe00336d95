"""Recording sheets entered again: every row becomes an attempt, checked against the deal."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyramid_lab.cli.log import log
from pyramid_lab.core import Deal, rule_set
from pyramid_lab.core.cards import pack
from pyramid_lab.log.events import Event
from pyramid_lab.log.names import Names
from pyramid_lab.log.paper import PaperError, PaperGame, paper_game, read_recording
from pyramid_lab.log.store import Store

STARTED = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def deal_beginning(text: str) -> Deal:
    """A deal that begins with these cards; the rest follow as in a new pack."""
    first = text.split()
    rest = [card.text for card in pack() if card.text not in first]
    return Deal.from_text(" ".join(first + rest))


# Three rows: 9s / 4c Kd / 8h 5d 2c, then the stock: 6h 7s 5s Jd ...
SMALL = deal_beginning("9s 4c Kd 8h 5d 2c 6h 7s 5s Jd")
THREE_ROWS = rule_set({"base": "table", "rows": 3})


def enter(text: str, rules: object = THREE_ROWS, deal: Deal = SMALL) -> PaperGame:
    chosen = rule_set(rules)  # type: ignore[arg-type]
    return paper_game(read_recording(text), chosen, deal, student_id="s1", started=STARTED, tz="Europe/Berlin")


def kinds(game: PaperGame) -> list[str]:
    return [event.event_type for event in game.events]


def test_a_pair_in_the_pyramid_needs_no_turn() -> None:
    game = enter("first,second,total,tick,seconds\n8h,5d,13,x,3.5\n")
    assert kinds(game) == ["deal", "attempt", "end"]
    attempt = game.events[1]
    assert (attempt.first_card, attempt.second_card, attempt.outcome, attempt.fact) == ("8h", "5d", "correct", "5+8")
    assert (attempt.source, attempt.input, attempt.clock, attempt.rt_ms) == ("table", "tutor", "tutor", 3500)
    assert game.notes == ()


def test_turns_are_found_from_the_deal() -> None:
    # 2c goes with Jd, the fourth card of the stock: four turns come first.
    game = enter("first,second\n2c,Jd\n")
    assert kinds(game) == ["deal", "draw", "draw", "draw", "draw", "attempt", "end"]
    assert game.events[5].outcome == "correct"


def test_three_piles_turn_three_at_a_time() -> None:
    # Jd is the fourth card: the first of the second turn, on pile 1.
    game = enter("first,second\n2c,Jd\n", {"base": "three-pile", "rows": 3})
    assert kinds(game) == ["deal", "draw", "draw", "attempt", "end"]
    assert game.events[3].second_place == "pile1"


def test_without_a_time_there_is_none_and_the_log_says_so() -> None:
    attempt = enter("first,second\n8h,5d\n").events[1]
    assert (attempt.rt_ms, attempt.clock, attempt.reason) == (None, None, "not_timed")


def test_ranks_without_suits_are_read_so_that_the_game_fits() -> None:
    # 8 can go with the 5 of the pyramid or the 5 of the stock. Only 5s leaves 5d for ... the king under 5d and 2c:
    # taking 8h + 5s needs three turns, 8h + 5d none; the K row then needs 5d and 2c gone.
    game = enter("first,second\n8,5\n2,J\nK,\n")
    attempts = [event for event in game.events if event.event_type == "attempt"]
    assert [event.outcome for event in attempts] == ["correct"] * 3
    assert attempts[0].second_card == "5d"


def test_a_reading_that_blocks_a_later_row_is_given_up() -> None:
    # If 8h went with 5d, the second row, 5d and 8s, could not be. So the first row means the 5s of the stock.
    deal = deal_beginning("9s 4c Kd 8h 5d 2c 5s 8s")
    game = enter("first,second\n8,5\n5d,8s\n", deal=deal)
    attempts = [event for event in game.events if event.event_type == "attempt"]
    assert [(event.first_card, event.second_card, event.outcome) for event in attempts] == [
        ("8h", "5s", "correct"),
        ("5d", "8s", "correct"),
    ]


def test_an_impossible_row_does_not_spoil_the_reading_of_the_others() -> None:
    deal = deal_beginning("9s 4c Kd 8h 5d 2c 5s 8s")
    game = enter("first,second\n8,5\n4c,9s\n5d,8s\n", deal=deal)
    attempts = [event for event in game.events if event.event_type == "attempt"]
    assert [event.outcome for event in attempts] == ["correct", "blocked", "correct"]


def test_one_slip_in_a_whole_game_without_suits_is_the_one_row_named() -> None:
    # A way to clear table-63-X, ranks alone, and between its pairs a 2 and a jack, of which every 2 lies covered then.
    pairs = "K 3,T 4,9 A,Q 2,J 4,9 5,8 3,T 3,T A,Q 6,7 6,7 4,9 4,9 5,8 2,J K"
    rows = pairs.replace(" ", "\n")
    game = enter(f"first,second\nK\n{rows}\n", "table", Deal.from_seed(63))
    blocked = [number for number, event in enumerate(tries(game)) if event.outcome == "blocked"]
    assert blocked == [5]


def tries(game: PaperGame) -> list[Event]:
    return [event for event in game.events if event.event_type == "attempt"]


def test_an_impossible_pair_is_named_and_kept() -> None:
    game = enter("first,second,total,tick\n4c,9s,13,x\n8h,5d,13,x\n")
    blocked, right = (event for event in game.events if event.event_type == "attempt")
    assert (blocked.outcome, blocked.first_card, blocked.second_card) == ("blocked", "4c", "9s")
    assert right.outcome == "correct"
    lines = [line for line, _ in game.notes]
    sentences = " ".join(sentence for _, sentence in game.notes)
    assert set(lines) == {2}
    assert "4♣ + 9♠ was not possible here" in sentences
    assert "kept as a blocked try" in sentences
    assert "covered" in sentences


def test_a_wrong_total_is_an_incorrect_try() -> None:
    game = enter("first,second,total\n8h,2c,10\n")
    attempt = game.events[1]
    assert (attempt.outcome, attempt.total) == ("incorrect", 10)
    assert game.notes == ()


def test_a_total_the_cards_do_not_make_is_named() -> None:
    game = enter("first,second,total\n8h,5d,12\n")
    assert game.notes == ((2, "the child wrote 12; 8♥ + 5♦ makes 13"),)


@pytest.mark.parametrize(
    ("row", "notes"),
    [
        ("8h,5d,x", ()),
        ("8h,5d,", ()),
        ("8h,5d,✗", ((2, "marked as wrong, but 8♥ + 5♦ was right here"),)),
        ("8h,2c,✗", ()),
        ("8h,2c,x", ((2, "ticked, but 8♥ + 2♣ was no right pair here"),)),
    ],
)
def test_a_mark_that_does_not_fit_its_cards_is_named(row: str, notes: tuple[tuple[int, str], ...]) -> None:
    game = enter(f"first,second,tick\n{row}\n")
    assert game.notes == notes
    assert game.doubtful == {line for line, _ in notes}


def test_a_whole_game_ends_won() -> None:
    # 8+5 frees 4c; 2+J (4 turns) frees Kd; K; 4c lies alone over 9s: they pair with a 9 and a 4 of the stock.
    deal = deal_beginning("9s 4c Kd 8h 5d 2c Jd 9h 4d")
    game = enter("first,second\n8,5\n2,J\nK,\n4c,9h\n9s,4d\n", deal=deal)
    assert game.events[-1].event_type == "end"
    assert game.events[-1].outcome == "won"
    assert game.position.pyramid_left == 0


def test_a_sheet_entered_twice_has_the_same_ids() -> None:
    text = "first,second,seconds\n8h,5d,4\n2c,Jd,6\n"
    assert [event.event_id for event in enter(text).events] == [event.event_id for event in enter(text).events]
    other = enter(text.replace("6", "7"))
    assert not {event.event_id for event in other.events} & {event.event_id for event in enter(text).events}


def test_redeals_are_found_too() -> None:
    # Under `classic` 6h is turned past and buried; after the whole stock and a redeal it is in play again.
    rules = {"base": "classic", "rows": 3}
    game = enter("first,second\n2c,Jd\n8h,5s\n", rules)
    assert "redeal" not in kinds(game)  # 5s lies under Jd, which has gone
    again = enter("first,second\n2c,Jd\nturn,\n6h,7s\n", rules)
    assert kinds(again).count("redeal") == 1
    assert [event.outcome for event in again.events if event.event_type == "attempt"] == ["correct", "correct"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 0, "empty"),
        ("first,second\n", 0, "no row"),
        ("erst,second\n5,8\n", 1, "'erst'"),
        ("second,total\n5,8\n", 1, "no column 'first'"),
        ("first,second\n5x,8\n", 2, "5x"),
        ("first,second\n5,8\n14,8\n", 3, "14"),
        ("first,second,total\n5,8,abc\n", 2, "'abc'"),
        ("first,second,seconds\n5,8,fast\n", 2, "'fast'"),
        ("first,second,seconds\n5,8,0\n", 2, "over 0"),
        ("first,second,seconds\n5,8,99999\n", 2, "3600"),
        ("first,second,tick\n5,8,maybe\n", 2, "'maybe'"),
        ("first,second\n,8\n", 2, "first card is missing"),
        ("first,second\n5,8,9\n", 2, "3 cells"),
        ("first,second\nturn,8\n", 2, "no second card"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(PaperError) as caught:
        read_recording(text)
    assert caught.value.problems[0][0] == line
    assert words in str(caught.value)


def test_every_bad_row_is_named_at_once() -> None:
    with pytest.raises(PaperError) as caught:
        read_recording("first,second\n5x,8\n5,8\n9,zz\n")
    assert [line for line, _ in caught.value.problems] == [2, 4]


@pytest.mark.parametrize(
    "text",
    [
        "first;second;total;tick;seconds\n8h;5d;13;x;3,5\n",
        "\ufeffFirst card,Second card,Total,13?,Seconds\n8♥,5♦,13,✓,3.5\n",
        "first\tsecond\ttotal\ttick\tseconds\r\n8H\t5D\t13\tyes\t3.5\r\n\r\n",
    ],
    ids=["semicolons and a decimal comma", "a mark at the start and the sheet's own heads", "tabs"],
)
def test_what_spreadsheets_write_is_read(text: str) -> None:
    (row,) = read_recording(text)
    assert [str(card) for card in row.cards] == ["8h", "5d"]
    assert (row.total, row.ticked, row.seconds) == (13, True, 3.5)


def test_a_card_outside_the_pack_is_named() -> None:
    with pytest.raises(PaperError, match="not in a pack for pairs to 10"):
        read_recording("first,second\nK,\n", target=10)


def test_a_sheet_is_entered_once_from_the_command_line(tmp_path: Path) -> None:
    place = tmp_path / "log.sqlite3"
    with Store(place) as store:
        student = Names.of(store).add(store, "Zoë").student_id
    sheet = tmp_path / "zoe.csv"
    sheet.write_text("first,second,total,seconds\n8h,5d,13,4\n4c,9s,13,\n", encoding="utf-8")
    deal = ["--deal", SMALL.text, "--student", "Zoë", "--store", str(place), "--started", "2026-03-02 09:30"]

    def run(*more: str) -> str:
        done = CliRunner().invoke(log, ["enter", str(sheet), *deal, *more])
        assert done.exit_code == 0, done.output
        return done.output

    assert "2 tries would be entered" in run("--dry-run")
    said = run()
    assert "2 tries entered." in said
    assert "line 2: 8♥ + 5♦ was not possible here" in said  # under seven rows both lie covered
    assert "entered before" in run()
    with Store(place) as store:
        events = store.events(student_id=student)
    assert [event.outcome for event in events if event.event_type == "attempt"] == ["blocked", "blocked"]
    assert {event.source for event in events} == {"table"}


def test_a_bad_sheet_changes_nothing(tmp_path: Path) -> None:
    place = tmp_path / "log.sqlite3"
    with Store(place) as store:
        student = Names.of(store).add(store, "Zoë").student_id
    sheet = tmp_path / "zoe.csv"
    sheet.write_text("first,second\n8h,5d\nzz,5\n", encoding="utf-8")
    options = ["--deal", "table-17-U", "--student", "Zoë", "--store", str(place)]
    done = CliRunner().invoke(log, ["enter", str(sheet), *options])
    assert done.exit_code == 1
    assert "line 3: 'zz' is no card" in done.output
    with Store(place) as store:
        assert list(store.events(student_id=student)) == []


def test_the_command_says_how_many_turns_of_the_stock_it_filled_in(tmp_path: Path) -> None:
    # The stock's first cards are As, Ac, Ad, Ah, 2h: four turns bring the Ah, a fifth the 2h.
    cards = (
        "4c 9s 2c 2d 3c 3d 4d 4h 6c 6d 6h 7c 7d 7h 9c 9d 9h Tc Td Th Jc 8h 5d Kd Qc Qd Qh Jd As "
        "Ac Ad Ah 2h 2s 3h 3s 4s 5c 5h 5s 6s 7s 8c 8d 8s Ts Jh Js Qs Kc Kh Ks"
    )
    place = tmp_path / "log.sqlite3"
    with Store(place) as store:
        Names.of(store).add(store, "Zoë")
    sheet = tmp_path / "zoe.csv"
    sheet.write_text("first,second\n8h,5d\nQc,Ah\nJd,2h\n", encoding="utf-8")
    options = ["--deal", cards, "--rules", "table", "--student", "Zoë", "--store", str(place)]
    done = CliRunner().invoke(log, ["enter", str(sheet), *options])
    assert done.exit_code == 0, done.output
    assert "3 tries entered, with 5 turns of the stock filled in." in done.output
