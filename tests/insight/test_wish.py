"""What a child's page asks of its log, on plain numbers: the same as the report, from frames."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from pyramid_lab.insight import clean, fact_states, own_times, practise, random_student, states_now
from pyramid_lab.insight.cleaning import events_frame
from pyramid_lab.insight.reach import huber
from pyramid_lab.insight.wish import FactNow, facts_now, wish_for

SURE = FactNow(0.99, "fast")


@pytest.mark.parametrize("games", [1, 3, 9])
def test_the_state_of_each_fact_is_that_of_the_report(games: int) -> None:
    rng = np.random.default_rng(games)
    events = list(practise(random_student("ann", rng), games, rng))
    report = states_now(fact_states(own_times(clean(events_frame(events)))))
    known = report[report["p_fast"].notna()].set_index("fact")
    found = facts_now(reversed(events))  # whatever order they come in
    assert set(found) == set(known.index)
    assert {fact: now.p_fast for fact, now in found.items()} == pytest.approx(known["p_fast"].to_dict())
    assert {fact: now.state for fact, now in found.items()} == known["state"].to_dict()
    assert bool(found) == (games > 1)  # 30 discards tell motor and search time from the facts: more than one game


def test_the_robust_regression_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(3)
    design = np.column_stack([np.ones(90), rng.uniform(0, 4, 90), np.repeat(np.eye(3), 30, axis=0)[:, :2]])
    answer = design @ [0.8, 0.3, 1.5, 0.4] + rng.standard_t(2, 90) * 0.3
    values, covariance = huber(design, answer, 1.5)
    # Not above: it takes a second to load, which only one worker need spend.
    from statsmodels.robust.norms import HuberT
    from statsmodels.robust.robust_linear_model import RLM

    theirs = RLM(answer, design, M=HuberT(t=1.5)).fit(maxiter=500, tol=1e-13)
    np.testing.assert_allclose(values, theirs.params, rtol=1e-6)
    np.testing.assert_allclose(covariance, theirs.cov_params(), rtol=1e-5)


def test_where_most_answers_lie_on_the_line_the_rest_do_not_pull() -> None:
    design = np.column_stack([np.ones(20), np.arange(20.0)])
    answer = 1 + 2 * np.arange(20.0)
    answer[3] = 90
    np.testing.assert_allclose(huber(design, answer, 1.5)[0], [1, 2], atol=1e-6)


def test_the_least_sure_facts_are_wished_for_and_both_sentences_name_them() -> None:
    known = {
        "A+Q": SURE,
        "4+9": FactNow(0.31, "not yet"),
        "5+8": FactNow(0.02, "not yet"),
        "6+7": FactNow(0.9, "not yet"),
    }
    wish = wish_for(known, 13)
    assert (wish.rich_in, wish.difficulty) == (("5+8", "4+9"), "easy")
    assert "5+8 (2 % sure to be fast) and 4+9 (31 % sure to be fast)" in wish.why
    told = wish.told({"5+8": 4, "4+9": 1, "A+Q": 3})
    assert "5 + 8 4 times and 4 + 9 1 time." in told
    assert "A + Q" not in told
    assert "not fast yet" in told
    assert "This pair is not fast yet" in wish.told({"5+8": 4})  # a line without the other says nothing of it


def test_with_every_fact_fast_or_none_known_the_child_is_told_so() -> None:
    every = wish_for(dict.fromkeys(("A+Q", "2+J", "3+10", "4+9", "5+8", "6+7"), SURE), 13)
    assert (every.rich_in, every.difficulty) == ((), "hard")
    assert "fast at every pair" in every.told({})
    none = wish_for({}, 13)
    assert none.rich_in == ()
    assert "a few games more" in none.told({})


def test_a_page_that_asks_loads_no_library_of_the_report() -> None:
    code = (
        "import sys; from pyramid_lab.insight.wish import facts_now; facts_now([]);"
        "print({'pandas', 'scipy', 'statsmodels', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
