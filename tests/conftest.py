"""For every test: no network outside this machine, and property tests that do the same thing each time."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from pyramid_lab.cli.jupyter import start_sooner

start_sooner()  # before a test imports a part of Jupyter

# `ci` tries the same examples in every run; `explore` looks for new ones (HYPOTHESIS_PROFILE=explore).
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=50,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("explore", settings.get_profile("ci"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Else each of the many kernels and servers compiles the whole package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


# Rooms whose tests share a server, a browser, simulated children or printed sheets.
SHARE = ("browser", "classroom", "insight", "lessons", "sheets")
# What takes long comes first, so that no worker is left with it at the end while the other has nothing to do.
LONG_FIRST = ("browser", "classroom", "tests/browser/test_board_page.py", "insight", "sheets", "tests/test_quality.py")


def unit_of(nodeid: str) -> str:
    """What is made once for the tests of a room is made by one worker; elsewhere a file is the unit."""
    file = nodeid.partition("::")[0]
    room = file.split("/")[1]
    # A board in a page of its own needs no server.
    return room if room in SHARE and not file.endswith("test_board_page.py") else file


class ByRoom(LoadScopeScheduling):
    """Gives each worker whole units."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByRoom:
    return ByRoom(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long units first. A busy machine can upset a browser's clock: such a test may try twice more, and the
    report marks it with R."""
    places = {unit: at for at, unit in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: places.get(unit_of(item.nodeid), len(places)))
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=2))


def _on_this_machine(family: int, address: Any) -> bool:
    if family not in (socket.AF_INET, socket.AF_INET6):
        return True  # a Unix socket or a pipe
    host = address[0]
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Refuse every connection that leaves this machine, and fail the test even if its code swallows the refusal.

    Yields:
        The addresses that were refused; a test that means to be refused empties the list.
    """
    refused: list[Any] = []

    def guarded(name: str) -> Callable[..., Any]:
        real = getattr(socket.socket, name)

        def call(self: socket.socket, *arguments: Any) -> Any:
            address = arguments[-1]
            if not _on_this_machine(self.family, address):
                refused.append(address)
                raise ConnectionRefusedError(f"tests do not leave this machine: {name} to {address!r}")
            return real(self, *arguments)

        return call

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, guarded(name))
    yield refused
    assert not refused, f"a connection outside this machine was tried: {refused}"
