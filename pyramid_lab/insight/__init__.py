"""What the log means: measures that a tutor can trust, the simulated student that checks them, the tutor's report.

Events in, frames out: :func:`clean` says what each logged try can be used for, the measures build on that, and
:func:`review` gathers all of it for the report. Thresholds are data (:class:`Thresholds`). The measures and their
validation are described in ``docs/measures.md``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyramid_lab.insight.cleaning import MissingColumnError, clean, events_frame, left_out_counts
    from pyramid_lab.insight.errors import ERROR_REASONS, error_counts, wrong_pairs
    from pyramid_lab.insight.flexibility import breadth, choice_points, missed_pairs, order_use, planning
    from pyramid_lab.insight.levels import STATES
    from pyramid_lab.insight.next_deal import NextDeals, next_deals, solver_judge
    from pyramid_lab.insight.pictures import Picture
    from pyramid_lab.insight.plots import fact_time_picture, growth_picture
    from pyramid_lab.insight.practice import accuracy, growth, rate, weekly
    from pyramid_lab.insight.reading import Review, StudentPage, review
    from pyramid_lab.insight.report import report_html, report_pdf
    from pyramid_lab.insight.rivals import RIVALS, rival_states
    from pyramid_lab.insight.simulate import (
        Practice,
        SimulatedStudent,
        Skill,
        classroom,
        play_game,
        practise,
        random_student,
    )
    from pyramid_lab.insight.speed import BANDS, bands, counting_slope, fact_times, overall_speed, own_times
    from pyramid_lab.insight.state import fact_states, states_now
    from pyramid_lab.insight.thresholds import Thresholds, ThresholdsError
    from pyramid_lab.insight.tries import LEFT_OUT

_HOMES = {
    "cleaning": ("MissingColumnError", "clean", "events_frame", "left_out_counts"),
    "errors": ("ERROR_REASONS", "error_counts", "wrong_pairs"),
    "flexibility": ("breadth", "choice_points", "missed_pairs", "order_use", "planning"),
    "levels": ("STATES",),
    "next_deal": ("NextDeals", "next_deals", "solver_judge"),
    "pictures": ("Picture",),
    "plots": ("fact_time_picture", "growth_picture"),
    "practice": ("accuracy", "growth", "rate", "weekly"),
    "report": ("report_html", "report_pdf"),
    "reading": ("Review", "StudentPage", "review"),
    "rivals": ("RIVALS", "rival_states"),
    "simulate": ("Practice", "SimulatedStudent", "Skill", "classroom", "play_game", "practise", "random_student"),
    "speed": ("BANDS", "bands", "counting_slope", "fact_times", "overall_speed", "own_times"),
    "state": ("fact_states", "states_now"),
    "thresholds": ("Thresholds", "ThresholdsError"),
    "tries": ("LEFT_OUT",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BANDS",
    "ERROR_REASONS",
    "LEFT_OUT",
    "RIVALS",
    "STATES",
    "MissingColumnError",
    "NextDeals",
    "Picture",
    "Practice",
    "Review",
    "SimulatedStudent",
    "Skill",
    "StudentPage",
    "Thresholds",
    "ThresholdsError",
    "accuracy",
    "bands",
    "breadth",
    "choice_points",
    "classroom",
    "clean",
    "counting_slope",
    "error_counts",
    "events_frame",
    "fact_states",
    "fact_time_picture",
    "fact_times",
    "growth",
    "growth_picture",
    "left_out_counts",
    "missed_pairs",
    "next_deals",
    "order_use",
    "overall_speed",
    "own_times",
    "planning",
    "play_game",
    "practise",
    "random_student",
    "rate",
    "report_html",
    "report_pdf",
    "review",
    "rival_states",
    "solver_judge",
    "states_now",
    "weekly",
    "wrong_pairs",
]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: pandas, scipy and statsmodels only where they are needed."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
