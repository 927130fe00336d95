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


async def _run(path: Path, home: Path, turn: asyncio.Semaphore) -> NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("import sys\nprint(*sys.modules)"))
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(home)}},
    )
    async with turn:
        await client.async_execute(env={**os.environ, **home_environment(home)})
    return notebook


@pytest.fixture(scope="session")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, NotebookNode]:
    """The lessons with their outputs, by name; a cell more prints the modules that were loaded. Each ran in a kernel
    and a home of its own, with an empty log."""

    async def everything() -> list[NotebookNode]:
        turn = asyncio.Semaphore(os.cpu_count() or 1)
        return await asyncio.gather(*(_run(path, tmp_path_factory.mktemp(path.stem), turn) for path in LESSONS))

    # In a thread: a browser's tests leave an event loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        notebooks = thread.submit(asyncio.run, everything()).result()
    return dict(zip((path.stem for path in LESSONS), notebooks, strict=True))
