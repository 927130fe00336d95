"""Every kind of sheet, made once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyramid_lab import sheets
from pyramid_lab.core import Deal, Move
from pyramid_lab.sheets import PackDeal, Sheet

# Three rows: 9s / 4c Kd / 8h 5d 2c, then the stock: Jd 9h 4d ... A game that can be followed with a finger.
SMALL_RULES = {"base": "table", "rows": 3}
SMALL_DEAL = Deal.from_text(
    "9s 4c Kd 8h 5d 2c Jd 9h 4d Ac Ad Ah As 2d 2h 2s 3c 3d 3h 3s 4h 4s 5c 5h 5s 6c 6d 6h 6s 7c 7d 7h 7s 8c 8d 8s 9c 9d "
    "Tc Td Th Ts Jc Jh Js Qc Qd Qh Qs Kc Kh Ks"
)
SMALL_LINE = tuple(Move.parse(text) for text in ("8h+5d", "draw", "2c+Jd", "Kd", "draw", "4c+9h", "draw", "9s+4d"))

MAKERS: dict[str, Callable[[str], Sheet]] = {
    "deal": lambda paper: sheets.deal_sheet(17, paper=paper, name="Zoë"),
    "deal, three piles": lambda paper: sheets.deal_sheet(17, "three-pile", paper=paper, letters=True),
    "deal, large": lambda paper: sheets.deal_sheet(17, paper=paper, size="large"),
    "key": lambda paper: sheets.answer_key(SMALL_DEAL, SMALL_RULES, SMALL_LINE, shortest=True, paper=paper),
    "pack": lambda paper: sheets.class_pack(
        [PackDeal(SMALL_DEAL, SMALL_LINE, True, "easy", "Ana"), PackDeal(SMALL_DEAL)], SMALL_RULES, paper=paper
    ),
    "cards": lambda paper: sheets.cards(paper),
    "cards, large": lambda paper: sheets.cards(paper, style="large", letters=True),
    "cards, words": lambda paper: sheets.cards(paper, style="words", letters=True),
    "cards, narrow": lambda paper: sheets.cards(paper, width=36, offset=(1, -1)),
    "test sheet": lambda paper: sheets.duplex_test(paper),
    "mat": lambda paper: sheets.mat(paper),
    "mat, three piles": lambda paper: sheets.mat(paper, "three-pile"),
    "recording": lambda paper: sheets.recording_sheet(paper),
    "recording with time": lambda paper: sheets.recording_sheet(paper, time=True, deal="table-17-U", name="Łukasz"),
    "missing addends": lambda paper: sheets.practice("missing", paper=paper),
    "totals": lambda paper: sheets.practice("total", paper=paper, ranks=True),
    "families": lambda paper: sheets.practice("family", paper=paper),
    "rules card": lambda paper: sheets.rules_card("table", paper),
    "rules card, three piles": lambda paper: sheets.rules_card("three-pile", paper),
}
CASES = [(kind, paper) for kind in MAKERS for paper in ("a4", "letter")]
CASES += [("mat", "a3"), ("mat", "tabloid"), ("mat, three piles", "a3"), ("mat, three piles", "tabloid")]

_made: dict[tuple[str, str], bytes] = {}


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]} on {case[1]}")
def printed(request: pytest.FixtureRequest) -> tuple[str, str, bytes]:
    """The kind of a sheet, its paper and its PDF."""
    case: tuple[str, str] = request.param
    if case not in _made:
        _made[case] = MAKERS[case[0]](case[1]).pdf()
    return *case, _made[case]
