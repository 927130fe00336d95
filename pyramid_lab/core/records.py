"""Records of a player: best score, fastest win, fewest moves, kept apart for each rule set and redeal setting.

A win with no redeals is not the same as a win with two, so the redeal setting is part of the key.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from pyramid_lab.core.position import Outcome
from pyramid_lab.core.rules import RULE_SETS, Rules

_NOT_PLAYED_BY = {"name", "title", "source", "redeals"}


def record_key(rules: Rules) -> str:
    """Under which key a game's records stand: rule set, changed fields, redeal setting.

    Returns:
        For instance ``"classic, redeals 2"``, or ``"classic, rows 4, redeals 2"`` where fields were changed.
    """
    base = rules.name.removesuffix("+")
    known = RULE_SETS.get(base)
    parts = [base]
    for item in dataclasses.fields(rules):
        value = getattr(rules, item.name)
        if item.name not in _NOT_PLAYED_BY and (known is None or value != getattr(known, item.name)):
            parts.append(f"{item.name} {value}")
    return ", ".join([*parts, f"redeals {rules.redeals}"])


@dataclass(frozen=True, slots=True)
class Record:
    """The best of the games under one key; ``None`` where there is none yet.

    Attributes:
        best_score: points; of games that ended, won or lost.
        fastest_win_ms: milliseconds of play, pauses left out; of games won.
        fewest_moves: discards, draws and redeals; of games won.
    """

    best_score: int | None = None
    fastest_win_ms: int | None = None
    fewest_moves: int | None = None

    def after(self, *, score: int, outcome: Outcome, moves: int, active_ms: int | None) -> Record:
        """The record once this game has been counted; a game still being played changes nothing.

        Args:
            score: points at the end.
            outcome: how the game ended.
            moves: moves that led to the end, undone ones left out.
            active_ms: milliseconds of play, or ``None`` where the time was not taken.
        """
        if outcome is Outcome.PLAYING:
            return self
        best_score = score if self.best_score is None else max(self.best_score, score)
        if outcome is Outcome.LOST:
            return dataclasses.replace(self, best_score=best_score)
        return Record(best_score, _least(self.fastest_win_ms, active_ms), _least(self.fewest_moves, moves))


def _least(first: int | None, second: int | None) -> int | None:
    values = [value for value in (first, second) if value is not None]
    return min(values, default=None)
