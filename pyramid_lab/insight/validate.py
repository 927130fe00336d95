"""How well a measure finds the truth again: agreement with a simulation, and split-half reliability on real answers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from pyramid_lab.insight.speed import overall_speed


def auc(positive: npt.ArrayLike, score: npt.ArrayLike) -> float:
    """Area under the ROC curve: the chance that a positive case scores above a negative one, ties counted half.

    The Mann-Whitney U divided by the number of pairs (Hanley & McNeil 1982). NaN if all cases are of one kind.
    """
    truth, values = np.asarray(positive, bool), np.asarray(score, float)
    n_positive = int(truth.sum())
    n_negative = len(truth) - n_positive
    if not n_positive or not n_negative:
        return float("nan")
    ranks = pd.Series(values).rank().to_numpy()
    return float((ranks[truth].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def fast_agreement(fast: npt.ArrayLike, called: npt.ArrayLike, score: npt.ArrayLike) -> dict[str, float]:
    """How well "fast" is told, over tries.

    Args:
        fast: the truth.
        called: whether the rule says fast.
        score: the higher the faster.

    Returns:
        ``auc``; ``false_fast`` (share of the tries that are not fast and are called fast); ``wrong_calls`` (share of
        the calls that are wrong); ``found`` (share of the fast tries that are called fast). NaN where nothing can be
        shared.
    """
    truth, said = np.asarray(fast, bool), np.asarray(called, bool)

    def share(part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_]) -> float:
        return float((part & whole).sum() / whole.sum()) if whole.any() else float("nan")

    return {
        "auc": auc(truth, score),
        "false_fast": share(said, ~truth),
        "wrong_calls": share(~truth, said),
        "found": share(said, truth),
    }


def split_half(
    rows: pd.DataFrame,
    per_half: int,
    rng: np.random.Generator,
    *,
    person: str = "student_id",
    item: str = "fact",
    time: str = "speed_s",
    repeats: int = 50,
) -> float:
    """Split-half reliability of :func:`~pyramid_lab.insight.overall_speed`: correlation over persons of log speed in
    two halves drawn at random, averaged over repeats (not stepped up by Spearman-Brown).

    Args:
        rows: a row for each answer.
        per_half: answers of a person in each half; persons with fewer than twice as many are left out.
        rng: source of the halves.
        person, item, time: as in ``overall_speed``.
        repeats: random halves.
    """
    used = rows[rows[time] > 0]
    used = used[used.groupby(person)[time].transform("size") >= 2 * per_half]
    found = []
    for _ in range(repeats):
        shuffled = used.iloc[rng.permutation(len(used))]
        place = shuffled.groupby(person).cumcount()
        halves = [
            overall_speed(shuffled[(place // per_half) == half], person=person, item=item, time=time).set_index(person)
            for half in (0, 1)
        ]
        both = np.log(halves[0]["speed"]).to_frame("a").join(np.log(halves[1]["speed"]).rename("b"))
        found.append(both["a"].corr(both["b"]))
    return float(np.mean(found))
