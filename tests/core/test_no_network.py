"""The guard of every other test is itself tested: it refuses the world and lets this machine through."""

from __future__ import annotations

import socket
from typing import Any

import pytest


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("example.org", 443)])
def test_a_connection_to_the_world_is_refused(no_network: list[Any], address: tuple[str, int]) -> None:
    with socket.socket() as client, pytest.raises(ConnectionRefusedError, match=address[0]):
        client.connect(address)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    assert no_network == [address, ("192.0.2.1", 80)]
    no_network.clear()


def test_a_datagram_to_the_world_is_refused(no_network: list[Any]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client, pytest.raises(ConnectionRefusedError):
        client.sendto(b"hello", ("192.0.2.1", 53))
    no_network.clear()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_can_be_reached(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect((host, server.getsockname()[1]))
        assert client.getpeername() == server.getsockname()
