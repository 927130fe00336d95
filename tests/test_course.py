"""What the lessons call: the deal chosen for a child, the verdict on a position, odds; and what the lessons claim."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from pyramid_lab.board import Board
from pyramid_lab.board.flash import Flash
from pyramid_lab.core import Card, Deal, Game, Move, Outcome, Position, rule_set
from pyramid_lab.core.rules import Rules
from pyramid_lab.course import (
    CHOICES,
    choose_deal,
    class_report,
    compare_rules,
    odds,
    odds_picture,
    odds_table,
    picture,
    play_next,
    still_to_win,
    verdict,
    who_plays,
)
from pyramid_lab.insight import SimulatedStudent, Skill, next_deals, practise, random_student
from pyramid_lab.insight.cleaning import events_frame
from pyramid_lab.lesson import play, shared_store
from pyramid_lab.log.events import Event
from pyramid_lab.log.frames import sessions
from pyramid_lab.log.names import Names
from pyramid_lab.log.store import Store
from pyramid_lab.solver import RICH, Unknown, Unwinnable, Winnable, find_deals, solve
from tests.board.page import FakePage

ONE_PASS = rule_set("one-pass")


def beginning(seed: int, rows: int) -> Position:
    return Position.start(ONE_PASS.replace(rows=rows), Deal.from_seed(seed))


def played(*slow: str, games: int = 8) -> list[Event]:
    """The log of a simulated child who knows every pair by heart but these, which he counts."""
    known, counted = Skill(known_s=0.5, spread=0.3), Skill(counted_s=3.2, learning="counted")
    skills = {fact: counted if fact in slow else known for fact in ("A+Q", "2+J", "3+10", "4+9", "5+8", "6+7")}
    child = SimulatedStudent("ann", skills, slip_counted=0.03, slip_known=0.0)
    return list(practise(child, games, np.random.default_rng(21)))


@pytest.fixture(scope="module")
def slow_at_5_8() -> list[Event]:
    return played("5+8")


@pytest.mark.parametrize("name", ["one-pass", "classic", "three-pile"])
def test_the_chosen_deal_can_be_won_is_rich_in_the_slow_fact_and_says_so(name: str, slow_at_5_8: list[Event]) -> None:
    rules = rule_set(name)
    chosen = choose_deal(slow_at_5_8, rules)
    assert chosen.wish.rich_in[0] == "5+8"
    game = Game(rules, chosen.certified.deal)
    made: Counter[str] = Counter()
    for move in chosen.certified.line:
        made["+".join(sorted(str(card.value) for card in move.cards))] += 1
        game.play(move)
    assert game.outcome is Outcome.WON
    assert made["5+8"] == 4  # as often as a pack can make it
    assert "5 + 8 4 times" in chosen.reason
    assert "not fast yet" in chosen.reason
    assert "5+8 (" in chosen.wish.why


def test_the_lesson_and_the_report_wish_for_the_same_facts() -> None:
    log = played("4+9", "6+7")
    report = next_deals(events_frame(log), "ann", 1, rules="one-pass")
    chosen = choose_deal(log)
    assert set(chosen.wish.rich_in) == {"4+9", "6+7"}
    assert chosen.wish.rich_in == report.rich_in


def test_too_few_tries_give_the_ordinary_deal_and_say_so() -> None:
    for log in ([], played("5+8", games=1)):
        chosen = choose_deal(log)
        assert chosen.wish.rich_in == ()
        assert isinstance(solve(Position.start(ONE_PASS, chosen.certified.deal)), Winnable)
        assert "can be won" in chosen.reason
        assert "a few games more" in chosen.reason
        assert "Nothing sure is known" in chosen.wish.why


def test_a_short_game_that_cannot_make_two_facts_often_is_as_rich_as_can_be_found() -> None:
    rules = ONE_PASS.replace(rows=4)
    chosen = choose_deal(played("4+9", "6+7"), rules)
    looked_at = list(find_deals(rules, CHOICES, start=chosen.certified.seed // 100_000 * 100_000))
    poorest = [min(deal.facts.get("4+9", 0), deal.facts.get("6+7", 0)) for deal in looked_at]
    assert chosen.certified in looked_at
    assert min(chosen.certified.facts.get(fact, 0) for fact in ("4+9", "6+7")) == max(poorest) < RICH


def test_the_same_log_gives_the_same_deal_and_another_game_another(slow_at_5_8: list[Event]) -> None:
    deal = choose_deal(slow_at_5_8).certified.deal
    assert choose_deal(slow_at_5_8).certified.deal == deal
    more = replace(slow_at_5_8[-1], game_id="another", event_id=str(uuid.uuid4()))
    assert choose_deal([*slow_at_5_8, more]).certified.deal != deal


def test_the_verdict_on_a_position() -> None:
    start = beginning(1330, 4)
    assert verdict(start).startswith("Yes. There is a way, ")
    assert verdict(start.play(Move.parse("Ad+Qd"))).startswith("No.")
    game = Game(ONE_PASS.replace(rows=3), Deal.from_seed(212))
    for move in ["Kc", "Js+2d", "6h+7s", "draw", "draw", "draw", "draw"]:
        game.play(Move.parse(move))
    assert verdict(game.position) == "Yes. There is a way, 1 move long. Can you find one?"
    game.play(Move.parse("4s+9s"))
    assert verdict(game.position) == "It is won already!"


def test_odds_are_counted_deal_by_deal_with_an_interval() -> None:
    table = odds("one-pass", 80)
    # Which deals of the first 80 can be won, from the solver's own proofs.
    truth = [isinstance(solve(Position.start(ONE_PASS, Deal.from_seed(seed))), Winnable) for seed in range(1, 81)]
    assert (table["answer"] == "winnable").tolist() == truth
    assert table["moves"].notna().tolist() == truth
    last = table.iloc[-1]
    assert last["n_winnable"] == sum(truth)
    # A flat prior: (hits + 1) / (n + 2).
    assert last["share"] == pytest.approx((sum(truth) + 1) / 82)
    assert last["low"] < sum(truth) / 80 < last["high"]
    page = odds_picture(table).data
    assert f"{sum(truth)} of 80 deals can be won: about {100 * sum(truth) / 80:.0f} of 100" in page
    assert "alt=" in page
    assert "took too long" not in page

    # Nothing is given away before somebody asks: all of it lies in a folded part.
    one_by_one = odds_table(table, 40).data
    for folded in (page, one_by_one):
        assert re.fullmatch(
            r"<details><summary[^>]*><b>[^<>\d]*(40 deals)?</b></summary>.*</details>", folded, re.DOTALL
        )
    rows = re.findall(r"<th scope='row'>(\d+)</th><td[^>]*>(yes|no)</td><td>(\d*)</td><td>(\d+) of \1</td>", one_by_one)
    assert [(int(number), answer == "yes") for number, answer, _, _ in rows] == list(enumerate(truth[:40], start=1))
    assert all(bool(moves) == (answer == "yes") for _, answer, moves, _ in rows)
    assert [int(won) for *_, won in rows] == np.cumsum(truth[:40]).tolist()


def test_a_deal_that_took_too_long_is_said_to_be_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [Unwinnable(), Unknown("time"), Winnable(tuple(map(Move.parse, ["Kc", "draw"])))]
    monkeypatch.setattr("pyramid_lab.course.solve", lambda *_args, **_limits: answers.pop(0))
    table = odds("classic", 3)
    page = odds_table(table).data
    assert re.findall(r"<td[^>]*>([^<]*)</td>", page) == [
        "no",
        "",
        "0 of 1",
        "not known",
        "",
        "0 of 1",
        "yes",
        "2",
        "1 of 2",
    ]
    assert "1 of 2 deals can be won: about 50 of 100." in odds_picture(table).data
    assert "1 more took too long to find out." in odds_picture(table).data


def test_the_rules_beside_each_other_say_what_the_rules_say() -> None:
    page = compare_rules("classic", "cardems").data
    for name in ("classic", "cardems"):
        assert rule_set(name).title in page
        for line in rule_set(name).describe():
            assert line.replace("'", "&#x27;") in page


# What the lessons say of their deals.


@pytest.mark.parametrize(
    ("rules", "seed"),
    [
        (ONE_PASS.replace(rows=3), 212),
        (ONE_PASS.replace(rows=4), 112),
        (ONE_PASS.replace(rows=4), 145),
        (ONE_PASS.replace(rows=5), 137),
        (ONE_PASS, 268),
        (ONE_PASS, 321),
        (ONE_PASS.replace(rows=5), 4681),
        (ONE_PASS.replace(rows=5), 184),
        (rule_set("three-pile").replace(rows=5), 2),
        (rule_set("classic"), 3),
        (rule_set("cardems"), 17),
        (rule_set("table"), 63),
        (ONE_PASS.replace(rows=4, target=10), 40),
        (ONE_PASS.replace(rows=4, target=11), 106),
        (ONE_PASS.replace(rows=4, target=12), 67),
    ],
)
def test_every_deal_of_a_lesson_can_be_won(rules: Rules, seed: int) -> None:
    assert isinstance(solve(Position.start(rules, Deal.from_seed(seed, rules.target))), Winnable)


def test_lesson_2_four_cards_are_free_and_four_and_jack_cover_the_king() -> None:
    position = beginning(112, 4)
    assert [card.text for card in position.exposed] == ["7h", "9d", "4c", "9c"]
    assert [card.text for card in position.coverers(Card.parse("Kd"))] == ["4s", "Jc"]


def test_the_picture_to_guess_by_does_not_say_which_cards_are_free() -> None:
    guessed, shown = (picture("one-pass", 112, rows=4, guided=guided).data for guided in (False, True))
    cards = [card.label for row in beginning(112, 4).pyramid for card in row if card]
    for page in (guessed, shown):
        assert re.findall(r"[^\s\[\]]+", page.partition("<desc>")[2].partition("</desc>")[0]) == cards
        assert page.count("<rect") == len(cards) == 10  # the pyramid alone: no stock to be taken for a card
        assert [int(width) >= 480 for width in re.findall(r"<svg [^>]* width='(\d+)", page)] == [True]
    assert len(set(re.findall(r"<rect [^>]*(fill=.*?)/>", guessed))) == 1
    assert "[" not in guessed
    assert len(set(re.findall(r"<rect [^>]*(fill=.*?)/>", shown))) == 2
    assert shown.count("[") == 4


def test_lesson_4_the_eight_goes_with_either_five_but_one_of_them_opens_a_two_for_the_jack() -> None:
    position = beginning(4681, 5)
    beside, apart = Move.parse("8d+5h"), Move.parse("8d+5d")
    assert set(position.legal_discards()) == {beside, apart}
    assert all(isinstance(solve(position.play(pair)), Winnable) for pair in (beside, apart))
    opened = set(position.play(beside).exposed) - set(position.exposed)
    assert {card.text for card in opened} == {"2s"}
    assert Move.parse("2s+Js") in position.play(beside).legal_discards()
    assert set(position.play(apart).exposed) < set(position.exposed)


def test_lesson_5_the_first_pair_in_the_boards_order_is_a_trap() -> None:
    game = Game(ONE_PASS.replace(rows=4), Deal.from_seed(1330))
    position = game.position
    trap, good, king = (
        Move.parse("Ad+Qd"),
        Move.parse("Ah+Qd"),
        [m for m in position.legal_discards() if len(m.cards) == 1],
    )
    assert set(position.legal_discards()) == {trap, good, *king}
    assert [move.cards[0].rank for move in king] == [13]
    assert isinstance(solve(position.play(trap)), Unwinnable)
    assert isinstance(solve(position.play(good)), Winnable)
    assert game.hint() == trap  # the first one
    answer = solve(position, shortest=True)
    assert isinstance(answer, Winnable)
    assert len(answer.line) == 10


def test_lesson_7_the_sums() -> None:
    scoring = rule_set("classic").scoring
    assert sorted(scoring.row_bonus) == [25, 50, 75, 100, 125, 150, 175]
    assert 52 * 5 + sum(scoring.row_bonus) == 960


def test_lesson_10_of_a_hundred_deals_a_handful_can_be_won() -> None:
    # "Only about one deal in twenty", lesson 3.
    share = (odds("one-pass", 1000)["answer"] == "winnable").mean()
    assert 1 / 30 < share < 1 / 15


def test_a_class_of_ten_that_played_the_course_gets_its_report(tmp_path: Path) -> None:
    """Boards of every lesson's rules, and flash rounds, of ten simulated children in one log."""
    rng = np.random.default_rng(8)
    lessons = (
        ONE_PASS.replace(rows=3),
        ONE_PASS.replace(rows=5),
        ONE_PASS,
        rule_set("three-pile"),
        rule_set("classic"),
        rule_set("cardems"),
        rule_set("table"),
        ONE_PASS.replace(rows=4, target=10),
    )
    place = tmp_path / "log.sqlite3"
    with Store(place) as store:
        for number in range(10):
            child = random_student(f"child-{number}", rng)
            younger = random_student(child.student_id, rng, target=10)
            for week, rules in enumerate(lessons):
                who = younger if rules.target == 10 else child
                start = datetime(2026, 9, 7, 8, 0, tzinfo=UTC) + timedelta(weeks=week)
                for event in practise(who, 1, rng, rules=rules, start=start):
                    store.append(event)
                flash_round(store, child.student_id, rules.target, start)
        page = class_report(place=place).data
    assert "Nobody has played" not in page
    for number in range(10):
        assert f"child-{number}" in page
    assert "10 students" in page


def flash_round(store: Store, student_id: str, target: int, start: datetime) -> None:
    flash = Flash(
        target=target, count=6, seed=lambda: 5, on_event=store.append, student_id=student_id, now=lambda: start
    )
    while flash.prompt is not None:
        value = target - flash.prompt.rank
        answer = {"kind": "answer", "number": flash.view["number"], "value": value, "rt_ms": 1200, "input": "touch"}
        flash._receive(None, answer, None)


def test_the_log_knows_the_lesson_by_its_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As Jupyter's server names a kernel's notebook, on every system with slashes.
    monkeypatch.setenv("JPY_SESSION_NAME", "My lessons/03_pyramid.ipynb")
    place = str(tmp_path / "log.sqlite3")
    FakePage(board=play("one-pass", 212, rows=3, place=place)).send("draw")
    with Store(place) as store:
        assert sessions(store)["lesson"].tolist() == ["03_pyramid"]


def test_an_answer_about_a_position_goes_when_another_is_shown() -> None:
    page = FakePage("one-pass", 212)
    button, said = still_to_win(page.board).children
    button.click()
    assert verdict(page.board.game.position) in unescape(said.value)
    page.send("draw")
    assert said.value == ""


def test_the_names_are_asked_for_where_there_are_any_but_not_on_a_page_of_a_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYRAMID_LAB_STORE", str(tmp_path / "log.sqlite3"))
    monkeypatch.delenv("PYRAMID_LAB_STUDENT", raising=False)
    alone = who_plays().value
    # One folded line: nothing that a child at home would have to read or answer.
    assert alone.startswith("<details><summary>For the tutor: does more than one child play")
    assert alone.endswith("</details>")
    assert "pyramid-lab student add" in alone
    monkeypatch.setenv("PYRAMID_LAB_STUDENT", "ann")  # named by whoever started the kernel
    assert who_plays().value == ""
    monkeypatch.delenv("PYRAMID_LAB_STUDENT")
    store = shared_store()
    person = Names.of(store).add(store, "Émile <b>", class_name="3a")
    picker = who_plays()
    assert person.student_id in [value for _, value in picker.children[0].options]
    monkeypatch.setenv("PYRAMID_LAB_STUDENT", person.student_id)  # as if chosen
    again = who_plays()
    assert again.person == person
    assert again.said.value == "Hello, Émile &lt;b&gt;! What you play below is kept for you."
    monkeypatch.setenv("PYRAMID_LAB_SESSION", "sitting-1")
    assert who_plays() is None


def test_the_next_deal_is_proved_under_its_rules_and_goes_on_whatever_else_was_played(
    tmp_path: Path, slow_at_5_8: list[Event]
) -> None:
    place = tmp_path / "log.sqlite3"
    store = shared_store(place)
    for event in slow_at_5_8:
        store.append(event)
    board = play_next("one-pass", rows=5, hints=False, student="ann", place=place)
    rules = ONE_PASS.replace(rows=5)
    assert board.game.rules == rules
    assert board.modes.hints is False
    assert isinstance(solve(board.game.position), Winnable)
    turn(board)

    # Another game in between changes what is known of the child, but not the deal that was begun.
    turn(play("one-pass", 321, student="ann", place=place))
    again = play_next("one-pass", rows=5, student="ann", place=place)
    assert again.game_id == board.game_id
    assert again.game.moves == board.game.moves


def turn(board: Board) -> None:
    """Press the stock once, as a page does."""
    message = {"n": 1, "page": str(uuid.uuid4()), "kind": "draw", "number": board.view["number"], "input": "mouse"}
    board._receive(None, message, None)
    assert len(board.game.moves) == 1


def test_a_board_without_a_name_says_so_where_there_are_names_to_choose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("PYRAMID_LAB_STUDENT", "PYRAMID_LAB_SESSION"):
        monkeypatch.delenv(variable, raising=False)
    place = tmp_path / "log.sqlite3"
    assert play("one-pass", 7, place=place).notice == {}
    store = shared_store(place)
    person = Names.of(store).add(store, "Ada")
    told = play("one-pass", 7, place=place).notice
    assert told["text"].startswith("No name is chosen: this game is kept as a guest's.")
    assert play("one-pass", 7, place=place, student=person.student_id).notice == {}
