"""Pictures for children who do not read yet."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

from pyramid_lab.classroom.pictures import PICTURES, picture_name, picture_svg


def test_every_child_of_a_large_class_has_a_picture_of_its_own() -> None:
    numbers = range(2 * PICTURES)
    assert PICTURES >= 36
    assert len({picture_name(number) for number in numbers}) == len(numbers)
    assert len({picture_svg(number) for number in numbers}) == len(numbers)


def test_neighbours_on_the_list_have_different_shapes() -> None:
    shapes = [picture_svg(number).partition("<g")[2].partition(">")[2].partition("</g>")[0] for number in range(60)]
    assert all(one != next_one for one, next_one in pairwise(shapes))


def test_a_picture_is_sound_svg_with_its_name_and_as_many_things_as_the_name_says() -> None:
    for number in range(2 * PICTURES):
        drawing = ElementTree.fromstring(picture_svg(number))
        name = picture_name(number)
        assert drawing.get("aria-label") == name and drawing.get("role") == "img"
        assert len(drawing.findall("g")) == ("one", "two", "three").index(name.split()[0]) + 1
        letters = [text.text for text in drawing.iter("text")]
        assert letters == (["B"] if number >= PICTURES else [])
