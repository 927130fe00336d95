"""Wrong sums: how often each kind occurs, and the pair that a student gets wrong most."""

from __future__ import annotations

from typing import Final

import pandas as pd

from pyramid_lab.core.cards import rank_label
from pyramid_lab.insight.thresholds import Thresholds

ERROR_REASONS: Final = {
    "misclick": "the hand slipped: too quick to be an answer, or taken back at once",
    "king_paired": "a King was given a partner; it goes alone",
    "face_as_ten": "a picture card was taken for ten",
    "ace_as_eleven": "the ace was taken for eleven",
    "make_ten": "it makes ten: the make-ten habit from school",
    "off_by_one": "one off: a slip while counting",
    "off_by_two": "two off: a slip while counting",
    "blocked": "a card that was not free was tried",
    "other": "no usual reason fits",
}
"""The likely reason of each error class, for people."""

_CARDS: Final = frozenset(range(1, 14))  # an answer in numbers can be any


def error_counts(tries: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """Wrong and blocked tries of each student by error class.

    The classes are those that the log gives each try (:func:`pyramid_lab.log.events.error_class`).

    Args:
        tries: as :func:`~pyramid_lab.insight.clean` gives them.
        thresholds: section ``errors``.

    Returns:
        ``student_id``, ``error_class``, ``n``, ``repeats`` (how many of them were the same wrong pair as a try within
        the last ``errors.repeat_moves`` moves of the game), ``reason`` (for people).
    """
    wrong = _wrong(tries, (thresholds or Thresholds.default()).errors.repeat_moves)
    table = (
        wrong.groupby(["student_id", "error_class"], sort=True, observed=True)["repeat"]
        .agg(n="count", repeats="sum")
        .reset_index()
    )
    table["repeats"] = table["repeats"].astype(int)
    table["reason"] = table["error_class"].map(ERROR_REASONS)
    return table


def wrong_pairs(tries: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """The wrong sums of each student, the commonest first. Blocked tries and misclicks are no wrong sums.

    Args:
        tries: as :func:`~pyramid_lab.insight.clean` gives them.
        thresholds: section ``errors``.

    Returns:
        ``student_id``, ``pair`` (smaller card first, as ``5+7``), ``total``, ``n``, ``repeats``, ``error_class``,
        ``reason``; within a student by ``n``, then by pair.
    """
    wrong = _wrong(tries, (thresholds or Thresholds.default()).errors.repeat_moves)
    wrong = wrong[(wrong["outcome"] == "incorrect") & (wrong["error_class"] != "misclick") & (wrong["pair"] != "")]
    table = (
        wrong.groupby(["student_id", "pair", "total", "error_class"], sort=True, observed=True)["repeat"]
        .agg(n="count", repeats="sum")
        .reset_index()
    )
    table["repeats"] = table["repeats"].astype(int)
    table["reason"] = table["error_class"].map(ERROR_REASONS)
    table["total"] = table["total"].astype(int)
    columns = ["student_id", "pair", "total", "n", "repeats", "error_class", "reason"]
    return table.sort_values(["student_id", "n", "pair"], ascending=[True, False, True], ignore_index=True)[columns]


def pair_names(tries: pd.DataFrame) -> pd.Series[str]:
    """The two cards of each try, smaller first, as ``5+7``; ``""`` for one card, or for a number that no card has."""
    return pd.Series(
        [
            f"{rank_label(int(min(a, b)))}+{rank_label(int(max(a, b)))}" if {a, b} <= _CARDS else ""
            for a, b in zip(tries["value_a"], tries["value_b"], strict=True)
        ],
        index=tries.index,
        dtype=object,
    )


def _wrong(tries: pd.DataFrame, repeat_moves: int) -> pd.DataFrame:
    wrong = tries[tries["outcome"].isin(("incorrect", "blocked"))].copy()
    wrong["error_class"] = wrong["error_class"].fillna("other")
    wrong["pair"] = pair_names(wrong)
    since = (
        wrong["event_index"] - wrong.groupby(["student_id", "game_id", "pair"], observed=True)["event_index"].shift()
    )
    wrong["repeat"] = (since <= repeat_moves) & (wrong["pair"] != "")
    return wrong
