"""Which of this computer's addresses the tablets of a classroom use."""

from __future__ import annotations

import socket
from collections import namedtuple

import psutil
import pytest
from click.testing import CliRunner

from pyramid_lab.classroom.network import NoNetworkError, lan_names, local_addresses
from pyramid_lab.cli import cli

Address = namedtuple("Address", "family address")
Stats = namedtuple("Stats", "isup")


def test_only_addresses_of_a_local_network_count() -> None:
    found = local_addresses(
        [
            ("lo", "127.0.0.1"),
            ("eth0", "8.8.8.8"),  # everybody's network
            ("eth1", "169.254.7.7"),  # what a computer gives itself where nobody gives it one
            ("wlan0", "192.168.1.5"),
            ("eth2", "10.0.0.7"),
            ("eth3", "172.16.0.9"),
        ]
    )
    assert found == ["192.168.1.5", "10.0.0.7", "172.16.0.9"]


def test_adapters_of_containers_and_virtual_machines_come_last() -> None:
    adapters = [("docker0", "172.17.0.1"), ("vEthernet (WSL)", "172.20.0.1"), ("wlan0", "192.168.1.5")]
    assert local_addresses(adapters) == ["192.168.1.5", "172.17.0.1", "172.20.0.1"]


@pytest.fixture
def adapters(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, bool]]:
    """Name, address and whether it is up: what this computer has."""
    has: dict[str, tuple[str, bool]] = {"lo": ("127.0.0.1", True)}
    monkeypatch.setattr(
        psutil, "net_if_addrs", lambda: {name: [Address(socket.AF_INET, ip)] for name, (ip, _) in has.items()}
    )
    monkeypatch.setattr(psutil, "net_if_stats", lambda: {name: Stats(up) for name, (_, up) in has.items()})
    monkeypatch.setattr(socket, "gethostname", lambda: "Tutors-Laptop.school.example")
    return has


def test_the_likeliest_address_is_first_and_the_computers_name_last(adapters: dict[str, tuple[str, bool]]) -> None:
    adapters |= {"docker0": ("172.17.0.1", True), "wlan0": ("192.168.1.5", True), "eth0": ("10.1.1.1", False)}
    assert lan_names() == ["192.168.1.5", "172.17.0.1", "tutors-laptop", "tutors-laptop.local"]


def test_the_tutor_may_say_which(adapters: dict[str, tuple[str, bool]]) -> None:
    adapters |= {"wlan0": ("192.168.1.5", True), "wlan1": ("10.42.0.1", True)}
    assert lan_names("10.42.0.1")[:2] == ["10.42.0.1", "192.168.1.5"]
    with pytest.raises(NoNetworkError, match=r"192\.168\.1\.9 is not.*it has: 192\.168\.1\.5, 10\.42\.0\.1"):
        lan_names("192.168.1.9")


def test_a_computer_in_no_network_says_so(
    adapters: dict[str, tuple[str, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    adapters["wlan0"] = ("192.168.1.5", False)
    with pytest.raises(NoNetworkError, match="Join the classroom's Wi-Fi"):
        lan_names()
    place = tmp_path_factory.mktemp("log") / "log.sqlite3"
    said = CliRunner().invoke(cli, ["class", "--lan", "--guests=2", f"--store={place}"])
    assert said.exit_code == 1 and "Join the classroom's Wi-Fi" in said.output
