"""A child's tablet without a browser: the pages over HTTP, the board over the websocket, as a page speaks it."""

from __future__ import annotations

import contextlib
import html
import http.client
import itertools
import json
import re
import socket
import ssl
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests
import websocket

SECONDS = 120.0
PROTOCOL = "v1.kernel.websocket.jupyter.org"
CERTIFICATE = Path(__file__).parent.parent / "data" / "certificate" / "for_tests_only.pem"
"""Believed by every tablet."""
PARTS = ("header", "parent_header", "metadata", "content")


def packed(message: dict[str, Any]) -> bytes:
    """A message as pages send it now: how many parts, where each begins, then the parts."""
    parts = [message["channel"].encode(), *(json.dumps(message[name]).encode() for name in PARTS)]
    offsets = [8 * (len(parts) + 2)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    numbers = [len(offsets), *offsets]
    return b"".join(number.to_bytes(8, "little") for number in numbers) + b"".join(parts)


def unpacked(raw: bytes) -> dict[str, Any]:
    """The other way."""
    count = int.from_bytes(raw[:8], "little")
    offsets = [int.from_bytes(raw[8 * at : 8 * at + 8], "little") for at in range(1, count + 1)]
    parts = [raw[start:end] for start, end in itertools.pairwise(offsets)]
    message: dict[str, Any] = {name: json.loads(part) for name, part in zip(PARTS, parts[1:5], strict=True)}
    return {**message, "channel": parts[0].decode(), "msg_type": message["header"]["msg_type"]}


class Tablet:
    """One cookie jar, and after :meth:`play` one board."""

    def __init__(self, address: str, *, old_protocol: bool = False) -> None:
        self.address = address
        self.host = address.partition("://")[2]
        self.secure = address.startswith("https")
        self.old_protocol = old_protocol
        self.session = requests.Session()
        self.session.verify = str(CERTIFICATE)
        self.session.trust_env = False
        self.page = ""
        """The lesson's HTML, as it was loaded last."""
        self.kernel_id = ""
        self.board_id = ""
        self.line: websocket.WebSocket | None = None
        self.view: dict[str, Any] = {}
        self.notice = ""
        """The line that the board shows about the log."""
        self.board = str(uuid.uuid4())
        self._page = str(uuid.uuid4())
        self._n = 0
        self._session_id = uuid.uuid4().hex
        self._live: socket.socket | None = None

    # --- pages

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.session.get(self.address + path, timeout=SECONDS, **options)

    def post(self, path: str, data: dict[str, str], **options: Any) -> requests.Response:
        """Send a form as the page would, with the token that guards it."""
        if "_xsrf" not in self.session.cookies:
            self.get("/")
        token = self.session.cookies.get("_xsrf", "")
        return self.session.post(self.address + path, {"_xsrf": token, **data}, timeout=SECONDS, **options)

    def join(self, code: str) -> requests.Response:
        return self.post("/", {"code": code})

    def take(self, student_id: str) -> requests.Response:
        return self.post("/names", {"student": student_id}, allow_redirects=False)

    def choices(self) -> dict[str, str]:
        """The names on the page 'Who are you?', by pseudonym."""
        page = self.get("/names").text
        found = re.findall(r'name="student" value="([^"]+)">.*?<span class="name" dir="auto">(.*?)</span>', page, re.S)
        return {student: html.unescape(name) for student, name in found}

    def stay(self) -> None:
        """Keep the page open: listen to the class's news, as every page does."""
        self.stay_at("/class/live")

    def stay_at(self, path: str) -> None:
        """Listen to a stream of news; the newest is :attr:`news`."""
        self.news = {}
        if self.secure:
            context = ssl.create_default_context(cafile=CERTIFICATE)
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                self.host, timeout=SECONDS, context=context
            )
        else:
            connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        connection.request("GET", path, headers={"Cookie": self._cookies()})
        self._live = connection.sock
        threading.Thread(target=self._hear, args=(connection,), daemon=True).start()

    def _hear(self, connection: http.client.HTTPConnection) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            for line in connection.getresponse():
                if line.startswith(b"data: "):
                    self.news = json.loads(line[6:])
        connection.close()

    def _cookies(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.session.cookies.items())

    news: dict[str, Any] = {}  # noqa: RUF012  # replaced, never changed

    # --- the board

    def load(self) -> str:
        """Load the lesson as a browser does; gives its HTML."""
        answer = self.get("/play")
        assert answer.status_code == 200, answer.status_code
        self.page = page = answer.text
        found = re.search(r'"kernelId": "([0-9a-f-]+)"', page)
        assert found, page[-2000:]
        self.kernel_id = found[1]
        models = re.findall(r'"application/vnd.jupyter.widget-view\+json":\s*\{[^}]*"model_id": "([0-9a-f]+)"', page)
        self.board_id = models[-1] if models else ""
        return page

    def play(self) -> None:
        """Load the lesson, open the line to the kernel, and read the board."""
        self.view = {}
        page = self.load()
        assert self.board_id, page[-3000:]
        self.open_line()
        self.send("comm_msg", {"comm_id": self.board_id, "data": {"method": "request_state"}})
        self.wait(lambda: "number" in self.view)

    def connect(self, kernel_id: str, **headers: str) -> websocket.WebSocket:
        """Open a line to a kernel.

        Raises:
            websocket.WebSocketBadStatusException: the server does not let us.
        """
        where = self.address.replace("http", "ws", 1)
        return websocket.create_connection(
            f"{where}/api/kernels/{kernel_id}/channels?session_id={self._session_id}",
            cookie=self._cookies(),
            header=[f"{name}: {value}" for name, value in headers.items()],
            subprotocols=None if self.old_protocol else [PROTOCOL],
            timeout=SECONDS,
            sslopt={"ca_certs": str(CERTIFICATE)},
        )

    def open_line(self) -> None:
        self.line = self.connect(self.kernel_id)

    def send(self, kind: str, content: dict[str, Any], *, channel: str = "shell") -> str:
        """Send any message of the protocol; gives its id."""
        assert self.line is not None
        message_id = uuid.uuid4().hex
        header = {
            "msg_id": message_id,
            "msg_type": kind,
            "session": self._session_id,
            "username": "",
            "date": "2026-01-01T00:00:00Z",
            "version": "5.3",
        }
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": channel}
        if self.old_protocol:
            self.line.send(json.dumps(message))
        else:
            self.line.send_binary(packed(message))
        return message_id

    def send_raw(self, text: str) -> None:
        """Send what no page would."""
        assert self.line is not None
        self.line.send(text)

    def act(self, kind: str, *, wait: bool = True, **more: Any) -> float:
        """Do something on the board; gives the seconds until it was answered."""
        self._n += 1
        n = self._n
        content = {
            "kind": kind,
            "page": self._page,
            "n": n,
            "number": self.view["number"],
            "times": {},
            "input": "touch",
            "tz": "Europe/Berlin",
            **more,
        }
        start = time.perf_counter()
        self.send("comm_msg", {"comm_id": self.board_id, "data": {"method": "custom", "content": content}})
        if wait:
            self.wait(lambda: self._acked >= n)
        return time.perf_counter() - start

    _acked = 0
    results: tuple[str, ...] = ()

    def wait(self, done: Callable[[], bool]) -> None:
        """Read the line until something is so."""
        assert self.line is not None
        while not done():
            self.read()

    def read(self) -> dict[str, Any]:
        """The next message of the kernel, taken in."""
        assert self.line is not None
        raw = self.line.recv()
        if not raw:
            raise ConnectionError("the line was closed")
        message: dict[str, Any] = json.loads(raw) if isinstance(raw, str) else unpacked(raw)
        content = message.get("content", {})
        if message.get("msg_type") == "comm_msg" and content.get("comm_id") == self.board_id:
            data = content["data"]
            if data["method"] == "update" and "view" in data["state"]:
                self.view = json.loads(data["state"]["view"])
            if data["method"] == "update" and "notice" in data["state"]:
                self.notice = data["state"]["notice"].get("text", "")
            if data["method"] == "custom" and data["content"].get("kind") == "ack":
                self._acked = max(self._acked, data["content"]["n"])
                self.results = (*self.results, data["content"]["result"])
        return message

    def leave(self) -> None:
        self.close()
        self.post("/leave", {})

    def close(self) -> None:
        """Close the page: every line of this tablet."""
        if self.line is not None:
            self.line.close()
            self.line = None
        if self._live is not None:
            with contextlib.suppress(OSError):
                self._live.shutdown(socket.SHUT_RDWR)
            self._live = None
