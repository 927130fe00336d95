"""What to play next: the state of each fact as a wish for certified deals, and one sentence that says why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import pandas as pd

from pyramid_lab.core import Move, Position, Rules, rule_set
from pyramid_lab.insight.cleaning import clean, in_order
from pyramid_lab.insight.flexibility import Judge, Verdict
from pyramid_lab.insight.speed import own_times
from pyramid_lab.insight.state import fact_states, states_now
from pyramid_lab.insight.thresholds import Thresholds
from pyramid_lab.insight.wish import APART, TRIES, FactNow, wish_for
from pyramid_lab.log.events import rules_of
from pyramid_lab.solver import CertifiedDeal, Level, Unwinnable, Winnable, find_deals, solve

Finder = Callable[..., Iterable[CertifiedDeal]]
"""Finds deals as :func:`pyramid_lab.solver.find_deals` does."""

USUAL_RULES: Final = "classic"


@dataclass(frozen=True, slots=True)
class NextDeals:
    """Deals to play next.

    Attributes:
        deals: certified to be winnable, with a line; fewer than asked for where hardly any deal can be won.
        rich_in: facts that each of them makes often.
        difficulty: ``easy`` or ``hard``; ``None`` for any.
        why: one sentence for the tutor.
    """

    deals: tuple[CertifiedDeal, ...]
    rich_in: tuple[str, ...]
    difficulty: Level | None
    why: str


def next_deals(
    events: pd.DataFrame,
    student_id: str,
    n: int = 2,
    *,
    rules: Rules | str | None = None,
    thresholds: Thresholds | None = None,
    find: Finder = find_deals,
) -> NextDeals:
    """Deals that fit what a student knows now.

    What fits follows from the state of each fact (:func:`~pyramid_lab.insight.fact_states`); see
    :func:`~pyramid_lab.insight.wish.wish_for`. A small pyramid makes no fact as often as is wished: then the deals are
    rich in the first fact alone, or in none, and of any difficulty.

    Args:
        events: everything that was logged, rows with the columns of an event.
        student_id: whose next deals.
        n: how many deals.
        rules: rule set; by default the one that the student played last, or ``classic``.
        thresholds: sections ``state`` and ``bands``.
        find: finds the deals.

    Raises:
        MissingColumnError: a column that is needed is not there.
        RulesError: no such rule set.
    """
    rows = in_order(events)
    mine = in_order(rows[rows["student_id"] == student_id])
    chosen = rules if rules is not None else _last_rules(mine)
    target = (rule_set(chosen) if isinstance(chosen, str) else chosen).target
    now = states_now(fact_states(own_times(clean(mine, thresholds, target=target), thresholds), thresholds))
    known = now[now["p_fast"].notna()]
    facts = zip(known["fact"], known["p_fast"], known["state"], strict=True)
    wish = wish_for({str(fact): FactNow(float(p_fast), str(state)) for fact, p_fast, state in facts}, target)
    games = mine.loc[mine["game_id"] != "", "game_id"].nunique()
    start = APART * (games + 1)
    for eased in (wish, replace(wish, rich_in=wish.rich_in[:1]), replace(wish, rich_in=(), difficulty=None)):
        deals = tuple(find(chosen, n, difficulty=eased.difficulty, rich_in=eased.rich_in, start=start, tries=TRIES))
        if len(deals) == n:
            break
    why = wish.why if eased == wish else f"{wish.why.removesuffix('.')} (as far as deals of this size can be)."
    return NextDeals(deals, eased.rich_in, eased.difficulty, why)


def _last_rules(rows: pd.DataFrame) -> Rules | str:
    named = rows["rule_set"].dropna()
    if named.empty:
        return USUAL_RULES
    try:
        return rules_of(str(named.iloc[-1]))
    except ValueError:
        return USUAL_RULES


def solver_judge(max_nodes: int = 20_000) -> Judge:
    """A judge that asks the solver whether a move kept the win.

    Args:
        max_nodes: positions that the solver looks at before it gives up on one question.
    """

    @lru_cache(maxsize=4096)
    def winnable(position: Position) -> bool | None:
        answer = solve(position, max_nodes=max_nodes)
        return True if isinstance(answer, Winnable) else False if isinstance(answer, Unwinnable) else None

    def judge(position: Position, move: Move) -> Verdict:
        before = winnable(position)
        if before is False:
            return "nothing to lose"
        after = winnable(position.play(move))
        if after is None or before is None:
            return "kept" if after else "not proved"
        return "kept" if after else "lost"

    return judge
