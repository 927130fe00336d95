"""A class's server for tests: the command itself, in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import psutil

from pyramid_lab.log.events import Event
from pyramid_lab.log.names import Names
from pyramid_lab.log.store import Store
from tests.classroom.tablet import Tablet

START_SECONDS = 120
STOP_SECONDS = 30
WATCHED = Path(__file__).parent / "watched"
"""Makes every Python of the class write down whom it calls outside this computer."""


class ClassServer:
    """``pyramid-lab class`` with a home, a log and a class list of its own."""

    def __init__(
        self,
        home: Path,
        names: Sequence[str],
        *lessons: str,
        options: Sequence[str] = (),
        place: Path | str | None = None,
        watched: bool = True,
    ) -> None:
        self.home = home
        self.calls = home / "calls.txt"
        home.mkdir(parents=True, exist_ok=True)
        self.place = str(place or home / "log.sqlite3")
        self.options = tuple(options)
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_DOCUMENTS_DIR": str(home / "Documents"),
            "JUPYTER_CONFIG_DIR": str(home / "jupyter-config"),
            "JUPYTER_DATA_DIR": str(home / "jupyter-data"),
            "JUPYTER_RUNTIME_DIR": str(home / "jupyter-runtime"),
            "IPYTHONDIR": str(home / "ipython"),
            "PYTHONUNBUFFERED": "1",
        }
        if watched:
            paths = [str(WATCHED), os.environ.get("PYTHONPATH")]
            self.environment |= {
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
                "PYRAMID_LAB_TEST_CALLS": str(self.calls),
            }
        self.outbox = home / "test-outbox.sqlite3"
        with Store(self.place, outbox=self.outbox) as log:
            self.students = {name: Names.of(log).add(log, name).student_id for name in names}
        self.lessons = lessons
        self.port = free_port()
        self.log = home / "server.log"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "pyramid_lab", "class", *self.lessons, "--no-browser", f"--port={self.port}"]
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [*command, f"--store={self.place}", *self.options],
                env=self.environment,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until(lambda: "Ctrl+C" in self.said() or self.process.poll() is not None, START_SECONDS)
        if self.process.poll() is not None:
            raise RuntimeError(f"the class ended with {self.process.returncode}:\n{self.said()}")
        said = self.said()
        address = re.search(r"(https?://\S+) +(\d{3}) (\d{3})", said)
        secret = re.search(r"/tutor/door#([0-9a-f]+)", said)
        assert address and secret, said
        self.address = address[1]
        self.code = address[2] + address[3]
        self.secret = secret[1]

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def tablet(self, name: str, *, old_protocol: bool = False) -> Tablet:
        """A tablet seated under a name."""
        tablet = Tablet(self.address, old_protocol=old_protocol)
        tablet.join(self.code)
        assert tablet.take(self.students[name]).headers["Location"] == "/play"
        return tablet

    def tutor(self) -> Tablet:
        """The tutor's browser."""
        browser = Tablet(self.address)
        answer = browser.post("/tutor/door", {"secret": self.secret}, allow_redirects=False)
        assert answer.headers["Location"] == "/tutor", answer.status_code
        return browser

    def kernels(self) -> list[psutil.Process]:
        """The kernels that run."""
        return [child for child in psutil.Process(self.process.pid).children(recursive=True) if is_kernel(child)]

    def events(self, name: str) -> list[Event]:
        """What the log holds of one child."""
        with Store(self.place, outbox=self.outbox) as log:
            return log.events(student_id=self.students[name])

    def kinds(self, name: str) -> list[str]:
        """The types of those events."""
        return [event.event_type for event in self.events(name)]

    def view(self, tutor: Tablet) -> dict[str, Any]:
        """The tutor's page as it is now."""
        tutor.stay_at("/tutor/live")
        wait_until(lambda: bool(tutor.news))
        view = tutor.news
        tutor.close()
        return view

    @contextmanager
    def asleep(self) -> Iterator[None]:
        """As if the laptop slept: no process of the class moves."""
        processes = [psutil.Process(self.process.pid)]
        processes += processes[0].children(recursive=True)
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in reversed(processes):
                process.resume()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM if sys.platform != "win32" else signal.CTRL_BREAK_EVENT)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def is_kernel(process: psutil.Process) -> bool:
    """Whether a process is a kernel that still runs."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE and "ipykernel_launcher" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return False


def write_lesson(path: Path, title: str, seed: int, *before: str) -> str:
    """A lesson with one board, after cells of other code; gives its path."""
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [
        nbformat.v4.new_markdown_cell(f"# {title}"),
        *(nbformat.v4.new_code_cell(code) for code in before),
        nbformat.v4.new_code_cell(f'from pyramid_lab.lesson import play\n\nplay("classic", {seed})'),
    ]
    nbformat.write(notebook, path)
    return str(path)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


def wait_until(done: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait until ``done()`` is true.

    Raises:
        TimeoutError: it never was.
    """
    limit = time.monotonic() + seconds
    pause = threading.Event()
    while not done():
        if time.monotonic() > limit:
            raise TimeoutError(f"still not so after {seconds} s")
        pause.wait(0.05)
