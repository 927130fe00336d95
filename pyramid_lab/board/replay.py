"""From the log back to the game: the position, undo and redo as they were, and what earlier games were worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from pyramid_lab.core import (
    DRAW,
    REDEAL,
    Card,
    Deal,
    Game,
    Move,
    Outcome,
    Record,
    Rules,
    record_key,
)
from pyramid_lab.log.events import ASKED, Event, rules_of

AUTO_KINGS = "auto_kings"
REPLAY = "replay"
SEED = "seed:"
# The words that a deal event carries: AUTO_KINGS in `assistance`; in `reason` its seed (`seed:17`) and REPLAY.
_AWAY = {"pause": "resume", "focus_lost": "focus_back"}


class ResumeError(ValueError):
    """The log has no such game, or holds something that cannot be played again; the message says which event."""


@dataclass(slots=True)
class Resumed:
    """A game as the log left it.

    Attributes:
        game: with its position, undo and redo.
        events: how many events of it the log holds.
        last: the latest of them.
        active_ms: time played so far, in ms, without pauses and time away.
        firsts: for each step that undo takes back, the card chosen first (``None`` for a draw or redeal).
    """

    game: Game
    events: int
    last: Event
    active_ms: int
    firsts: list[Card | None] = field(default_factory=list)


def resume_game(game_id: str, events: Iterable[Event]) -> Resumed:
    """Play the logged events of one game again.

    Args:
        game_id: which game; other events are passed over.
        events: in any order.

    Raises:
        ResumeError: no event of this game, none that tells the deal, one that cannot be played, or two with one number.
    """
    own = sorted((event for event in events if event.game_id == game_id), key=lambda event: event.event_index)
    if not own:
        raise ResumeError(f"the log holds no game {game_id!r}")
    for event, other in pairwise(own):
        if event.event_index == other.event_index:
            raise ResumeError(
                f"game {game_id} was played in two places at once from its event {event.event_index} on, so that its "
                "position cannot be known; take the deal again"
            )
    first = own[0]
    rules = rules_of(first.rule_set)
    kings = first.event_type == "deal" and AUTO_KINGS in (first.assistance or "").split()
    game = Game(rules, _deal_of(first, rules.target), auto_kings=kings)
    firsts: list[Card | None] = []
    undone: list[Card | None] = []
    for event in own:
        try:
            if takes_cards(event):
                cards = [Card.parse(text) for text in (event.first_card, event.second_card) if text]
                game.play(Move.discard(*cards))
                firsts.append(cards[0])
                undone.clear()
            elif event.event_type in ("draw", "redeal"):
                game.play(DRAW if event.event_type == "draw" else REDEAL)
                firsts.append(None)
                undone.clear()
            elif event.event_type == "undo":
                game.undo()
                undone.append(firsts.pop())
            elif event.event_type == "redo":
                game.redo()
                firsts.append(undone.pop())
        except (ValueError, IndexError) as error:
            raise ResumeError(
                f"event {event.event_index} ({event.event_type}) of game {game_id} cannot be played: {error}"
            ) from error
    return Resumed(game, own[-1].event_index + 1, own[-1], active_ms(own), firsts)


def takes_cards(event: Event) -> bool:
    """Whether an event is a try that took cards away; an answer to the missing number is right and takes none."""
    return (
        event.event_type == "attempt" and event.outcome == "correct" and not (event.assistance or "").startswith(ASKED)
    )


def changes_game(event: Event) -> bool:
    """Whether after an event the game is another: cards were taken or turned, a move went back, or it ended."""
    return takes_cards(event) or event.event_type in ("draw", "redeal", "undo", "redo", "end")


def _deal_of(event: Event, target: int) -> Deal:
    """The deal of an event, with its seed if the log tells it."""
    deal = Deal.from_text(event.deal, target)
    for word in (event.reason or "").split() if event.event_type == "deal" else ():
        if word.startswith(SEED):
            seeded = Deal.from_seed(int(word.removeprefix(SEED)), target)
            return seeded if seeded == deal else deal
    return deal


def active_ms(events: Iterable[Event]) -> int:
    """Time played in ms: from the first move to the last event of one game, without pauses, time away, and the time
    between two sittings.

    Args:
        events: of one game, in order.
    """
    last: datetime | None = None
    sitting = ""
    total = 0.0
    away: set[str] = set()
    for event in events:
        if event.event_type == "deal":
            continue
        if event.session_id != sitting:
            away.clear()
        elif last is not None and not away:
            total += max(0.0, (event.t_utc - last).total_seconds())
        if event.event_type in _AWAY:
            away.add(_AWAY[event.event_type])
        else:
            away.discard(event.event_type)
        last, sitting = event.t_utc, event.session_id
    return round(total * 1000)


def best_of(events: Iterable[Event], student_id: str, rules: Rules) -> Record:
    """What one student has done best under one rule set and redeal setting, from the log.

    Args:
        events: of any students and games.
        student_id: whose records.
        rules: the rules; games under another redeal setting do not count.
    """
    key = record_key(rules)
    keys: dict[str, str] = {}
    games: dict[str, list[Event]] = {}
    for event in events:
        if event.student_id == student_id:
            text = event.rule_set
            if text not in keys:
                keys[text] = record_key(rules_of(text))
            if keys[text] == key:
                games.setdefault(event.game_id, []).append(event)
    best = Record()
    for own in games.values():
        own.sort(key=lambda event: event.event_index)
        ends = [event for event in own if event.event_type == "end" and event.outcome in ("won", "lost")]
        if ends:
            best = best.after(
                score=ends[-1].score or 0,
                outcome=Outcome(ends[-1].outcome or ""),
                moves=_moves(own),
                active_ms=active_ms(own),
            )
    return best


def _moves(events: Iterable[Event]) -> int:
    """Moves that stand at the end of a game: those taken back do not count."""
    count = 0
    for event in events:
        if event.event_type in ("draw", "redeal", "redo") or takes_cards(event):
            count += 1
        elif event.event_type == "undo":
            count -= 1
    return count


def was_played(events: Iterable[Event], student_id: str, deal: Deal, rule_set: str) -> bool:
    """Whether the student has begun this deal under these rules before."""
    return any(
        event.student_id == student_id and event.deal == deal.text and event.rule_set == rule_set for event in events
    )
