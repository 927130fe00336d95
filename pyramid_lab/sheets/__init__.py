"""What is printed: deals, answer keys, cards, mats, recording sheets, fact practice, rules cards and class packs.

Every function gives a :class:`Sheet`: a notebook shows it, ``.save("sheet.pdf")`` writes it. All lengths are in mm.
"""

from pyramid_lab.sheets.cards import cards, duplex_test
from pyramid_lab.sheets.deals import PackDeal, answer_key, class_pack, deal_sheet, pack
from pyramid_lab.sheets.errors import SheetError
from pyramid_lab.sheets.forms import recording_sheet, rules_card
from pyramid_lab.sheets.mats import mat
from pyramid_lab.sheets.paper import PAPERS, Paper
from pyramid_lab.sheets.practice import practice
from pyramid_lab.sheets.sheet import Sheet

__all__ = [
    "PAPERS",
    "PackDeal",
    "Paper",
    "Sheet",
    "SheetError",
    "answer_key",
    "cards",
    "class_pack",
    "deal_sheet",
    "duplex_test",
    "mat",
    "pack",
    "practice",
    "recording_sheet",
    "rules_card",
]
