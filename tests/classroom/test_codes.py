"""Join codes and whoever guesses them."""

from __future__ import annotations

import pytest

from pyramid_lab.classroom.codes import (
    FORGIVEN_AFTER,
    FREE_TRIES,
    LONGEST_WAIT,
    Doorkeeper,
    TooSoonError,
    WrongCodeError,
    new_code,
    same_code,
)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def wrong(door: Doorkeeper, address: str = "10.0.0.7") -> float:
    with pytest.raises(WrongCodeError) as caught:
        door.check(address, "000000", "123456")
    return caught.value.wait


def test_a_code_is_six_digits() -> None:
    assert all(len(code) == 6 and code.isdigit() for code in (new_code() for _ in range(50)))


@pytest.mark.parametrize(
    ("typed", "same"),
    [("123456", True), ("123 456", True), (" 123-456 ", True), ("123457", False), ("", False), ("1234567", False)],
)
def test_blanks_and_dashes_do_not_count(typed: str, same: bool) -> None:
    assert same_code(typed, "123456") is same


def test_the_first_wrong_codes_cost_nothing_and_then_the_wait_doubles() -> None:
    clock = Clock()
    door = Doorkeeper(clock)
    waits = []
    for _ in range(FREE_TRIES + 8):
        waits.append(wrong(door))
        clock.now += waits[-1]
    assert waits == [0.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, LONGEST_WAIT, LONGEST_WAIT, LONGEST_WAIT]
    assert door.wrong_codes == FREE_TRIES + 8


def test_while_an_address_waits_even_the_right_code_is_not_looked_at() -> None:
    clock = Clock()
    door = Doorkeeper(clock)
    for _ in range(FREE_TRIES):
        wrong(door)
    with pytest.raises(TooSoonError) as caught:
        door.check("10.0.0.7", "123456", "123456")
    assert caught.value.wait == pytest.approx(1.0)
    clock.now += 1.0
    door.check("10.0.0.7", "123456", "123456")


def test_other_addresses_do_not_wait() -> None:
    door = Doorkeeper(Clock())
    for _ in range(FREE_TRIES):
        wrong(door)
    door.check("10.0.0.8", "123456", "123456")


def test_the_right_code_and_ten_quiet_minutes_wipe_the_slate() -> None:
    clock = Clock()
    door = Doorkeeper(clock)
    for _ in range(FREE_TRIES - 1):
        wrong(door)
    door.check("10.0.0.7", "123456", "123456")
    assert wrong(door) == 0.0
    for _ in range(3):
        clock.now += wrong(door)
    clock.now += FORGIVEN_AFTER + 1
    assert wrong(door) == 0.0


def test_a_crowd_of_addresses_does_not_fill_the_memory() -> None:
    door = Doorkeeper(Clock())
    for number in range(5000):
        wrong(door, f"10.0.{number // 256}.{number % 256}")
    assert len(door._guessers) <= 4096
    assert door.wrong_codes == 5000
