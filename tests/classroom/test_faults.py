"""What goes wrong in a classroom: the game goes on, the tutor sees it, nothing is lost."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest
import requests
from click.testing import CliRunner

from pyramid_lab.board import Board
from pyramid_lab.board import board as board_module
from pyramid_lab.cli import cli
from pyramid_lab.lesson import play, shared_store
from tests.classroom.class_server import ClassServer, is_kernel, wait_until
from tests.classroom.tablet import CERTIFICATE, Tablet
from tests.log.conftest import PostgresServer


def test_a_locked_log_loses_nothing_and_the_tutor_sees_it(school_class: ClassServer) -> None:
    tablet, tutor = school_class.tablet("=1+1"), school_class.tutor()
    tablet.play()
    tablet.act("draw")
    before = school_class.kinds("=1+1")
    with closing(sqlite3.connect(school_class.place, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        tablet.act("draw")
        tablet.act("undo")
        assert tablet.results == ("done", "done", "done")
        wait_until(lambda: "2 entries wait safely on this computer" in school_class.view(tutor)["store"])
        assert school_class.view(tutor)["saved"] is False
        holder.execute("ROLLBACK")
    wait_until(lambda: school_class.view(tutor)["saved"] is True)
    assert school_class.kinds("=1+1") == [*before, "draw", "undo"]
    tablet.leave()


@pytest.mark.postgres
def test_the_database_away_in_the_middle_of_a_class(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))  # where the class list of a database is
    server = ClassServer(home, ["Ana"], place=postgres.new_database("a_class"))
    try:
        tablet, tutor = server.tablet("Ana"), server.tutor()
        tablet.stay()
        tablet.play()
        tablet.act("draw")
        assert server.view(tutor)["saved"] is True
        postgres.stop()
        try:
            tablet.act("draw")
            tablet.act("draw")
            tablet.wait(lambda: "2 entries" in tablet.notice)
            assert tablet.notice == (
                "You can play on: the log's database cannot be reached; 2 entries wait safely on this computer and "
                "will be written later."
            )
            wait_until(lambda: server.view(tutor)["saved"] is False)
            wait_until(
                lambda: (
                    server.view(tutor)["store"]
                    == "The log's database cannot be reached. Boards go on; 2 entries wait safely on this computer and "
                    "will be written later."
                )
            )
        finally:
            postgres.start()
        tablet.act("draw")
        assert set(tablet.results) == {"done"}
        wait_until(lambda: server.view(tutor)["saved"] is True)
        wait_until(lambda: server.kinds("Ana") == ["deal", "draw", "draw", "draw", "draw"])
        assert [event.event_index for event in server.events("Ana")] == [0, 1, 2, 3, 4]
        tablet.wait(lambda: tablet.notice == "")
    finally:
        server.stop()


@pytest.mark.skipif(sys.platform == "win32", reason="a process of Windows is not stopped like this")
def test_a_laptop_that_sleeps_wakes_up_with_the_same_game_on_the_same_line(school_class: ClassServer) -> None:
    tablet = school_class.tablet("=1+1")
    tablet.stay()
    tablet.play()
    tablet.act("draw")
    before, left = school_class.kinds("=1+1"), tablet.view["stock"]["left"]
    with school_class.asleep():
        with pytest.raises(requests.Timeout):
            requests.get(school_class.address, timeout=0.5)
        tablet.act("draw", wait=False)
    tablet.wait(lambda: len(tablet.results) == 2)
    assert tablet.results == ("done", "done")
    assert tablet.view["stock"]["left"] == left - 1
    assert school_class.kinds("=1+1") == [*before, "draw"]
    wait_until(lambda: tablet.news["kernel"] == tablet.kernel_id)
    tablet.leave()


@pytest.mark.parametrize("jump", [timedelta(days=-400), timedelta(days=400)], ids=["back", "forward"])
def test_a_clock_that_jumps_changes_no_game_and_no_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: timedelta
) -> None:
    class Jumped(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return datetime.now(UTC) + jump

    monkeypatch.setenv("PYRAMID_LAB_STUDENT", f"s-{jump.days}")
    monkeypatch.setenv("PYRAMID_LAB_SESSION", f"sitting-{jump.days}")
    place = tmp_path / "log.sqlite3"

    def draw(board: Board, page: str, n: int) -> None:
        content = {"kind": "draw", "page": page, "n": n, "number": board.view["number"], "times": {}}
        board._handle_custom_msg(content, [])

    board = play("classic", 17, place=place)
    draw(board, "before", 1)
    monkeypatch.setattr(board_module, "datetime", Jumped)
    monkeypatch.setattr("pyramid_lab.lesson.datetime", Jumped)
    draw(board, "before", 2)
    again = play("classic", 17, place=place)  # the page is loaded again
    assert again.view["stock"]["left"] == 22
    draw(again, "after", 1)
    events = shared_store(place).events()
    assert [event.event_index for event in events] == [0, 1, 2, 3]
    assert len({event.game_id for event in events}) == 1
    shared_store(place).close()


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk that is soon full; an ordinary folder where none can be made."""
    folder = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    mounted = sys.platform == "linux" and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    yield folder
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="module")
def own_class(tmp_path_factory: pytest.TempPathFactory, small_disk: Path) -> Iterator[ClassServer]:
    """A class for the tests that break it, by HTTPS."""
    home = tmp_path_factory.mktemp("own")
    certificate = [f"--certificate={CERTIFICATE}", f"--key={CERTIFICATE.with_suffix('.key')}"]
    server = ClassServer(home, ["Ana", "Ben"], options=["--away=2", *certificate], place=small_disk / "log.sqlite3")
    yield server
    server.stop()


def test_by_https_no_cookie_goes_over_a_plain_line(own_class: ClassServer) -> None:
    assert own_class.address.startswith("https://")
    tablet = Tablet(own_class.address)
    tablet.join(own_class.code)
    cookies = {cookie.name: cookie.secure for cookie in [*tablet.session.cookies, *own_class.tutor().session.cookies]}
    assert cookies == {"pyramid-lab-seat": True, "pyramid-lab-tutor": True, "_xsrf": True}
    with pytest.raises(requests.ConnectionError):
        requests.get(own_class.address.replace("https", "http"), timeout=30)


def test_a_certificate_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    other = tmp_path / "other.key"
    other.write_text("no key", encoding="utf-8")
    words = ["class", "--guests=1", f"--store={tmp_path / 'log.sqlite3'}", f"--certificate={CERTIFICATE}"]
    said = CliRunner().invoke(cli, [*words, f"--key={other}"])
    assert said.exit_code == 1 and f"{other} cannot be used as a certificate and its key" in said.output
    assert "go together" in CliRunner().invoke(cli, words).output


def test_a_full_disk_loses_nothing_and_the_tutor_sees_it(own_class: ClassServer, small_disk: Path) -> None:
    if not small_disk.is_mount():
        pytest.skip("a small disk can be made by root on Linux only")
    tablet, tutor = own_class.tablet("Ana"), own_class.tutor()
    tablet.stay()
    tablet.play()
    tablet.act("draw")
    ballast = small_disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    for _ in range(6):
        tablet.act("draw")
    assert set(tablet.results) == {"done"}
    wait_until(lambda: own_class.view(tutor)["saved"] is False)
    assert "safely on this computer and will be written later" in own_class.view(tutor)["store"]
    ballast.unlink()
    wait_until(lambda: own_class.view(tutor)["saved"] is True)
    wait_until(lambda: own_class.kinds("Ana") == ["deal", *["draw"] * 7])
    tablet.leave()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_no_process_outlives_a_leave_a_closed_page_a_killed_server_or_the_end(own_class: ClassServer) -> None:
    waiting = 2
    wait_until(lambda: len(own_class.kernels()) == waiting)
    closed = own_class.tablet("Ana")
    closed.play()
    closed.close()
    leaver = own_class.tablet("Ben")
    leaver.load()
    leaver.leave()
    wait_until(lambda: len(own_class.kernels()) == waiting)

    tablet = own_class.tablet("Ben")
    tablet.play()
    tablet.act("draw")
    kernels = own_class.kernels()
    os.kill(own_class.process.pid, signal.SIGKILL)
    own_class.process.wait()
    wait_until(lambda: not any(is_kernel(kernel) for kernel in kernels))
    assert own_class.kinds("Ben") == ["deal", "draw"]
    own_class.start()
    back = own_class.tablet("Ben")
    back.play()
    assert back.view["stock"]["left"] == tablet.view["stock"]["left"]

    tutor = own_class.tutor()
    back.stay()
    tutor.post("/tutor/do", {"do": "end"})
    wait_until(lambda: back.news.get("page") == "/over")
    wait_until(lambda: not own_class.kernels())
    assert back.get("/play").url.endswith("/over")
    assert "The class is over" in Tablet(own_class.address).join(own_class.code).text
    everyone = psutil.Process(own_class.process.pid).children(recursive=True)
    own_class.stop()
    assert not [one for one in everyone if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
