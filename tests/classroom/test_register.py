"""Seats and names: who sits where, and what happens when two want one name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyramid_lab.classroom.codes import CHANGE_CODE_AFTER, TooSoonError, WrongCodeError
from pyramid_lab.classroom.register import (
    AWAY_AFTER,
    MOST_SEATS,
    ClassFullError,
    ClassLesson,
    ClassOverError,
    Pupil,
    Register,
    Seat,
    SeatState,
    State,
    UnknownPupilError,
)
from tests.classroom.test_codes import Clock

ANA, BEN = Pupil("s-ana", "Ana", 0), Pupil("s-ben", "Ben", 1)
LESSONS = [ClassLesson(Path("1.ipynb"), "One", "01_one"), ClassLesson(Path("2.ipynb"), "Two", "02_two")]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def register(clock: Clock) -> Register:
    return Register([ANA, BEN], LESSONS, now=clock, code="123456")


def tablet(register: Register) -> Seat:
    seat = register.seat_of(register.join("10.0.0.1", "123456"))
    assert seat is not None
    return seat


def test_the_right_code_gives_a_seat_that_only_its_secret_finds(register: Register) -> None:
    secret = register.join("10.0.0.1", "123 456")
    seat = register.seat_of(secret)
    assert seat is not None and seat.state is SeatState.CHOOSING
    assert len(secret) >= 43  # 256 bits
    for other in (None, "", secret[:-1], secret + "A", "123456", "\ud800"):
        assert register.seat_of(other) is None


def test_a_name_that_is_free_is_taken_at_once(register: Register) -> None:
    seat = tablet(register)
    assert register.take(seat, "s-ana") is SeatState.SEATED
    assert register.seated("s-ana") is seat
    assert register.seated("s-ben") is None


def test_a_name_that_is_not_on_the_list_is_refused(register: Register) -> None:
    with pytest.raises(UnknownPupilError):
        register.take(tablet(register), "s-nobody")


def test_the_second_tablet_that_wants_a_name_waits_for_the_tutor(register: Register) -> None:
    first, second = tablet(register), tablet(register)
    register.take(first, "s-ana")
    register.page_opened(first)
    assert register.take(second, "s-ana") is SeatState.WAITING
    assert register.seated("s-ana") is first

    register.let_in("s-ana")
    assert (first.state, second.state) == (SeatState.MOVED, SeatState.SEATED)
    assert register.seated("s-ana") is second


def test_the_tutor_can_refuse_the_second_tablet(register: Register) -> None:
    first, second = tablet(register), tablet(register)
    register.take(first, "s-ana")
    register.take(second, "s-ana")
    register.refuse("s-ana")
    assert (first.state, second.state) == (SeatState.SEATED, SeatState.CHOOSING)
    assert second.pupil is None


def test_a_name_moves_by_itself_once_its_tablet_has_been_away(register: Register, clock: Clock) -> None:
    first, second = tablet(register), tablet(register)
    register.take(first, "s-ana")
    register.page_opened(first)
    register.page_closed(first)
    clock.now += AWAY_AFTER - 1
    assert register.take(second, "s-ana") is SeatState.WAITING
    clock.now += 2
    third = tablet(register)
    assert register.take(third, "s-ana") is SeatState.SEATED
    assert register.seated("s-ana") is third


def test_a_sitting_keeps_its_id_while_the_page_loads_again_and_not_for_the_next_child(register: Register) -> None:
    seat = tablet(register)
    register.take(seat, "s-ana")
    first = register.session_of(seat, LESSONS[0])
    register.page_opened(seat)
    register.page_closed(seat)
    register.take(seat, "s-ana")
    assert register.session_of(seat, LESSONS[0]) == first
    register.take(seat, "s-ben")
    assert register.session_of(seat, LESSONS[0]) != first
    assert register.seated("s-ana") is None


def test_each_lesson_is_a_sitting_of_its_own_and_goes_on_when_the_class_comes_back_to_it(register: Register) -> None:
    seat = tablet(register)
    register.take(seat, "s-ana")
    one, two = (register.session_of(seat, lesson) for lesson in LESSONS)
    assert one != two
    assert register.session_of(seat, LESSONS[0]) == one


def test_who_left_or_was_sent_out_has_a_secret_worth_nothing(register: Register) -> None:
    secret = register.join("10.0.0.1", "123456")
    seat = register.seat_of(secret)
    assert seat is not None
    register.take(seat, "s-ana")
    register.send_out("s-ana")
    assert seat.state is SeatState.OUT
    assert register.seat_of(secret) is None
    with pytest.raises(UnknownPupilError):
        register.take(seat, "s-ana")


def test_a_class_has_so_many_seats_and_unused_ones_come_free(register: Register, clock: Clock) -> None:
    for _ in range(MOST_SEATS):
        tablet(register)
    with pytest.raises(ClassFullError):
        register.join("10.0.0.1", "123456")
    clock.now += 901
    tablet(register)


def test_after_the_end_nobody_joins_or_sits_down(register: Register) -> None:
    seat = tablet(register)
    register.end()
    with pytest.raises(ClassOverError):
        register.join("10.0.0.1", "123456")
    with pytest.raises(ClassOverError):
        register.take(seat, "s-ana")
    register.resume()
    assert register.state is State.ENDED


def test_pause_and_lessons_reach_whoever_listens(register: Register) -> None:
    heard: list[tuple[str, int]] = []
    stop = register.listen(lambda: heard.append((register.state.value, register.lesson_number)))
    register.pause()
    register.go_to(1)
    register.resume()
    stop()
    register.pause()
    assert heard == [("paused", 0), ("paused", 1), ("playing", 1)]
    with pytest.raises(IndexError, match="no lesson 3"):
        register.go_to(2)


def test_many_wrong_codes_change_the_code_but_nobody_falls_out(register: Register, clock: Clock) -> None:
    seat = tablet(register)
    register.take(seat, "s-ana")
    tried = 0
    while tried < CHANGE_CODE_AFTER:
        try:
            register.join(f"10.1.0.{tried % 200}", "999999")
        except WrongCodeError:
            tried += 1
        except TooSoonError as error:
            clock.now += error.wait
    assert register.code != "123456"
    assert register.seated("s-ana") is seat


def test_no_change_of_the_computers_time_matters(register: Register, clock: Clock) -> None:
    # The register's clock is monotonic by contract; what it must not do is ask another one.
    seat = tablet(register)
    register.take(seat, "s-ana")
    assert seat.seen == clock.now


def test_a_kernel_is_known_to_be_done_with_a_lesson_only_after_its_page_came_whole(register: Register) -> None:
    seat, (one, two) = tablet(register), LESSONS
    assert register.give_kernel(seat, "first") is None
    assert seat.kernel_lesson is None  # its cells still run
    register.lesson_came(seat, one, failed=False)
    assert (seat.kernel_lesson, seat.failed) == (one, False)
    assert register.give_kernel(seat, "first") == "first"  # the same again, for the next lesson
    assert seat.kernel_lesson is None
    register.lesson_came(seat, two, failed=True)
    assert (seat.kernel_lesson, seat.failed) == (None, True)
