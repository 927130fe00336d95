"""The solver: exact answers about deals and positions, for every rule set."""

from pyramid_lab.solver.answer import Answer, Unknown, Unwinnable, Winnable, solve

__all__ = ["Answer", "Unknown", "Unwinnable", "Winnable", "solve"]
