"""The page's side: its unit tests under Node, its types under TypeScript, and what it may not contain."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BOARD = HERE.parents[1] / "pyramid_lab" / "board"
SCRIPTS = [BOARD / "board.js", BOARD / "flash.js", *(BOARD.parent / "classroom" / "static").glob("*.js")]

TSC = (
    "--noEmit --allowJs --checkJs --strict --noUncheckedIndexedAccess --target es2022 --module es2022 "
    "--lib es2022,dom,dom.iterable --moduleDetection force"
)


def test_the_units_of_the_page_pass_under_node() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here: the page's own unit tests were not run")
    done = subprocess.run(
        [node, "--test", str(HERE / "board.test.mjs")], capture_output=True, text=True, encoding="utf-8", timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_is_typed_strictly() -> None:
    tsc = shutil.which("tsc")
    npx = shutil.which("npx")
    if tsc is None and npx is None:
        pytest.skip("neither tsc nor npx here: the page's types were not checked")
    command = [tsc] if tsc else [str(npx), "--yes", "--package", "typescript@7", "tsc"]
    try:
        done = subprocess.run(
            [*command, *TSC.split(), *map(str, SCRIPTS)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
        )
    except subprocess.TimeoutExpired:
        pytest.skip("TypeScript could not be fetched in time: the page's types were not checked")
    if done.returncode != 0 and not done.stdout and done.stderr.startswith("npm "):  # a fault of a type is on stdout
        pytest.skip("TypeScript is not to be had (offline?): the page's types were not checked")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["board.js", "board.css", "flash.js", "flash.css"])
def test_the_page_fetches_nothing(name: str) -> None:
    text = (BOARD / name).read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert (
        re.findall(r"https?://|//[a-z0-9-]+\.[a-z]|@import|@font-face|fetch\(|XMLHttpRequest|\bimport\b *[\"'({]", text)
        == []
    )
    assert "url(" not in text


def test_the_slip_times_of_page_and_python_are_the_same() -> None:
    from pyramid_lab.board.board import SLIP_MS

    text = (BOARD / "board.js").read_text(encoding="utf-8")
    assert f"export const SLIP_MS = {SLIP_MS};" in text
