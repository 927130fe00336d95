"""How well the measures find the truth of simulated students, and how long the report takes.

Run: python benchmarks/insight.py

Figures of agreement are shares and correlations; times are ratios against a reference loop in the same run.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from pyramid_lab.insight import (
    RIVALS,
    Thresholds,
    classroom,
    clean,
    fact_states,
    fact_times,
    own_times,
    random_student,
    rival_states,
)
from pyramid_lab.insight.next_deal import solver_judge
from pyramid_lab.insight.reading import review
from pyramid_lab.insight.report import report_html, report_pdf
from pyramid_lab.insight.simulate import NOISE
from pyramid_lab.insight.validate import auc, fast_agreement

CUT = Thresholds.default().bands.fast_s


def reference_s() -> float:
    """Processor seconds of a fixed loop of additions."""
    start = time.process_time()
    total = 0
    for number in range(3_000_000):
        total += number & 7
    return time.process_time() - start


def fact_time_figures() -> None:
    print("fact time, 40 students who know some facts and count others")
    for noise in NOISE:
        rng = np.random.default_rng(7)
        students = [random_student(f"s{at}", rng, learning=("known", "counted"), noise=noise) for at in range(40)]
        events, truth = classroom(students, 6, rng)
        found = fact_times(clean(events)).merge(truth.groupby(["student_id", "fact"], as_index=False).first())
        own = auc(found["counted"], found["fact_time_s"])
        plain = auc(found["counted"], found["median_s"])
        flat = ((found["median_s"] > 3) == found["counted"]).mean()
        print(f"  {noise:10} counted or known after 6 games: AUC {own:.3f}; raw median {plain:.3f}; "
              f"flat 3 s rule right {flat:.0%}")  # fmt: skip
        events, truth = classroom(students, 9, rng)
        tries = clean(events)
        number = tries["speed_s"].notna().groupby([tries["student_id"], tries["fact"]]).cumsum()
        eight = fact_times(tries[number <= 8])
        eight = eight[eight["n"] == 8].merge(truth.groupby(["student_id", "fact"], as_index=False)["true_s"].mean())
        print(f"  {noise:10} recovery at 8 tries: r {eight['fact_time_s'].corr(eight['true_s']):.3f} (n {len(eight)})")


def state_figures() -> None:
    print("\nstate of a fact, 24 games, 30 students: AUC / false fast / found")
    for learning in ("sudden", "gradual"):
        for noise in NOISE:
            rng = np.random.default_rng(8)
            playing = [random_student(f"s{at}", rng, learning=learning, noise=noise) for at in range(30)]
            events, truth = classroom(playing, 24, rng)
            own, true = own_times(clean(events)), truth[["event_id", "true_s"]]

            def line(states: pd.DataFrame, fast: pd.Series, score: str, true: pd.DataFrame = true) -> str:
                both = states.assign(called=fast).merge(true, on="event_id")
                found = fast_agreement(both["true_s"] <= CUT, both["called"], both[score])
                return f"{found['auc']:.3f}/{found['false_fast']:.1%}/{found['found']:.0%}"

            states = fact_states(own)
            shown = [f"ours {line(states, states['state'] == 'fast', 'p_fast')}"]
            for rule in RIVALS:
                other = rival_states(own, rule)
                shown.append(f"{rule} {line(other, other['fast'], 'score')}")
            print(f"  {learning:8} {noise:10} " + "; ".join(shown))


def report_figures() -> None:
    print("\nreport on a class of 30")
    rng = np.random.default_rng(9)
    students = [random_student(f"s{at}", rng) for at in range(30)]
    events, _ = classroom(students, 230, rng)
    tries = int((events["event_type"] == "attempt").sum())
    reference = reference_s()
    for kind, make in (("HTML", report_html), ("PDF", report_pdf)):
        start, busy = time.perf_counter(), time.process_time()
        made = make(review(events, judge=solver_judge()))
        took, busy = time.perf_counter() - start, time.process_time() - busy
        print(
            f"  {tries:,} tries as {kind}: {took:.1f} s ({busy:.1f} s of processor), {busy / reference:.0f} of the "
            f"reference loop; {len(made) / 1e6:.1f} MB"
        )


if __name__ == "__main__":
    fact_time_figures()
    state_figures()
    report_figures()
