"""The list of names at the start of a lesson."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyramid_lab import lesson
from pyramid_lab.log.names import Names, Person
from pyramid_lab.log.store import Store
from pyramid_lab.picker import StudentPicker, pick_student

PEOPLE = [
    Person("s-1", "Zoe", "3a"),
    Person("s-2", "ali", "3b"),
    Person("s-3", "<b>Bo</b>", "3a"),
    Person("s-4", "Ali\nV.", "3a", "007"),
    Person("s-5", "Ali V.", "3a"),
]


@pytest.fixture(autouse=True)
def nobody() -> Iterator[None]:
    before = os.environ.pop(lesson.STUDENT_VARIABLE, None)
    yield
    os.environ.pop(lesson.STUDENT_VARIABLE, None)
    if before is not None:
        os.environ[lesson.STUDENT_VARIABLE] = before


def shown(picker: StudentPicker) -> list[str]:
    return [label for label, _ in picker.names.options]


def test_names_are_in_order_and_equal_ones_can_be_told_apart() -> None:
    picker = StudentPicker(PEOPLE, class_name="3a")
    assert shown(picker) == ["Choose your name", "<b>Bo</b>", "Ali V. (3a, 007)", "Ali V. (3a, 2)", "Zoe"]


def test_a_class_narrows_the_names() -> None:
    picker = StudentPicker(PEOPLE)
    assert len(shown(picker)) == 6
    picker.classes.value = "3b"
    assert shown(picker) == ["Choose your name", "ali"]


def test_the_chosen_student_is_who_plays() -> None:
    chosen: list[Person | None] = []
    picker = StudentPicker(PEOPLE, on_choice=chosen.append)
    picker.names.value = "s-3"
    assert os.environ[lesson.STUDENT_VARIABLE] == "s-3"
    assert picker.person == PEOPLE[2]
    assert "&lt;b&gt;Bo&lt;/b&gt;" in picker.said.value, "HTML in a name stays text"
    picker.names.value = ""
    assert lesson.STUDENT_VARIABLE not in os.environ
    assert chosen == [PEOPLE[2], None]


def test_an_accent_does_not_send_a_name_to_the_end() -> None:
    picker = StudentPicker([Person("s-1", "Zora"), Person("s-2", "Émile"), Person("s-3", "Eve"), Person("s-4", "Emil")])
    assert shown(picker)[1:] == ["Emil", "Émile", "Eve", "Zora"]


def test_every_list_has_a_name() -> None:
    picker = StudentPicker(PEOPLE)
    assert picker.names.description == "Your name"
    assert picker.classes.description == "Class"


def test_without_names_it_says_how_to_add_them(place: Path) -> None:
    picker = pick_student(str(place))
    assert "pyramid-lab student import" in picker.said.value


def test_the_names_of_the_log_are_shown(place: Path) -> None:
    with Store(place) as store:
        Names.of(store).add(store, "Zoë", class_name="3a")
    assert "Zoë" in shown(pick_student(str(place)))
