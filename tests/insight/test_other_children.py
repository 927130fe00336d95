"""The measures held to the second simulation, which shares nothing with the first; see ``insight.other_children``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyramid_lab.insight import Thresholds, clean, fact_states, fact_times, own_times
from pyramid_lab.insight.validate import auc, fast_agreement

if TYPE_CHECKING:
    from pyramid_lab.insight.other_children import Way

CUT = Thresholds.default().bands.fast_s


def other_classroom(*arguments: Any) -> Any:
    # Not above: scipy.stats takes a second to load, which only one worker need spend.
    from pyramid_lab.insight import other_children

    return other_children.other_classroom(*arguments)


def test_fact_time_tells_counted_from_known_after_six_games() -> None:
    events, truth = other_classroom(np.random.default_rng(71), 30, 6, ("stays",))
    first = truth.groupby(["student_id", "fact"], as_index=False).first()
    found = fact_times(clean(events)).merge(first, on=["student_id", "fact"])
    assert found["fact_time_s"].notna().all()
    assert auc(found["counted"], found["fact_time_s"]) >= 0.95


def test_eight_tries_recover_the_fact_time() -> None:
    events, truth = other_classroom(np.random.default_rng(72), 40, 8, ("stays",))
    tries = clean(events)
    number = tries["speed_s"].notna().groupby([tries["student_id"], tries["fact"]]).cumsum()
    found = fact_times(tries[number <= 8])
    found = found[found["n"] == 8].merge(truth.groupby(["student_id", "fact"], as_index=False)["true_s"].mean())
    assert len(found) > 150
    assert found["fact_time_s"].corr(found["true_s"]) >= 0.9


@pytest.mark.parametrize("way", ["sudden", "mixture"])
def test_the_state_of_a_fact_is_told(way: Way) -> None:
    found = _told(way)
    assert found["auc"] >= 0.95
    assert found["false_fast"] <= 0.05


def test_a_fact_that_creeps_past_the_limit_is_told_away_from_it() -> None:
    # By the power law a fact stays near the limit for dozens of tries; there no rule can tell. Outside a fifth on
    # either side it must be right.
    found = _told("power", near=0.2)
    assert found["auc"] >= 0.95
    assert found["false_fast"] <= 0.05


def _told(way: Way, near: float = 0.0) -> dict[str, float]:
    events, truth = other_classroom(np.random.default_rng(73), 12, 24, (way,))
    both = fact_states(own_times(clean(events))).merge(truth[["event_id", "true_s"]], on="event_id")
    both = both[(both["true_s"] <= CUT * (1 - near)) | (both["true_s"] > CUT * (1 + near))]
    return fast_agreement(both["true_s"] <= CUT, both["state"] == "fast", both["p_fast"])
