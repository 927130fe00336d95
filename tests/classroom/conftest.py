"""One class for the tests that do not end or break it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import browser_context_args, browser_type_launch_args  # noqa: F401  # fixtures
from tests.classroom.class_server import ClassServer, write_lesson
from tests.log.conftest import postgres  # noqa: F401  # a fixture

NAMES = ["Ana", "Émile <b>bold</b>", "=1+1", "Eve", "Gus", "Ines"]
HERE = Path(__file__).parent
LEFT = "left = 1"
NOTHING_LEFT = """from comm import get_comm_manager
assert "left" not in globals()
assert not get_comm_manager().comms"""
"""Fails where a lesson's kernel still has the names or the board of the one before."""
FAILS = "1 / 0"
DIES_ONCE = """import os, pathlib
mark = pathlib.Path(os.environ["PYRAMID_LAB_STUDENT"])
if not mark.exists():
    mark.touch()
    os._exit(1)"""
"""Ends the kernel the first time that a child loads the lesson."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Browser tests are run together; the one that ends the shared class is not to be among them.
    last = [item for item in items if item.path == HERE / "test_whole_class.py"]
    others = [item for item in items if item not in last]
    users = [at for at, item in enumerate(others, 1) if "school_class" in getattr(item, "fixturenames", ())]
    at = max(users, default=0)
    last.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    items[:] = [*others[:at], *last, *others[at:]]


@pytest.fixture(scope="session")
def school_class(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClassServer]:
    home = tmp_path_factory.mktemp("class")
    lessons = [
        write_lesson(home / f"{number}.ipynb", f"Lesson {number}", number, *before)
        for number, before in enumerate([[LEFT], [NOTHING_LEFT], [FAILS], [DIES_ONCE]], start=1)
    ]
    server = ClassServer(home, NAMES, *lessons)
    yield server
    server.stop()
