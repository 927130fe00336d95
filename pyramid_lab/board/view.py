"""The picture that the page draws: one plain dictionary per change, and every word on it.

The page knows no rules and is told nothing of a card that lies face down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Literal

from pyramid_lab.board.modes import CHOICE_LABELS, CHOICES, PANEL, Modes
from pyramid_lab.core import (
    UNLIMITED,
    Card,
    Game,
    IllegalMoveError,
    Move,
    MoveKind,
    Outcome,
    Place,
    Position,
    Reason,
    addend,
    deal_code,
)
from pyramid_lab.core.rules import RULE_SETS, Rules

Tone = Literal["calm", "good", "try", "end", "trouble"]
Timing = Literal["shown", "select", "keep"]

# What helps a player at the screen has no place where the tutor taps for a player at a table.
_NOT_AT_A_TABLE: Final = frozenset({"hints", "undo", "retry"})

# What is said before a game that runs is ended: one line on a wide board, so that the button stays under the finger.
_SURE: Final[dict[str, dict[str, str]]] = {
    "restart": {
        "label": "Restart?",
        "name": "Restart this deal: press once more to give this game up",
        "text": "This game is not over. Press once more to begin it again.",
    },
    "new": {
        "label": "New?",
        "name": "New deal: press once more to give this game up",
        "text": "This game is not over. Press once more for a new deal.",
    },
}

_SUITS: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
_RANKS: Final = {1: "ace", 11: "jack", 12: "queen", 13: "king"}


@dataclass(frozen=True, slots=True)
class Scene:
    """What is on the board besides the position: choices, words and how the next time is taken.

    Attributes:
        message: the line under the table.
        tone: how it is marked.
        announce: what a screen reader is told once; ``""``: the message.
        selected: cards chosen, in order.
        wrong: the cards of a wrong try that is being talked about.
        hint: the move pointed at.
        answered: the chosen card whose missing number has been answered rightly.
        slip: the wrong pair may still be called a slip.
        timing: see the page's ``View``.
        end: lines under the title of an ended game.
    """

    message: str = ""
    tone: Tone = "calm"
    announce: str = ""
    selected: tuple[Card, ...] = ()
    wrong: tuple[Card, ...] = ()
    hint: Move | None = None
    answered: Card | None = None
    slip: bool = False
    timing: Timing = "shown"
    end: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """What stays around the scene: numbers, clock, and whether the game has begun or rests."""

    number: int
    board: str
    started: bool = False
    paused: bool = False
    clock_ms: int = 0
    closed: str = ""
    modes: Modes = field(default_factory=Modes)


def spoken(card: Card) -> str:
    """A card as it is read out: ``8 of clubs``, ``jack of diamonds``."""
    return f"{_RANKS.get(card.rank, card.rank)} of {_SUITS[card.suit]}"


def sentence(text: str) -> str:
    """A sentence of the rules as it stands on the board: a capital first, a full stop last."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def game_code(game: Game) -> str:
    """How the deal is named on the board: its code (``classic-17-Q``), or its seed, or that it has none."""
    seed, name = game.deal.seed, game.rules.name
    if seed is None:
        return "own deal"
    return deal_code(name, seed) if RULE_SETS.get(name) == game.rules else f"deal {seed}"


def pass_text(position: Position) -> str:
    """The pass in words: ``pass 2 of 3``, or ``pass 2`` where there is no last one."""
    redeals = position.rules.redeals
    if redeals == UNLIMITED:
        return f"pass {position.pass_number}"
    return f"pass {position.pass_number} of {redeals + 1}"


def welcome(game: Game, modes: Modes) -> str:
    """The message of a new game."""
    target = game.rules.target
    alone = f"{_alone(target)} goes alone"
    if modes.table:
        return f"Table recorder: tap each card as the player takes it. {alone}."
    return f"Take two free cards that make {target}. {alone}."


def _alone(target: int) -> str:
    return {13: "A king", 12: "A queen", 11: "A jack"}.get(target, f"A {target}")


def judged(
    position: Position, cards: Sequence[Card], error: IllegalMoveError | None, modes: Modes, *, kept: bool = False
) -> str:
    """What the board says to a try: what was right, or what was in the way and how to go on.

    Args:
        kept: the first card is still chosen after a try that failed.
    """
    if modes.table:
        return f"Noted: {_noted(position, cards, error)}"
    if error is None:
        if len(cards) == 1:
            return f"{cards[0].label} is {position.rules.target}: it goes alone."
        first, second = (addend(card.rank) for card in cards)
        return f"{first} + {second} is {position.rules.target}."
    text = sentence(str(error))
    if error.reason is Reason.WRONG_TOTAL:
        off = sum(card.rank for card in cards) - position.rules.target
        near = f" That is {abs(off)} too {'many' if off > 0 else 'few'}."
        kind = f" {cards[0].label} is still chosen: try another partner." if kept else " Have another try."
        return text + near + kind
    return text


def _noted(position: Position, cards: Sequence[Card], error: IllegalMoveError | None) -> str:
    """A try at a table, said back to the tutor who tapped it; the player is not at the screen."""
    if error is not None:
        return sentence(str(error))
    if len(cards) == 1:
        return f"{cards[0].label} alone."
    return f"{cards[0].label} and {cards[1].label}, {position.rules.target}."


def drawn_text(position: Position, *, heard: bool = False) -> str:
    """What a draw turned up, for the message line or to be read out."""
    name = spoken if heard else (lambda card: card.label)
    tops = [card for card in position.pile_tops if card is not None]
    if position.rules.piles == 1:
        text = f"Turned {name(tops[0])}" if tops else "Turned"
        if position.rules.stock_top_in_play and position.stock:
            text += f"; next on the stock: {name(position.stock[0])}"
        return f"{text}."
    return f"On the piles: {', '.join(name(card) for card in tops)}."


def make_view(game: Game, frame: Frame, scene: Scene) -> dict[str, Any]:
    """The view as the page's ``View`` describes it, of plain JSON values."""
    position, rules, modes = game.position, game.rules, frame.modes
    outcome = game.outcome
    playing = outcome is Outcome.PLAYING and not frame.closed
    exposed = set(position.exposed)
    hint: list[str] = []
    if scene.hint is not None:
        hint = [card.text for card in scene.hint.cards] or [scene.hint.kind.value]
    pyramid = [
        _card(position, card, card in exposed, modes) for row in position.pyramid for card in row if card is not None
    ]
    return {
        "number": frame.number,
        "board": frame.board,
        "title": f"Recording: {rules.title or rules.name}" if modes.table else rules.title or rules.name,
        "deal": game_code(game),
        "target": rules.target,
        "rows": rules.rows,
        "pyramid": pyramid,
        "stock": _stock(position, playing and not frame.paused, modes),
        "piles": _piles(position, modes),
        "selected": [card.text for card in scene.selected],
        "wrong": [card.text for card in scene.wrong],
        "hint": hint,
        "message": frame.closed or scene.message,
        "tone": "trouble" if frame.closed else scene.tone,
        "announce": frame.closed or scene.announce or scene.message,
        "status": _status(game, modes),
        "actions": [] if frame.closed else _actions(game, frame, scene),
        "playing": playing,
        "started": frame.started,
        "paused": frame.paused,
        "timing": scene.timing,
        "ask": modes.ask,
        "answered": scene.answered.text if scene.answered else "",
        "slip": scene.slip and not modes.table,
        "clock": {"ms": frame.clock_ms, "running": playing and frame.started and not frame.paused}
        if modes.clock
        else None,
        "look": {
            "guided": modes.guided,
            "values": modes.values,
            "theme": modes.theme,
            "contrast": modes.contrast,
            "four_colours": modes.four_colours,
            "motion": modes.motion,
            "undo_selection": rules.name == "cardems",
        },
        "settings": _settings(modes, rules) if modes.settings and not frame.closed else [],
        "end": _end(game, scene) if outcome is not Outcome.PLAYING and not frame.closed else None,
    }


def _card(position: Position, card: Card, free: bool, modes: Modes) -> Mapping[str, Any]:
    lying_on = () if free else position.coverers(card)
    under_partner = position.rules.coverer_pairs and len(lying_on) == 1 and position.is_exposed(lying_on[0])
    return _described(card, position.place(card), lying_on, free or under_partner, position.rules.target, modes)


# From one view to the next most cards stay as they were, and saying it all again takes longer than the move.
@lru_cache(maxsize=1024)
def _described(
    card: Card, place: Place, lying_on: tuple[Card, ...], can_open: bool, target: int, modes: Modes
) -> Mapping[str, Any]:
    free = not lying_on
    if place.kind == "pyramid":
        where = f"row {place.row}, place {place.column}"
    elif place.kind == "stock":
        where = "top of the stock"
    else:
        where = f"top of pile {place.pile}" if place.pile else "top of the waste"
    state = "exposed" if free else f"covered by {' and '.join(spoken(coverer) for coverer in lying_on)}"
    if modes.table and (modes.say or modes.ask != "off"):
        prompt = f"Ask the player: what goes with {card.label} to make {target}?"
        chosen = f"{spoken(card)} chosen. {'Tap' if modes.ask == 'choose' else 'Enter'} what the player says."
        if modes.ask == "off":
            chosen = f"{spoken(card)} chosen. Ask the player: what makes {target}?"
    elif modes.say:
        prompt = f"Say it aloud: what goes with {card.label} to make {target}?"
        chosen = f"{spoken(card)} chosen. Say it aloud: what makes {target}?"
    elif modes.ask != "off":
        prompt = f"What goes with {card.label} to make {target}?"
        chosen = f"{spoken(card)} chosen. What makes {target}?"
    else:
        prompt = f"{addend(card.rank)} + ? = {target}"
        chosen = f"{spoken(card)} chosen"
    return {
        "card": card.text,
        "rank": card.rank_label,
        "suit": card.suit,
        "value": card.value,
        "name": f"{spoken(card)}, {where}, {state}",
        "open": can_open,
        "exposed": free,
        "alone": free and card.rank == target,
        "row": place.row,
        "column": place.column,
        "prompt": prompt if can_open else "",
        "chosen": chosen if can_open else "",
    }


def _count(number: int) -> str:
    return "1 card" if number == 1 else f"{number} cards"


def _stock(position: Position, playing: bool, modes: Modes) -> dict[str, Any]:
    rules, left = position.rules, position.stock_left
    top = position.stock[0] if left and rules.stock_top_in_play else None
    passes = f", {pass_text(position)}" if modes.passes else ""
    turn = "Turn" if rules.draw == 1 else f"Turn {min(rules.draw, left) if left else rules.draw}"
    what = "a card" if rules.draw == 1 else _count(rules.draw)
    draw = {
        "action": "draw",
        "label": turn if left else "Empty",
        "name": f"Turn {what}. Stock: {_count(left)}{passes}" if left else f"Stock: empty{passes}",
        "enabled": bool(left) and playing,
        "why": "The game has ended." if left else "The stock is empty.",
    }
    redeal = None
    if not left and position.redeal_allowed:
        redeal = {
            "action": "redeal",
            "label": "Turn over",
            "name": f"Turn the waste over: {_count(position.waste_left)}{passes}",
            "enabled": playing,
            "why": "The game has ended.",
        }
    return {
        "label": f"Stock: {_count(left)}{passes}",
        "caption": f"Stock {left}",
        "left": left,
        "card": None if top is None else _card(position, top, True, modes),
        "draw": draw,
        "redeal": redeal,
    }


def _piles(position: Position, modes: Modes) -> list[dict[str, Any]]:
    found = []
    for number, pile in enumerate(position.waste_piles, start=1):
        name = "Waste" if position.rules.piles == 1 else f"Pile {number}"
        found.append(
            {
                "label": f"{name}: {_count(len(pile))}",
                "caption": f"{name} {len(pile)}" if position.rules.piles == 1 else f"{name}: {len(pile)}",
                "left": len(pile),
                "card": _card(position, pile[-1], True, modes) if pile else None,
            }
        )
    return found


def _has_points(rules: Rules) -> bool:
    scoring = rules.scoring
    return any(
        (scoring.start_per_card, scoring.card, scoring.match, scoring.pyramid_card, scoring.clear, scoring.row_bonus)
    )


def shown_modes(modes: Modes, rules: Rules) -> Modes:
    """The modes with what the rule set decides filled in: score and combo are shown where they are counted."""
    return replace(
        modes,
        score=_has_points(rules) if modes.score is None else modes.score,
        combo=rules.combo if modes.combo is None else modes.combo,
    )


def _status(game: Game, modes: Modes) -> list[dict[str, str]]:
    position = game.position
    shown = shown_modes(modes, game.rules)
    lines = [("left", "Left", f"{position.pyramid_left}")]
    if shown.score:
        lines.append(("score", "Score", f"{position.score}"))
    if shown.combo:
        lines.append(("combo", "Combo", f"{position.combo}"))
    if modes.passes:
        number = pass_text(position).removeprefix("pass ")
        lines.append(("pass", "Pass", number))
    return [{"name": name, "label": label, "value": value} for name, label, value in lines]


def _actions(game: Game, frame: Frame, scene: Scene) -> list[dict[str, Any]]:
    modes = frame.modes
    playing = game.outcome is Outcome.PLAYING
    over = f"The game has ended: press {'Undo, ' if modes.undo else ''}Restart or New."
    found: list[tuple[str, str, str, bool, str]] = []
    if modes.hints and not modes.table:
        found.append(("hint", "Hint", "Hint", playing, over))
    if modes.table:
        mendable = game.can_undo or scene.slip
        found.append(("undo", "Mend", "Mend a wrong tap: take it back", mendable, "There is nothing to take back."))
    elif modes.undo:
        found.append(("undo", "Undo", "Undo", game.can_undo, "There is nothing to undo yet."))
        found.append(("redo", "Redo", "Redo", game.can_redo, "There is nothing to redo."))
    found.append(("restart", "Restart", "Restart this deal", frame.started, "This is the start of the deal."))
    found.append(("new", "New", "New deal", True, ""))
    if playing:
        done = "The player is done with this deal" if modes.table else "I am done with this deal"
        found.append(("finish", "Done", done, frame.started, "Play a move first."))
        name, label = ("resume", "Go on") if frame.paused else ("pause", "Pause")
        found.append((name, label, label, frame.started or frame.paused, "The game has not begun yet."))
    if modes.settings:
        found.append(("settings", "Settings", "Settings", True, ""))
    sure = _SURE if playing and game.moves else {}
    return [
        {"action": action, "label": label, "name": name, "enabled": enabled, "why": why, "sure": sure.get(action)}
        for action, label, name, enabled, why in found
    ]


def _settings(modes: Modes, rules: Rules) -> list[dict[str, Any]]:
    shown = shown_modes(modes, rules)
    found = []
    for name, label in PANEL.items():
        if (name == "score" and not _has_points(rules)) or (name == "combo" and not rules.combo):
            continue
        if modes.table and name in _NOT_AT_A_TABLE:
            continue
        choices = [[value, CHOICE_LABELS[name][value]] for value in CHOICES[name]] if name in CHOICES else []
        found.append({"name": name, "label": label, "value": getattr(shown, name), "choices": choices})
    return found


def _end(game: Game, scene: Scene) -> dict[str, Any]:
    position = game.position
    won = game.outcome is Outcome.WON
    if won:
        title = "The pyramid is clear. Well played!"
    elif game.finished:
        title = f"Done. {_count(position.pyramid_left)} left in the pyramid."
    else:
        title = f"No move is left: {_count(position.pyramid_left)} in the pyramid."
    return {"title": title, "lines": list(scene.end), "won": won}


def move_text(move: Move) -> str:
    """A hint in words."""
    if move.kind is MoveKind.DRAW:
        return "Turn a card."
    if move.kind is MoveKind.REDEAL:
        return "Turn the waste over."
    if len(move.cards) == 1:
        return f"Look at {move.cards[0].label}."
    return f"Look at {move.cards[0].label} and {move.cards[1].label}."
