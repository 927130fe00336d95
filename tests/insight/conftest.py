"""Rows of a log written by hand, and one simulated class for the tests that need many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pyramid_lab.insight import classroom, random_student
from tests.insight.log_rows import PAIRS, Row


@pytest.fixture
def row() -> Row:
    """Makes an event as a dict: a right try of 4 and 9 by ``ann`` in 2 s, unless told otherwise."""
    number = 0

    def make(event_type: str = "attempt", **changes: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        fields: dict[str, Any] = {
            "event_id": f"{number:032x}",
            "student_id": "ann",
            "session_id": "s1",
            "game_id": "g1",
            "event_index": number,
            "event_type": event_type,
            "t_utc": pd.Timestamp("2026-09-07 08:00", tz="UTC") + pd.Timedelta(seconds=5 * number),
            "tz": "Europe/Berlin",
            "rule_set": "one-pass",
        }
        if event_type == "attempt":
            fact = changes.get("fact", "4+9")
            a, b = PAIRS.get(fact, (13, None))
            fields |= {
                "fact": "4+9", "outcome": "correct", "rt_ms": 2000, "clock": "browser", "assistance": "none",
                "n_exposed": 7, "n_legal": 1, "n_legal_cards": 1 if fact == "K" else 2, "legal_facts": fact,
                "value_a": a, "value_b": b, "newly_exposed": 0, "best_newly_exposed": 0,
            }  # fmt: skip
        return fields | changes

    return make


@pytest.fixture(scope="session")
def played() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A class of eight with 12 games each in four weeks, and the truth."""
    rng = np.random.default_rng(20260907)
    students = [random_student(f"student-{number}", rng) for number in range(8)]
    return classroom(students, 12, rng, days_between=7, tz="Europe/Berlin")
