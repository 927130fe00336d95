"""Pyramid, played slowly: a second reading of the rules, to hold the first one to account.

Written from the rules alone: cards are text ("Ah"), piles are lists, rules are plain dicts, and every question
is answered the long way round. It shares no code and no idea of representation with ``pyramid_lab.core``, so that
the two can only agree by both being right. Import it in tests only.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

RANKS = "A23456789TJQK"
SUITS = "cdhs"

NO_SCORE: dict[str, Any] = {
    "start_per_card": 0,
    "card": 0,
    "match": 0,
    "pyramid_card": 0,
    "row_bonus": (),
    "redeal": 0,
    "floor": None,
    "clear": (),
    "clear_per_card_left": 0,
}

# Seven rows, pairs to 13, one card at a time to one waste whose top alone is in play, one pass.
PLAIN: dict[str, Any] = {
    "rows": 7,
    "target": 13,
    "draw": 1,
    "piles": 1,
    "redeals": 0,
    "stock_top_in_play": False,
    "stock_waste_pair": False,
    "piles_pair": False,
    "coverer_pairs": False,
    "win": "pyramid",
    "useful_redeal": 1,
    "combo": False,
    "scoring": NO_SCORE,
}


def spec(base: dict[str, Any] = PLAIN, /, *, scoring: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A rules dict like ``base`` with some fields changed."""
    unknown = set(changes) - set(PLAIN)
    assert not unknown, f"no such field: {unknown}"
    return {**base, **changes, "scoring": {**base["scoring"], **(scoring or {})}}


CLASSIC = spec(
    redeals=2,
    stock_top_in_play=True,
    stock_waste_pair=True,
    useful_redeal=2,
    scoring={"card": 5, "row_bonus": (25, 50, 75, 100, 125, 150, 175)},
)
ONE_PASS = spec(combo=True, scoring={"pyramid_card": 1})
CARDEMS = spec(
    redeals="unlimited",
    scoring={"card": 10, "redeal": -10, "floor": 0, "clear": (100,), "clear_per_card_left": 5},
)
TABLE = spec()
THREE_PILE = spec(draw=3, piles=3, piles_pair=True)
# Played as classic; 5 for each match and row bonuses of 25 .. 500: at best 28 matches x 5 + 1150 = 1290.
MICROSOFT = spec(CLASSIC, scoring={"card": 0, "match": 5, "row_bonus": (25, 50, 75, 100, 150, 250, 500)})
# Played as classic; minus one for every card left, and a pyramid cleared in pass 1, 2, 3 earns 50, 35, 20.
PAR = spec(
    CLASSIC,
    scoring={"start_per_card": -1, "card": 1, "row_bonus": (), "clear": (50, 35, 20)},
)

NAMED: dict[str, dict[str, Any]] = {
    "classic": CLASSIC,
    "one-pass": ONE_PASS,
    "cardems": CARDEMS,
    "table": TABLE,
    "three-pile": THREE_PILE,
    "microsoft": MICROSOFT,
    "par": PAR,
}


def value(card: str) -> int:
    return RANKS.index(card[0]) + 1


def pack(target: int = 13) -> list[str]:
    return [rank + suit for rank in RANKS[:target] for suit in SUITS]


def shuffled(number: int, target: int = 13) -> list[str]:
    """A deal for tests; any shuffle will do here, the text of the deal is what is kept."""
    cards = pack(target)
    random.Random(number).shuffle(cards)
    return cards


class SlowGame:
    """One playing; every move copies the whole table first, so that undo cannot go wrong."""

    def __init__(self, rules: dict[str, Any], deal: list[str]) -> None:
        assert sorted(deal) == sorted(pack(rules["target"]))
        self.rules = rules
        left = list(deal)
        self.pyramid: list[list[str | None]] = []
        for row in range(1, rules["rows"] + 1):
            self.pyramid.append(list(left[:row]))
            left = left[row:]
        self.stock: list[str] = left  # the next card to be turned is the first
        self.turned_order = list(left)
        self.piles: list[list[str]] = [[] for _ in range(rules["piles"])]  # the top is the last
        self.discarded: list[str] = []
        self.redeals_used = 0
        self.combo = 0
        self.score = rules["scoring"]["start_per_card"] * len(deal)

    # What lies where

    def copy(self) -> SlowGame:
        twin = copy.copy(self)
        twin.pyramid = [list(row) for row in self.pyramid]
        twin.stock = list(self.stock)
        twin.piles = [list(pile) for pile in self.piles]
        twin.discarded = list(self.discarded)
        return twin

    def pyramid_cards(self) -> list[str]:
        return [card for row in self.pyramid for card in row if card is not None]

    def waste_cards(self) -> list[str]:
        return [card for pile in self.piles for card in pile]

    def where(self, card: str) -> tuple[Any, ...]:
        for r, row in enumerate(self.pyramid):
            for c, here in enumerate(row):
                if here == card:
                    return ("pyramid", r, c)
        for p, pile in enumerate(self.piles):
            if card in pile:
                return ("waste", p, len(pile) - 1 - pile.index(card))
        if card in self.stock:
            return ("stock", self.stock.index(card))
        assert card in self.discarded
        return ("discard",)

    def coverers(self, card: str) -> list[str]:
        place = self.where(card)
        if place[0] != "pyramid" or place[1] + 1 == self.rules["rows"]:
            return []
        below = self.pyramid[place[1] + 1]
        return [lying for lying in (below[place[2]], below[place[2] + 1]) if lying is not None]

    def available(self) -> list[str]:
        """Cards in play in board order: the pyramid from the apex, pile tops, the stock's top."""
        cards = []
        for r, row in enumerate(self.pyramid):
            for c, card in enumerate(row):
                bottom = r + 1 == self.rules["rows"]
                if card is not None and (bottom or self.pyramid[r + 1][c] is self.pyramid[r + 1][c + 1] is None):
                    cards.append(card)
        cards += [pile[-1] for pile in self.piles if pile]
        if self.rules["stock_top_in_play"] and self.stock:
            cards.append(self.stock[0])
        return cards

    # What may be done

    def pair_allowed(self, one: str, two: str) -> bool:
        kinds = sorted([self.where(one)[0], self.where(two)[0]])
        if kinds == ["stock", "waste"]:
            return bool(self.rules["stock_waste_pair"])
        if kinds == ["waste", "waste"]:
            return bool(self.rules["piles_pair"])
        return True

    def may_discard(self, *cards: str) -> bool:
        """Whether these cards may leave now, asked of the table as it lies (not of whether the game is over)."""
        if sum(value(card) for card in cards) != self.rules["target"] or len(set(cards)) < len(cards):
            return False
        available = self.available()
        if len(cards) == 1:
            return cards[0] in available
        one, two = cards
        if one in available and two in available:
            return self.pair_allowed(one, two)
        if self.rules["coverer_pairs"]:
            for under, over in ((one, two), (two, one)):
                if self.coverers(under) == [over] and over in available:
                    return True
        return False

    def discards(self) -> list[str]:
        """Legal discards: by the place of their first card in board order, then of their second."""
        cards = self.available()
        if self.rules["coverer_pairs"]:
            cards = self.pyramid_cards() + [card for card in cards if card not in self.pyramid_cards()]
        found = []
        for i, one in enumerate(cards):
            if self.may_discard(one):
                found.append(one)
            found += [f"{one}+{two}" for two in cards[i + 1 :] if self.may_discard(one, two)]
        return found

    def redeals_left(self) -> int | str:
        return "unlimited" if self.rules["redeals"] == "unlimited" else self.rules["redeals"] - self.redeals_used

    def may_redeal(self) -> bool:
        return not self.stock and bool(self.waste_cards()) and self.redeals_left() != 0

    def outcome(self) -> str:
        cleared = not self.pyramid_cards()
        if cleared and (self.rules["win"] == "pyramid" or not (self.stock or self.waste_cards())):
            return "won"
        if self.stock or self.discards():
            return "playing"
        if self.may_redeal() and len(self.waste_cards()) >= self.rules["useful_redeal"]:
            return "playing"
        return "lost"

    def moves(self) -> list[str]:
        if self.outcome() != "playing":
            return []
        return self.discards() + ["draw"] * bool(self.stock) + ["redeal"] * self.may_redeal()

    # Doing it

    def play(self, move: str) -> SlowGame:
        """The game after ``move``; this one stays as it is."""
        assert move in self.moves() or "+".join(reversed(move.split("+"))) in self.moves(), move
        after = self.copy()
        if move == "draw":
            after._draw()
        elif move == "redeal":
            after._redeal()
        else:
            after._discard(move.split("+"))
        return after

    def _draw(self) -> None:
        for turned in range(self.rules["draw"]):
            if self.stock:
                self.piles[turned % len(self.piles)].append(self.stock.pop(0))
        self.combo = 0

    def _redeal(self) -> None:
        # Turned over unshuffled: the first card that was turned is the first to be turned again.
        if len(self.piles) == 1:
            self.stock = list(self.piles[0])
        else:
            self.stock = [card for card in self.turned_order if card in self.waste_cards()]
        self.piles = [[] for _ in self.piles]
        self.redeals_used += 1
        self._add(self.rules["scoring"]["redeal"])

    def _discard(self, cards: list[str]) -> None:
        scoring = self.rules["scoring"]
        rows_before = [any(card is not None for card in row) for row in self.pyramid]
        from_pyramid = 0
        for card in cards:
            place = self.where(card)
            if place[0] == "pyramid":
                self.pyramid[place[1]][place[2]] = None
                from_pyramid += 1
            elif place[0] == "waste":
                self.piles[place[1]].remove(card)
            else:
                self.stock.remove(card)
            self.discarded.append(card)
        points = scoring["card"] * len(cards) + scoring["match"] + scoring["pyramid_card"] * from_pyramid
        for row, had_cards in enumerate(rows_before):
            if had_cards and not any(card is not None for card in self.pyramid[row]):
                from_below = self.rules["rows"] - 1 - row  # bonuses are listed from the bottom row up
                if from_below < len(scoring["row_bonus"]):
                    points += scoring["row_bonus"][from_below]
        if from_pyramid and not self.pyramid_cards():
            if scoring["clear"]:
                points += scoring["clear"][min(self.redeals_used, len(scoring["clear"]) - 1)]
            points += scoring["clear_per_card_left"] * (len(self.stock) + len(self.waste_cards()))
        self._add(points)
        if self.rules["combo"]:
            self.combo += 1

    def _add(self, points: int) -> None:
        floor = self.rules["scoring"]["floor"]
        self.score = self.score + points if floor is None else max(floor, self.score + points)

    # Why not: every reason that is true of an illegal try; an engine may name any one of them.

    def reasons(self, move: str) -> set[str]:
        if self.outcome() != "playing":
            return {"game_over"}
        if move == "draw":
            return set() if self.stock else {"stock_empty"}
        if move == "redeal":
            why = set()
            if self.stock:
                why.add("stock_not_empty")
            if not self.waste_cards():
                why.add("waste_empty")
            if self.redeals_left() == 0:
                why.add("no_redeals")
            return why
        cards = move.split("+")
        if self.may_discard(*cards):
            return set()
        why = set()
        if len(cards) == 1 and value(cards[0]) != self.rules["target"]:
            why.add("needs_partner")
        if len(cards) == 2:
            if cards[0] == cards[1]:
                why.add("same_card")
            elif value(cards[0]) + value(cards[1]) != self.rules["target"]:
                why.add("wrong_total")
            if any(value(card) == self.rules["target"] for card in cards):
                why.add("king_alone")
        for card in cards:
            if self.coverers(card):
                why.add("covered")
            place = self.where(card)
            if place[0] == "discard":
                why.add("discarded")
            if place[0] == "waste" and place[2] > 0:
                why.add("buried")
            if place[0] == "stock" and card not in self.available():
                why.add("face_down")
        kinds = sorted(self.where(card)[0] for card in cards)
        if kinds == ["stock", "waste"] and not self.rules["stock_waste_pair"]:
            why.add("stock_waste")
        if kinds == ["waste", "waste"] and not self.rules["piles_pair"]:
            why.add("pile_pair")
        return why


def count(game: SlowGame, depth: int) -> int:
    """How many sequences of ``depth`` legal moves start here ("perft")."""
    if depth == 1:
        return len(game.moves())
    return sum(count(game.play(move), depth - 1) for move in game.moves())


def walk(game: SlowGame, number: int, length: int) -> Iterator[tuple[str, SlowGame]]:
    """A random playing: each move with the game after it, for at most ``length`` moves."""
    chooser = random.Random(number)
    for _ in range(length):
        moves = game.moves()
        if not moves:
            return
        # Mostly discards, so that walks get deep into the pyramid and not only through the stock.
        discards = [move for move in moves if move not in ("draw", "redeal")]
        move = chooser.choice(discards if discards and chooser.random() < 0.7 else moves)
        game = game.play(move)
        yield move, game
