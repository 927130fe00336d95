"""Play mats: where the pyramid, the stock, the waste and the discards go."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from pyramid_lab.core.rules import Rules, rule_set
from pyramid_lab.sheets.cards import CARD_HEIGHT, CARD_WIDTH, NARROWEST
from pyramid_lab.sheets.errors import SheetError
from pyramid_lab.sheets.paper import MARGIN, PAPERS, paper_named
from pyramid_lab.sheets.sheet import Sheet

_RATIO: Final = CARD_HEIGHT / CARD_WIDTH
# In card widths: the step from one card to its neighbour, and how much of a covered card stays in sight.
_STEP: Final = 1.04
_STRIP: Final = 0.5
_STRIP_LIMIT: Final = 0.75
# Room for the title above and the ruler below, in mm.
_HEAD: Final = 8.0
_FOOT: Final = 6.0


@dataclass(frozen=True, slots=True)
class _Plan:
    """A mat in card widths: the place of the left upper corner of every slot."""

    slots: tuple[tuple[float, float, str, str], ...]  # x, y, kind, label
    width: float
    height: float


def _plan(rules: Rules, strip: float) -> _Plan:
    rows = rules.rows
    row_width = rows * _STEP - (_STEP - 1)
    # Beside the stock and the piles stand the rows that begin above their lower edge.
    beside = min(rows, ceil((_RATIO + 0.1) / strip))
    half = (beside * _STEP - (_STEP - 1)) / 2 + (_STEP - 1) * 2
    left = max(row_width / 2, half + 1)
    right = max(row_width / 2, half + rules.piles * _STEP - (_STEP - 1))
    slots = []
    for row in range(1, rows + 1):
        for column in range(row):
            x = left - (row * _STEP - (_STEP - 1)) / 2 + column * _STEP
            slots.append((x, (row - 1) * strip, "last" if row == rows else "pyramid", ""))
    slots.append((0.0, 0.0, "pile", "stock"))
    width = left + right
    for pile in range(rules.piles):
        x = width - (rules.piles - pile) * _STEP + (_STEP - 1)
        slots.append((x, 0.0, "pile", f"pile {pile + 1}" if rules.piles > 1 else "waste"))
    return _Plan(tuple(slots), width, (rows - 1) * strip + _RATIO)


def mat(paper: str = "a3", rules: str | Rules = "table", *, card_width: float | None = None) -> Sheet:
    """A mat to play on, for one waste pile or three.

    On one sheet, the places are as large as the paper allows, and the mat says for which cards; :func:`cards` prints
    cards of that width. With a ``card_width`` that does not fit one sheet, the mat comes in parts to tape together.

    Args:
        paper: ``"a4"``, ``"a3"``, ``"letter"`` or ``"tabloid"``.
        rules: a rule set or its name; its rows and piles are drawn.
        card_width: of the cards that will lie on it, in mm: 30 to 63.5; ``None`` for the widest that fits one sheet.

    Raises:
        RulesError, SheetError: bad input, named in the message.
    """
    chosen = paper_named(paper, tuple(PAPERS))
    found = rule_set(rules)
    if card_width is not None and (
        not isinstance(card_width, (int, float)) or not NARROWEST <= card_width <= CARD_WIDTH
    ):
        raise SheetError(f"a card is {NARROWEST:g} to {CARD_WIDTH:g} mm wide, not {card_width!r}")
    tight = _plan(found, _STRIP)
    room_wide, room_high = _room(chosen.height, chosen.width)
    largest = min(room_wide / tight.width, room_high / tight.height, CARD_WIDTH)
    if card_width is None:
        card_width = float(int(largest))
    across, down, landscape = 1, 1, True
    if card_width > largest:
        across, down, landscape = _parts(tight, card_width, chosen.width, chosen.height)
        room_wide, room_high = _room(chosen.height, chosen.width) if landscape else _room(chosen.width, chosen.height)
    spare = down * room_high / card_width - tight.height
    strip = min(_STRIP_LIMIT, _STRIP + spare / max(1, found.rows - 1))
    plan = _plan(found, strip)
    left = (across * room_wide - plan.width * card_width) / 2
    top = (down * room_high - plan.height * card_width) / 2
    parts = [
        {"column": column, "row": row, "name": f"part {row * across + column + 1} of {across * down}"}
        for row in range(down)
        for column in range(across)
    ]
    piles = "three piles" if found.piles == 3 else "one waste pile"
    title = f"Mat: {piles}"
    words = (
        f"for cards up to {card_width:g} mm wide"
        if across * down == 1
        else f"for cards up to {card_width:g} mm wide, {across * down} sheets: cut the edges and tape them together"
    )
    alt = (
        f"A mat with places for a pyramid of {found.rows} rows, from 1 card at the top to {found.rows} at the bottom; "
        f"the stock at the top left, {piles} at the top right."
    )
    data: dict[str, Any] = {
        "card": {"width": card_width, "height": card_width * _RATIO, "strip": strip * card_width},
        "slots": [
            {"x": left + x * card_width, "y": top + y * card_width, "kind": kind, "label": label}
            for x, y, kind, label in plan.slots
        ],
        "room": {"width": room_wide, "height": room_high},
        "margin": MARGIN,
        "head": _HEAD,
        "words": words,
        "alt": alt,
        "parts": parts,
    }
    return Sheet(title, "mat", data, chosen, landscape=landscape)


def _room(width: float, height: float) -> tuple[float, float]:
    return width - 2 * MARGIN, height - 2 * MARGIN - _HEAD - _FOOT


def _parts(plan: _Plan, card_width: float, short: float, long: float) -> tuple[int, int, bool]:
    """The fewest sheets, across and down, that hold a plan; and whether they lie on their long side."""
    choices = []
    for landscape in (True, False):
        wide, high = _room(long, short) if landscape else _room(short, long)
        across, down = ceil(plan.width * card_width / wide), ceil(plan.height * card_width / high)
        choices.append((across * down, not landscape, across, down))
    _, upright, across, down = min(choices)
    return across, down, not upright
