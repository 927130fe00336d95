"""Every lesson, run once from its first cell to its last without a screen; all tests read that one result."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from tests.browser.servers import home_environment

LESSONS = sorted((Path(__file__).parents[2] / "lessons").glob("*.ipynb"))

CELL_SECONDS = 300
MODULES = "import sys\nprint(*sys.modules)"


@pytest.fixture(scope="session")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, NotebookNode]:
    """The lessons with their outputs, by name; a cell more prints the modules that were loaded until then.

    One kernel runs them in turn, each with no name left of the one before it and with an empty log: to start twelve
    takes longer than the lessons. In kernels of their own they are seen in real pages (tests/browser).
    """
    home = tmp_path_factory.mktemp("lessons")
    lessons = {path.stem: nbformat.read(path, as_version=4) for path in LESSONS}
    every = nbformat.v4.new_notebook()
    for name, lesson in lessons.items():
        lesson.cells.append(nbformat.v4.new_code_cell(MODULES))
        clean = f"%reset -f\nimport os; os.environ['PYRAMID_LAB_STORE'] = {str(home / name / 'log.sqlite3')!r}; del os"
        every.cells += [nbformat.v4.new_code_cell(clean), *lesson.cells]
    client = NotebookClient(
        every,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(home)}},
    )
    # In a thread: a browser's tests leave an event loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        run = client.async_execute(env={**os.environ, **home_environment(home)})
        thread.submit(asyncio.run, run).result()
    return lessons
