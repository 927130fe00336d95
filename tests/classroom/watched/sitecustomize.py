"""On the path of a class's Pythons, each runs this before anything else: it writes down whom they call elsewhere."""

import os
import sys

_CALLS = ("socket.connect", "socket.sendto", "socket.sendmsg")
_LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo")
_OURS = ("", "localhost", "::1", "0.0.0.0")


def _note(line: str) -> None:
    notes = os.open(os.environ["PYRAMID_LAB_TEST_CALLS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(notes, f"{line}\n".encode())
    os.close(notes)


def _listen(event: str, arguments: tuple[object, ...]) -> None:
    if event in _CALLS:
        address = arguments[-1]
        host = address[0] if isinstance(address, tuple) else ""  # else a socket within this computer
    elif event in _LOOKUPS:
        host = arguments[0][0] if isinstance(arguments[0], tuple) else arguments[0]
    else:
        return
    name = host.decode() if isinstance(host, bytes) else str(host or "")
    if name not in _OURS and not name.startswith("127."):
        _note(f"{event} {name}")


if "PYRAMID_LAB_TEST_CALLS" in os.environ:
    sys.addaudithook(_listen)
    _note("began " + " ".join(sys.orig_argv[1:4]))
