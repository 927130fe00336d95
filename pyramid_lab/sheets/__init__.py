"""What is printed: deals, answer keys, cards, mats, recording sheets, fact practice, rules cards and class packs."""

from pyramid_lab.sheets.deals import PackDeal, answer_key, class_pack, deal_sheet
from pyramid_lab.sheets.errors import SheetError
from pyramid_lab.sheets.paper import PAPERS, Paper
from pyramid_lab.sheets.sheet import Sheet

__all__ = ["PAPERS", "PackDeal", "Paper", "Sheet", "SheetError", "answer_key", "class_pack", "deal_sheet"]
