"""``pyramid-lab deal`` and ``pyramid-lab replay``, as scripts and tutors call them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pyramid_lab.cli import cli
from pyramid_lab.core import RULE_SETS, Deal, deal_code

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "golden_games.json").read_text(encoding="utf-8")
)["games"]
ONE_PASS = next(golden for golden in GOLDEN if golden["rules"] == "one-pass")
COLUMNS = ["move", "legal", "reason", "score", "combo", "outcome"]


def run(*arguments: str, file: object = None) -> Result:
    """Call the command line; ``file`` goes to standard input, as JSON unless it is text."""
    text = file if isinstance(file, str) else json.dumps(file)
    return CliRunner().invoke(cli, list(arguments), input=None if file is None else text)


def replay(file: object) -> tuple[Result, dict[str, Any]]:
    result = run("replay", "-", "--json", file=file)
    assert result.stdout.count("\n") == 1, result.output
    return result, json.loads(result.stdout)


def game_file(golden: dict[str, Any], moves: list[str] | None = None) -> dict[str, Any]:
    played = [row["move"] for row in golden["moves"]]
    return {"rules": golden["rules"], "deal": golden["deal"], "moves": played if moves is None else moves}


# deal


def test_a_deal_is_one_line_that_reads_back() -> None:
    result = run("deal", "--seed", "7", "--rules", "classic")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == Deal.from_seed(7).text + "\n"
    assert Deal.from_text(result.stdout) == Deal.from_seed(7)


def test_the_code_of_a_deal_gives_the_deal_back() -> None:
    code = run("deal", "--seed", "17", "--rules", "table", "--code").stdout
    assert code.strip() == deal_code("table", 17)
    assert run("deal", code).stdout == Deal.from_seed(17).text + "\n"


def test_a_deal_without_a_seed_names_the_one_it_took() -> None:
    result = run("deal", "--rules", "one-pass")
    word, _, seed = result.stderr.strip().partition(" ")
    assert word == "seed"
    assert run("deal", "--seed", seed, "--rules", "one-pass").stdout == result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seed", "7", "--rules", "clasic"], "'clasic' is not one of 'classic'"),
        (["--seed", "-1"], "a seed is a whole number from 0 to 18446744073709551615, such as 17, not '-1'"),
        (["--seed", "x"], "a seed is a whole number from 0 to 18446744073709551615, such as 17, not 'x'"),
        (["--seed", str(2**64)], f"such as 17, not '{2**64}'"),
        (["table-17"], "is no deal code"),
        (["nosuch-17-A"], "no rule set is called 'nosuch'"),
        ([deal_code("nosuch", 17)], "no rule set is called 'nosuch'"),
        ([deal_code("table", 17), "--seed", "17"], "leave --seed out"),
    ],
)
def test_what_deal_cannot_do_is_said(arguments: list[str], said: str) -> None:
    result = run("deal", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


# replay


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["name"])
def test_a_whole_game_with_hand_worked_scores(golden: dict[str, Any]) -> None:
    result, played = replay(game_file(golden))
    assert result.exit_code == 0
    assert result.stderr == ""
    assert [list(row)[:3] for row in played["moves"][:1]] == [["move", "legal", "reason"]]
    assert [(row["move"], row["score"], row["combo"]) for row in played["moves"]] == [
        (row["move"], row["score"], row["combo"]) for row in golden["moves"]
    ]
    assert all(row["legal"] and row["reason"] is None and row["message"] is None for row in played["moves"])
    assert {row["outcome"] for row in played["moves"][:-1]} == {"playing"}
    assert played["moves"][-1]["outcome"] == golden["final"]["outcome"]
    assert played["final"] == golden["final"]


def test_the_table_has_a_line_a_move_and_a_last_line() -> None:
    result = run("replay", "-", file=game_file(ONE_PASS))
    lines = result.stdout.splitlines()
    assert lines[0].split() == COLUMNS
    assert lines[1].split() == ["5d+8d", "yes", "2", "1", "playing"]
    assert len(lines) == len(ONE_PASS["moves"]) + 2
    assert lines[-1] == "final: score 28, outcome won, pyramid_left 0, stock 18, waste 0, redeals_left 0"
    # One column under another, whatever the words in it.
    assert len({line.rindex(" ") for line in lines[:-1]}) == 1


def test_undo_redo_restart_and_done() -> None:
    moves = ["Kh", "draw", "undo", "undo", "redo", "restart", "5d+8d", "done"]
    result, played = replay(game_file(ONE_PASS, moves))
    assert result.exit_code == 0
    assert [(row["score"], row["combo"], row["outcome"]) for row in played["moves"]] == [
        (1, 1, "playing"),
        (1, 0, "playing"),
        (1, 1, "playing"),
        (0, 0, "playing"),
        (1, 1, "playing"),
        (0, 0, "playing"),
        (2, 1, "playing"),
        (2, 1, "lost"),
    ]
    assert played["final"]["outcome"] == "lost"
    assert played["final"]["stock"] == 24


@pytest.mark.parametrize(
    ("move", "reason", "said"),
    [
        ("2d", "covered", "2♦ is covered by 5♦ and 8♦"),
        ("5d+6d", "wrong_total", "5 + 6 is 11, not 13"),
        ("redeal", "stock_not_empty", "24 cards"),
        ("Ks", "face_down", "K♠"),
        ("5d", "needs_partner", "5♦"),
        ("undo", "nothing_to_undo", "start of the game"),
        ("redo", "nothing_to_redo", "nothing to redo"),
    ],
)
def test_the_first_illegal_move_is_named_and_ends_the_replay(move: str, reason: str, said: str) -> None:
    moves = ["restart", move, "draw"]
    result, played = replay(game_file(ONE_PASS, moves))
    assert result.exit_code == 1
    assert [row["legal"] for row in played["moves"]] == [True, False]
    assert played["moves"][-1] == {
        "move": move,
        "legal": False,
        "reason": reason,
        "message": played["moves"][-1]["message"],
        "score": 0,
        "combo": 0,
        "outcome": "playing",
    }
    assert said in played["moves"][-1]["message"]
    assert f"move 2, {move}, is not legal" in result.stderr
    assert said in result.stderr
    assert played["final"]["pyramid_left"] == 28
    table = run("replay", "-", file=game_file(ONE_PASS, moves))
    assert table.exit_code == 1
    assert table.stdout.splitlines()[2].split() == [move, "no", reason, "0", "0", "playing"]
    assert table.stdout.splitlines()[-1].startswith("final: ")


def test_a_move_after_the_end_is_not_legal() -> None:
    moves = [row["move"] for row in ONE_PASS["moves"]] + ["draw"]
    result, played = replay(game_file(ONE_PASS, moves))
    assert result.exit_code == 1
    assert (played["moves"][-1]["reason"], played["final"]["outcome"]) == ("game_over", "won")


def test_changed_rules_a_seed_and_moves_as_people_type_them() -> None:
    file = {"rules": {"base": "cardems", "rows": 3, "redeals": 1}, "seed": 7, "moves": [" DRAW ", "draw"]}
    result, played = replay(file)
    assert result.exit_code == 0
    assert [row["move"] for row in played["moves"]] == ["draw", "draw"]
    # 52 cards, 6 of them in three rows, 2 turned.
    assert played["final"] == {
        "score": 0,
        "outcome": "playing",
        "pyramid_left": 6,
        "stock": 44,
        "waste": 2,
        "redeals_left": 1,
    }
    unlimited, shown = replay({"rules": "cardems", "seed": 7, "moves": []})
    assert unlimited.exit_code == 0
    assert (shown["moves"], shown["final"]["redeals_left"]) == ([], "unlimited")


def test_the_waste_of_three_piles_is_counted_together() -> None:
    result, played = replay({"rules": "three-pile", "seed": 7, "moves": ["draw", "draw"]})
    assert result.exit_code == 0
    assert (played["final"]["stock"], played["final"]["waste"]) == (18, 6)


def test_a_file_saved_by_a_plain_editor(tmp_path: Path) -> None:
    path = tmp_path / "Zoë's game, 1.json"
    path.write_text(json.dumps(game_file(ONE_PASS)), encoding="utf-8-sig")
    result = run("replay", str(path))
    assert result.exit_code == 0
    assert "outcome won" in result.stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rules": None}, "no rule set is called None"),
        ({"rules": "clasic"}, "did you mean 'classic'"),
        ({"rules": ["classic"]}, "no rule set is called ['classic']"),
        ({"rules": {"base": "classic", "redeal": 1}}, "unknown rule 'redeal'"),
        ({"rules": {"base": "classic", "rows": 9}}, "rows is a whole number from 3 to 7, not 9"),
        ({"rules": {"base": "nosuch"}}, "no rule set is called 'nosuch'"),
        ({"rules": {"base": "classic", "scoring": 5}}, "scoring"),
        ({"deal": "6d 5h"}, "2 cards given, 52 needed"),
        ({"deal": ONE_PASS["deal"].replace("Kc", "X9")}, "card 2: 'X9' is no card"),
        ({"deal": ONE_PASS["deal"].replace("Kc", "Qc")}, "Qc stands twice, as card 1 and as card 2"),
        ({"deal": ["6d"]}, "'deal' is a text of cards"),
        ({"deal": None}, "there is no 'deal' in the file, and no 'seed'"),
        ({"seed": "x"}, "'seed': a seed is a whole number"),
        ({"seed": 7}, "'deal' is not the deal of 'seed' 7"),
        ({"moves": "draw"}, "'moves' is a list"),
        ({"moves": ["draw", 5]}, "move 2 is a text"),
        ({"moves": ["draw", "8c+5x"]}, "move 2: '8c+5x' is no move"),
        ({"moves": ["drew"]}, "move 1: 'drew' is no move"),
    ],
)
def test_a_broken_file_is_named_with_the_place(change: dict[str, Any], said: str) -> None:
    result = run("replay", "-", "--json", file={**game_file(ONE_PASS), **change})
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: standard input: ")
    assert said in result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("key", ["rules", "moves"])
def test_a_missing_part_is_named(key: str) -> None:
    file = game_file(ONE_PASS)
    del file[key]
    result = run("replay", "-", file=file)
    assert result.exit_code == 2
    assert f"there is no '{key}' in the file" in result.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON, at line 1, column 1"),
        ('{\n "rules": }', "no JSON, at line 2, column 11"),
        ("[]", "a game file is a JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"rules": "classic", "moves": [], "seed": ' + "9" * 5_000 + "}", "a number of thousands of digits"),
    ],
)
def test_a_file_that_is_no_json_object(text: str, said: str) -> None:
    result = run("replay", "-", file=text)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_file_that_is_not_there_or_is_no_text(tmp_path: Path) -> None:
    missing = run("replay", str(tmp_path / "nothing.json"))
    assert missing.exit_code == 2
    assert "nothing.json" in missing.stderr
    picture = tmp_path / "picture.json"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    broken = run("replay", str(picture))
    assert broken.exit_code == 2
    assert "picture.json: this is no UTF-8 text" in broken.stderr


def test_from_a_shell_with_a_pipe() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "pyramid_lab", "replay", "-", "--json"],
        input=json.dumps(game_file(ONE_PASS, ["2d"])),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 1
    assert json.loads(result.stdout)["moves"][0]["reason"] == "covered"
    assert result.stderr == "move 1, 2d, is not legal: 2♦ is covered by 5♦ and 8♦\n"


@pytest.mark.parametrize("name", sorted(RULE_SETS))
def test_a_deal_printed_can_be_replayed(name: str) -> None:
    text = run("deal", "--seed", "3", "--rules", name).stdout
    result, played = replay({"rules": name, "deal": text, "moves": ["draw"]})
    assert result.exit_code == 0
    assert played["moves"][0]["legal"]
