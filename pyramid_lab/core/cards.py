"""Cards and the pack.

A card is a rank and a suit. Its *value* is its rank number: ace 1, the numbers as printed, jack 11, queen 12,
king 13. Suits never matter to the rules; they only tell cards apart.
"""

from __future__ import annotations

from typing import Final

RANKS: Final = "A23456789TJQK"
SUITS: Final = "cdhs"

_SUIT_SIGNS: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
_SUIT_NAMES: Final = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}
_RANK_NAMES: Final = (
    ["ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king"]
)  # fmt: skip
# People type suits as letters or as signs, filled or outlined, with or without the emoji selector.
_SUITS_READ: Final = {letter: letter for letter in SUITS} | dict(zip("♣♦♥♠♧♢♡♤", SUITS + SUITS, strict=True))


class InvalidCardError(ValueError):
    """A text that is no card, such as ``X9``. The message names the text and shows a right one."""


class Card:
    """One playing card, immutable. There is one object per card: :func:`card_at` and :meth:`parse` share them.

    Attributes:
        rank: 1 (ace) to 13 (king); also the card's value in an addition.
        suit: ``"c"``, ``"d"``, ``"h"`` or ``"s"``.
        index: place in a new pack, 0 to 51: ``(rank - 1) * 4 + suit``, so aces come first.
    """

    __slots__ = ("index", "label", "rank", "suit", "text")

    rank: int
    suit: str
    index: int
    text: str
    label: str

    def __init__(self, rank: int, suit: str) -> None:
        if not 1 <= rank <= 13 or suit not in SUITS or len(suit) != 1:
            raise InvalidCardError(f"no card has rank {rank!r} and suit {suit!r}")
        fields = {
            "rank": rank,
            "suit": suit,
            "index": (rank - 1) * 4 + SUITS.index(suit),
            "text": RANKS[rank - 1] + suit,
            "label": ("10" if rank == 10 else RANKS[rank - 1]) + _SUIT_SIGNS[suit],
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a card does not change: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a card does not change: {name} cannot be deleted")

    def __reduce__(self) -> tuple[object, tuple[int, str]]:
        return (Card, (self.rank, self.suit))

    @classmethod
    def parse(cls, text: str) -> Card:
        """Read a card: ``8c``, ``KH``, ``10d`` or ``td``, ``10♦``. Case and outer white space do not matter.

        Raises:
            InvalidCardError: the text is no card.
        """
        cleaned = text.strip().replace("\ufe0f", "").lower()
        rank_text, suit_text = cleaned[:-1], cleaned[-1:]
        rank_text = {"10": "t", "1": "a"}.get(rank_text, rank_text).upper()
        suit = _SUITS_READ.get(suit_text)
        if suit is None or len(rank_text) != 1 or rank_text not in RANKS:
            raise InvalidCardError(
                f"{text.strip()!r} is no card: write rank then suit, such as 8c, Th or 10h, Kd "
                "(ranks A 2 3 4 5 6 7 8 9 T J Q K, suits c d h s)"
            )
        return _CARDS[RANKS.index(rank_text) * 4 + SUITS.index(suit)]

    @property
    def value(self) -> int:
        """The card's number in an addition: 1 to 13."""
        return self.rank

    @property
    def rank_label(self) -> str:
        """The rank as printed on a card: ``A``, ``2`` ... ``10``, ``J``, ``Q``, ``K``."""
        return self.label[:-1]

    @property
    def suit_label(self) -> str:
        """The suit's sign: ♣ ♦ ♥ ♠."""
        return self.label[-1]

    @property
    def name(self) -> str:
        """The card in words, for a screen reader: ``ten of clubs``."""
        return f"{_RANK_NAMES[self.rank - 1]} of {_SUIT_NAMES[self.suit]}"

    @property
    def red(self) -> bool:
        """Whether the suit is diamonds or hearts."""
        return self.suit in "dh"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Card.parse({self.text!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Card):
            return NotImplemented
        return self.index == other.index

    def __lt__(self, other: Card) -> bool:
        return self.index < other.index

    def __hash__(self) -> int:
        return self.index


_CARDS: Final = tuple(Card(rank, suit) for rank in range(1, 14) for suit in SUITS)


def card_at(index: int) -> Card:
    """The card at a place of a new pack, 0 to 51.

    Raises:
        InvalidCardError: the index is outside 0 to 51.
    """
    if not 0 <= index < len(_CARDS):
        raise InvalidCardError(f"a pack has cards 0 to 51, not {index}")
    return _CARDS[index]


def rank_label(value: int) -> str:
    """How a value is printed on a card: 1 is ``A``, 11 ``J``, 12 ``Q``, 13 ``K``, others their number."""
    return card_at((value - 1) * 4).rank_label


def pack(target: int = 13) -> tuple[Card, ...]:
    """A new pack cut to fit a target: four suits of the values 1 to ``target``, so 52 cards for 13, 40 for 10.

    The card equal to the target goes alone, as the king does at 13.
    """
    return _CARDS[: 4 * target]
