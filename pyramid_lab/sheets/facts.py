"""The addition facts of a target, as sheets ask for them."""

from __future__ import annotations

from pyramid_lab.core.cards import rank_label
from pyramid_lab.sheets.errors import SheetError

Fact = tuple[int, int]
"""Two addends, the smaller first."""


def facts_to(target: int) -> tuple[Fact, ...]:
    """The addition facts of a target, smaller addend first: (1, 12) to (6, 7) for 13; (1, 9) to (5, 5) for 10.

    Raises:
        SheetError: the target is not 10 to 13.
    """
    if target not in (10, 11, 12, 13):
        raise SheetError(f"facts go to 10, 11, 12 or 13, not {target!r}")
    return tuple((low, target - low) for low in range(1, target // 2 + 1))


def read_fact(text: str, target: int = 13) -> Fact:
    """A fact as people write it: ``5+8``, ``8 + 5``, ``J+2``.

    Raises:
        SheetError: it is no fact of this target.
    """
    labels = {rank_label(value): value for value in range(1, 14)} | {str(value): value for value in range(1, 14)}
    parts = [labels.get(part.strip().upper()) for part in text.split("+")]
    if len(parts) == 2 and all(part is not None for part in parts):
        low, high = sorted(part for part in parts if part is not None)
        if (low, high) in facts_to(target):
            return low, high
    known = ", ".join(f"{rank_label(low)}+{rank_label(high)}" for low, high in facts_to(target))
    raise SheetError(f"{text!r} is no fact of {target}; they are {known}")
