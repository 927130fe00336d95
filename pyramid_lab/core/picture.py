"""Pictures of a deal, a position and a game without a widget: plain text, SVG and HTML, made of strings alone.

A face-down card is never named in a picture. Exposed cards are told from covered ones by their outline and by a dimmed
face, not by colour alone; red suits are drawn as outlined signs, so that they stay distinct in grey.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Final

from pyramid_lab.core.cards import Card

if TYPE_CHECKING:
    from pyramid_lab.core.deal import Deal
    from pyramid_lab.core.game import Game
    from pyramid_lab.core.position import Position

# Sizes in user units of the SVG (about a screen pixel).
_WIDTH: Final = 66
_HEIGHT: Final = 84
_STEP_X: Final = 74
_STEP_Y: Final = 42
_EDGE: Final = 12
_FONT: Final = "font-family='system-ui, DejaVu Sans, sans-serif'"


def position_text(position: Position) -> str:
    """The position as lines of text: exposed cards in brackets, then stock, waste, score and outcome."""
    rules = position.rules
    lines = _pyramid_lines(position, set(position.exposed))
    top = position.stock[:1]
    shown = f", top {top[0].label}" if top and rules.stock_top_in_play else ""
    lines.append(f"stock: {position.stock_left}{shown}")
    for number, pile in enumerate(position.waste_piles, start=1):
        name = "waste" if rules.piles == 1 else f"pile {number}"
        lines.append(f"{name}: {f'{pile[-1].label} on top of {len(pile) - 1}' if pile else 'empty'}")
    lines.append(_summary(position))
    return "\n".join(lines)


def _pyramid_lines(position: Position, in_brackets: set[Card]) -> list[str]:
    lines = []
    for row, cards in enumerate(position.pyramid, start=1):
        cells = [_cell(card, in_brackets) for card in cards]
        lines.append((" " * (3 * (position.rules.rows - row)) + " ".join(cells)).rstrip())
    return lines


def _cell(card: Card | None, exposed: set[Card]) -> str:
    if card is None:
        return "     "
    return f"[{card.label}]".center(5) if card in exposed else card.label.center(5)


def _summary(position: Position) -> str:
    rules = position.rules
    passes = "" if rules.redeals == 0 else f"pass {position.pass_number}, redeals left: {position.redeals_left}; "
    return f"{rules.title}; {passes}score {position.score}; {position.outcome}"


def position_svg(position: Position) -> str:
    """The position as an SVG picture with a title and a description for screen readers."""
    rules = position.rules
    width = rules.rows * _STEP_X - (_STEP_X - _WIDTH) + 2 * _EDGE
    parts = _pyramid(position, width, set(position.exposed))
    y = _EDGE + (rules.rows - 1) * _STEP_Y + _HEIGHT + 2 * _EDGE
    width = max(width, (rules.piles + 1) * _STEP_X + 2 * _EDGE)
    x = (width - (rules.piles + 1) * _STEP_X + (_STEP_X - _WIDTH)) / 2
    if position.stock and rules.stock_top_in_play:
        parts.append(_card(x, y, position.stock[0], True))
    else:
        parts.append(_back(x, y, bool(position.stock)))
    parts.append(_caption(x, y, f"stock: {position.stock_left}"))
    for number, pile in enumerate(position.waste_piles, start=1):
        x += _STEP_X
        parts.append(_card(x, y, pile[-1], True) if pile else _back(x, y, False))
        parts.append(_caption(x, y, f"{'waste' if rules.piles == 1 else f'pile {number}'}: {len(pile)}"))
    return _svg(width, y + _HEIGHT + 24, _summary(position), position_text(position), parts)


def pyramid_svg(position: Position, *, guided: bool = True, scale: float = 1.0) -> str:
    """The pyramid alone as an SVG picture.

    Args:
        position: whose pyramid.
        guided: covered cards are dimmed; off: nothing in the picture or its description says which cards are exposed.
        scale: how much larger than :func:`position_svg` draws it.
    """
    exposed = set(position.exposed)
    width = position.rules.rows * _STEP_X - (_STEP_X - _WIDTH) + 2 * _EDGE
    height = (position.rules.rows - 1) * _STEP_Y + _HEIGHT + 2 * _EDGE
    text = "\n".join(_pyramid_lines(position, exposed if guided else set()))
    cards = _pyramid(position, width, exposed if guided else set(position.deal))
    return _svg(width, height, f"A pyramid of {position.rules.rows} rows", text, cards, scale=scale)


def _pyramid(position: Position, width: float, bright: set[Card]) -> list[str]:
    parts = []
    for row, cards in enumerate(position.pyramid):
        left = (width - (row * _STEP_X + _WIDTH)) / 2
        for column, card in enumerate(cards):
            if card is not None:
                parts.append(_card(left + column * _STEP_X, _EDGE + row * _STEP_Y, card, card in bright))
    return parts


def deal_svg(deal: Deal) -> str:
    """A deal as an SVG picture: the pyramid of seven rows, and the other cards in the order of the stock."""
    width = 7 * _STEP_X - (_STEP_X - _WIDTH) + 2 * _EDGE
    parts = []
    for row in range(7):
        left = (width - (row * _STEP_X + _WIDTH)) / 2
        start = row * (row + 1) // 2
        for column in range(row + 1):
            parts.append(_card(left + column * _STEP_X, _EDGE + row * _STEP_Y, deal[start + column], True))
    y = _EDGE + 6 * _STEP_Y + _HEIGHT + _EDGE + 14
    parts.append(f"<text x='{_EDGE}' y='{y}' font-size='14' {_FONT}>Stock, first card first: </text>")
    for at, card in enumerate(deal.cards[28:]):
        left = _EDGE + at % 12 * 43
        line = y + 24 + at // 12 * 24
        parts.append(f"<text x='{left}' y='{line}' font-size='16' {_FONT}>{card.label}</text>")
    title = "Deal" if deal.seed is None else f"Deal of seed {deal.seed}"
    return _svg(width, y + 60, title, deal.text, parts)


def game_text(game: Game) -> str:
    """The game's position as text, and how to go on."""
    return f"{position_text(game.position)}\n{len(game.moves)} moves made. {_way_on(game)}"


def game_html(game: Game) -> str:
    """The game's last position as a picture, with how to go on; what a saved notebook shows."""
    return (
        f"<figure style='margin:0'>{position_svg(game.position)}"
        f"<figcaption>{len(game.moves)} moves made. {escape(_way_on(game))}</figcaption></figure>"
    )


def _way_on(game: Game) -> str:
    from pyramid_lab.core.position import Outcome

    if game.outcome is Outcome.PLAYING:
        return "To go on, run this cell again, or play a move: game.play(Move.parse('draw'))."
    return "To try again: game.undo() or game.restart()."


def _card(x: float, y: float, card: Card, exposed: bool) -> str:
    ink = "#b3261e" if card.red else "#1b1b1f"
    face, outline, weight = ("#ffffff", "#1b1b1f", 1.6) if exposed else ("#e7e5e0", "#8a8780", 1)
    sign = f"fill='{face}' stroke='{ink}' stroke-width='1.4'" if card.red else f"fill='{ink}'"
    return (
        f"<g><rect x='{x:g}' y='{y:g}' width='{_WIDTH}' height='{_HEIGHT}' rx='6' fill='{face}' stroke='{outline}' "
        f"stroke-width='{weight}'/>"
        f"<text x='{x + 7:g}' y='{y + 27:g}' font-size='24' font-weight='700' fill='{ink}' {_FONT}>"
        f"{card.rank_label}</text>"
        f"<text x='{x + _WIDTH - 7:g}' y='{y + 26:g}' font-size='20' text-anchor='end' {sign} {_FONT}>"
        f"{card.suit_label}</text></g>"
    )


def _back(x: float, y: float, there: bool) -> str:
    look = "fill='#3d5a80' stroke='#1b1b1f'" if there else "fill='none' stroke='#8a8780' stroke-dasharray='5 4'"
    return f"<rect x='{x:g}' y='{y:g}' width='{_WIDTH}' height='{_HEIGHT}' rx='6' {look}/>"


def _caption(x: float, y: float, text: str) -> str:
    middle = x + _WIDTH / 2
    return (
        f"<text x='{middle:g}' y='{y + _HEIGHT + 16:g}' font-size='12' text-anchor='middle' fill='#44423d' {_FONT}>"
        f"{escape(text)}</text>"
    )


def _svg(width: float, height: float, title: str, description: str, parts: Iterable[str], *, scale: float = 1.0) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' width='{scale * width:g}' "
        f"height='{scale * height:g}' role='img' "
        "style='max-width:100%;height:auto;background:#f6f4ee;border-radius:8px'>"
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{''.join(parts)}</svg>"
    )
