from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

from pyramid_lab.core import Deal, Position, rule_set
from pyramid_lab.insight import (
    LEFT_OUT,
    MissingColumnError,
    accuracy,
    breadth,
    clean,
    error_counts,
    events_frame,
    left_out_counts,
    rate,
    review,
    wrong_pairs,
)
from pyramid_lab.insight.cleaning import latest
from pyramid_lab.log.events import FIELDS, record
from tests.insight.log_rows import Row


def reasons(rows: list[dict[str, Any]]) -> list[str]:
    return list(clean(pd.DataFrame(rows))["left_out"])


def test_the_first_move_after_a_deal_says_nothing_about_speed(row: Row) -> None:
    rows = [row("deal"), row(), row(), row("deal", game_id="g2"), row("draw", game_id="g2"), row(game_id="g2")]
    assert reasons(rows) == ["first move", "", ""]


def test_a_second_try_at_the_first_position_is_still_the_first_move(row: Row) -> None:
    assert reasons([row("deal"), row(outcome="incorrect"), row(), row()]) == ["wrong try", "first move", ""]


@pytest.mark.parametrize(
    ("between", "reason"),
    [
        (["focus_lost", "focus_back"], "screen left"),
        (["pause", "resume"], "pause"),
        (["hint"], "helped"),
        (["undo"], "seen before"),
    ],
)
def test_what_happened_while_the_position_was_shown_leaves_its_time_out_and_no_other(
    row: Row, between: list[str], reason: str
) -> None:
    rows = [row("deal"), row("draw"), row(), *(row(kind) for kind in between), row(), row()]
    assert reasons(rows) == ["", reason, ""]


def test_an_interruption_before_a_wrong_try_leaves_out_the_next_try_at_that_position_too(row: Row) -> None:
    rows = [row("draw"), row("focus_lost"), row("focus_back"), row(outcome="incorrect"), row(), row()]
    assert reasons(rows) == ["wrong try", "screen left", ""]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rt_ms": None}, "no time"),
        ({"rt_ms": 249}, "too short"),
        ({"rt_ms": 250}, ""),
        ({"clock": "tutor"}, "other clock"),
        ({"clock": "kernel"}, "other clock"),
        ({"assistance": "hint"}, "helped"),
        ({"outcome": "blocked"}, "wrong try"),
    ],
)
def test_each_row_left_out_has_its_reason(row: Row, change: dict[str, Any], reason: str) -> None:
    assert reasons([row("draw"), row(**change)]) == [reason]
    assert not reason or reason in LEFT_OUT


def test_times_beyond_four_medians_are_cut_to_that(row: Row) -> None:
    rows = [row("draw"), *(row(rt_ms=2000) for _ in range(9)), row(rt_ms=60_000)]
    tries = clean(pd.DataFrame(rows))
    assert list(tries["speed_s"]) == [2.0] * 9 + [8.0]
    assert list(tries["winsorised"]) == [False] * 9 + [True]


def test_a_blocked_try_and_a_misclick_are_neither_right_nor_wrong(row: Row) -> None:
    rows = [
        row(outcome="blocked", error_class="blocked"),
        row(outcome="incorrect", error_class="misclick"),
        row(outcome="incorrect", error_class="off_by_one"),
        row(),
    ]
    tries = clean(pd.DataFrame(rows))
    assert tries["right"].isna().tolist() == [True, True, False, False]
    assert tries["right"].dropna().tolist() == [0.0, 1.0]


def test_a_wrong_pair_taken_back_is_a_slip_and_neither_right_nor_wrong(row: Row) -> None:
    wrong = {"outcome": "incorrect", "value_a": 6, "value_b": 8, "total": 14, "error_class": "off_by_one"}
    rows = [row("draw"), row(**wrong), row("slip"), row(**wrong), row(), row("slip")]
    tries = clean(pd.DataFrame(rows))
    assert tries["left_out"].tolist() == ["slip", "wrong try", ""]
    assert tries["right"].isna().tolist() == [True, False, False]
    # The pair that was left standing is a wrong sum, the one taken back is none.
    assert wrong_pairs(tries)[["pair", "total", "n"]].to_numpy().tolist() == [["6+8", 14, 1]]
    assert error_counts(tries).set_index("error_class")["n"].to_dict() == {"misclick": 1, "off_by_one": 1}


def test_at_a_table_a_mended_tap_is_neither_right_nor_wrong(row: Row) -> None:
    tapped = {"source": "table", "clock": "tutor"}
    rows = [row("draw"), row(**tapped), row("undo", reason="wrong_tap"), row(**tapped), row("undo")]
    tries = clean(pd.DataFrame(rows))
    assert tries["left_out"].tolist() == ["slip", "other clock"]
    assert tries["right"].isna().tolist() == [True, False]


def test_a_slip_is_that_of_its_own_game_and_student(row: Row) -> None:
    rows = [row(outcome="incorrect"), row("slip", game_id="g2"), row("slip", student_id="bo", game_id="g3")]
    assert reasons(rows) == ["wrong try"]


def asked(row: Row, given: int) -> dict[str, Any]:
    """The answer to "how many make 13 with 4?", as the board logs it."""
    right = given == 9
    return row(
        assistance="ask_type", value_b=given, total=4 + given, outcome="correct" if right else "incorrect",
        reason=None if right else "wrong_total", newly_exposed=None, first_card="4c", second_card=None,
    )  # fmt: skip


def test_an_answer_for_the_missing_number_counts_once_for_accuracy_and_never_for_speed(row: Row) -> None:
    rows = [row("draw"), asked(row, 8), asked(row, 9), row(), row()]
    tries = clean(pd.DataFrame(rows))
    assert tries["left_out"].tolist() == ["wrong try", "asked", "told", ""]
    assert tries["right"].fillna(-1).tolist() == [0.0, 1.0, -1.0, 1.0]
    assert accuracy(tries)[["n", "n_right"]].to_numpy().tolist() == [[3, 2]]


def test_an_answer_for_the_missing_number_is_no_move_and_no_discard(row: Row) -> None:
    # After the deal the discard is still the first move, though the question was answered before.
    rows = [row("deal"), asked(row, 9), row(), row()]
    assert reasons(rows) == ["asked", "told", ""]
    sitting = rate(pd.DataFrame(rows)).iloc[0]
    assert (sitting["attempts"], sitting["discards"]) == (3, 2)
    taken = breadth(pd.DataFrame(rows)).set_index("fact")
    assert taken.loc["4+9", ["offered", "taken"]].tolist() == [2, 2]


def test_any_number_may_be_answered(row: Row) -> None:
    tries = clean(pd.DataFrame([asked(row, 0), asked(row, 40), asked(row, 8)]))
    assert wrong_pairs(tries)["pair"].tolist() == ["4+8"]
    assert error_counts(tries)["n"].tolist() == [3]


def test_a_time_that_began_with_the_first_card_after_a_mistake_has_no_search_in_it(row: Row) -> None:
    pair = {"first_card": "4c", "second_card": "9d"}
    rows = [
        row("draw"),
        row(outcome="incorrect", **pair),
        row(rt_first_ms=None, **pair),
        row(rt_first_ms=900, **pair),
        row(outcome="incorrect", **pair),
        row(rt_first_ms=900, **pair),
    ]
    assert reasons(rows) == ["wrong try", "after a mistake", "", "wrong try", ""]


def test_the_report_counts_each_reason(row: Row) -> None:
    rows = [row("draw"), row(outcome="incorrect"), row("slip"), asked(row, 9), row(), row(rt_ms=100), row(), row()]
    said = review(pd.DataFrame(rows)).students[0].left_out
    assert said.startswith("2 of all 6 tries timed.")
    for reason in ("slip", "asked", "told", "too short"):
        assert f"{LEFT_OUT[reason]} (1)" in said


def test_the_scan_is_the_expected_place_of_the_first_of_k_among_n(row: Row) -> None:
    # One useful card among seven: on average the fourth card looked at; two: (7 + 1) / 3.
    tries = clean(pd.DataFrame([row(n_exposed=7, n_legal_cards=1), row(n_exposed=7, n_legal_cards=2)]))
    assert tries["scan"].tolist() == pytest.approx([4.0, 8 / 3])


def test_the_logs_frame_of_attempts_alone_tells_the_same(row: Row) -> None:
    rows = [
        row(first_move=True, interrupted=False),
        row(first_move=False, interrupted=True),
        row(first_move=False, interrupted=False),
    ]
    assert reasons(rows) == ["first move", "pause", ""]


def test_pairs_to_another_total_are_apart(row: Row) -> None:
    to_ten = rule_set("one-pass").replace(target=10)
    position = Position.start(to_ten, Deal.from_seed(1, 10))
    move = position.legal_discards()[0]
    event = record(
        "attempt", position, move.cards, event_id="0" * 32, student_id="ann", session_id="s", game_id="g",
        event_index=0, t_utc=datetime(2026, 9, 7, tzinfo=UTC), rt_ms=900,
    )  # fmt: skip
    rows = pd.concat([events_frame([event]), pd.DataFrame([row()])])
    assert len(clean(rows)) == 1
    assert clean(rows, target=10)["fact"].tolist() == [event.fact]


def test_events_make_a_frame_with_a_column_for_each_field() -> None:
    empty = events_frame([])
    assert list(empty.columns)[: len(FIELDS)] == list(FIELDS)
    assert len(clean(empty)) == 0


def test_a_missing_column_is_named() -> None:
    with pytest.raises(MissingColumnError, match="rt_ms"):
        clean(pd.DataFrame({"student_id": ["ann"], "fact": ["4+9"], "outcome": ["correct"]}))


def test_rows_are_counted_by_reason(row: Row) -> None:
    tries = clean(pd.DataFrame([row(), row(), row(), row(outcome="incorrect")]))
    counts = left_out_counts(tries).set_index("left_out")["n"]
    assert counts.to_dict() == {"": 2, "first move": 1, "wrong try": 1}


def test_the_latest_tries_are_the_last_timed_ones_and_the_wrong_ones_among_them(row: Row) -> None:
    tries = clean(pd.DataFrame([row() for _ in range(6)] + [row(outcome="incorrect"), row()]))
    kept = latest(tries, 2)
    assert kept["outcome"].tolist() == ["correct", "incorrect", "correct"]
    assert kept["t_utc"].tolist() == tries["t_utc"].tolist()[-3:]
