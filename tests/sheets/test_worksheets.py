"""The ready-made PDFs of `worksheets/` are what today's code prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyramid_lab.core import Deal, Position, rule_set
from pyramid_lab.core.position import Move
from pyramid_lab.sheets import Sheet
from pyramid_lab.sheets.lists import read_list
from pyramid_lab.solver import Winnable, solve

FOLDER = Path(__file__).parents[2] / "worksheets"
SHEETS = read_list(FOLDER / "worksheets.toml")


@pytest.mark.parametrize("name", SHEETS)
def test_a_worksheet_is_what_the_code_prints(name: str) -> None:
    """To print them anew: pyramid-lab print list worksheets/worksheets.toml"""
    assert (FOLDER / f"{name}.pdf").read_bytes() == SHEETS[name].pdf(), f"worksheets/{name}.pdf is out of date"


def test_no_pdf_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.pdf")} == set(SHEETS)


def test_every_worksheet_is_named_for_those_who_look_for_it() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in SHEETS:
        kind = name.removesuffix("-a4").removesuffix("-letter").removesuffix("-a3").removesuffix("-tabloid")
        assert kind in readme, kind


def _packs() -> list[Sheet]:
    return [sheet for name, sheet in SHEETS.items() if name.startswith("deals-")]


def test_every_deal_of_the_packs_can_be_won_in_the_way_its_key_says() -> None:
    """The keys claim that no shorter way exists: the solver, asked again, finds none."""
    import tomllib

    tables = tomllib.loads((FOLDER / "worksheets.toml").read_text(encoding="utf-8"))
    packs = [table for table in tables.values() if table["sheet"] == "pack"]
    assert len(packs) == len(_packs()) == 4
    for table in packs:
        for given in table["deals"]:
            position = Position.start(rule_set(table["rules"]), Deal.from_seed(given["seed"]))
            best = solve(position, shortest=True)
            line = [Move.parse(move) for move in given["line"].split()]
            assert isinstance(best, Winnable)
            assert len(best.line) == len(line)
            assert given["shortest"]
