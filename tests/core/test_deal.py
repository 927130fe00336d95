"""Cards, deals from a seed and from text, and deal codes."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_lab.core import (
    RULE_SETS,
    Card,
    Deal,
    InvalidCardError,
    InvalidDealError,
    deal_code,
    pack,
    parse_deal_code,
    splitmix64,
)

SIXTY_FOUR_BITS = 2**64
# A deal of the decks at github.com/mchung94/pyramid-solver (MIT licence, (c) 2017 Mitchell Chung), number 1.
DECK_1 = (
    "6d 5h Ah Jd 4s Ks 6s 8c 2h 4d 9s Kd 6c Ad 8s Ac 5c 9d 7h 3h 8d 5s 4c Qc Jh Kc Kh 3c "
    "3s 9c As 5d Qh Ts 4h 7s Td 9h Th 7c 8h 2c 7d Tc 2d 6h 2s Js Qd 3d Qs Jc"
)

decks = st.permutations([rank + suit for rank in "A23456789TJQK" for suit in "cdhs"])
seeds = st.integers(0, SIXTY_FOUR_BITS - 1)


def test_the_generator_gives_the_published_numbers() -> None:
    # Output of Vigna's reference implementation of SplitMix64 for the seed 1234567.
    assert list(islice(splitmix64(1234567), 5)) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def slow_splitmix64(seed: int, count: int) -> int:
    """The ``count``-th number straight from the formula: mix(seed + count * gamma)."""
    number = (seed + count * 0x9E3779B97F4A7C15) % SIXTY_FOUR_BITS
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        number = (number ^ number // 2**shift) * factor % SIXTY_FOUR_BITS
    return number ^ number // 2**31


def slow_shuffle(seed: int, target: int) -> str:
    """Fisher-Yates as documented: from the last place down, each drawn from as many full copies of 0..i as fit."""
    cards = [rank + suit for rank in "A23456789TJQK"[:target] for suit in "cdhs"]
    drawn = 0
    for place in range(len(cards), 1, -1):
        while True:
            drawn += 1
            number = slow_splitmix64(seed, drawn)
            if number // place < SIXTY_FOUR_BITS // place:
                break
        other = number % place
        card = cards[place - 1]
        cards[place - 1] = cards[other]
        cards[other] = card
    return " ".join(cards)


@given(seeds, st.integers(10, 13))
def test_a_seed_gives_the_documented_shuffle(seed: int, target: int) -> None:
    deal = Deal.from_seed(seed, target)
    assert deal.text == slow_shuffle(seed, target)
    assert (deal.seed, deal.target, len(deal)) == (seed, target, 4 * target)
    assert set(deal) == set(pack(target))


def seed_before(number: int) -> int:
    """The seed whose first number is ``number``: each step of the generator turned round."""

    def unshift(mixed: int, shift: int) -> int:
        value = mixed
        for _ in range(64 // shift):
            value = mixed ^ value >> shift
        return value

    state = unshift(number, 31) * pow(0x94D049BB133111EB, -1, SIXTY_FOUR_BITS) % SIXTY_FOUR_BITS
    state = unshift(state, 27) * pow(0xBF58476D1CE4E5B9, -1, SIXTY_FOUR_BITS) % SIXTY_FOUR_BITS
    return (unshift(state, 30) - 0x9E3779B97F4A7C15) % SIXTY_FOUR_BITS


# 2**64 = 52 x n + 16: of the numbers drawn for the first place, the sixteen largest are thrown away.
@pytest.mark.parametrize("below_the_end", [1, 16, 17])
def test_a_number_from_the_uneven_end_is_drawn_again(below_the_end: int) -> None:
    seed = seed_before(SIXTY_FOUR_BITS - below_the_end)
    first, second = islice(splitmix64(seed), 2)
    assert first == SIXTY_FOUR_BITS - below_the_end
    used = second if below_the_end <= 16 else first
    assert Deal.from_seed(seed)[51] == pack()[used % 52]
    assert Deal.from_seed(seed).text == slow_shuffle(seed, 13)


@pytest.mark.parametrize("seed", [-1, SIXTY_FOUR_BITS, 1.5, "7", True, None])
def test_a_seed_that_is_no_seed(seed: object) -> None:
    with pytest.raises(InvalidDealError, match="a seed is a whole number from 0"):
        Deal.from_seed(seed)  # type: ignore[arg-type]


@given(decks)
def test_a_deal_comes_back_from_its_text(deck: list[str]) -> None:
    text = " ".join(deck)
    deal = Deal.from_text(text)
    assert deal.text == str(deal) == text
    assert Deal.from_text(deal.text) == deal
    assert hash(Deal.from_text(deal.text)) == hash(deal)


@given(decks, st.randoms(use_true_random=False))
def test_text_as_people_type_it(deck: list[str], chance: object) -> None:
    choose = chance.choice  # type: ignore[attr-defined]
    words = []
    for card in deck:
        rank = choose(["T", "t", "10"]) if card[0] == "T" else choose([card[0], card[0].lower()])
        sign = dict(zip("cdhs", "♣♦♥♠", strict=True))[card[1]]
        words.append(rank + choose([card[1], card[1].upper(), sign]))
    typed = "".join(word + choose([" ", "\n", "\t", "  ", ", "]) for word in words)
    assert Deal.from_text(typed).text == " ".join(deck)


def test_a_deal_that_is_equal_whatever_its_seed() -> None:
    assert Deal.from_text(Deal.from_seed(7).text) == Deal.from_seed(7)
    assert Deal.from_seed(7) != Deal.from_seed(8)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DECK_1.removesuffix(" Jc"), ["51 cards", "52", "Jc"]),
        (DECK_1.replace(" Ks ", " "), ["51 cards", "Ks"]),
        (DECK_1.replace("Ks", "6d"), ["6d", "card 1 ", "card 6"]),
        (DECK_1 + " 6d", ["6d", "card 1 ", "card 53"]),
        (DECK_1.replace("Ah", "X9"), ["X9", "card 3"]),
        (DECK_1.replace("Ah", "1Xh"), ["1Xh", "card 3"]),
        (DECK_1.replace("Jc", "11c"), ["11c", "card 52"]),
        (DECK_1.replace("5h", "5hAh"), ["5hAh", "card 2"]),
        ("", ["0 cards"]),
    ],
)
def test_an_error_names_the_card_and_its_place(text: str, said: list[str]) -> None:
    with pytest.raises(InvalidDealError) as error:
        Deal.from_text(text)
    for part in said:
        assert part in str(error.value)


def test_a_card_that_is_not_in_a_smaller_pack() -> None:
    text = Deal.from_seed(1, 10).text
    first = text.split()[0]
    with pytest.raises(InvalidDealError, match="card 1 is Kd: a pack for pairs to 10 has A to T"):
        Deal.from_text(text.replace(first, "Kd"), 10)


@pytest.mark.parametrize("target", [9, 14])
def test_a_target_out_of_range(target: int) -> None:
    with pytest.raises(InvalidDealError, match="10, 11, 12 or 13"):
        Deal.from_seed(1, target)
    with pytest.raises(InvalidDealError, match="10, 11, 12 or 13"):
        Deal.from_text(DECK_1, target)


def test_a_card_is_named_in_every_form() -> None:
    ten = Card.parse("10♣")
    assert (str(ten), ten.label, ten.name, ten.rank_label) == ("Tc", "10♣", "ten of clubs", "10")
    assert (ten.rank, ten.value, ten.suit, ten.red) == (10, 10, "c", False)
    assert [Card.parse(text).value for text in ("Ah", "2h", "Th", "Jh", "Qh", "Kh")] == [1, 2, 10, 11, 12, 13]


@given(st.sampled_from(pack()))
def test_cards_come_back_from_their_texts(card: Card) -> None:
    for text in (str(card), str(card).lower(), str(card).upper(), card.label, f" {card} "):
        assert Card.parse(text) == card
    assert card.index == "A23456789TJQK".index(str(card)[0]) * 4 + "cdhs".index(card.suit)


@given(st.text(max_size=4))
def test_a_text_is_a_card_or_an_error_that_names_it(text: str) -> None:
    try:
        card = Card.parse(text)
    except InvalidCardError as error:
        assert repr(text.strip()) in str(error)
    else:
        assert card in pack()


def test_a_pack_holds_every_card_once() -> None:
    assert len(set(pack())) == 52
    assert [str(card) for card in pack()[:5]] == ["Ac", "Ad", "Ah", "As", "2c"]
    assert sorted(pack()) == list(pack())
    assert [len(pack(target)) for target in (10, 11, 12, 13)] == [40, 44, 48, 52]


@given(st.sampled_from(sorted(RULE_SETS)), seeds)
def test_a_deal_code_comes_back(name: str, seed: int) -> None:
    code = deal_code(name, seed)
    for typed in (code, code.lower(), code.upper(), f" {code} ", code.replace("-", " - ")):
        assert parse_deal_code(typed) == (name, seed)


@given(st.sampled_from(sorted(RULE_SETS)), st.integers(0, 99_999), st.data())
def test_one_wrong_digit_in_a_code_is_noticed(name: str, seed: int, data: st.DataObject) -> None:
    head, number, check = deal_code(name, seed).rsplit("-", 2)
    at = data.draw(st.integers(0, len(number) - 1))
    digit = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != number[at]]))
    with pytest.raises(InvalidDealError, match="does not check"):
        parse_deal_code(f"{head}-{number[:at]}{digit}{number[at + 1 :]}-{check}")


@pytest.mark.parametrize("text", ["", "table", "table-17", "17", "table-x-K"])
def test_a_text_that_is_no_code(text: str) -> None:
    with pytest.raises(InvalidDealError, match="deal code"):
        parse_deal_code(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tabel-63-X", "no rule set is called 'tabel' (did you mean 'table'?); there are"),
        ("chess-63", "no rule set is called 'chess'; there are"),
        ("table-63", "the check letter at its end is missing; a code looks like table-17-U"),
        ("three-pile-63-", "the check letter at its end is missing"),
        ("table-17-X", "does not check"),
        ("table-99999999999999999999-U", "does not check"),
    ],
)
def test_the_wrong_part_of_a_code_is_named(text: str, said: str) -> None:
    with pytest.raises(InvalidDealError) as caught:
        parse_deal_code(text)
    assert said in str(caught.value)


def test_the_place_of_a_card_and_of_one_that_the_pack_does_not_hold() -> None:
    deal = Deal.from_seed(3, 10)
    assert [deal.index(card) for card in deal] == list(range(40))
    with pytest.raises(InvalidDealError, match="Kc is not in this deal: its pack holds A to T only"):
        deal.index(Card.parse("Kc"))
