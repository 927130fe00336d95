"""A deal: an ordered pack, from a seed or from text, and the short code that stands for it on paper.

Card 1 of a deal is the apex of the pyramid, then row by row, left to right; the card after the pyramid is the first
card of the stock. A tutor who stacks a real pack in this order and deals from the top gets the same game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from pyramid_lab.core import rules
from pyramid_lab.core.cards import RANKS, Card, InvalidCardError, pack

SEED_LIMIT: Final = 2**64
_MASK: Final = SEED_LIMIT - 1


class InvalidDealError(ValueError):
    """A text, seed or code that gives no deal. The message names the card and its place, or what to write instead."""


def splitmix64(seed: int) -> Iterator[int]:
    """The SplitMix64 generator: an endless stream of integers from 0 to 2**64 - 1.

    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; constants as in
    Vigna's public-domain reference. It is fixed here for ever, so that a seed always gives the same deal.
    """
    state = seed & _MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield mixed ^ (mixed >> 31)


def _below(bound: int, numbers: Iterator[int]) -> int:
    """A number from 0 to ``bound - 1``, each equally likely: draws from the uneven last stretch are thrown away."""
    limit = SEED_LIMIT - SEED_LIMIT % bound
    while True:
        number = next(numbers)
        if number < limit:
            return number % bound


@dataclass(frozen=True, slots=True)
class Deal:
    """An ordered pack of ``4 * target`` cards.

    Attributes:
        cards: the cards, apex first, then the pyramid's rows, then the stock in drawing order.
        target: what a pair totals, 10 to 13; the pack holds the values 1 to ``target``.
        seed: the seed it was shuffled from, or ``None``; two deals of the same cards are equal whatever their seeds.
        text: the deal as text that :meth:`from_text` reads back: ``6d 5h Ah ...``.

    Raises:
        InvalidDealError: a card is missing, doubled or does not belong to the pack.
    """

    cards: tuple[Card, ...]
    target: int = 13
    seed: int | None = field(default=None, compare=False)
    text: str = field(init=False, repr=False, compare=False)
    _places: tuple[int, ...] = field(init=False, repr=False, compare=False)  # by the cards' places in a new pack

    def __post_init__(self) -> None:
        if not 10 <= self.target <= 13:
            raise InvalidDealError(f"a deal's target is 10, 11, 12 or 13, not {self.target}")
        first_place: dict[Card, int] = {}
        for place, card in enumerate(self.cards, start=1):
            if card.rank > self.target:
                raise InvalidDealError(
                    f"card {place} is {card}: a pack for pairs to {self.target} has A to {RANKS[self.target - 1]} only"
                )
            if card in first_place:
                raise InvalidDealError(
                    f"{card} stands twice, as card {first_place[card]} and as card {place}: each card comes once"
                )
            first_place[card] = place
        wanted = pack(self.target)
        if len(self.cards) != len(wanted):
            missing = [card.text for card in wanted if card not in first_place]
            raise InvalidDealError(f"{len(self.cards)} cards given, {len(wanted)} needed; missing: {' '.join(missing)}")
        places = [-1] * 52
        for place, card in enumerate(self.cards):
            places[card.index] = place
        object.__setattr__(self, "_places", tuple(places))
        object.__setattr__(self, "text", " ".join(card.text for card in self.cards))

    @classmethod
    def from_seed(cls, seed: int, target: int = 13) -> Deal:
        """Shuffle a new pack from a seed; the same seed gives the same deal in every version of Pyramid Lab.

        The pack (aces first, suits c d h s within a rank) is shuffled by Fisher-Yates from the last place down to the
        second: the card at place ``i`` changes with the one at a place from 0 to ``i``, drawn from :func:`splitmix64`
        by rejection.

        Args:
            seed: 0 to 2**64 - 1.
            target: 10 to 13.

        Raises:
            InvalidDealError: the seed is no whole number in range, or the target is not 10 to 13.
        """
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < SEED_LIMIT:
            raise InvalidDealError(f"a seed is a whole number from 0 to {SEED_LIMIT - 1}, not {seed!r}")
        if target not in (10, 11, 12, 13):
            raise InvalidDealError(f"a deal's target is 10, 11, 12 or 13, not {target!r}")
        cards = list(pack(target))
        numbers = splitmix64(seed)
        for place in range(len(cards) - 1, 0, -1):
            other = _below(place + 1, numbers)
            cards[place], cards[other] = cards[other], cards[place]
        return cls(tuple(cards), target, seed)

    @classmethod
    def from_text(cls, text: str, target: int = 13) -> Deal:
        """Read a deal: cards parted by white space or commas, upper or lower case, ten as ``T`` or ``10``.

        Raises:
            InvalidDealError: a card cannot be read, is doubled or missing; the message names it and its place.
        """
        cards = []
        for place, word in enumerate(text.replace(",", " ").split(), start=1):
            try:
                cards.append(Card.parse(word))
            except InvalidCardError as error:
                raise InvalidDealError(f"card {place}: {error}") from None
        return cls(tuple(cards), target)

    def index(self, card: Card) -> int:
        """The card's place in the deal, 0 for the apex.

        Raises:
            InvalidDealError: the pack of this deal has no such card.
        """
        place = self._places[card.index]
        if place < 0:
            raise InvalidDealError(f"{card} is not in this deal: its pack holds A to {RANKS[self.target - 1]} only")
        return place

    def __str__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        from pyramid_lab.core.picture import deal_svg

        return deal_svg(self)

    def __len__(self) -> int:
        return len(self.cards)

    def __iter__(self) -> Iterator[Card]:
        return iter(self.cards)

    def __getitem__(self, place: int) -> Card:
        return self.cards[place]


_CODE: Final = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*?)-(\d{1,20})-?([a-z])?")
# 23 letters that cannot be mistaken for another letter or a digit when written by hand.
_CHECK_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXY"


def _check_letter(rule_set: str, seed: int) -> str:
    """A letter that changes with any one wrong character or two neighbours changed over (weights modulo a prime)."""
    total = sum(weight * ord(sign) for weight, sign in enumerate(f"{rule_set}-{seed}", start=1))
    return _CHECK_LETTERS[total % len(_CHECK_LETTERS)]


def deal_code(rule_set: str, seed: int) -> str:
    """The short code of a deal on a sheet: rule set, seed and a check letter, such as ``table-17-U``.

    Args:
        rule_set: the name of a rule set.
        seed: 0 to 2**64 - 1.
    """
    return f"{rule_set}-{seed}-{_check_letter(rule_set, seed)}"


def parse_deal_code(text: str) -> tuple[str, int]:
    """Read a code of :func:`deal_code`; case and white space do not matter.

    Returns:
        The name of the rule set and the seed.

    Raises:
        InvalidDealError: the text is no code, or its check letter is missing or shows that something was mistyped; the
            message names the part that is wrong.
    """
    cleaned = "".join(text.split()).lower()
    match = _CODE.fullmatch(cleaned)
    if match is None:
        raise InvalidDealError(f"{text!r} is no deal code: a code looks like {deal_code('table', 17)}")
    rule_set, seed, letter = match[1], int(match[2]), match[3]
    if letter is not None and seed < SEED_LIMIT and letter.upper() == _check_letter(rule_set, seed):
        return rule_set, seed
    try:
        rules.rule_set(rule_set)
    except rules.RulesError as error:
        raise InvalidDealError(f"{text!r} is no deal code: {error}") from None
    if letter is None:
        raise InvalidDealError(
            f"{text!r} is no deal code: the check letter at its end is missing; a code looks like "
            f"{deal_code('table', 17)}"
        )
    raise InvalidDealError(f"{text!r} does not check: look at the code on the sheet again, sign by sign")
