"""Deal sheets, answer keys and class packs, read back from their PDFs."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pikepdf
import pytest

from pyramid_lab import sheets
from pyramid_lab.core import RULE_SETS, Deal, Move, rule_set
from pyramid_lab.core.deal import InvalidDealError, deal_code, parse_deal_code
from pyramid_lab.core.rules import RulesError
from pyramid_lab.sheets import PackDeal, SheetError
from pyramid_lab.sheets.deals import PACK_LIMIT
from tests.sheets.conftest import SMALL_DEAL, SMALL_LINE, SMALL_RULES
from tests.sheets.pdf_reading import elements, page_sizes, pages_of, pictures, reader, text_of

CAP = 0.729  # height of capitals and digits in DejaVu Sans Bold, em


def deal_on(text: str, target: int = 13) -> Deal:
    """The deal that a page says to type in."""
    found = re.search(r"To type it in: (?:code \S+, or )?((?:\s*[A23456789TJQK][cdhs])+)", text)
    assert found, text
    return Deal.from_text(found[1], target)


@pytest.mark.parametrize("name", RULE_SETS)
@pytest.mark.parametrize("size", ["normal", "large"])
def test_the_page_gives_back_its_deal_and_code(name: str, size: str) -> None:
    text = text_of(sheets.deal_sheet(2026, name, size=size).pdf())
    deal = Deal.from_seed(2026)
    assert deal_on(text) == deal
    code = re.search(rf"code ({re.escape(name)}-\S+),", text)
    assert code
    assert parse_deal_code(code[1]) == (name, 2026)


@pytest.mark.parametrize("rules", [{"base": "table", "rows": 4}, {"base": "classic", "target": 10, "rows": 5}])
def test_smaller_games_print_too(rules: dict[str, object]) -> None:
    chosen = rule_set(rules)
    content = sheets.deal_sheet(5, chosen).pdf()
    assert deal_on(text_of(content), chosen.target) == Deal.from_seed(5, chosen.target)
    assert len(page_sizes(content)) == 1


@pytest.mark.parametrize("paper", ["a4", "letter"])
@pytest.mark.parametrize("name", RULE_SETS)
def test_a_normal_deal_sheet_is_one_page(name: str, paper: str) -> None:
    assert len(page_sizes(sheets.deal_sheet(3, name, paper=paper, name="Ada Lovelace").pdf())) == 1


def test_the_pictures_are_told_row_by_row() -> None:
    pyramid, stock = pictures(sheets.deal_sheet(SMALL_DEAL, SMALL_RULES).pdf())
    assert pyramid == (
        "The pyramid, face up, from the top. row 1: nine of spades; row 2: four of clubs, king of diamonds; "
        "row 3: eight of hearts, five of diamonds, two of clubs."
    )
    assert stock.startswith("The stock in drawing order: 1 jack of diamonds, 2 nine of hearts, 3 four of diamonds,")
    assert stock.endswith("46 king of spades.")


def test_the_page_reads_in_order() -> None:
    content = sheets.deal_sheet(17, name="Zoë").pdf()
    text = text_of(content)
    places = [text.index(part) for part in ("Deal: table-17", "Zoë", "The stock", "Stack the pack", "To type it in")]
    assert places == sorted(places)
    assert [tag for tag, _ in elements(content) if tag in ("H1", "H2", "Figure")] == [
        "H1",
        "Figure",
        "H2",
        "Figure",
        "H2",
    ]


def test_the_stack_lists_all_52_cards_by_number() -> None:
    text = text_of(sheets.deal_sheet(17).pdf())
    listed = text[text.index("Stack the pack") : text.index("To type it in")]
    for number, card in enumerate(Deal.from_seed(17), start=1):
        assert re.search(rf"(?<!\S){number} {card.rank_label}\s?{card.suit_label}", listed), card


@pytest.mark.parametrize(("size", "least"), [("normal", 24.0), ("large", 36.0)])
def test_ranks_are_big(size: str, least: float) -> None:
    """The ranks of the pyramid: at least a quarter of a card's height, and 36 points on a large sheet."""
    pages = pages_of(sheets.deal_sheet(17, size=size).pdf())
    ranks = [piece for page in pages for piece in page.pieces if piece.text in ("A", "K", "10") and piece.size > 15]
    assert ranks
    sizes = sorted({round(piece.size, 1) for piece in ranks})
    assert sizes[-1] >= least
    if size == "large":
        assert sizes[0] >= 36


def test_letters_name_the_suits() -> None:
    plain = text_of(sheets.deal_sheet(17).pdf())
    lettered = text_of(sheets.deal_sheet(17, letters=True).pdf())
    assert lettered.split().count("H") == plain.split().count("H") + 13


def test_a_deal_can_be_named_in_four_ways() -> None:
    deal = Deal.from_seed(17)
    code = deal_code("table", 17)
    same = {sheets.deal_sheet(given).pdf() for given in (17, deal, code, code.lower())}
    assert len(same) == 1
    text = text_of(sheets.deal_sheet(deal.text).pdf())
    assert deal_on(text) == deal
    assert "code" not in text.split("To type it in")[1]


def test_rules_of_ones_own_have_no_code() -> None:
    text = " ".join(text_of(sheets.deal_sheet(17, {"base": "table", "redeals": 1}).pdf()).split())
    assert "Deal: At the table, changed rules, seed 17" in text
    assert "turned over once" in text  # with no code, the rules are told in full
    assert "table-17" not in text
    assert deal_on(text) == Deal.from_seed(17)


# Keys


def test_the_key_tells_the_line_step_by_step() -> None:
    text = text_of(sheets.answer_key(SMALL_DEAL, SMALL_RULES, SMALL_LINE, shortest=True).pdf())
    assert "5 discards, 3 turns of the stock. No shorter way exists." in text
    # At the start only one eight and one five are in play, so there is one way; so it is at every step.
    steps = " ".join(text.split("Ways")[1].split())
    assert steps.startswith(
        "1 8♥ + 5♦ row 3, card 1 and row 3, card 2 "
        "2 Turn a card "
        "3 2♣ + J♦ row 3, card 3 and waste "
        "4 K♦ row 2, card 2 "
        "5 Turn a card "
        "6 4♣ + 9♥ row 2, card 1 and waste "
        "7 Turn a card "
        "8 9♠ + 4♦ row 1, card 1 and waste "
    )


def test_the_key_counts_the_ways_at_a_choice() -> None:
    # 9s / Jc Kd / 8h 5d 5c: the 8 may go with either 5.
    first = ["9s", "Jc", "Kd", "8h", "5d", "5c", "2c", "8c", "4d"]
    deal = Deal.from_text(" ".join(first + [card.text for card in SMALL_DEAL if card.text not in first]))
    line = [Move.parse(text) for text in ["8h+5d", "draw", "Jc+2c", "draw", "5c+8c", "Kd", "draw", "9s+4d"]]
    text = " ".join(text_of(sheets.answer_key(deal, SMALL_RULES, line).pdf()).split())
    assert "1 8♥ + 5♦ row 3, card 1 and row 3, card 2 2 ways" in text
    assert text.count(" ways") == 1


def test_a_line_that_stops_short_is_refused() -> None:
    with pytest.raises(SheetError, match="does not clear the pyramid; 4 cards are left"):
        sheets.answer_key(SMALL_DEAL, SMALL_RULES, SMALL_LINE[:1])


def test_turns_in_a_row_are_one_step() -> None:
    deal = Deal.from_text(SMALL_DEAL.text.replace("Jd 9h 4d Ac", "Ac Jd 9h 4d"))
    line = [Move.parse(text) for text in ["8h+5d", "draw", "draw", "2c+Jd", "Kd", "draw", "4c+9h", "draw", "9s+4d"]]
    text = text_of(sheets.answer_key(deal, SMALL_RULES, line).pdf())
    assert "2 Turn 2 cards" in text
    assert "There may be a shorter way." in text


def test_three_piles_are_named() -> None:
    rules = {"base": "three-pile", "rows": 3}
    line = [Move.parse(text) for text in ["8h+5d", "draw", "2c+Jd", "Kd", "4c+9h", "9s+4d"]]
    text = " ".join(text_of(sheets.answer_key(SMALL_DEAL, rules, line).pdf()).split())
    assert "Turn 3 cards" in text
    for place in ("row 3, card 3 and pile 1", "row 2, card 1 and pile 2", "row 1, card 1 and pile 3"):
        assert place in text


def test_a_wrong_line_is_refused_by_step() -> None:
    with pytest.raises(SheetError, match=r"step 2 of the line, 4♣ \+ 9♥, cannot be played: "):
        sheets.answer_key(SMALL_DEAL, SMALL_RULES, [SMALL_LINE[0], Move.parse("4c+9h")])


def test_without_a_line_the_solver_finds_one() -> None:
    # 8h+5d, 2c+Jd, Kd, 4c+9h, 9s+4d: five discards and three turns, and fewer cannot be: every pyramid card but the
    # pair and the king needs a stock card of its own.
    text = text_of(sheets.answer_key(SMALL_DEAL, SMALL_RULES).pdf())
    assert "5 discards, 3 turns of the stock. No shorter way exists." in text


def test_a_deal_that_cannot_be_won_says_so() -> None:
    # All four 4s lie on the 9 of the apex and have to go first, but only three other 9s are there to go with them.
    first = ["9s", "4c", "4d", "4h", "4s", "Kd"]
    deal = Deal.from_text(" ".join(first + [card.text for card in SMALL_DEAL if card.text not in first]))
    text = text_of(sheets.answer_key(deal, SMALL_RULES).pdf())
    assert "No way clears this pyramid" in text
    assert "Step" not in text


def test_a_search_that_runs_out_of_time_says_so() -> None:
    text = text_of(sheets.answer_key(SMALL_DEAL, SMALL_RULES, max_seconds=0).pdf())
    assert "none was ruled out" in text


# Packs


def pack_of(count: int, **options: object) -> sheets.Sheet:
    deals = [PackDeal(Deal.from_seed(seed), name=f"Child {seed}") for seed in range(1, count + 1)]
    return sheets.class_pack(deals, "table", **options)  # type: ignore[arg-type]


def test_a_pack_has_a_list_then_deals_then_keys() -> None:
    deals = [PackDeal(SMALL_DEAL, SMALL_LINE, True, "easy", "Ana"), PackDeal(SMALL_DEAL, (), False, "", "Bo")]
    content = sheets.class_pack(deals, SMALL_RULES).pdf()
    heads = [page.extract_text().split("\n")[0] for page in reader(content).pages]
    named = "At the table, changed rules"
    assert heads == ["Class pack: 2 deals", f"Deal: {named}", f"Deal: {named}", f"Answer key: {named}"]
    first = text_of(content, 1)
    assert "The answer key of 1 deal follows" in " ".join(first.split())
    assert "easy" in first and "Ana" in first and "Bo" in first
    assert len(page_sizes(sheets.class_pack(deals, SMALL_RULES, keys=False).pdf())) == 3


def test_every_code_of_a_pack_opens_its_deal() -> None:
    content = pack_of(5).pdf()
    codes = re.findall(r"table-\d+-[A-Z]", text_of(content, 1))
    assert [parse_deal_code(code)[1] for code in codes] == [1, 2, 3, 4, 5]
    for page, code in enumerate(codes, start=2):
        text = text_of(content, page)
        assert code in text
        assert deal_on(text) == Deal.from_seed(parse_deal_code(code)[1])


@pytest.fixture(scope="module")
def in_parts() -> Iterator[tuple[bytes, list[tuple[int, int]]]]:
    """A pack of six pressed in two parts, each in a process of its own, and how its progress was told."""
    told: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyramid_lab.sheets.sheet._WHOLE_PAGES", 3)
        patch.setattr("pyramid_lab.sheets.sheet._PART_PAGES", 4)
        yield pack_of(6).pdf(lambda done, total: told.append((done, total))), told


def test_a_pack_in_parts_is_the_same_pack(in_parts: tuple[bytes, list[tuple[int, int]]]) -> None:
    parts, told = in_parts
    assert told == [(4, 7), (7, 7)]
    assert pack_of(6).pdf() == parts  # in parts again, and byte for byte
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyramid_lab.sheets.sheet._WHOLE_PAGES", 150)
        whole = pack_of(6).pdf()
    assert text_of(parts) == text_of(whole)
    assert elements(parts) == elements(whole)
    assert [item.title for item in reader(parts).outline] == [item.title for item in reader(whole).outline]


def test_tags_of_a_pack_in_parts_point_to_their_own_pages(in_parts: tuple[bytes, list[tuple[int, int]]]) -> None:
    with pikepdf.open(io.BytesIO(in_parts[0])) as document:
        pages = {page.obj.objgen: number for number, page in enumerate(document.pages)}
        tree = document.Root.StructTreeRoot
        heads = [element for element in tree.K[0].K if element.S == "/H1"]
        assert [pages[head.Pg.objgen] for head in heads] == list(range(7))
        keys = [int(key) for key in list(tree.ParentTree.Nums)[::2]]
        assert keys == list(range(len(keys)))
        for page in document.pages:
            owners = tree.ParentTree.Nums[2 * int(page.obj.StructParents) + 1]
            assert {owner.Pg.objgen for owner in owners} == {page.obj.objgen}


def test_a_pack_in_one_call() -> None:
    content = sheets.pack("three-pile", count=3, start_seed=10, names=["Ana", "Bo"]).pdf()
    first = text_of(content, 1)
    seeds = [parse_deal_code(code)[1] for code in re.findall(r"three-pile-\d+-[A-Z]", first)]
    assert len(seeds) == 3 and min(seeds) >= 10
    assert "Ana" in first and "Bo" in first
    assert text_of(content).count("No shorter way exists.") == 3


@pytest.mark.parametrize("count", [0, PACK_LIMIT + 1])
def test_a_pack_that_no_class_needs_is_refused(count: int) -> None:
    with pytest.raises(SheetError, match="1 to 10,000 deals"):
        sheets.class_pack([PackDeal(SMALL_DEAL)] * count, SMALL_RULES)


# Bad input


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: sheets.deal_sheet(17, paper="b5"), SheetError, "no paper 'b5'.*a4, letter"),
        (lambda: sheets.deal_sheet(17, paper="a3"), SheetError, "no paper 'a3'"),
        (lambda: sheets.deal_sheet(17, size="huge"), SheetError, "no size 'huge'"),
        (lambda: sheets.deal_sheet(-1), InvalidDealError, "a seed is a whole number"),
        (lambda: sheets.deal_sheet("table-17-A"), InvalidDealError, "does not check"),
        (lambda: sheets.deal_sheet("seventeen"), InvalidDealError, "no deal code"),
        (lambda: sheets.deal_sheet(deal_code("table", 17), "classic"), SheetError, "a deal for table, not for classic"),
        (lambda: sheets.deal_sheet(17, "tabel"), RulesError, "did you mean 'table'"),
        (lambda: sheets.deal_sheet(Deal.from_seed(1, 10)), SheetError, "pairs to 10"),
        (lambda: sheets.pack(count=0), SheetError, "1 to 10,000 deals"),
        (lambda: sheets.pack(start_seed="one"), InvalidDealError, "a seed is a whole number"),  # type: ignore[arg-type]
        (lambda: sheets.pack(count=1, names=["Ana", "Bo"]), SheetError, "2 names, but only 1 deals"),
        (lambda: sheets.pack(paper="a3"), SheetError, "no paper 'a3'"),
        (lambda: sheets.deal_sheet(17, fonts=["no such folder"]), SheetError, "no such folder"),
    ],
)
def test_bad_input_is_named(make: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()  # type: ignore[operator]
