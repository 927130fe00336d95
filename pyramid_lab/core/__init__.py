"""The game itself: cards, deals, rule sets, positions, games. Standard library only: no clock, files or randomness."""

from pyramid_lab.core.cards import RANKS, SUITS, Card, InvalidCardError, pack
from pyramid_lab.core.deal import Deal, InvalidDealError, deal_code, parse_deal_code, splitmix64
from pyramid_lab.core.game import Game, GameFileError, NothingToUndoError
from pyramid_lab.core.position import (
    DRAW,
    REDEAL,
    IllegalMoveError,
    InvalidMoveError,
    InvalidPositionError,
    Move,
    MoveKind,
    Outcome,
    Place,
    Position,
    Reason,
    addend,
    shapes,
)
from pyramid_lab.core.records import Record, record_key
from pyramid_lab.core.rules import RULE_SETS, UNLIMITED, Rules, RulesError, Scoring, rule_set

__all__ = [
    "DRAW",
    "RANKS",
    "REDEAL",
    "RULE_SETS",
    "SUITS",
    "UNLIMITED",
    "Card",
    "Deal",
    "Game",
    "GameFileError",
    "IllegalMoveError",
    "InvalidCardError",
    "InvalidDealError",
    "InvalidMoveError",
    "InvalidPositionError",
    "Move",
    "MoveKind",
    "NothingToUndoError",
    "Outcome",
    "Place",
    "Position",
    "Reason",
    "Record",
    "Rules",
    "RulesError",
    "Scoring",
    "addend",
    "deal_code",
    "pack",
    "parse_deal_code",
    "record_key",
    "rule_set",
    "shapes",
    "splitmix64",
]
