"""A mistyped command is met with the one that was meant."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from pyramid_lab.cli import cli


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["studnet", "list"], "student"),
        (["students"], "student"),
        (["exprot", "--out", "log.csv"], "export"),
        (["print", "deel", "17"], "deal"),
        (["student", "improt", "roster.csv"], "import"),
        (["log", "were"], "where"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_the_nearest_command_is_named(words: list[str], meant: str) -> None:
    said = CliRunner().invoke(cli, words)
    assert said.exit_code == 2
    assert f"Did you mean {meant!r}?" in said.output


def test_where_no_command_is_near_none_is_named() -> None:
    said = CliRunner().invoke(cli, ["xyzzy"])
    assert said.exit_code == 2
    assert "No such command 'xyzzy'." in said.output
    assert "Did you mean" not in said.output
    assert "No such option" in CliRunner().invoke(cli, ["--prot", "8888"]).output
