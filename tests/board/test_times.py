"""Response times: whole milliseconds, or none with a reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_lab.board import ResponseTimes, response_times
from tests.board.page import readings


def test_a_pair_has_three_times() -> None:
    assert response_times(readings(812.4, 1730.6)) == ResponseTimes(1731, 812, 918)


def test_a_card_alone_has_no_second_time() -> None:
    assert response_times(readings(None, 640.0)) == ResponseTimes(640, 640, None)


def test_time_away_is_taken_out() -> None:
    # Hidden for 18 minutes before the first card.
    times = readings(1_083_000.0, 1_085_000.0, away_first_ms=1_080_000.0)
    assert response_times(times) == ResponseTimes(5000, 3000, 2000)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"start": "none", "t_shown": None}, "no_start"),
        ({"t_shown": None}, "no_start"),
        ({"start": "reshown"}, "reshown"),
        ({"start": "select", "t_shown": None, "t_first": None}, "after_mistake"),
        ({"t_shown": 1500.0}, "clock"),
        ({"t_first": 1200.0}, "clock"),
        ({"wall_second": 4_000_000.0}, "clock"),
        ({"wall_second": 6_000_000.0}, "clock"),
        ({"t_second": None}, "no_start"),
        ({"t_second": float("nan")}, "no_start"),
        ({"away_first_ms": 1000.0}, "clock"),
    ],
)
def test_what_cannot_be_known_is_left_out_with_a_reason(changes: dict[str, Any], reason: str) -> None:
    found = response_times(readings(**changes))
    assert found.rt_ms is None
    assert found.reason == reason


def test_after_a_mistake_the_time_runs_from_the_next_card_chosen() -> None:
    times = readings(4000.0, 4900.0, start="select", t_shown=4000.0)
    assert response_times(times) == ResponseTimes(900, None, 900)


def test_no_readings_at_all() -> None:
    assert response_times(None) == ResponseTimes(reason="no_start")


number = st.one_of(st.none(), st.floats(-1e7, 1e7), st.floats(), st.text(max_size=3), st.booleans())


@given(
    st.dictionaries(
        st.sampled_from(
            ["t_shown", "t_first", "t_second", "away_first_ms", "away_second_ms", "wall_shown", "wall_second"]
        ),
        number,
    ),
    st.sampled_from(["shown", "select", "reshown", "none", None]),
)
def test_a_time_is_a_whole_positive_number_or_none_with_a_reason(times: dict[str, Any], start: str | None) -> None:
    found = response_times({**times, "start": start})
    for value in found[:3]:
        assert value is None or (isinstance(value, int) and 0 < value <= 24 * 3600 * 1000)
    assert (found.rt_ms is None) == (found.reason is not None)
