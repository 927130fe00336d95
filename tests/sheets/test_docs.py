"""The page on sheets cannot lie: its commands and its Python run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyramid_lab.cli import cli
from pyramid_lab.log.paper import read_recording

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sheets.md").read_text(encoding="utf-8")
COMMANDS = [
    line.removeprefix("pyramid-lab ")
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]


def test_the_page_shows_every_command() -> None:
    assert {shlex.split(command)[1] for command in COMMANDS} >= set(cli.get_command(None, "print").commands) - {"list"}  # type: ignore


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, shlex.split(command))
    assert done.exit_code == 0, done.output
    (made,) = tmp_path.iterdir()
    assert made.read_bytes().startswith(b"%PDF")


def test_the_python_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYRAMID_LAB_STORE", str(tmp_path / "log.sqlite3"))
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, {})
    assert (tmp_path / "deal.pdf").read_bytes().startswith(b"%PDF")


def test_the_rows_of_the_page_can_be_entered() -> None:
    (rows,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(read_recording(rows)) == 3


def test_every_link_and_picture_is_there() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert len(targets) == 6
    for target in targets:
        assert (ROOT / "docs" / target).resolve().is_file(), target
