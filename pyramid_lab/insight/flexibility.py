"""Flexibility: does the student see all the ways on, and choose among them?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from pyramid_lab.core import DRAW, REDEAL, Deal, Move, MoveKind, Position
from pyramid_lab.core.cards import Card
from pyramid_lab.insight.cleaning import in_order, is_discard
from pyramid_lab.insight.practice import share_interval
from pyramid_lab.insight.reach import Floats
from pyramid_lab.insight.speed import alone_fact, target_of
from pyramid_lab.insight.thresholds import Thresholds
from pyramid_lab.insight.tries import is_asked
from pyramid_lab.log.events import facts_to, rules_of

Verdict = Literal["kept", "lost", "nothing to lose", "not proved"]
"""What a move did to the chance to win: it kept it, it lost it, there was none before, nobody could prove it."""

Judge = Callable[[Position, Move], Verdict]
"""Judges a move made in a position; :func:`pyramid_lab.insight.solver_judge` asks the solver."""

_Row = Mapping[Hashable, Any]

GAMES_JUDGED: Final = 2
GAMES_CHOSEN_IN: Final = 6


def breadth(events: pd.DataFrame, thresholds: Thresholds | None = None, *, target: int = 13) -> pd.DataFrame:
    """How often each student took a fact when it was offered.

    A fact is offered by each position in which it was legal and that was answered with a discard or by turning a card.

    Args:
        events: everything that was logged, rows with the columns of an event.
        thresholds: section ``interval``.
        target: the facts' total.

    Returns:
        ``student_id``, ``fact``, ``offered``, ``taken``, ``share`` (posterior mean), ``low``, ``high``.
    """
    level = (thresholds or Thresholds.default()).interval.level
    rows = in_order(events)
    rows = rows[_answered(rows) & rows["legal_facts"].notna()]
    offers = {text: text.split() for text in rows["legal_facts"].cat.categories}
    found = []
    for student, mine in rows.groupby("student_id", sort=True, observed=True):
        legal = mine["legal_facts"].value_counts()
        taken = mine.loc[mine["event_type"] == "attempt", "fact"].value_counts()
        for fact in facts_to(target):
            offered = int(sum(count for text, count in legal.items() if fact in offers[str(text)]))
            if offered:
                found.append((student, fact, offered, min(int(taken.get(fact, 0)), offered)))
    table = pd.DataFrame(found, columns=["student_id", "fact", "offered", "taken"])
    table["share"], table["low"], table["high"] = share_interval(table["taken"], table["offered"], level)
    return table


def _answered(rows: pd.DataFrame) -> pd.Series:
    return is_discard(rows) | (rows["event_type"] == "draw")


def missed_pairs(
    events: pd.DataFrame,
    thresholds: Thresholds | None = None,
    *,
    judge: Judge | None = None,
    games: int = GAMES_JUDGED,
) -> pd.DataFrame:
    """How often each student turned a card while a discard was exposed.

    Discarding is optional, and waiting is sometimes right: with a judge, those in each student's last games are judged
    one by one.

    Args:
        events: everything that was logged, rows with the columns of an event.
        thresholds: section ``interval``.
        judge: judges a move; ``None`` leaves everything unjudged.
        games: how many of a student's last games with a missed pair are judged.

    Returns:
        ``student_id``, ``draws``, ``missed`` (draws while a discard was legal), ``chances`` (positions with a legal
        discard), ``share`` (missed by chances, posterior mean), ``low``, ``high``, and of the judged ones: ``judged``,
        ``kept``, ``lost``, ``nothing_to_lose``, ``not_proved``.
    """
    level = (thresholds or Thresholds.default()).interval.level
    rows = in_order(events)
    answered = _answered(rows)
    rows = rows.assign(
        draw=rows["event_type"] == "draw",
        chance=answered & (rows["n_legal"] > 0),
        missed=(rows["event_type"] == "draw") & (rows["n_legal"] > 0),
    )
    table = (
        rows.groupby("student_id", sort=True, observed=True)
        .agg(draws=("draw", "sum"), missed=("missed", "sum"), chances=("chance", "sum"))
        .reset_index()
    )
    table["share"], table["low"], table["high"] = share_interval(table["missed"], table["chances"], level)
    return _with_verdicts(table, rows, rows["missed"], judge, games)


_REPLAYED: Final = [
    "student_id", "game_id", "event_id", "event_type", "deal", "rule_set", "outcome", "first_card", "second_card",
    "event_index", "assistance",
]  # fmt: skip
_VERDICTS: Final[dict[str, str]] = {
    "kept": "kept", "lost": "lost", "nothing to lose": "nothing_to_lose", "not proved": "not_proved",
}  # fmt: skip


def _with_verdicts(
    table: pd.DataFrame, rows: pd.DataFrame, which: pd.Series, judge: Judge | None, games: int
) -> pd.DataFrame:
    """The table of students with verdicts on the chosen moves in each one's last games that have one, counted."""
    counted = ["judged", *_VERDICTS.values()]
    found = []
    if judge is not None:
        wanted = set(rows.loc[which, "event_id"])
        for student, last in _last_games(rows, which, games).items():
            counts = dict.fromkeys(_VERDICTS, 0)
            for game in last:
                for event_id, position, move in replayed(game):
                    if event_id in wanted:
                        counts[judge(position, move)] += 1
            found.append((student, sum(counts.values()), *counts.values()))
    verdicts = pd.DataFrame(found, columns=["student_id", *counted]).set_index("student_id")
    return table.join(verdicts.reindex(table["student_id"], fill_value=0).astype("int64"), on="student_id")


def _last_games(rows: pd.DataFrame, which: pd.Series[bool], games: int) -> dict[str, list[list[_Row]]]:
    """The last games of each student that have one of the chosen rows, to be replayed."""
    student, game = rows["student_id"].cat, rows["game_id"].cat
    key = student.codes.astype("int64") * len(game.categories) + game.codes
    last = key[which].drop_duplicates().groupby(student.codes, sort=False).tail(games)
    chosen = rows.loc[key.isin(last), _REPLAYED]
    found: dict[str, dict[str, list[_Row]]] = {}
    for row in chosen.to_dict("records"):
        found.setdefault(row["student_id"], {}).setdefault(row["game_id"], []).append(row)
    return {student: list(played.values()) for student, played in found.items()}


def replayed(game: Sequence[_Row]) -> Iterator[tuple[str, Position, Move]]:
    """The moves of one logged game with the positions in which they were made.

    Stops quietly where the log cannot be replayed; a game whose first events are missing gives nothing.

    Args:
        game: the events of one game by field, in order.

    Yields:
        ``event_id``, the position before the move, the move.
    """
    if not game or game[0]["event_index"] != 0:
        return
    try:
        first = next(row for row in game if isinstance(row["deal"], str) and isinstance(row["rule_set"], str))
        rules = rules_of(first["rule_set"])
        position = Position.start(rules, Deal.from_text(first["deal"], rules.target))
    except (StopIteration, ValueError):
        return
    done: list[Position] = []
    undone: list[Position] = []
    for row in game:
        kind = row["event_type"]
        if kind == "undo" and done:
            undone.append(position)
            position = done.pop()
            continue
        if kind == "redo" and undone:
            done.append(position)
            position = undone.pop()
            continue
        if kind == "deal" and done:
            position, done, undone = done[0], [], []
            continue
        try:
            move = _move(row)
            if move is None:
                continue
            after = position.play(move)
        except ValueError:
            return
        yield str(row["event_id"]), position, move
        done.append(position)
        undone.clear()
        position = after


def _move(row: _Row) -> Move | None:
    kind = row["event_type"]
    if kind == "draw":
        return DRAW
    if kind == "redeal":
        return REDEAL
    if kind == "attempt" and row["outcome"] == "correct" and not is_asked(row.get("assistance")):
        cards = [row["first_card"], row["second_card"]]  # a King has no second
        return Move.discard(*(Card.parse(card) for card in cards if isinstance(card, str)))
    return None


def order_use(tries: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """Which card of a pair is chosen first: the smaller or the larger, from the pyramid or the waste.

    Args:
        tries: as :func:`~pyramid_lab.insight.clean` gives them.
        thresholds: section ``interval``.

    Returns:
        ``student_id``, ``n`` (right pairs), ``smaller_first`` (share, posterior mean), ``low``, ``high``, ``n_mixed``
        (pairs of a pyramid card and another), ``pyramid_first`` (share of those; NaN without any).
    """
    level = (thresholds or Thresholds.default()).interval.level
    pairs = tries[is_discard(tries) & tries["value_b"].notna()]
    first, second = (pairs[name].str.startswith("r").eq(True) for name in ("first_place", "second_place"))
    mixed = first != second
    table = (
        pairs.assign(smaller=pairs["value_a"] < pairs["value_b"], mixed=mixed, pyramid=first & mixed)
        .groupby("student_id", sort=True, observed=True)
        .agg(n=("smaller", "count"), smaller=("smaller", "sum"), n_mixed=("mixed", "sum"), pyramid=("pyramid", "sum"))
        .reset_index()
    )
    table["smaller_first"], table["low"], table["high"] = share_interval(table["smaller"], table["n"], level)
    table["pyramid_first"] = table["pyramid"] / table["n_mixed"].where(table["n_mixed"] > 0)
    return table.drop(columns=["smaller", "pyramid"])


def choice_points(
    events: pd.DataFrame, thresholds: Thresholds | None = None, *, games: int = GAMES_CHOSEN_IN
) -> pd.DataFrame:
    """Adaptivity: how often the discard that sets most cards free was taken, beyond chance.

    A choice point is a discard of a pair or a King where the legal discards differ in how many covered pyramid cards
    they set free. With m best ones among k, chance takes one of them m/k of the time; adaptivity is
    ``(observed - mean m/k) / (1 - mean m/k)``: 0 is chance, 1 is always. (Taking 1/k for chance, as if there were no
    ties, would find adaptivity in a student who chooses blindly, and points without a difference are no choice.)

    Args:
        events: everything that was logged, rows with the columns of an event.
        thresholds: section ``interval``.
        games: how many of each student's last games are looked at.

    Returns:
        ``student_id``, ``n`` (choice points), ``observed``, ``chance``, ``adaptivity``, ``low``, ``high``; NaN without
        any.
    """
    level = (thresholds or Thresholds.default()).interval.level
    rows = in_order(events)
    found = []
    open_choice = set(rows.loc[(rows["n_legal"] > 1) & (rows["best_newly_exposed"] > 0), "event_id"])
    for student, last in _last_games(rows, pd.Series(True, rows.index), games).items():
        points = [
            point
            for game in last
            for event_id, position, move in replayed(game)
            if event_id in open_choice and (point := _choice(position, move)) is not None
        ]
        if not points:
            found.append((student, 0, np.nan, np.nan, np.nan, np.nan, np.nan))
            continue
        best, chances = np.array(points, float).T
        observed, chance = best.mean(), chances.mean()
        _, low, high = share_interval(best.sum(), len(best), level)
        beyond = [(value - chance) / (1 - chance) for value in (observed, float(low), float(high))]
        found.append((student, len(best), observed, chance, *beyond))
    columns = ["student_id", "n", "observed", "chance", "adaptivity", "low", "high"]
    return pd.DataFrame(found, columns=columns)


def _choice(position: Position, move: Move) -> tuple[bool, float] | None:
    """Whether the best was taken, and the chance of that; ``None`` if there was nothing to choose."""
    if move.kind is not MoveKind.DISCARD:
        return None
    discards = position.legal_discards()
    if len(discards) < 2:
        return None
    freed = {other: position.newly_exposed(other) for other in discards}
    most = max(freed.values())
    n_best = sum(value == most for value in freed.values())
    if n_best == len(discards):
        return None
    return freed.get(move, 0) == most, n_best / len(discards)


def difference_of_means(some: Floats, none: Floats, level: float) -> tuple[float, float, float]:
    """The difference of two means and both ends of Welch's interval, from at least two values each."""
    parts = [(float(values.var(ddof=1)) / len(values), len(values) - 1) for values in (some, none)]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / n for part, n in parts)
    difference = float(some.mean() - none.mean())
    half = float(stdtrit(freedom, (1 + level) / 2)) * variance**0.5
    return difference, difference - half, difference + half


def planning(
    events: pd.DataFrame,
    own: pd.DataFrame,
    thresholds: Thresholds | None = None,
    *,
    judge: Judge | None = None,
    games: int = GAMES_JUDGED,
) -> pd.DataFrame:
    """Looking ahead: the pause before moves that uncover cards, and discards that gave a winnable game away.

    The pause is the difference of the mean own time, each fact's median taken off, between discards that set a card
    free and those that do not; its interval is Welch's. A pause may be looking ahead, and may be looking at what was
    just uncovered; it is no merit by itself.

    Args:
        events: everything that was logged, rows with the columns of an event.
        own: as :func:`~pyramid_lab.insight.own_times` gives it.
        thresholds: section ``interval``.
        judge: judges a move; ``None`` leaves everything unjudged.
        games: how many of a student's last games are judged.

    Returns:
        ``student_id``, ``n_uncovering``, ``n_other``, ``pause_s``, ``low_s``, ``high_s`` (NaN below two of each), and
        of the judged discards: ``judged``, ``kept``, ``lost``, ``nothing_to_lose``, ``not_proved``.
    """
    level = (thresholds or Thresholds.default()).interval.level
    timed = own[own["own_s"].notna() & own["newly_exposed"].notna() & (own["fact"] != alone_fact(target_of(own)))]
    rest = timed["own_s"] - timed.groupby(["student_id", "fact"], observed=True)["own_s"].transform("median")
    parts = rest.groupby([timed["student_id"], timed["newly_exposed"] > 0], observed=True)
    groups = {key: values.to_numpy(float) for key, values in parts}
    nothing = np.empty(0)
    found = []
    for student in own["student_id"].drop_duplicates().sort_values():
        some, none = groups.get((student, True), nothing), groups.get((student, False), nothing)
        numbers = (np.nan, np.nan, np.nan)
        if min(len(some), len(none)) >= 2 and np.ptp(np.concatenate([some, none])) > 0:
            numbers = difference_of_means(some, none, level)
        found.append((student, len(some), len(none), *numbers))
    columns = ["student_id", "n_uncovering", "n_other", "pause_s", "low_s", "high_s"]
    rows = in_order(events)
    return _with_verdicts(pd.DataFrame(found, columns=columns), rows, is_discard(rows), judge, games)
