"""What the tests of the core share: the slow game's rules and moves put into the words of ``pyramid_lab.core``."""

from __future__ import annotations

from typing import Any

from pyramid_lab.core import Card, Deal, Game, Move, Position, Rules
from tests.core.slow_game import NAMED, SlowGame, spec

SEED_RULES = ("classic", "one-pass", "cardems", "table", "three-pile")


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card.parse(word) for word in text.split())


def rules_pair(base: str, changes: dict[str, Any]) -> tuple[Rules, dict[str, Any]]:
    """The same rule set for the core (as a user names it) and for the slow game."""
    return Rules.from_dict({"base": base, **changes}), spec(NAMED[base], **changes)


def game_pair(base: str, changes: dict[str, Any], deal: list[str]) -> tuple[Game, SlowGame]:
    rules, slow_rules = rules_pair(base, changes)
    return Game(rules, Deal.from_text(" ".join(deal), rules.target)), SlowGame(slow_rules, deal)


def same_move(text: str) -> frozenset[str] | str:
    """A move's text without the order of its cards."""
    return frozenset(text.split("+"))


def texts(moves: tuple[Move, ...]) -> list[frozenset[str] | str]:
    return [same_move(str(move)) for move in moves]


def put_up(
    rules: Rules,
    pyramid: dict[tuple[int, int], str],
    *,
    stock: str = "",
    waste: str = "",
    redeals_used: int = 0,
) -> Position:
    """A position with only the named cards left; every other card of the pack has been discarded.

    Args:
        rules: the rule set.
        pyramid: cards by row and place, both from 1.
        stock: cards still in the stock, the next one first.
        waste: cards already turned, in the order they were turned; ``-`` for one that has been discarded since.
        redeals_used: how often the waste has been turned over.
    """
    n_pyramid, size = rules.n_pyramid, rules.pack_size
    turned, to_come = waste.split(), stock.split()
    turned += ["-"] * (-len(turned) % rules.piles)  # three piles are filled three cards at a time
    first_of_stock = size - len(to_come)
    wanted: dict[int, Card] = {row * (row - 1) // 2 + at - 1: Card.parse(card) for (row, at), card in pyramid.items()}
    wanted |= {n_pyramid + at: Card.parse(card) for at, card in enumerate(turned) if card != "-"}
    wanted |= {first_of_stock + at: Card.parse(card) for at, card in enumerate(to_come)}
    others = iter([card for card in pack_of(rules) if card not in wanted.values()])
    deal = Deal(tuple(wanted[place] if place in wanted else next(others) for place in range(size)), rules.target)
    gone = sum(1 << place for place in range(size) if place not in wanted)
    return Position.of(rules, deal, gone=gone, next=n_pyramid + len(turned), redeals_used=redeals_used)


def game_at(position: Position) -> Game:
    """A game that stands at a position put up by hand, with nothing to undo."""
    game = Game(position.rules, position.deal)
    game._position = position
    return game


def pack_of(rules: Rules) -> list[Card]:
    return [Card.parse(rank + suit) for rank in "A23456789TJQK"[: rules.target] for suit in "cdhs"]


def assert_same(position: Position, slow: SlowGame) -> None:
    """Every fact of a position, read from both sides."""
    assert [[None if card is None else str(card) for card in row] for row in position.pyramid] == slow.pyramid
    assert [str(card) for card in position.stock] == slow.stock
    assert [[str(card) for card in pile] for pile in position.waste_piles] == slow.piles
    assert position.pyramid_left == len(slow.pyramid_cards())
    assert position.stock_left == len(slow.stock)
    assert position.waste_left == len(slow.waste_cards())
    assert position.pile_tops == tuple(Card.parse(pile[-1]) if pile else None for pile in slow.piles)
    assert [str(card) for card in position.exposed] == slow.available()
    assert (position.redeals_used, position.redeals_left) == (slow.redeals_used, slow.redeals_left())
    assert position.pass_number == slow.redeals_used + 1
    assert (position.score, position.combo) == (slow.score, slow.combo)
    assert position.outcome == slow.outcome()
    if slow.outcome() != "won":
        assert texts(position.legal_discards()) == [same_move(move) for move in slow.discards()]
        assert position.stuck == (not slow.discards())
        assert position.redeal_allowed == slow.may_redeal()
    assert texts(position.legal_moves()) == [same_move(move) for move in slow.moves()]
