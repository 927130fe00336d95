"""The README cannot lie: its session runs, its pictures and paths exist, its rules table is that of the rule sets."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import click
import pytest

from pyramid_lab.cli import cli
from pyramid_lab.core import RULE_SETS, parse_deal_code

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_session_gives_what_it_shows() -> None:
    session = "\n".join(re.findall(r"```pycon\n(.*?)```", README, flags=re.DOTALL))
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    assert len(test.examples) >= 8
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert result.failed == 0


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(((?!http)[^)#]+)", README))))
def test_linked_files_are_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:pyramid_lab|lessons|worksheets|docs)/[^` ]*)`", README))))
def test_the_rooms_of_the_map_are_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_rules_table_is_that_of_the_rule_sets() -> None:
    table = re.search(r"<!-- rules table -->\n(.*?)<!--", README, flags=re.DOTALL)
    assert table is not None
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()[2:]]
    assert [row[0].strip("`") for row in rows] == list(RULE_SETS)
    for name, stock_top, turned, redeals, _points in rows:
        rules = RULE_SETS[name.strip("`")]
        assert stock_top.startswith("yes") == rules.stock_top_in_play
        assert ("waste" in stock_top) == rules.stock_waste_pair
        assert int(turned[0]) == rules.draw
        assert ("three piles" in turned) == (rules.piles == 3)
        assert redeals == str(rules.redeals)


@pytest.mark.parametrize("words", sorted(set(re.findall(r"`pyramid-lab ([a-z -]+)", README))))
def test_the_commands_are_there(words: str) -> None:
    command: click.Command = cli
    for word in words.split():
        if word.startswith("-"):
            assert any(word in option.opts for option in command.params) or word == "--help"
            break
        if not isinstance(command, click.Group):
            break
        found = command.get_command(click.Context(command), word)
        assert found is not None, f"pyramid-lab has no command {word}"
        command = found


def test_the_deal_code_is_a_true_one() -> None:
    (code,) = re.findall(r"--deal ([a-z]+-\d+-[A-Z])", README)
    assert parse_deal_code(code) == ("table", 17)
