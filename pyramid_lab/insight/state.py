"""The state of a fact over time: how sure we are, after each try, that a student has it fast."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pyramid_lab.insight.levels import Seen, levels_after, state_of
from pyramid_lab.insight.speed import alone_fact, target_of
from pyramid_lab.insight.thresholds import Thresholds


def fact_states(own: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """The state of each fact after each try: a Bayesian filter over levels of the fact's own time.

    A fact's own median time is one of ``state.levels`` levels, a constant factor apart, with ``bands.fast_s`` midway
    between two of them. Between tries it may move one level down (practice) or up, or jump from counting to knowing
    (insight). A right try shows the level through a lognormal time of uncertain spread, to which the spread of the
    student's own motor and search time is added, with a share of times that say nothing; being right or wrong tells a
    little more. The student's motor and search time is itself only estimated: five values around it are weighed by how
    well they explain all of the student's tries.

    It replaces two-state knowledge tracing with its one time for "counts" and one for "knows" (Corbett & Anderson
    1994), which has no place for a fact that becomes quicker bit by bit, takes the way through for knowing, and calls
    it fast too early; ``docs/measures.md`` compares them. Levels with a drift are a local-level model (Harvey 1989) on
    a grid (Kitagawa 1987).

    A fact is *fast* after at least ``min_tries`` tries if the probability that its median lies within
    ``bands.fast_s`` is at least ``fast_probability``, and the median of the ``last_tries`` last timed ones lies within
    it too: a check that does not depend on the model. Only tries up to that one are used, except for motor and search
    time, which come from the whole log.

    Args:
        own: as :func:`~pyramid_lab.insight.own_times` gives it.
        thresholds: sections ``state``, ``bands``.

    Returns:
        A row for each try at a pair that was right or wrong, ordered by student, fact and try: ``student_id``,
        ``fact``, ``try_number``, ``event_id``, ``t_utc``, ``right``, ``own_s``, ``p_fast`` (0 to 1), ``level_s``,
        ``low_s``, ``high_s`` (median and 90 % interval of the fact's own median time, s), ``state`` (one of
        :data:`~pyramid_lab.insight.levels.STATES`). Numbers are NaN and the state is "too few tries" for a student
        whose motor and search time is not known.
    """
    chosen = thresholds or Thresholds.default()
    target = target_of(own)
    columns = ["student_id", "fact", "try_number", "event_id", "t_utc", "right", "own_s"]
    rows = own[own["right"].notna() & (own["fact"] != alone_fact(target))]
    rows = rows.sort_values(["student_id", "fact", "try_number"], kind="stable", ignore_index=True)
    result = rows[columns].copy()
    for name in ("p_fast", "level_s", "low_s", "high_s"):
        result[name] = np.nan
    known = np.flatnonzero(rows["motor_s"].notna())
    if len(known):
        of = rows.iloc[known]
        numbers = (of[name].to_numpy(float) for name in ("own_s", "noise_s", "reach_se_s"))
        seen = Seen(of["student_id"].tolist(), of["fact"].tolist(), of["right"].to_numpy() == 1.0, *numbers)
        found = levels_after(seen, target, chosen)
        for name in ("p_fast", "level_s", "low_s", "high_s"):
            result.loc[known, name] = getattr(found, name)
    last = (
        result["own_s"].dropna().groupby([result["student_id"], result["fact"]], observed=True)
        .rolling(chosen.state.last_tries, min_periods=1).median().droplevel([0, 1])
        .reindex(result.index)
    )  # fmt: skip
    last = last.groupby([result["student_id"], result["fact"]], observed=True).ffill()
    result["state"] = state_of(result["p_fast"], result["try_number"], last, chosen)
    return result


def states_now(states: pd.DataFrame) -> pd.DataFrame:
    """The last row of :func:`fact_states` for each student and fact."""
    return states.groupby(["student_id", "fact"], sort=True, observed=True).tail(1).reset_index(drop=True)
