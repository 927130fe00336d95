"""What to play next: the state of each fact as a wish for certified deals, and one sentence that says why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import pandas as pd

from pyramid_lab.core import Move, Position, Rules, rule_set
from pyramid_lab.insight.cleaning import clean, in_order
from pyramid_lab.insight.flexibility import Judge, Verdict
from pyramid_lab.insight.speed import own_times
from pyramid_lab.insight.state import fact_states, states_now
from pyramid_lab.insight.thresholds import Thresholds
from pyramid_lab.log.events import facts_to, rules_of
from pyramid_lab.solver import CertifiedDeal, Level, Unwinnable, Winnable, find_deals, solve

Finder = Callable[..., Iterable[CertifiedDeal]]
"""Finds deals as :func:`pyramid_lab.solver.find_deals` does."""

USUAL_RULES: Final = "classic"

_FACTS: Final = 2  # a deal rich in more facts than two is rich in none
_APART: Final = 100_000  # seeds from one game of a student to the next, so that no deal comes twice


@dataclass(frozen=True, slots=True)
class NextDeals:
    """Deals to play next.

    Attributes:
        deals: certified to be winnable, with a line.
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

    The two facts least likely to be fast (:func:`~pyramid_lab.insight.fact_states`) are to come often. The deals are
    easy while a fact is more likely slow than fast, or nothing is known yet; hard once every fact is fast.

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
    known = now[now["p_fast"].notna()].set_index("fact")
    open_facts = known[known["state"] != "fast"]["p_fast"].sort_values(kind="stable")
    rich = tuple(str(fact) for fact in open_facts.index[:_FACTS])
    pairs = facts_to(target)[:-1]
    difficulty: Level | None = None
    if known.empty or (open_facts < 0.5).any():
        difficulty = "easy"
    elif len(known) == len(pairs) and open_facts.empty:
        difficulty = "hard"
    games = mine.loc[mine["game_id"] != "", "game_id"].nunique()
    deals = tuple(find(chosen, n, difficulty=difficulty, rich_in=rich, start=_APART * (games + 1)))
    return NextDeals(deals, rich, difficulty, _why(rich, open_facts, known.empty, difficulty))


def _last_rules(rows: pd.DataFrame) -> Rules | str:
    named = rows["rule_set"].dropna()
    if named.empty:
        return USUAL_RULES
    try:
        return rules_of(str(named.iloc[-1]))
    except ValueError:
        return USUAL_RULES


def _why(rich: tuple[str, ...], p_fast: pd.Series[float], unknown: bool, difficulty: Level | None) -> str:
    level = {"easy": "an easy one", "hard": "a hard one"}
    kind = f"and {level[difficulty]}" if difficulty else "whatever its difficulty"
    if unknown:
        return f"Nothing sure is known about any pair yet, so each deal can be won, {kind}, and shows more."
    if not rich:
        return f"Every pair is fast, so each deal can be won and is {level.get(difficulty or '', 'a new one')}."
    sure = " and ".join(f"{fact} ({100 * float(p_fast[fact]):.0f} % sure to be fast)" for fact in rich)
    verb = "is" if len(rich) == 1 else "are"
    them = "it" if len(rich) == 1 else "them"
    return f"{sure} {verb} least sure, so each deal makes {them} often; it can be won, {kind}."


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
