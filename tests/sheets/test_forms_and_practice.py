"""Recording sheets, rules cards and fact practice, read back from their PDFs."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from pyramid_lab import sheets
from pyramid_lab.core.deal import deal_code
from pyramid_lab.sheets import SheetError
from pyramid_lab.sheets.facts import facts_to, read_fact
from tests.sheets.pdf_reading import Piece, elements, page_sizes, pages_of, pictures, text_of

# Recording sheets


@pytest.mark.parametrize("time", [True, False])
def test_the_recording_sheet_has_its_columns_and_rows(time: bool) -> None:
    content = sheets.recording_sheet(time=time, rows=12).pdf()
    text = " ".join(text_of(content).split())
    heads = "First card Second card Total 13? ✓" + (" Seconds" if time else "")
    assert heads in text
    assert ("Seconds" in text) == time
    tags = [tag for tag, _ in elements(content)]
    assert tags.count("TR") == 12 + 1
    assert tags.count("TH") == 5 + time


@pytest.mark.parametrize("paper", ["a4", "letter"])
@pytest.mark.parametrize("rows", [1, 30, 34])
def test_the_rows_fit_one_page(paper: str, rows: int) -> None:
    assert len(page_sizes(sheets.recording_sheet(paper, rows=rows, deal=17, name="Ada", time=True).pdf())) == 1


def test_the_recording_sheet_names_its_deal_and_child() -> None:
    text = text_of(sheets.recording_sheet(deal=17, rules="three-pile", name="Łukasz Δ Жанна محمد").pdf())
    assert deal_code("three-pile", 17) in text
    assert "Łukasz Δ Жанна" in text
    assert "Three piles" in text


def test_the_recording_sheet_asks_for_the_target_of_its_rules() -> None:
    assert "10? ✓" in text_of(sheets.recording_sheet(rules={"base": "table", "target": 10}).pdf())


@pytest.mark.parametrize("rows", [0, 61, 2.5, True])
def test_rows_nobody_can_print_are_refused(rows: object) -> None:
    with pytest.raises(SheetError, match="1 to 60 rows"):
        sheets.recording_sheet(rows=rows)  # type: ignore[arg-type]


# Rules cards


@pytest.mark.parametrize("paper", ["a4", "letter"])
@pytest.mark.parametrize(
    ("rules", "words", "absent"),
    [
        (
            "table",
            ["7 rows", "make 13", "A king goes alone", "one card from the stock", "count the cards"],
            "three cards",
        ),
        ("three-pile", ["three cards, one on each pile", "same order", "two tops may go together"], "waste"),
        ("classic", ["turn the waste over twice", "top of the stock is free"], "three"),
        ({"base": "table", "target": 10, "rows": 4}, ["4 rows", "make 10", "A 10 goes alone"], "king"),
        ("cardems", ["as often as you like"], "three"),
    ],
)
def test_the_rules_card_says_what_the_rules_are(paper: str, rules: object, words: list[str], absent: str) -> None:
    content = sheets.rules_card(rules, paper).pdf()  # type: ignore[arg-type]
    text = " ".join(text_of(content).split())
    for word in words:
        assert word in text
    assert absent not in text
    assert len(page_sizes(content)) == 1
    assert len(pictures(content)) == 5


def test_the_rules_card_shows_every_fact() -> None:
    alt = pictures(sheets.rules_card().pdf())[1]
    for fact in ("A (1) and Q (12)", "2 and J (11)", "3 and 10", "4 and 9", "5 and 8", "6 and 7", "K (13) alone"):
        assert fact in alt


# Practice


def asked(content: bytes, page: int = 1) -> list[str]:
    """The problems of a page in order, each on one line: what stands in large type, by column and row."""
    sheet = pages_of(content)[page - 1]
    middle = sheet.width / 2
    large = [piece for piece in sheet.pieces if 15 < piece.size < 16.5]
    lines: list[list[Piece]] = []
    for piece in sorted(large, key=lambda piece: (piece.baseline, piece.left)):
        if not lines or piece.baseline - lines[-1][0].baseline > 4:
            lines.append([])
        lines[-1].append(piece)
    problems = []
    for line in lines:
        line.sort(key=lambda piece: piece.left)
        for half in ([p for p in line if p.left < middle], [p for p in line if p.left >= middle]):
            if half:
                problems.append(" ".join(piece.text for piece in half))
    return problems


def fact_in(problem: str) -> tuple[int, int]:
    """The fact of a missing-addend problem: its one addend and what is missing to 13."""
    numbers = [int(number) for number in re.findall(r"\d+", problem)]
    numbers.remove(13)
    (addend,) = numbers
    return min(addend, 13 - addend), max(addend, 13 - addend)


@pytest.mark.parametrize("seed", range(5))
def test_each_fact_comes_once_before_any_comes_again(seed: int) -> None:
    problems = asked(sheets.practice("missing", seed=seed, count=20).pdf())
    assert len(problems) == 20
    facts = [fact_in(problem) for problem in problems]
    for start in range(0, 18, 6):
        assert set(facts[start : start + 6]) == {(1, 12), (2, 11), (3, 10), (4, 9), (5, 8), (6, 7)}
    assert all(one != other for one, other in pairwise(facts))


def test_a_fact_that_comes_again_asks_for_its_other_addend() -> None:
    problems = asked(sheets.practice("missing", count=12).pdf())
    given: dict[tuple[int, int], set[str]] = {}
    for problem in problems:
        given.setdefault(fact_in(problem), set()).add(*(n for n in re.findall(r"\d+", problem) if n != "13"))
    assert all(len(addends) == 2 for addends in given.values())


@pytest.mark.parametrize("kind", ["missing", "total"])
def test_the_key_is_right(kind: str) -> None:
    content = sheets.practice(kind, count=24, seed=7).pdf()
    solved = asked(content, 2)
    assert len(solved) == 24
    for line in solved:
        left, right = re.sub(r"[☐☑]", "", line).split("=")
        total = {sum(int(number) for number in re.findall(r"\d+", side)) for side in (left, right)}
        assert len(total) == 1, line
        if kind == "total":
            assert ("☑" in line) == (total == {13}), line
        else:
            assert total == {13}


def test_the_sheet_itself_gives_no_answer_away() -> None:
    content = sheets.practice("total", count=24, seed=7).pdf()
    assert "☑" not in text_of(content, 1)
    for line in asked(content):
        assert not re.search(r"=\s*\d", line)


def test_some_totals_are_right_and_some_are_near_misses() -> None:
    totals = [
        sum(int(number) for number in re.findall(r"\d+", line))
        for line in asked(sheets.practice("total", count=48, seed=2).pdf())
    ]
    assert 8 <= totals.count(13) <= 40
    assert set(totals) <= {11, 12, 13, 14, 15}


def test_a_family_has_its_four_sums() -> None:
    content = sheets.practice("family", count=1, facts=["5+8"]).pdf()
    key = text_of(content, 2)
    sums = {"".join(line.split()) for line in key.splitlines() if "=" in line}
    assert sums == {"5+8=13", "8+5=13", "13−5=8", "13−8=5"}
    assert "empty box" in pictures(content)[0]


def test_a_double_has_two_sums() -> None:
    key = text_of(sheets.practice("family", count=1, target=10, facts=["5+5"]).pdf(), 2)
    assert {"".join(line.split()) for line in key.splitlines() if "=" in line} == {"5+5=10", "10−5=5"}


def test_ranks_stand_for_their_values() -> None:
    text = " ".join(asked(sheets.practice("missing", count=12, ranks=True).pdf(), 2))
    assert set(re.findall(r"\w+", text)) == {"13", "A", "Q", "2", "J", "3", "10", "4", "9", "5", "8", "6", "7"}


def test_only_the_facts_asked_for() -> None:
    problems = asked(sheets.practice("missing", facts=["8+5", "J+2"], count=10).pdf())
    assert {fact_in(problem) for problem in problems} == {(5, 8), (2, 11)}


def test_facts_are_read_as_people_write_them() -> None:
    assert {read_fact(text) for text in ("5+8", "8 + 5", " 8+5 ")} == {(5, 8)}
    assert read_fact("J+2") == read_fact("2+11") == (2, 11)
    assert facts_to(10) == ((1, 9), (2, 8), (3, 7), (4, 6), (5, 5))
    with pytest.raises(SheetError, match=r"'5\+9' is no fact of 13; they are A\+Q"):
        read_fact("5+9")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "times"}, "no practice 'times'"),
        ({"seed": -1}, "a seed is"),
        ({"seed": "x"}, "a seed is"),
        ({"count": 0}, "1 to 240"),
        ({"count": 241}, "1 to 240"),
        ({"target": 14}, "not 14"),
        ({"paper": "b4"}, "'b4'"),
    ],
)
def test_bad_input_for_practice_is_named(options: dict[str, object], words: str) -> None:
    with pytest.raises(SheetError, match=words):
        sheets.practice(**options)  # type: ignore[arg-type]
