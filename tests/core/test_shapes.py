"""How many shapes a pyramid can take when exposed cards leave one by one: Catalan numbers, counted three ways."""

from __future__ import annotations

from math import comb

import pytest

from pyramid_lab.core import Deal, Position, Rules, shapes

BY_ROWS = [1, 2, 5, 14, 42, 132, 429, 1430]
SEVEN = Rules(name="seven")


def by_lists(rows: int) -> int:
    """Shapes as sets of (row, place), taken apart without any idea of bits."""
    whole = frozenset((row, at) for row in range(1, rows + 1) for at in range(1, row + 1))
    found, waiting = {whole}, [whole]
    while waiting:
        shape = waiting.pop()
        for row, at in shape:
            if (row + 1, at) not in shape and (row + 1, at + 1) not in shape:
                smaller = shape - {(row, at)}
                if smaller not in found:
                    found.add(smaller)
                    waiting.append(smaller)
    return len(found)


def by_positions(rules: Rules, gone: int) -> int:
    """Shapes reached from a position by taking one exposed pyramid card after another."""
    deal = Deal.from_seed(0, rules.target)
    found, waiting = {gone}, [gone]
    while waiting:
        position = Position.of(rules, deal, gone=waiting.pop())
        for card in position.exposed:
            place = position.place(card)
            after = position.gone | 1 << place.index
            if place.kind == "pyramid" and after not in found:
                found.add(after)
                waiting.append(after)
    return len(found)


@pytest.mark.parametrize("rows", range(8))
def test_shapes_are_catalan_numbers(rows: int) -> None:
    catalan = comb(2 * (rows + 1), rows + 1) // (rows + 2)
    assert BY_ROWS[rows] == catalan == by_lists(rows)
    assert len(shapes(rows)) == catalan
    # The lower rows of a pyramid of seven have gone already.
    gone = sum(1 << index for index in range(rows * (rows + 1) // 2, SEVEN.n_pyramid))
    assert by_positions(SEVEN, gone) == catalan


@pytest.mark.parametrize("rows", range(3, 8))
def test_a_rule_set_with_fewer_rows_has_as_many(rows: int) -> None:
    assert by_positions(SEVEN.replace(rows=rows), 0) == BY_ROWS[rows]
