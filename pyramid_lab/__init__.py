"""Pyramid Lab: a classroom toolkit that teaches addition to 13 with Pyramid Solitaire.

The names of the game are here at once; the heavier rooms (board, log, insight, sheets, solver) load when first used,
so that ``import pyramid_lab`` stays quick.
"""

from pyramid_lab.core import (
    DRAW,
    REDEAL,
    RULE_SETS,
    Card,
    Deal,
    Game,
    IllegalMoveError,
    Move,
    Outcome,
    Position,
    Rules,
    rule_set,
)

__version__ = "0.1.0"

__all__ = [
    "DRAW",
    "REDEAL",
    "RULE_SETS",
    "Card",
    "Deal",
    "Game",
    "IllegalMoveError",
    "Move",
    "Outcome",
    "Position",
    "Rules",
    "__version__",
    "rule_set",
]
