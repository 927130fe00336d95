"""Which deals suit this child? How hard a deal is, and a stream of certified deals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final, Literal

from pyramid_lab.core import (
    DRAW,
    RANKS,
    REDEAL,
    Deal,
    Move,
    MoveKind,
    Outcome,
    Position,
    Rules,
    rule_set,
)
from pyramid_lab.core.cards import rank_label
from pyramid_lab.core.deal import SEED_LIMIT
from pyramid_lab.solver.answer import Unwinnable, Winnable, solve

Level = Literal["easy", "medium", "hard"]

PLAYS: Final = 100
"""Games that the careful player plays to measure a deal."""

EASY_SHARE: Final = 0.25
HARD_SHARE: Final = 0.02
"""A deal is easy if the careful player wins at least the first share of his games, hard if less than the second."""

RICH: Final = 4
"""A deal is rich in a fact if its line makes the fact at least so often: with four cards of a rank, every time."""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """How hard a deal or position is.

    Attributes:
        win_share: share of games that a careful player without look-ahead wins, 0 to 1; see :func:`careful_play`.
        plays: games played to find it.
        choice_points: positions along the line where one legal move at least would lose the win.
        length: steps of the line.
        level: ``"easy"``, ``"medium"`` or ``"hard"``, by the win share.
    """

    win_share: float
    plays: int
    choice_points: int
    length: int
    level: Level


@dataclass(frozen=True, slots=True)
class CertifiedDeal:
    """A deal whose answer is proved.

    Attributes:
        seed: the seed it was shuffled from.
        deal: the cards.
        rules: the rules under which it is proved.
        line: a way to win; empty for a deal that cannot be won.
        facts: how often the line makes each fact, such as ``{"5+8": 4, "K": 2}``.
        difficulty: measured if it was asked for, else ``None``.
    """

    seed: int
    deal: Deal
    rules: Rules
    line: tuple[Move, ...]
    facts: Mapping[str, int]
    difficulty: Difficulty | None = None

    @property
    def winnable(self) -> bool:
        """Whether the deal can be won."""
        return bool(self.line)


def careful_play(position: Position, choose: Random) -> Position:
    """Play a game to its end as a careful player without look-ahead does.

    A card that goes alone is taken at once, then a pair with a card of the pyramid, then any other pair; between
    several of the best kind `choose` decides. Without a discard he draws, then turns the waste over, but stops if a
    whole pass has brought no discard.

    Returns:
        The last position.
    """
    n_pyramid, deal = position.rules.n_pyramid, position.deal
    idle = False
    while position.outcome is Outcome.PLAYING:
        discards = position.legal_discards()
        if discards:
            kinds = [_kind(deal, move, n_pyramid) for move in discards]
            least = min(kinds)
            position = position.play(
                choose.choice([m for m, kind in zip(discards, kinds, strict=True) if kind == least])
            )
            idle = False
        elif position.stock_left:
            position = position.play(DRAW)
        elif position.redeal_allowed and not idle:
            position = position.play(REDEAL)
            idle = True
        else:
            break
    return position


def _kind(deal: Deal, move: Move, n_pyramid: int) -> int:
    if len(move.cards) == 1:
        return 0
    return 1 if any(deal.index(card) < n_pyramid for card in move.cards) else 2


def difficulty(
    position: Position, *, line: tuple[Move, ...] | None = None, plays: int = PLAYS, seed: int = 0
) -> Difficulty:
    """Measure how hard a winnable position is.

    Args:
        position: the position, usually the start of a deal.
        line: a way to win; found if it is not given.
        plays: games of :func:`careful_play`, 1 or more.
        seed: for the careful player's choices between equal moves.

    Raises:
        ValueError: the position cannot be won, or ``plays`` is below 1.
    """
    if plays < 1:
        raise ValueError(f"plays is 1 or more, not {plays}")
    if line is None:
        answer = solve(position)
        if not isinstance(answer, Winnable):
            raise ValueError("this position cannot be won, so there is no measure of how hard it is to win")
        line = answer.line
    choose = Random(seed)
    wins = sum(careful_play(position, choose).outcome is Outcome.WON for _ in range(plays))
    share = wins / plays
    level: Level = "easy" if share >= EASY_SHARE else "hard" if share < HARD_SHARE else "medium"
    return Difficulty(share, plays, _choice_points(position, line), len(line), level)


def _choice_points(position: Position, line: tuple[Move, ...]) -> int:
    found = 0
    for move in line:
        others = [other for other in position.legal_moves() if other != move]
        found += any(isinstance(solve(position.play(other)), Unwinnable) for other in others)
        position = position.play(move)
    return found


def fact_name(text: str, target: int) -> str:
    """The fact that a text such as ``8+5``, ``q+a``, ``10+3`` or ``K`` names, lower value first: ``5+8``.

    Raises:
        ValueError: it names no fact of this target.
    """
    words = [{"10": "T", "1": "A", "11": "J", "12": "Q", "13": "K"}.get(w.strip(), w.strip()) for w in text.split("+")]
    values = [RANKS.index(word.upper()) + 1 if len(word) == 1 and word.upper() in RANKS else 0 for word in words]
    if 0 in values or sum(values) != target or len(values) > 2:
        raise ValueError(
            f"{text!r} is no fact of {target}: write two cards that total {target}, such as 5+{target - 5}"
        )
    return "+".join(rank_label(value) for value in sorted(values))


def facts_of(line: Iterable[Move]) -> dict[str, int]:
    """How often a line makes each fact; a card that goes alone counts under its own name."""
    made = (
        "+".join(rank_label(rank) for rank in sorted(card.rank for card in move.cards))
        for move in line
        if move.kind is MoveKind.DISCARD
    )
    return dict(Counter(made).most_common())


def find_deals(
    rules: Rules | str,
    n: int | None = None,
    *,
    winnable: bool = True,
    difficulty: Level | None = None,
    rich_in: Iterable[str] = (),
    start: int = 0,
    tries: int | None = None,
    shortest: bool = False,
) -> Iterator[CertifiedDeal]:
    """Deals with a proved answer, one by one as they are found, seeds upwards from `start`.

    Args:
        rules: the rule set or its name.
        n: how many; ``None`` for no end.
        winnable: whether they can be won.
        difficulty: only deals of this level, each measured (some tenths of a second a deal).
        rich_in: only deals whose line makes each of these facts at least :data:`RICH` times, such as ``["5+8"]``.
        start: the first seed tried.
        tries: how many seeds are tried; ``None`` for no end, which a wish that no deal meets makes a wait without one.
        shortest: give each deal a line of the fewest steps (much slower).

    Raises:
        ValueError: a fact, level, number or seed that cannot be; or a wish that only a winnable deal can meet. At
            once, not at the first deal.
    """
    chosen = rule_set(rules)
    wanted = [fact_name(text, chosen.target) for text in rich_in]
    if difficulty not in (None, "easy", "medium", "hard"):
        raise ValueError(f"difficulty is 'easy', 'medium' or 'hard', not {difficulty!r}")
    if not winnable and (wanted or difficulty):
        raise ValueError("rich_in and difficulty speak of the way to win: they need winnable=True")
    if n is not None and n < 0:
        raise ValueError(f"n is 0 or more, not {n}")
    if not 0 <= start < SEED_LIMIT:
        raise ValueError(f"start is a seed, 0 to {SEED_LIMIT - 1}, not {start}")
    if tries is not None and tries < 1:
        raise ValueError(f"tries is 1 or more, not {tries}")
    seeds = range(start, SEED_LIMIT if tries is None else min(start + tries, SEED_LIMIT))
    return islice(_certified(chosen, winnable, difficulty, wanted, seeds, shortest), n)


def _certified(
    rules: Rules, winnable: bool, level: Level | None, wanted: list[str], seeds: Iterable[int], shortest: bool
) -> Iterator[CertifiedDeal]:
    for seed in seeds:
        deal = Deal.from_seed(seed, rules.target)
        position = Position.start(rules, deal)
        answer = solve(position, shortest=shortest)
        if not isinstance(answer, Winnable if winnable else Unwinnable):
            continue
        line = answer.line if isinstance(answer, Winnable) else ()
        facts = facts_of(line)
        if any(facts.get(fact, 0) < RICH for fact in wanted):
            continue
        measured = difficulty(position, line=line) if level else None
        if measured is None or measured.level == level:
            yield CertifiedDeal(seed, deal, rules, line, facts, measured)
