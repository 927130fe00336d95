"""A log that would be gone when the command ends is refused, whichever command is told of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pyramid_lab.cli import cli

POSTGRESQL_ONLY = [("school",)]


def commands(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name), command


TAKE_A_LOG = [
    words
    for words, command in commands(cli)
    if words not in POSTGRESQL_ONLY and any("--store" in one.opts for one in command.params)
]


@pytest.mark.parametrize("words", TAKE_A_LOG, ids=" ".join)
def test_every_command_refuses_a_log_in_memory_and_says_what_to_name(words: tuple[str, ...]) -> None:
    said = CliRunner().invoke(cli, [*words, "--store", "sqlite:///"])
    assert said.exit_code == 2
    assert "'--store': sqlite:/// is a database in memory" in said.output
    assert "Name a file, such as log.sqlite3" in said.output


@pytest.mark.parametrize("place", ["sqlite://", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true"])
def test_in_every_spelling_also_from_the_environment_and_when_logs_are_merged(place: str, tmp_path: Path) -> None:
    asked = CliRunner().invoke(cli, ["student", "list"], env={"PYRAMID_LAB_STORE": place})
    sources = CliRunner().invoke(cli, ["merge", place, "--into", str(tmp_path / "all.sqlite3")])
    target = CliRunner().invoke(cli, ["merge", str(tmp_path / "one.sqlite3"), "--into", place])
    for said in (asked, sources, target):
        assert said.exit_code == 2 and f"{place} is a database in memory" in said.output
    assert not list(tmp_path.iterdir())
