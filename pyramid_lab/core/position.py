"""A position of the game: what lies where, which moves are legal, what they lead to, and how it scores.

Places are indices into the deal. The pyramid is 0 (the apex) to ``rules.n_pyramid - 1``, row by row; the stock
follows in drawing order. Row ``r`` (from 1) begins at ``r * (r - 1) / 2``, and a card at index ``i`` of row ``r`` lies
under the cards at ``i + r`` and ``i + r + 1``.

A position refers to its deal and adds four numbers: the set of discarded cards, the next stock card, the redeals used
and the points. All the rest follows: the waste is every card of the stock before the next one that is not gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, Literal, NamedTuple

from pyramid_lab.core.cards import Card, InvalidCardError, rank_label
from pyramid_lab.core.deal import Deal
from pyramid_lab.core.rules import UNLIMITED, Redeals, Rules


class InvalidMoveError(ValueError):
    """A text that cannot be read as a move."""


class InvalidPositionError(ValueError):
    """A position that cannot be: the message says which card or number is wrong."""


class Reason(StrEnum):
    """Why a move is not legal now. The values stand in the log and in a replay."""

    COVERED = "covered"
    BURIED = "buried"
    FACE_DOWN = "face_down"
    DISCARDED = "discarded"
    NOT_IN_PLAY = "not_in_play"
    SAME_CARD = "same_card"
    NEEDS_PARTNER = "needs_partner"
    KING_ALONE = "king_alone"
    WRONG_TOTAL = "wrong_total"
    STOCK_WASTE = "stock_waste"
    PILE_PAIR = "pile_pair"
    STOCK_EMPTY = "stock_empty"
    STOCK_NOT_EMPTY = "stock_not_empty"
    NO_REDEALS = "no_redeals"
    WASTE_EMPTY = "waste_empty"
    GAME_OVER = "game_over"


class Outcome(StrEnum):
    """How a game stands by the rule set's own end: still playing, won or lost."""

    PLAYING = "playing"
    WON = "won"
    LOST = "lost"


class MoveKind(StrEnum):
    """The three kinds of move."""

    DISCARD = "discard"
    DRAW = "draw"
    REDEAL = "redeal"


class Move:
    """A discard of one or two cards, a draw, or a redeal. Immutable; the order of a pair's cards does not matter.

    Attributes:
        kind: which of the three.
        cards: the cards of a discard, in the order they were named; empty for a draw or a redeal.
    """

    __slots__ = ("cards", "kind")

    kind: MoveKind
    cards: tuple[Card, ...]

    def __init__(self, kind: MoveKind, cards: tuple[Card, ...] = ()) -> None:
        if (kind is MoveKind.DISCARD) != (len(cards) in (1, 2)) or len(cards) > 2:
            raise InvalidMoveError(f"a discard has one or two cards, a {kind} with {len(cards)} cards is no move")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "cards", cards)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a move does not change: {name} cannot be set")

    def __reduce__(self) -> tuple[object, tuple[MoveKind, tuple[Card, ...]]]:
        return (Move, (self.kind, self.cards))

    @classmethod
    def discard(cls, first: Card, second: Card | None = None) -> Move:
        """The discard of a pair, or of one card alone."""
        return cls(MoveKind.DISCARD, (first,) if second is None else (first, second))

    @classmethod
    def parse(cls, text: str) -> Move:
        """Read a move: ``8c+5d``, ``Kh``, ``draw`` or ``redeal``; case and white space do not matter.

        Raises:
            InvalidMoveError: the text is no move; the message names it.
        """
        word = text.strip().lower()
        if word == "draw":
            return DRAW
        if word == "redeal":
            return REDEAL
        parts = word.split("+")
        if len(parts) > 2:
            raise InvalidMoveError(
                f"{text!r} names {len(parts)} cards: a move discards one or two, such as 8c+5d or Kh"
            )
        try:
            return cls(MoveKind.DISCARD, tuple(Card.parse(part) for part in parts))
        except InvalidCardError as error:
            raise InvalidMoveError(
                f"{text!r} is no move ({error}); write a pair such as 8c+5d, a card such as Kh, draw or redeal"
            ) from None

    @property
    def text(self) -> str:
        """The move as text that :meth:`parse` reads back."""
        return "+".join(card.text for card in self.cards) if self.cards else self.kind.value

    @property
    def label(self) -> str:
        """The move for people: ``8♣ + 5♦``, ``K♥``, ``draw``, ``redeal``."""
        return " + ".join(card.label for card in self.cards) if self.cards else self.kind.value

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Move.parse({self.text!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Move):
            return NotImplemented
        return self.kind is other.kind and (self.cards == other.cards or self.cards == other.cards[::-1])

    def __hash__(self) -> int:
        return hash((self.kind, frozenset(self.cards)))


DRAW: Final = Move(MoveKind.DRAW)
REDEAL: Final = Move(MoveKind.REDEAL)


class IllegalMoveError(ValueError):
    """A move that the rules do not allow now.

    Attributes:
        reason: why, as a :class:`Reason`.
        move: the move that was tried.
        cards: the cards the reason speaks of: those that cover, or those that do not go together.

    ``str()`` of it is one sentence for the child, the log and the tutor alike.
    """

    def __init__(self, reason: Reason, move: Move, cards: tuple[Card, ...], sentence: str) -> None:
        super().__init__(reason, move, cards, sentence)
        self.reason = reason
        self.move = move
        self.cards = cards
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True)
class Place:
    """Where a card lies now.

    Attributes:
        kind: ``"pyramid"``, ``"stock"``, ``"waste"`` or ``"discard"``.
        index: its place in the deal, 0 for the apex.
        row: row of the pyramid, 1 at the apex; 0 outside the pyramid.
        column: place in that row, 1 at the left; 0 outside the pyramid.
        pile: number of the waste pile, from 1; 0 elsewhere.
        depth: cards lying on it in its pile, or cards before it in the stock; 0 for the top.
    """

    kind: Literal["pyramid", "stock", "waste", "discard"]
    index: int
    row: int = 0
    column: int = 0
    pile: int = 0
    depth: int = 0

    @property
    def text(self) -> str:
        """The place in the log: ``r7c2``, ``waste``, ``pile2``, ``stock`` or ``discard``."""
        if self.kind == "pyramid":
            return f"r{self.row}c{self.column}"
        return f"pile{self.pile}" if self.pile else self.kind


class _Geometry(NamedTuple):
    rows: tuple[int, ...]  # row of each index, from 1
    columns: tuple[int, ...]  # place in the row, from 1
    coverers: tuple[int, ...]  # bit set of the indices that lie on each index
    row_sets: tuple[int, ...]  # bit set of each row, the apex first
    all: int


@cache
def _geometry(rows: int) -> _Geometry:
    row_of, column_of, coverers, row_sets = [], [], [], []
    for row in range(1, rows + 1):
        first = row * (row - 1) // 2
        row_sets.append(sum(1 << (first + column) for column in range(row)))
        for column in range(row):
            index = first + column
            row_of.append(row)
            column_of.append(column + 1)
            coverers.append(0 if row == rows else 0b11 << (index + row))
    return _Geometry(tuple(row_of), tuple(column_of), tuple(coverers), tuple(row_sets), sum(row_sets))


def shapes(rows: int) -> frozenset[int]:
    """Every set of discarded pyramid cards that can be reached by taking exposed cards one by one.

    Args:
        rows: 0 to 7.

    Returns:
        Bit sets over pyramid indices. There are Catalan-number many: 1, 2, 5, 14, 42, 132, 429, 1430 for 0 to 7 rows.
    """
    geometry = _geometry(rows)
    found = {0}
    waiting = [0]
    while waiting:
        gone = waiting.pop()
        for index, coverers in enumerate(geometry.coverers):
            bit = 1 << index
            if not gone & bit and coverers & ~gone == 0 and gone | bit not in found:
                found.add(gone | bit)
                waiting.append(gone | bit)
    return frozenset(found)


def _bits(mask: int) -> list[int]:
    """The indices in a bit set, lowest first."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


@cache
def _free(rows: int, gone: int) -> tuple[int, ...]:
    """Pyramid indices with no card on them, lowest first. There are only as many sets to ask for as :func:`shapes`
    finds, so all answers are kept."""
    geometry = _geometry(rows)
    return tuple(index for index in _bits(geometry.all & ~gone) if not geometry.coverers[index] & ~gone)


def _listed(cards: tuple[Card, ...]) -> str:
    return " and ".join(card.label for card in cards)


def addend(value: int) -> str:
    """A value in a sum as a child reads it on the card: ``5``, ``J (11)``, ``A (1)``."""
    label = rank_label(value)
    return label if label == str(value) else f"{label} ({value})"


class Position:
    """One position, immutable and hashable. Make the first with :meth:`start`; :meth:`play` gives the next.

    Attributes:
        rules: the rule set.
        deal: the deal.
        gone: bit set over deal indices of the discarded cards.
        next: deal index of the next stock card; ``rules.pack_size`` when the stock is empty.
        redeals_used: how often the waste has been turned over.
        score: points so far.
        combo: discards since the last draw, if the rule set counts a combo; else 0.
    """

    __slots__ = ("combo", "deal", "gone", "next", "redeals_used", "rules", "score")

    rules: Rules
    deal: Deal
    gone: int
    next: int
    redeals_used: int
    score: int
    combo: int

    def __init__(
        self, rules: Rules, deal: Deal, gone: int, next_index: int, redeals_used: int, score: int, combo: int
    ) -> None:
        put = object.__setattr__
        put(self, "rules", rules)
        put(self, "deal", deal)
        put(self, "gone", gone)
        put(self, "next", next_index)
        put(self, "redeals_used", redeals_used)
        put(self, "score", score)
        put(self, "combo", combo)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a position does not change: {name} cannot be set; play() gives the next position")

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Position, self._key())

    @classmethod
    def start(cls, rules: Rules, deal: Deal) -> Position:
        """The position after the deal.

        Raises:
            InvalidPositionError: the deal's pack is not the rule set's.
        """
        if deal.target != rules.target:
            raise InvalidPositionError(
                f"the deal has a pack for pairs to {deal.target}, the rule set {rules.name} plays to {rules.target}"
            )
        return cls(rules, deal, 0, rules.n_pyramid, 0, rules.scoring.start_per_card * rules.pack_size, 0)

    @classmethod
    def of(
        cls,
        rules: Rules,
        deal: Deal,
        *,
        gone: int = 0,
        next: int | None = None,
        redeals_used: int = 0,
        score: int | None = None,
        combo: int = 0,
    ) -> Position:
        """A position put up by hand.

        Args:
            rules: the rule set.
            deal: a deal of the rule set's whole pack; cards that are not wanted are marked gone.
            gone: bit set over deal indices of the discarded cards.
            next: deal index of the next stock card (moved on to the first that is not gone); default: a full stock.
            redeals_used: 0 to the rule set's redeals.
            score: default: the score at the start.
            combo: 0 or more.

        Raises:
            InvalidPositionError: an index out of range, or a pyramid card gone while a card still lies on it.
        """
        first = cls.start(rules, deal)
        if not 0 <= gone < 1 << rules.pack_size:
            raise InvalidPositionError(f"gone names cards outside 0 to {rules.pack_size - 1}")
        place = rules.n_pyramid if next is None else next
        if not rules.n_pyramid <= place <= rules.pack_size:
            raise InvalidPositionError(
                f"the stock's next card is at {rules.n_pyramid} to {rules.pack_size} (empty), not {place}"
            )
        if redeals_used < 0 or (rules.redeals != UNLIMITED and redeals_used > rules.redeals):
            raise InvalidPositionError(f"{redeals_used} redeals used, but the rule set allows {rules.redeals}")
        geometry = _geometry(rules.rows)
        for index in _bits(gone & geometry.all):
            lying_on = geometry.coverers[index] & ~gone
            if lying_on:
                coverer = deal[_bits(lying_on)[0]]
                raise InvalidPositionError(f"{deal[index]} cannot be gone while {coverer} still lies on it")
        if rules.piles == 3:
            begun = place - (place - rules.n_pyramid) % 3
            if any(not gone >> index & 1 for index in range(begun, place)):
                raise InvalidPositionError(
                    f"three piles turn three cards at a time: the next card cannot be at {place}"
                )
        if combo < 0:
            raise InvalidPositionError(f"a combo is 0 or more, not {combo}")
        return cls(
            rules,
            deal,
            gone,
            first._next_from(place, gone),
            redeals_used,
            first.score if score is None else score,
            combo,
        )

    def _key(self) -> tuple[Rules, Deal, int, int, int, int, int]:
        return (self.rules, self.deal, self.gone, self.next, self.redeals_used, self.score, self.combo)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.deal.cards, self.gone, self.next, self.redeals_used, self.score, self.combo))

    def __repr__(self) -> str:
        return (
            f"<Position {self.rules.name}: {self.pyramid_left} in the pyramid, {self.stock_left} in the stock, "
            f"{self.waste_left} in the waste, score {self.score}, {self.outcome}>"
        )

    def __str__(self) -> str:
        from pyramid_lab.core.picture import position_text

        return position_text(self)

    def _repr_svg_(self) -> str:
        from pyramid_lab.core.picture import position_svg

        return position_svg(self)

    # What lies where

    def _next_from(self, index: int, gone: int) -> int:
        """The first stock index from ``index`` on that is not gone, or the pack's size."""
        size = self.rules.pack_size
        while index < size and gone >> index & 1:
            index += 1
        return index

    def _waste_set(self) -> int:
        """Bit set of the cards that lie in the waste."""
        n_pyramid = self.rules.n_pyramid
        return ((1 << self.next) - (1 << n_pyramid)) & ~self.gone

    def _tops(self) -> list[int | None]:
        """Deal index of the top of each waste pile, pile 1 first; ``None`` for an empty one."""
        waste = self._waste_set()
        if self.rules.piles == 1:
            return [waste.bit_length() - 1 if waste else None]
        tops: list[int | None] = [None] * self.rules.piles
        for index in _bits(waste):
            tops[(index - self.rules.n_pyramid) % self.rules.piles] = index
        return tops

    def _exposed_indices(self) -> list[int]:
        """Deal indices in play, in board order: the pyramid from the apex, the tops of the piles, the stock's top."""
        rows = self.rules.rows
        found = list(_free(rows, self.gone & _geometry(rows).all))
        found += [top for top in self._tops() if top is not None]
        if self.rules.stock_top_in_play and self.next < self.rules.pack_size:
            found.append(self.next)
        return found

    @property
    def pyramid_left(self) -> int:
        """Cards left in the pyramid."""
        return (_geometry(self.rules.rows).all & ~self.gone).bit_count()

    @property
    def stock_left(self) -> int:
        """Cards left in the stock."""
        return ((1 << self.rules.pack_size) - (1 << self.next) & ~self.gone).bit_count()

    @property
    def waste_left(self) -> int:
        """Cards left in the waste, all piles together."""
        return self._waste_set().bit_count()

    @property
    def pyramid(self) -> tuple[tuple[Card | None, ...], ...]:
        """The rows of the pyramid, the apex first; ``None`` where a card is gone."""
        deal, gone = self.deal, self.gone
        starts = [row * (row - 1) // 2 for row in range(1, self.rules.rows + 1)]
        return tuple(
            tuple(None if gone >> index & 1 else deal[index] for index in range(start, start + row))
            for row, start in enumerate(starts, start=1)
        )

    @property
    def stock(self) -> tuple[Card, ...]:
        """The cards of the stock, the next one first."""
        left = (1 << self.rules.pack_size) - (1 << self.next) & ~self.gone
        return tuple(self.deal[index] for index in _bits(left))

    @property
    def waste_piles(self) -> tuple[tuple[Card, ...], ...]:
        """The waste piles, each from its bottom to its top; one pile or three."""
        piles: list[list[Card]] = [[] for _ in range(self.rules.piles)]
        for index in _bits(self._waste_set()):
            piles[(index - self.rules.n_pyramid) % self.rules.piles].append(self.deal[index])
        return tuple(tuple(pile) for pile in piles)

    @property
    def pile_tops(self) -> tuple[Card | None, ...]:
        """The top card of each waste pile, ``None`` for an empty one."""
        return tuple(None if top is None else self.deal[top] for top in self._tops())

    @property
    def exposed(self) -> tuple[Card, ...]:
        """The cards in play, in board order: the pyramid from the apex, the tops of the piles, the stock's top."""
        return tuple(self.deal[index] for index in self._exposed_indices())

    def is_exposed(self, card: Card) -> bool:
        """Whether the card is in play now."""
        return card in self.exposed

    def coverers(self, card: Card) -> tuple[Card, ...]:
        """The cards that still lie on a card of the pyramid; empty for every other card."""
        index = self.deal.index(card)
        if index >= self.rules.n_pyramid or self.gone >> index & 1:
            return ()
        lying_on = _geometry(self.rules.rows).coverers[index] & ~self.gone
        return tuple(self.deal[coverer] for coverer in _bits(lying_on))

    def newly_exposed(self, discard: Move) -> int:
        """How many covered cards of the pyramid a legal discard sets free. Cards of the stock and the waste do not
        count: a discard from there always shows the next one, which says nothing about looking ahead."""
        rows = self.rules.rows
        before = after = self.gone & _geometry(rows).all
        for card in discard.cards:
            index = self.deal.index(card)
            if index < self.rules.n_pyramid:
                after |= 1 << index
        return len(set(_free(rows, after)).difference(_free(rows, before)))

    def place(self, card: Card) -> Place:
        """Where the card lies now.

        Raises:
            InvalidDealError: the pack has no such card.
        """
        index = self.deal.index(card)
        if self.gone >> index & 1:
            return Place("discard", index)
        if index < self.rules.n_pyramid:
            geometry = _geometry(self.rules.rows)
            return Place("pyramid", index, geometry.rows[index], geometry.columns[index])
        if index >= self.next:
            before = ((1 << index) - (1 << self.next)) & ~self.gone
            return Place("stock", index, depth=before.bit_count())
        piles = self.rules.piles
        number = (index - self.rules.n_pyramid) % piles
        above = [i for i in _bits(self._waste_set()) if i > index and (i - self.rules.n_pyramid) % piles == number]
        return Place("waste", index, pile=number + 1 if piles > 1 else 0, depth=len(above))

    @property
    def redeals_left(self) -> Redeals:
        """How often the waste may still be turned over: a number, or ``"unlimited"``."""
        if self.rules.redeals == UNLIMITED:
            return UNLIMITED
        return self.rules.redeals - self.redeals_used

    @property
    def pass_number(self) -> int:
        """Which pass through the stock this is, from 1."""
        return self.redeals_used + 1

    # Moves

    def legal_discards(self) -> tuple[Move, ...]:
        """Every discard that is legal now, in board order; empty when the game is won."""
        if self._won():
            return ()
        deal = self.deal
        return tuple(
            Move.discard(deal[first]) if second < 0 else Move.discard(deal[first], deal[second])
            for first, second in self._discard_indices()
        )

    def legal_moves(self) -> tuple[Move, ...]:
        """Every legal move: discards in board order, then the draw, then the redeal; empty when the game is over."""
        if self.outcome is not Outcome.PLAYING:
            return ()
        moves = list(self.legal_discards())
        if self.next < self.rules.pack_size:
            moves.append(DRAW)
        elif self.redeal_allowed:
            moves.append(REDEAL)
        return tuple(moves)

    def _discard_indices(self) -> list[tuple[int, int]]:
        """The legal discards as pairs of deal indices in board order; a card alone has -1 for its second."""
        rules, deal = self.rules, self.deal
        target, n_pyramid = rules.target, rules.n_pyramid
        exposed = self._exposed_indices()
        values = [deal.cards[index].rank for index in exposed]
        found = []
        for at, first in enumerate(exposed):
            if values[at] == target:
                found.append((first, -1))
                continue
            partner = target - values[at]
            if partner not in values:
                continue
            for later in range(at + 1, len(exposed)):
                second = exposed[later]
                if values[later] == partner and (first < n_pyramid or self._tops_may_pair(first, second)):
                    found.append((first, second))
        if rules.coverer_pairs:
            coverers = _geometry(rules.rows).coverers
            order = {index: at for at, index in enumerate(exposed, start=n_pyramid)}
            order.update((index, index) for index in range(n_pyramid))
            order[-1] = -1
            for index in _bits(_geometry(rules.rows).all & ~self.gone):
                lying_on = coverers[index] & ~self.gone
                if lying_on.bit_count() == 1:
                    coverer = lying_on.bit_length() - 1
                    if not coverers[coverer] & ~self.gone and deal[index].rank + deal[coverer].rank == target:
                        found.append((index, coverer))
            found.sort(key=lambda pair: (order[pair[0]], order[pair[1]]))
        return found

    def _tops_may_pair(self, first: int, second: int) -> bool:
        """Whether two cards outside the pyramid may go together: two pile tops, or the stock's top and the waste's."""
        if first >= self.next or second >= self.next:
            return self.rules.stock_waste_pair
        return self.rules.piles_pair

    @property
    def redeal_allowed(self) -> bool:
        """Whether the waste may be turned over now: the stock is empty, the waste is not, and a redeal is left."""
        return self.next == self.rules.pack_size and self.redeals_left != 0 and self._waste_set() != 0

    @property
    def stuck(self) -> bool:
        """Whether no discard is legal now; a card may still be turned."""
        return not self.legal_discards()

    def _won(self) -> bool:
        rules = self.rules
        if rules.win == "pyramid":
            return not _geometry(rules.rows).all & ~self.gone
        return self.gone == (1 << rules.pack_size) - 1

    @property
    def outcome(self) -> Outcome:
        """How the game stands by the rule set's own end.

        Won: the pyramid (or, by the rule set, every card) is gone. Lost: no discard is legal, the stock is empty, and
        no redeal is left that would bring back at least ``useful_redeal`` cards.
        """
        if self._won():
            return Outcome.WON
        rules = self.rules
        if self.next < rules.pack_size:
            return Outcome.PLAYING
        if self.redeals_left != 0 and self._waste_set().bit_count() >= rules.useful_redeal:
            return Outcome.PLAYING
        return Outcome.PLAYING if self._discard_indices() else Outcome.LOST

    def check(self, move: Move) -> None:
        """Do nothing if the move is legal now.

        Raises:
            IllegalMoveError: it is not; the error holds the reason, the cards it speaks of, and a sentence.
        """
        outcome = self.outcome
        if outcome is not Outcome.PLAYING:
            raise IllegalMoveError(
                Reason.GAME_OVER,
                move,
                (),
                f"the game is over: it is {outcome.value}; undo or take a new deal",
            )
        if move.kind is MoveKind.DRAW:
            self._check_draw(move)
        elif move.kind is MoveKind.REDEAL:
            self._check_redeal(move)
        else:
            self._check_discard(move)

    def _check_draw(self, move: Move) -> None:
        if self.next < self.rules.pack_size:
            return
        way_on = "; turn the waste over" if self.redeal_allowed else ""
        raise IllegalMoveError(Reason.STOCK_EMPTY, move, (), f"the stock is empty{way_on}")

    def _check_redeal(self, move: Move) -> None:
        if self.next < self.rules.pack_size:
            count = self.stock_left
            cards = "1 card" if count == 1 else f"{count} cards"
            raise IllegalMoveError(
                Reason.STOCK_NOT_EMPTY,
                move,
                (),
                f"the stock still has {cards}; the waste is turned over when it is empty",
            )
        if self.redeals_left == 0:
            allowed = self.rules.redeals
            why = "this game has no redeals" if allowed == 0 else f"all {allowed} redeals are used"
            raise IllegalMoveError(Reason.NO_REDEALS, move, (), f"{why}; passes left: 0")
        if not self._waste_set():
            raise IllegalMoveError(Reason.WASTE_EMPTY, move, (), "the waste is empty; there is nothing to turn over")

    def _check_discard(self, move: Move) -> None:
        rules, target = self.rules, self.rules.target
        cards = move.cards
        if len(cards) == 2 and cards[0] == cards[1]:
            raise IllegalMoveError(Reason.SAME_CARD, move, cards, f"{cards[0].label} cannot pair with itself")
        under = self._under_its_coverer(cards)
        for card in cards:
            if card is not under:
                self._check_in_play(move, card)
        if len(cards) == 1:
            if cards[0].rank != target:
                raise IllegalMoveError(
                    Reason.NEEDS_PARTNER,
                    move,
                    cards,
                    f"{cards[0].label} needs a partner: {addend(cards[0].rank)} + {addend(target - cards[0].rank)} "
                    f"is {target}",
                )
            return
        first, second = cards
        for card in cards:
            if card.rank == target:
                raise IllegalMoveError(Reason.KING_ALONE, move, (card,), f"{card.label} is {target}: it goes alone")
        total = first.rank + second.rank
        if total != target:
            raise IllegalMoveError(
                Reason.WRONG_TOTAL,
                move,
                cards,
                f"{addend(first.rank)} + {addend(second.rank)} is {total}, not {target}",
            )
        places = sorted((self.deal.index(first), self.deal.index(second)))
        if places[0] >= rules.n_pyramid and not self._tops_may_pair(*places):
            if places[1] >= self.next:
                raise IllegalMoveError(
                    Reason.STOCK_WASTE,
                    move,
                    cards,
                    "the stock's card and the waste's card may not go together here",
                )
            raise IllegalMoveError(Reason.PILE_PAIR, move, cards, "two pile tops may not go together here")

    def _under_its_coverer(self, cards: tuple[Card, ...]) -> Card | None:
        """The card of a pair that may be taken from under the other one, if the rule set allows that."""
        if self.rules.coverer_pairs and len(cards) == 2:
            for card, other in (cards, cards[::-1]):
                if card.rank <= self.rules.target and self.coverers(card) == (other,):
                    return card
        return None

    def _check_in_play(self, move: Move, card: Card) -> None:
        if card.rank > self.rules.target:
            raise IllegalMoveError(
                Reason.NOT_IN_PLAY,
                move,
                (card,),
                f"{card.label} is not in this pack: pairs make {self.rules.target}",
            )
        index = self.deal.index(card)
        if self.gone >> index & 1:
            raise IllegalMoveError(Reason.DISCARDED, move, (card,), f"{card.label} has been discarded already")
        if index < self.rules.n_pyramid:
            lying_on = self.coverers(card)
            if lying_on:
                raise IllegalMoveError(
                    Reason.COVERED, move, lying_on, f"{card.label} is covered by {_listed(lying_on)}"
                )
        elif index >= self.next:
            if not (self.rules.stock_top_in_play and index == self.next):
                raise IllegalMoveError(Reason.FACE_DOWN, move, (card,), f"{card.label} is still in the stock")
        elif index not in self._tops():
            place = self.place(card)
            pile = self.waste_piles[max(place.pile - 1, 0)]
            raise IllegalMoveError(
                Reason.BURIED, move, (pile[-1],), f"{card.label} lies under {pile[-1].label} in the waste"
            )

    def play(self, move: Move) -> Position:
        """The position after a legal move.

        Raises:
            IllegalMoveError: as :meth:`check`.
        """
        self.check(move)
        if move.kind is MoveKind.DISCARD:
            return self._after_discard(move.cards)
        scoring = self.rules.scoring
        if move.kind is MoveKind.REDEAL:
            score = self.score + scoring.redeal
            if scoring.floor is not None:
                score = max(score, scoring.floor)
            place = self._next_from(self.rules.n_pyramid, self.gone)
            return Position(self.rules, self.deal, self.gone, place, self.redeals_used + 1, score, self.combo)
        return Position(self.rules, self.deal, self.gone, self._after_draw(), self.redeals_used, self.score, 0)

    def _after_draw(self) -> int:
        """Deal index of the next stock card after a draw."""
        size, n_pyramid = self.rules.pack_size, self.rules.n_pyramid
        if self.rules.piles == 3:
            return self._next_from(min(self.next - (self.next - n_pyramid) % 3 + 3, size), self.gone)
        place = self.next
        for _ in range(self.rules.draw):
            if place < size:
                place = self._next_from(place + 1, self.gone)
        return place

    def _after_discard(self, cards: tuple[Card, ...]) -> Position:
        rules, scoring = self.rules, self.rules.scoring
        geometry = _geometry(rules.rows)
        indices = [self.deal.index(card) for card in cards]
        gone = self.gone
        for index in indices:
            gone |= 1 << index
        from_pyramid = [index for index in indices if index < rules.n_pyramid]
        score = self.score + scoring.match + scoring.card * len(indices) + scoring.pyramid_card * len(from_pyramid)
        if from_pyramid:
            if scoring.row_bonus:
                for row in {geometry.rows[index] for index in from_pyramid}:
                    if not geometry.row_sets[row - 1] & ~gone:
                        score += scoring.row_bonus[rules.rows - row]
            if not geometry.all & ~gone and (scoring.clear or scoring.clear_per_card_left):
                if scoring.clear:
                    score += scoring.clear[min(self.redeals_used, len(scoring.clear) - 1)]
                score += scoring.clear_per_card_left * (rules.pack_size - gone.bit_count())
        if scoring.floor is not None:
            score = max(score, scoring.floor)
        combo = self.combo + 1 if rules.combo else 0
        return Position(rules, self.deal, gone, self._next_from(self.next, gone), self.redeals_used, score, combo)
