"""One class for the tests that do not end or break it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import browser_context_args, browser_type_launch_args  # noqa: F401  # fixtures
from tests.classroom.class_server import ClassServer
from tests.log.conftest import postgres  # noqa: F401  # a fixture

NAMES = ["Ana", "Émile <b>bold</b>", "=1+1", "Ben", "Cem", "Dora", "Eve", "Finn", "Gus", "Hana"]


HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("classroom"))


@pytest.fixture(scope="session")
def school_class(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClassServer]:
    server = ClassServer(tmp_path_factory.mktemp("class"), NAMES)
    yield server
    server.stop()
