"""What to play next, from one student's log alone: the state of each fact now, the wish that follows, and why.

It loads no pandas: a child's page asks here for its next deal, and the tutor's report for its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from pyramid_lab.insight.levels import Seen, levels_after, state_of
from pyramid_lab.insight.reach import reach
from pyramid_lab.insight.thresholds import Thresholds
from pyramid_lab.insight.tries import Rows, Words, reasons, target_at
from pyramid_lab.log.events import Event, facts_to
from pyramid_lab.solver import Level

FACTS: Final = 2
"""A deal rich in more facts than two is rich in none."""

APART: Final = 100_000
"""Seeds from one game of a student to the next, so that no deal comes twice."""

TRIES: Final = 5000
"""Seeds tried before a wish is taken for one that no deal of these rules meets, such as a small pyramid's."""


@dataclass(frozen=True, slots=True)
class FactNow:
    """A fact as it is now: probability that it is fast, and state; see :func:`~pyramid_lab.insight.fact_states`."""

    p_fast: float
    state: str


@dataclass(frozen=True, slots=True)
class Wish:
    """The deal that would fit a student now.

    Attributes:
        rich_in: facts that it should make often, the least sure first.
        difficulty: ``easy`` or ``hard``; ``None`` for any.
        known: the facts that something is known of.
    """

    rich_in: tuple[str, ...]
    difficulty: Level | None
    known: Mapping[str, FactNow]

    @property
    def why(self) -> str:
        """One sentence for the tutor."""
        level = {"easy": "an easy one", "hard": "a hard one"}
        kind = f"and {level[self.difficulty]}" if self.difficulty else "whatever its difficulty"
        if not self.known:
            return f"Nothing sure is known about any pair yet, so each deal can be won, {kind}, and shows more."
        if not self.rich_in:
            return (
                f"Every pair is fast, so each deal can be won and is {level.get(self.difficulty or '', 'a new one')}."
            )
        sure = " and ".join(f"{fact} ({100 * self.known[fact].p_fast:.0f} % sure to be fast)" for fact in self.rich_in)
        verb, them = ("is", "it") if len(self.rich_in) == 1 else ("are", "them")
        return f"{sure} {verb} least sure, so each deal makes {them} often; it can be won, {kind}."

    def told(self, makes: Mapping[str, int]) -> str:
        """The same for the child, of one deal that can be won.

        Args:
            makes: how often a way to win makes each fact.
        """
        if not self.known:
            return "This deal can be won. Play a few games more: then the deals are picked for you."
        if not self.rich_in:
            return "You are fast at every pair! Here is a new deal. It can be won."
        parts = [
            f"{fact.replace('+', ' + ')} {makes[fact]} {'time' if makes[fact] == 1 else 'times'}"
            for fact in self.rich_in
            if makes.get(fact)
        ]
        if not parts:
            return "This deal can be won."
        yet = "This pair is" if len(parts) == 1 else "These pairs are"
        return f"This deal is for you: in it you can make {' and '.join(parts)}. {yet} not fast yet. It can be won."


def wish_for(known: Mapping[str, FactNow], target: int) -> Wish:
    """The wish that follows from the facts as they are now.

    The two facts least likely to be fast are to come often. Deals are to be easy while a fact is more likely slow than
    fast, or nothing is known yet; hard once every fact is fast.

    Args:
        known: as :func:`facts_now` gives them.
        target: what pairs total.
    """
    still_open = sorted((fact.p_fast, name) for name, fact in known.items() if fact.state != "fast")
    difficulty: Level | None = None
    if not known or any(p_fast < 0.5 for p_fast, _ in still_open):
        difficulty = "easy"
    elif len(known) == len(facts_to(target)) - 1 and not still_open:
        difficulty = "hard"
    return Wish(tuple(name for _, name in still_open[:FACTS]), difficulty, known)


def facts_now(events: Iterable[Event], target: int = 13, thresholds: Thresholds | None = None) -> dict[str, FactNow]:
    """The last row of :func:`~pyramid_lab.insight.fact_states` for each pair that a student tried.

    Args:
        events: one student's.
        target: attempts at pairs to this target.
        thresholds: all sections that the state of a fact asks for.

    Returns:
        For each pair tried its state; empty while motor and search time are not known.
    """
    chosen = thresholds or Thresholds.default()
    facts = facts_to(target)
    rows = sorted(events, key=lambda event: (event.t_utc, event.event_index))
    why = reasons(_columns(rows), chosen.cleaning.shortest_ms)
    tries = [
        (event, reason)
        for event, reason in zip(rows, why, strict=True)
        if event.event_type == "attempt" and event.fact in facts and target_at(event.rule_set) == target
    ]
    seconds = [np.nan if reason or event.rt_ms is None else event.rt_ms / 1000 for event, reason in tries]
    counted = [time for time in seconds if not np.isnan(time)]
    longest = median(counted) * chosen.cleaning.longest_medians if counted else np.nan
    names = [str(event.fact) for event, _ in tries]
    speed = np.minimum(np.array(seconds, float), longest)
    exposed = np.array([event.n_exposed for event, _ in tries], float)
    legal = np.array([event.n_legal_cards for event, _ in tries], float)
    scan = (exposed + 1) / (legal + 1)
    found = reach(names, speed, scan, exposed, legal, facts[-1], chosen.fact_time)
    if found is None:
        return {}
    judged = [
        at
        for at, (event, reason) in enumerate(tries)
        if event.outcome in ("correct", "incorrect")
        and event.error_class != "misclick"
        and reason not in ("slip", "told")
        and names[at] != facts[-1]
    ]
    if not judged:
        return {}
    judged.sort(key=lambda at: names[at])
    own = found.own_s(speed, scan)[judged]
    after = levels_after(
        Seen(
            student=[""] * len(judged),
            fact=[names[at] for at in judged],
            right=np.array([tries[at][0].outcome == "correct" for at in judged], bool),
            own_s=own,
            noise_s=found.noise_s(exposed, legal)[judged],
            reach_se_s=np.full(len(judged), found.se_s),
        ),
        target,
        chosen,
    )
    places: dict[str, list[int]] = {}
    for place, at in enumerate(judged):
        places.setdefault(names[at], []).append(place)
    result = {}
    for name, of in places.items():
        timed = own[of][~np.isnan(own[of])][-chosen.state.last_tries :]
        last_s = float(np.median(timed)) if len(timed) else np.nan
        p_fast = float(after.p_fast[of[-1]])
        result[name] = FactNow(p_fast, str(state_of(p_fast, len(of), last_s, chosen)))
    return result


def _columns(events: Sequence[Event]) -> Rows:
    def words(name: str) -> Words:
        return Words.of(getattr(event, name) for event in events)

    never = np.zeros(len(events), bool)
    return Rows(
        student_id=words("student_id"), game_id=words("game_id"), event_type=words("event_type"),
        outcome=words("outcome"), clock=words("clock"), assistance=words("assistance"),
        second_card=words("second_card"), reason=words("reason"),
        rt_ms=np.array([event.rt_ms for event in events], float),
        rt_first_ms=np.array([event.rt_first_ms for event in events], float), first_move=never, interrupted=never,
    )  # fmt: skip
