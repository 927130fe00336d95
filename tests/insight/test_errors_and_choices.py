from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from pyramid_lab.core import DRAW, Deal, Game, Move, Position
from pyramid_lab.insight import (
    SimulatedStudent,
    Skill,
    breadth,
    choice_points,
    clean,
    error_counts,
    events_frame,
    missed_pairs,
    order_use,
    own_times,
    planning,
    practise,
    wrong_pairs,
)
from pyramid_lab.insight.flexibility import difference_of_means, replayed
from pyramid_lab.log.events import Event, record
from tests.insight.log_rows import PAIRS, Row


def wrong(row: Row, a: int, b: int, error_class: str, **changes: object) -> dict[str, object]:
    return row(outcome="incorrect", value_a=a, value_b=b, total=a + b, error_class=error_class, **changes)


def test_errors_are_counted_by_class_with_a_likely_reason(row: Row) -> None:
    rows = [
        wrong(row, 3, 12, "face_as_ten"),
        wrong(row, 11, 3, "face_as_ten"),
        wrong(row, 5, 7, "off_by_one"),
        row(outcome="blocked", error_class="blocked"),
    ]
    table = error_counts(clean(pd.DataFrame(rows))).set_index("error_class")
    assert table["n"].to_dict() == {"blocked": 1, "face_as_ten": 2, "off_by_one": 1}
    assert "ten" in table.loc["face_as_ten", "reason"]


def test_a_wrong_pair_is_one_pair_whichever_card_came_first(row: Row) -> None:
    rows = [wrong(row, 5, 7, "off_by_one"), wrong(row, 7, 5, "off_by_one"), wrong(row, 3, 12, "face_as_ten")]
    table = wrong_pairs(clean(pd.DataFrame(rows)))
    assert table[["pair", "total", "n"]].to_numpy().tolist() == [["5+7", 12, 2], ["3+Q", 15, 1]]


def test_the_same_wrong_pair_within_three_moves_is_a_repeat(row: Row) -> None:
    first = wrong(row, 5, 7, "off_by_one", event_index=10)
    soon = wrong(row, 7, 5, "off_by_one", event_index=13)
    late = wrong(row, 5, 7, "off_by_one", event_index=17)
    elsewhere = wrong(row, 5, 7, "off_by_one", event_index=18, game_id="g2")
    table = wrong_pairs(clean(pd.DataFrame([first, soon, late, elsewhere])))
    assert table[["n", "repeats"]].to_numpy().tolist() == [[4, 1]]


def test_misclicks_and_blocked_tries_are_no_wrong_sums(row: Row) -> None:
    rows = [wrong(row, 5, 7, "misclick"), row(outcome="blocked", error_class="blocked")]
    assert wrong_pairs(clean(pd.DataFrame(rows))).empty


def test_breadth_is_taken_by_offered(row: Row) -> None:
    rows = [
        row(legal_facts="4+9 5+8"),
        row("draw", legal_facts="5+8", n_legal=1),
        row(fact="5+8", legal_facts="5+8"),
        row("draw", legal_facts="", n_legal=0),
        row(outcome="incorrect", legal_facts="5+8"),  # the position stays: it is not offered twice
    ]
    table = breadth(pd.DataFrame(rows)).set_index("fact")
    assert table[["offered", "taken"]].T.to_dict("list") == {"4+9": [1, 1], "5+8": [3, 1]}
    assert table.loc["5+8", "share"] == pytest.approx(2 / 5)


def test_a_missed_pair_is_a_draw_while_a_discard_was_legal(row: Row) -> None:
    rows = [row("draw", n_legal=1, legal_facts="K"), row("draw", n_legal=0), row()]
    table = missed_pairs(pd.DataFrame(rows)).iloc[0]
    assert (table["draws"], table["missed"], table["chances"], table["judged"]) == (2, 1, 2, 0)


def logged(deal: Deal, moves: list[str]) -> list[Event]:
    """One game by the rules of one pass, played as told; ``undo`` takes the last move back."""
    game = Game("one-pass", deal)
    events = []
    for number, text in enumerate(["deal", *moves]):
        before = game.position
        kind = text if text in ("deal", "draw", "undo") else "attempt"
        cards = Move.parse(text).cards if kind == "attempt" else ()
        if kind == "undo":
            game.undo()
        elif kind != "deal":
            game.play(Move.parse(text))
        events.append(
            record(kind, before, cards, event_id=f"{number:032x}", student_id="ann", session_id="s", game_id="g",
                   event_index=number, t_utc=datetime(2026, 9, 7, 8, 0, number, tzinfo=UTC), rt_ms=2000)
        )  # fmt: skip
    return events


def first_discards(deal: Deal, count: int) -> list[str]:
    position = Position.start(Game("one-pass", deal).rules, deal)
    moves = []
    while len(moves) < count:
        discards = position.legal_discards()
        move = discards[0] if discards else DRAW
        moves.append(str(move))
        position = position.play(move)
    return moves


def test_a_logged_game_is_replayed_with_its_undos() -> None:
    deal = Deal.from_seed(5)
    moves = first_discards(deal, 6)
    events = events_frame(logged(deal, [*moves[:3], "undo", *moves[2:]]))
    played = list(replayed(events.to_dict("records")))
    assert [str(move) for _, _, move in played] == [*moves[:3], *moves[2:]]
    assert played[3][1] == played[2][1]


def test_a_game_whose_beginning_is_missing_is_not_replayed_at_all() -> None:
    deal = Deal.from_seed(5)
    events = events_frame(logged(deal, first_discards(deal, 12)))
    assert list(replayed(events.iloc[1:].to_dict("records"))) == []
    assert list(replayed([])) == []


def test_the_judge_is_asked_about_missed_pairs_alone() -> None:
    deal = Deal.from_seed(5)
    start = Position.start(Game("one-pass", deal).rules, deal)
    assert start.legal_discards()
    asked = []

    def judge(position: Position, move: Move):  # type: ignore[no-untyped-def]
        asked.append((position, move))
        return "lost"

    table = missed_pairs(events_frame(logged(deal, ["draw", *first_discards(deal, 1)])), judge=judge).iloc[0]
    assert asked == [(start, DRAW)]
    assert (table["judged"], table["lost"], table["kept"]) == (1, 1, 0)


def student(looks_ahead: float) -> SimulatedStudent:
    return SimulatedStudent("ann", {fact: Skill() for fact in PAIRS}, looks_ahead=looks_ahead, overlook=0.0)


@pytest.mark.parametrize(("looks_ahead", "low", "high"), [(0.0, -0.25, 0.25), (1.0, 0.95, 1.0)])
def test_adaptivity_is_nought_for_blind_choice_and_one_for_the_best(
    looks_ahead: float, low: float, high: float
) -> None:
    events = events_frame(practise(student(looks_ahead), 12, np.random.default_rng(2)))
    table = choice_points(events, games=12).iloc[0]
    assert table["n"] > 15
    assert low <= table["adaptivity"] <= high


def test_the_card_that_is_chosen_first(row: Row) -> None:
    rows = [row(first_place="r7c1", second_place="waste")] * 8 + [
        row(value_a=9, value_b=4, first_place="waste", second_place="r7c1")
    ] * 2
    table = order_use(clean(pd.DataFrame(rows))).iloc[0]
    assert (table["n"], table["n_mixed"], table["pyramid_first"]) == (10, 10, 0.8)
    assert table["smaller_first"] == pytest.approx(9 / 12)


def test_the_pause_before_uncovering_moves(row: Row) -> None:
    rng = np.random.default_rng(6)
    rows = [row("draw")]
    for turn in range(30):
        for fact, extra in (("4+9", 0.0), ("4+9", 0.8), ("K", 0.0)):
            seconds = 2.0 + (fact != "K") + extra + float(rng.normal(0, 0.1))
            uncovers, exposed = int(extra > 0), turn % 5 + 4
            rows.append(row(fact=fact, rt_ms=round(1000 * seconds), newly_exposed=uncovers, n_exposed=exposed))
    events = pd.DataFrame(rows)
    table = planning(events, own_times(clean(events))).iloc[0]
    assert table["pause_s"] == pytest.approx(0.8, abs=0.15)
    assert table["low_s"] < table["pause_s"] < table["high_s"]
    assert table["judged"] == 0


def test_the_interval_of_a_difference_is_that_of_scipy() -> None:
    rng = np.random.default_rng(6)
    some, none = rng.normal(1.2, 0.5, 9), rng.normal(1.0, 0.2, 40)
    # Not above: it takes a second to load, which only one worker need spend.
    from scipy import stats

    ends = stats.ttest_ind(some, none, equal_var=False).confidence_interval(0.9)
    assert difference_of_means(some, none, 0.9) == pytest.approx((some.mean() - none.mean(), ends.low, ends.high))
