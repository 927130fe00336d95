"""``pyramid-lab solve`` and ``pyramid-lab odds``."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pyramid_lab.cli import cli
from pyramid_lab.core import Deal, Move, Outcome, Position, rule_set
from pyramid_lab.solver import Winnable, solve
from pyramid_lab.solver.odds import CHUNK, Count, chunks
from pyramid_lab.solver.odds import odds as odds_of

DEALS = Path(__file__).parents[1] / "data" / "solver" / "six_rule_sets.csv"


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, arguments, input=text)


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def first_deals(count: int) -> list[dict[str, str]]:
    with DEALS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))[:count]


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_solve_answers_in_the_order_of_the_file_with_lines_that_win(jobs: str) -> None:
    deals = first_deals(40)
    text = "\n".join(row["deal"] for row in deals) + "\n"
    result = run("solve", "--rules", "classic", "--set", "redeals=1", "--deals", "-", "--jobs", jobs, text=text)
    assert result.exit_code == 0, result.output
    found = table(result.stdout)
    assert [row["deal"] for row in found] == [row["deal"] for row in deals]
    assert [row["winnable"] for row in found] == [row["A1"] for row in deals]
    rules = rule_set({"base": "classic", "redeals": 1})
    for row in found:
        if row["winnable"] == "0":
            assert row["steps"] == row["line"] == ""
            continue
        moves = [Move.parse(word) for word in row["line"].split()]
        assert len(moves) == int(row["steps"])
        position = Position.start(rules, Deal.from_text(row["deal"]))
        for move in moves:
            position = position.play(move)
        assert position.outcome is Outcome.WON


def test_solve_reads_a_csv_and_finds_the_fewest_steps(tmp_path: Path) -> None:
    deals = first_deals(12)
    file = tmp_path / "deals.csv"
    with file.open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["number", "Deal"])
        writer.writerows([number, row["deal"]] for number, row in enumerate(deals))
    result = run("solve", "--rules", "three-pile", "--deals", str(file), "--shortest")
    assert result.exit_code == 0, result.output
    assert [row["steps"] for row in table(result.stdout)] == [row["steps_D3"] for row in deals]


def test_a_deal_that_is_given_up_has_an_empty_cell() -> None:
    text = first_deals(1)[0]["deal"]
    result = run("solve", "--rules", "classic", "--max-seconds", "1e-9", "--deals", "-", text=text)
    assert [row["winnable"] for row in table(result.stdout)] == [""]


@pytest.mark.parametrize(
    ("arguments", "text", "words"),
    [
        (["--rules", "clasic"], "", ["clasic", "did you mean 'classic'"]),
        (["--rules", "classic", "--set", "redeal=1"], "", ["redeal", "redeals"]),
        (["--rules", "classic", "--set", "redeals"], "", ["field=value"]),
        (["--rules", "classic", "--set", "redeals=many"], "", ["redeals", "many"]),
        (["--rules", "classic"], "GOOD\n\n6d 5h Ah 6d", ["line 3", "6d", "card 4"]),
        (["--rules", "classic"], "GOOD\n6d 5X", ["line 2", "card 2", "5X"]),
        (["--rules", "classic"], "number,cards\n1,x", ["line 1", "column named deal"]),
        (["--rules", "classic"], "n,deal\n1,GOOD\n2", ["line 3", "column 2"]),
    ],
)
def test_bad_input_is_named(arguments: list[str], text: str, words: list[str]) -> None:
    text = text.replace("GOOD", Deal.from_seed(1).text)
    result = run("solve", *arguments, "--deals", "-", text=text)
    assert result.exit_code != 0
    for word in words:
        assert word in result.output


def test_odds_counts_what_solve_finds_and_gives_wilsons_interval() -> None:
    result = run("odds", "--rules", "cardems", "--deals", "300", "--jobs", "1")
    assert result.exit_code == 0, result.output
    (row,) = table(result.stdout)
    rules = rule_set("cardems")
    won = sum(isinstance(solve(Position.start(rules, Deal.from_seed(seed))), Winnable) for seed in range(300))
    assert (row["deals"], row["winnable"], row["unknown"]) == ("300", str(won), "0")
    # Not above: it takes a second to load, which only one worker need spend.
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(won, 300, method="wilson")
    assert [float(row[name]) for name in ("share", "low", "high")] == pytest.approx([won / 300, low, high], abs=1e-5)


def test_odds_goes_on_from_its_file(tmp_path: Path) -> None:
    out = tmp_path / "odds.csv"
    arguments = ["odds", "--rules", "three-pile", "--jobs", "1", "--deals", str(2 * CHUNK)]
    whole = run(*arguments)
    first = run(*arguments[:-1], str(CHUNK), "--out", str(out))
    assert first.exit_code == 0, first.output
    kept = out.read_text(encoding="utf-8")
    # As after a crash in the middle of a line.
    out.write_text(kept + kept.splitlines()[-1][:40], encoding="utf-8")
    second = run(*arguments, "--out", str(out))
    assert second.exit_code == 0, second.output
    assert second.stdout == whole.stdout
    assert out.read_text(encoding="utf-8").startswith(kept)
    other = run("odds", "--rules", "one-pass", "--jobs", "1", "--deals", "10", "--out", str(out))
    assert other.exit_code != 0
    assert "other rules" in other.output


def test_stretches_leave_out_what_is_done() -> None:
    assert chunks(10, 600) == [(10, 259), (260, 509), (510, 609)]
    assert chunks(10, 600, [Count(260, 509, 1, 249, 0)]) == [(10, 259), (510, 609)]


def test_odds_of_nothing_has_no_share() -> None:
    with pytest.raises(ValueError, match="no deal"):
        odds_of([Count(0, 9, 0, 0, 10)])
