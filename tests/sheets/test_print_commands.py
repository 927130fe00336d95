"""`pyramid-lab print`, as a tutor runs it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pyramid_lab.cli import cli
from pyramid_lab.core import Deal, Position, rule_set
from pyramid_lab.core.deal import deal_code, parse_deal_code
from pyramid_lab.solver import Winnable, difficulty, solve
from tests.sheets.pdf_reading import page_sizes, text_of


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["print", *arguments])


@pytest.mark.parametrize(
    ("arguments", "pages", "words"),
    [
        (["deal", "17", "--rules", "three-pile", "--name", "Zoë"], 1, "three-pile-17"),
        (["deal", deal_code("table", 17), "--paper", "letter", "--letters"], 1, "table-17"),
        (["deal", "17", "--size", "large"], 2, "Stack the pack"),
        (["key", "3", "--rules", "three-pile"], 1, "No shorter way exists"),
        (["key", "17", "--rules", "table"], 1, "No way clears this pyramid"),
        (["cards", "--style", "words", "--no-backs"], 6, "eleven"),
        (["cards", "--test-sheet", "--duplex", "short-edge"], 2, "Back 9"),
        (["cards", "--offset", "1", "-0.5"], 12, "Backs of"),
        (["mat", "--rules", "three-pile", "--paper", "tabloid"], 1, "pile 3"),
        (["mat", "--card-width", "63.5"], 2, "part 2 of 2"),
        (["recording", "--time", "--deal", "17"], 1, "Seconds"),
        (["practice"], 2, "What is missing?"),
        (["practice", "family", "--fact", "5+8", "--count", "2"], 2, "Fact families"),
        (["rules-card", "--rules", "three-pile"], 1, "one on each pile"),
    ],
)
def test_every_command_makes_its_sheet(tmp_path: Path, arguments: list[str], pages: int, words: str) -> None:
    out = tmp_path / "a sheet.pdf"
    done = run(*arguments, "--out", str(out))
    assert done.exit_code == 0, done.output
    assert f"{out} is ready. Print it at 100 %." in done.output
    content = out.read_bytes()
    assert len(page_sizes(content)) == pages
    assert words in text_of(content)
    assert [path.name for path in tmp_path.iterdir()] == ["a sheet.pdf"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["deal", "17", "--paper", "b5"], "'b5' is not one of 'a4', 'letter'"),
        (["deal", "seventeen"], "'seventeen' is no deal code"),
        (["deal", "table-17-X"], "does not check"),
        (["deal", "tabel-63-X"], "'tabel-63-X' is no deal code: no rule set is called 'tabel' (did you mean 'table'?)"),
        (["deal", "table 63 x"], "'table 63 x' is no deal code: a code looks like table-17-U"),
        (["deal", "table-63"], "the check letter at its end is missing; a code looks like table-17-U"),
        (["deal", "6d 5x"], "card 2: "),
        (["deal"], "Name a deal, such as 17 (a seed) or table-17-U (the code on a sheet)."),
        (["deal", "-5"], "a seed is 0 or more, such as 17, not -5"),
        (["key", "-17"], "a seed is 0 or more, such as 17, not -17"),
        (["recording", "--deal", "-5"], "a seed is 0 or more, such as 17, not -5"),
        (["deal", "17", "--nane", "Zoë"], "No such option"),
        (["deal", "17", "-n", "Zoë"], "No such option"),
        (["deal", "17", "--rules", "tabel"], "did you mean 'table'"),
        (["deal", "17", "--name", "漢"], "no letter for 漢"),
        (["deal", "99999999999999999999999"], "a seed is a whole number"),
        (["key", "17", "--line", "8c+5d"], "step 1 of the line"),
        (["key", "17", "--line", "8c+zz"], "'8c+zz' is no move"),
        (["key", "17", "--seconds", "nan"], "not nan"),
        (["cards", "--width", "10"], "30 to 63.5 mm wide"),
        (["cards", "--offset", "9", "0"], "offset"),
        (["cards", "--target", "9"], "9 is not in the range"),
        (["mat", "--paper", "a5"], "'a5'"),
        (["recording", "--rows", "0"], "1 to 60 rows"),
        (["practice", "--seed", "many"], "'many' is not a valid seed"),
        (["practice", "--count", "0"], "1 to 240"),
        (["practice", "--fact", "5+9"], "'5+9' is no fact of 13"),
        (["rules-card", "--rules", "chess"], "no rule set is called 'chess'"),
    ],
)
def test_bad_input_is_said_in_one_line_and_nothing_is_written(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = run(*arguments, "--out", str(tmp_path / "sheet.pdf"))
    assert done.exit_code != 0
    assert isinstance(done.exception, SystemExit)
    assert words in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["deal", "17"], ["mat"], ["pack", "--count", "1"]], ids=" ".join)
@pytest.mark.parametrize("name", ["sheet.docx", "sheet"])
def test_a_pdf_is_not_written_under_the_name_of_another_file(tmp_path: Path, words: list[str], name: str) -> None:
    done = run(*words, "--out", str(tmp_path / name))
    assert done.exit_code == 2
    assert f"{name} does not end in .pdf; write {tmp_path / 'sheet.pdf'}" in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["rules-card"], ["pack", "--count", "1", "--any"]], ids=" ".join)
def test_where_a_sheet_is_is_said_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"{tmp_path / 'sheet.pdf'} is ready" in run(*words, "--out", "sheet.pdf").output


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = run("rules-card", "--out", str(tmp_path / "gone" / "rules.pdf"))
    assert done.exit_code == 1
    assert "there is no folder" in done.output


def test_a_list_prints_its_sheets_beside_it(tmp_path: Path) -> None:
    (tmp_path / "monday.toml").write_text(
        '[rules]\nsheet = "rules-card"\nrules = "three-pile"\n\n[mat-for-us]\nsheet = "mat"\npaper = "letter"\n',
        encoding="utf-8",
    )
    done = run("list", str(tmp_path / "monday.toml"))
    assert done.exit_code == 0, done.output
    assert "2 sheets are ready" in done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mat-for-us.pdf", "monday.toml", "rules.pdf"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[a]\nsheet = 'poster'\n", "[a]: no sheet 'poster'; the kinds are deal, key, pack"),
        ("[a]\npaper = 'a4'\n", "[a]: no sheet None"),
        ("[a]\nsheet = 'mat'\npapper = 'a4'\n", "[a]: got an unexpected keyword argument 'papper'"),
        ("[b]\nsheet = 'mat'\npaper = 'a5'\n", "[b]: no paper 'a5'"),
        ("[c]\nsheet = 'pack'\ndeals = [{ sead = 3 }]\n", "[c]:"),
        ("[c]\nsheet = 'pack'\ndeals = [{ seed = 3, line = 'Kh' }]\n", "[c]: Answer key"),
        ("a = 1\n", "a = 1 is no sheet"),
        ("[d]\nsheet = ['mat']\n", "[d]: no sheet ['mat']"),
        ("[d]\nsheet = 'deal'\ndeal = 1.5\n", "[d]: a deal is a seed"),
        ("[d]\nsheet = 'recording'\nname = 3\n", "[d]: a name is text"),
        ("[d]\nsheet = 'cards'\noffset = 3\n", "[d]:"),
        ("['../d']\nsheet = 'mat'\n", "no / in it"),
        ("[m]\nsheet = 'mat'\n\n[d]\nsheet = 'recording'\nname = '中'\n", "[d]: the sheet's type has no letter for 中"),
        ("# nothing yet\n", "lists no sheet"),
        ("[a\n", "cannot read the list"),
    ],
)
def test_a_wrong_list_prints_nothing(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "monday.toml").write_text("[ok]\nsheet = 'rules-card'\n" + text if text[:1] == "[" else text, "utf-8")
    done = run("list", str(tmp_path / "monday.toml"))
    assert done.exit_code == 1
    assert words in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["monday.toml"]


def test_a_pack_of_certified_deals(tmp_path: Path) -> None:
    out = tmp_path / "pack.pdf"
    done = run("pack", "--rules", "table", "--count", "3", "--start-seed", "50", "--out", str(out))
    assert done.exit_code == 0, done.output
    text = text_of(out.read_bytes())
    codes = list(dict.fromkeys(re.findall(r"table-\d+-[A-Z]", text_of(out.read_bytes(), 1))))
    assert len(codes) == 3
    seeds = [parse_deal_code(code)[1] for code in codes]
    assert seeds == sorted(seeds) and seeds[0] >= 50
    for seed in range(50, seeds[-1] + 1):
        winnable = isinstance(solve(Position.start(rule_set("table"), Deal.from_seed(seed))), Winnable)
        assert winnable == (seed in seeds), seed
    assert text.count("No shorter way exists.") == 3
    assert [text.count(code) >= 3 for code in codes] == [True] * 3


def test_a_pack_of_one_difficulty(tmp_path: Path) -> None:
    out = tmp_path / "pack.pdf"
    done = run("pack", "--rules", "classic", "--count", "3", "--difficulty", "easy", "--out", str(out))
    assert done.exit_code == 0, done.output
    text = text_of(out.read_bytes(), 1)
    seeds = [parse_deal_code(code)[1] for code in re.findall(r"classic-\d+-[A-Z]", text)]
    assert text.count("easy") == 3
    start = [Position.start(rule_set("classic"), Deal.from_seed(seed)) for seed in range(1, seeds[-1] + 1)]
    easy = [s for s, p in enumerate(start, 1) if isinstance(solve(p), Winnable) and difficulty(p).level == "easy"]
    assert seeds == easy


def test_a_pack_rich_in_a_fact(tmp_path: Path) -> None:
    out = tmp_path / "pack.pdf"
    done = run("pack", "--rules", "three-pile", "--count", "3", "--rich-in", "5+8", "--no-keys", "--out", str(out))
    assert done.exit_code == 0, done.output
    seeds = [parse_deal_code(code)[1] for code in re.findall(r"three-pile-\d+-[A-Z]", text_of(out.read_bytes(), 1))]
    assert len(seeds) == 3
    rich = []
    for seed in range(1, seeds[-1] + 1):
        answer = solve(Position.start(rule_set("three-pile"), Deal.from_seed(seed)), shortest=True)
        if isinstance(answer, Winnable):
            pairs = [sorted(card.value for card in move.cards) for move in answer.line]
            if pairs.count([5, 8]) == 4:
                rich.append(seed)
    assert seeds == rich


def test_a_pack_that_cannot_be_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyramid_lab.sheets.deals.LONGEST_LOOK", 20)
    facts = [part for fact in ("A+Q", "2+J", "3+10", "4+9", "5+8", "6+7") for part in ("--rich-in", fact)]
    done = run("pack", "--count", "1", *facts, "--out", str(tmp_path / "pack.pdf"))
    assert done.exit_code == 1
    assert "no deal rich in A+Q and 2+J" in done.output
    assert list(tmp_path.iterdir()) == []


def test_a_pack_of_any_deals_has_no_keys(tmp_path: Path) -> None:
    out = tmp_path / "pack.pdf"
    assert run("pack", "--any", "--count", "2", "--start-seed", "7", "--out", str(out)).exit_code == 0
    text = text_of(out.read_bytes())
    assert deal_code("table", 7) in text and deal_code("table", 8) in text
    assert "Answer key" not in text
    assert len(page_sizes(out.read_bytes())) == 3


def test_a_pack_for_a_class_has_a_name_on_each_sheet(tmp_path: Path) -> None:
    names = tmp_path / "3b.txt"
    names.write_text("Zoë\n\nLi, Mei\n=Max\n", encoding="utf-8-sig")
    out = tmp_path / "pack.pdf"
    done = run("pack", "--any", "--names", str(names), "--out", str(out))
    assert done.exit_code == 0, done.output
    assert len(page_sizes(out.read_bytes())) == 1 + 3
    for page, name in enumerate(["Zoë", "Li, Mei", "=Max"], start=2):
        assert f"Name: {name}" in text_of(out.read_bytes(), page)
        assert name in text_of(out.read_bytes(), 1)


def test_a_long_pack_comes_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyramid_lab.sheets.deals.FILE_LIMIT", 2)
    done = run("pack", "--any", "--count", "5", "--out", str(tmp_path / "pack.pdf"))
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pack-1.pdf", "pack-2.pdf", "pack-3.pdf"]
    assert "3 table-3-" in text_of((tmp_path / "pack-2.pdf").read_bytes(), 1)


def test_the_same_pack_is_the_same_file(tmp_path: Path) -> None:
    for name in ("one.pdf", "two.pdf"):
        run("pack", "--count", "2", "--rules", "three-pile", "--out", str(tmp_path / name))
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--count", "0"], "1 to 10,000 deals, not 0"),
        (["--count", "10001"], "not 10,001"),
        (["--start-seed", "one"], "'one' is not a valid seed"),
        (["--start-seed", "-1"], "-1 is not in the range"),
        (["--rules", "chess"], "no rule set is called 'chess'"),
        (["--paper", "a3"], "'a3' is not one of"),
        (["--rich-in", "5+9"], "'5+9' is no fact of 13"),
        (["--rich-in", "5+8", "--any"], "does not go with --rich-in"),
    ],
)
def test_bad_input_for_a_pack_is_said_before_any_work(
    tmp_path: Path, arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyramid_lab.sheets.deals.solve", lambda *_, **__: pytest.fail("work was done"))
    done = run("pack", *arguments, "--out", str(tmp_path / "pack.pdf"))
    assert done.exit_code != 0
    assert words in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "has no name in it"), (b" \n\n", "has no name in it"), (b"Zo\xeb\n", "is no UTF-8 text")],
)
def test_a_list_of_names_without_a_name_is_no_list(tmp_path: Path, content: bytes, words: str) -> None:
    names = tmp_path / "3b.txt"
    names.write_bytes(content)
    done = run("pack", "--any", "--names", str(names), "--out", str(tmp_path / "pack.pdf"))
    assert done.exit_code == 1
    assert f"{names} {words}" in done.output
    assert not (tmp_path / "pack.pdf").exists()


def test_a_list_in_another_code_page_is_named(tmp_path: Path) -> None:
    (tmp_path / "monday.toml").write_bytes("[a]\nsheet = 'deal'\ndeal = 1\nname = 'Zoë'\n".encode("latin-1"))
    done = run("list", str(tmp_path / "monday.toml"))
    assert done.exit_code == 1
    assert "monday.toml is no UTF-8 text" in done.output


def test_more_names_than_deals_are_not_dropped(tmp_path: Path) -> None:
    names = tmp_path / "3b.txt"
    names.write_text("Ana\nBo\nCy\n", encoding="utf-8")
    done = run("pack", "--any", "--names", str(names), "--count", "2", "--out", str(tmp_path / "pack.pdf"))
    assert done.exit_code == 1
    assert "3 names, but only 2 deals" in done.output
