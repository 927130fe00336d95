"""The compiled search is what its source makes, and it stays small."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from pyramid_lab.solver import build

BIGGEST_TABLE = """
from pyramid_lab.solver.engine import lent_search
with lent_search() as search:
    print(search.memory)
"""


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed (extra solver-build)")
def test_the_compiled_search_is_what_the_source_makes(tmp_path: Path) -> None:
    made = tmp_path / "search.wasm"
    build.compile_search(made)
    assert made.read_bytes() == build.COMPILED.read_bytes(), "run python -m pyramid_lab.solver.build"


def test_the_search_can_never_take_more_than_128_mb() -> None:
    done = subprocess.run([sys.executable, "-c", BIGGEST_TABLE], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 128 * 1024 * 1024
