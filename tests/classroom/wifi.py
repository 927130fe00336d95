"""Wi-Fi that can be lost: a relay between a tablet and the class."""

from __future__ import annotations

import contextlib
import socket
import threading


class Wifi:
    """Passes every line on to ``port`` until :meth:`lose`, and new ones again after :meth:`find`."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._lines: list[socket.socket] = []
        self._lock = threading.Lock()
        self._up = True
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def lose(self) -> None:
        """Cut every line; new ones are cut at once."""
        with self._lock:
            self._up = False
            lines, self._lines = self._lines, []
        for line in lines:
            _cut(line)

    def find(self) -> None:
        """Let lines through again."""
        with self._lock:
            self._up = True

    def close(self) -> None:
        self.lose()
        _cut(self._listener)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if not self._up:
                    _cut(near)
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self._target))
                except OSError:
                    _cut(near)
                    continue
                self._lines += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=_pass_on, args=(source, target), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    _cut(source)
    _cut(target)


def _cut(line: socket.socket) -> None:
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()
