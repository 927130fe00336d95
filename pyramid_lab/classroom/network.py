"""Under which addresses the tablets of a classroom reach this computer."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from typing import Final

import psutil

# Adapters of virtual machines and containers: private addresses too, but no tablet is in their network.
_VIRTUAL: Final = ("docker", "br-", "veth", "virbr", "vmnet", "vboxnet", "vethernet", "utun", "tun", "tap", "wg", "zt")


class NoNetworkError(ValueError):
    """This computer has no address that tablets could use."""


def lan_names(wanted: str | None = None) -> list[str]:
    """Addresses and names of this computer in the local network, the likeliest first.

    Args:
        wanted: an address of this computer that the tablets use, to be first.

    Raises:
        NoNetworkError: there is none, or ``wanted`` is not this computer's.
    """
    found = local_addresses(
        (name, address.address)
        for name, addresses in psutil.net_if_addrs().items()
        for address in addresses
        if address.family == socket.AF_INET and psutil.net_if_stats()[name].isup
    )
    if wanted is not None:
        if wanted not in found:
            known = ", ".join(found) or "none"
            raise NoNetworkError(f"{wanted} is not an address of this computer in a local network; it has: {known}.")
        found.remove(wanted)
        found.insert(0, wanted)
    if not found:
        raise NoNetworkError("This computer is in no local network. Join the classroom's Wi-Fi, then start again.")
    host = socket.gethostname().lower().partition(".")[0]
    return [*found, host, f"{host}.local"]


def local_addresses(adapters: Iterable[tuple[str, str]]) -> list[str]:
    """The addresses of a local network among those of the adapters, real adapters first.

    Args:
        adapters: name and IPv4 address of each.
    """
    found = []
    for name, text in adapters:
        address = ipaddress.ip_address(text)
        if address.is_private and not address.is_loopback and not address.is_link_local:
            found.append((name.lower().startswith(_VIRTUAL), text))
    return [text for _, text in sorted(found, key=lambda item: item[0])]
