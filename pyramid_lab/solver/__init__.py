"""The solver: exact answers about deals and positions, for every rule set. How it works: docs/solver.md."""

from pyramid_lab.solver.advice import Answers, BestMove, best_move, is_dead
from pyramid_lab.solver.answer import Answer, Unknown, Unwinnable, Winnable, solve
from pyramid_lab.solver.deals import (
    RICH,
    CertifiedDeal,
    Difficulty,
    Level,
    careful_play,
    difficulty,
    facts_of,
    find_deals,
)

__all__ = [
    "RICH",
    "Answer",
    "Answers",
    "BestMove",
    "CertifiedDeal",
    "Difficulty",
    "Level",
    "Unknown",
    "Unwinnable",
    "Winnable",
    "best_move",
    "careful_play",
    "difficulty",
    "facts_of",
    "find_deals",
    "is_dead",
    "solve",
]
