"""A class as its tablets see it: joining, playing, coming back, and what the tutor does."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import nbformat
import psutil
import pytest

from pyramid_lab.log.events import Event
from pyramid_lab.log.store import Store
from tests.classroom.class_server import ClassServer, is_kernel, wait_until
from tests.classroom.tablet import Tablet


@pytest.fixture
def own_class(tmp_path: Path) -> Iterator[Callable[..., ClassServer]]:
    """own_class(names, *lessons): a class for this test alone."""
    started: list[ClassServer] = []

    def start(*names: str, lessons: Sequence[str] = (), options: Sequence[str] = ()) -> ClassServer:
        started.append(ClassServer(tmp_path / "home", names, *lessons, options=options))
        return started[-1]

    yield start
    for server in started:
        server.stop()


def events_of(server: ClassServer, name: str) -> list[Event]:
    with Store(server.place, outbox=server.outbox) as log:
        return log.events(student_id=server.students[name])


def test_a_child_joins_plays_and_every_try_is_in_the_log(school_class: ClassServer) -> None:
    tablet = Tablet(school_class.address)
    assert tablet.join(school_class.code).url.endswith("/names")
    student = school_class.students["Gus"]
    assert tablet.choices()[student] == "Gus"
    assert tablet.take(student).headers["Location"] == "/play"
    tablet.play()
    tablet.act("draw")
    tablet.act("undo")
    assert [event.event_type for event in events_of(school_class, "Gus")] == ["deal", "draw", "undo"]
    assert tablet.results == ("done", "done")
    tablet.leave()


def test_a_page_loaded_again_brings_the_same_game_back_and_the_kernel_before_it_ends(school_class: ClassServer) -> None:
    tablet = school_class.tablet("Hana")
    tablet.play()
    tablet.act("draw")
    tablet.act("draw")
    before, deal, first = tablet.view["stock"]["left"], tablet.view["deal"], tablet.kernel_id
    tablet.close()

    again = Tablet(school_class.address)
    again.session.cookies.update(tablet.session.cookies)
    again.play()
    assert (again.view["deal"], again.view["stock"]["left"]) == (deal, before)
    assert again.kernel_id != first
    assert again.get(f"/api/kernels/{first}").status_code == 403
    again.act("draw")
    events = events_of(school_class, "Hana")
    assert [event.event_index for event in events] == list(range(len(events)))
    assert len({event.session_id for event in events}) == 1
    again.leave()


def test_the_kernel_of_a_child_who_leaves_is_gone(school_class: ClassServer) -> None:
    tablet = school_class.tablet("Cem")
    tablet.play()
    (kernel,) = [one for one in school_class.kernels() if tablet.kernel_id in " ".join(one.cmdline())]
    tablet.leave()
    wait_until(lambda: not is_kernel(kernel))
    assert "Type the number from the board" in tablet.get("/play").text


def test_a_kernel_that_dies_is_missed_and_the_page_told_to_start_again(school_class: ClassServer) -> None:
    tablet = school_class.tablet("Dora")
    tablet.play()
    tablet.stay()
    tablet.act("draw")
    wait_until(lambda: tablet.news.get("kernel") == tablet.kernel_id)
    (kernel,) = [one for one in school_class.kernels() if tablet.kernel_id in " ".join(one.cmdline())]
    kernel.kill()
    wait_until(lambda: tablet.news.get("kernel") is None)
    tablet.close()
    left = tablet.view["stock"]["left"]
    tablet.play()
    assert tablet.view["stock"]["left"] == left
    tablet.leave()


def test_two_children_pick_one_name_and_the_tutor_decides(school_class: ClassServer) -> None:
    first = school_class.tablet("Eve")
    first.stay()
    wait_until(lambda: bool(first.news))
    second = Tablet(school_class.address)
    second.join(school_class.code)
    eve = school_class.students["Eve"]
    assert second.take(eve).headers["Location"] == "/wait"
    assert "Somebody is playing as" in second.get("/wait").text
    assert second.get("/play", allow_redirects=False).status_code == 302

    tutor = school_class.tutor()
    assert view_of(tutor)["asking"] == [{"id": eve, "name": "Eve"}]
    tutor.post("/tutor/do", {"do": "let-in", "about": eve})
    wait_until(lambda: first.news.get("page") == "/wait")
    assert "on another tablet now" in first.get("/wait").text
    assert second.get("/wait", allow_redirects=False).headers["Location"] == "/play"
    first.close()
    second.leave()


def view_of(tutor: Tablet) -> dict[str, object]:
    """The tutor's page as it is now."""
    tutor.stay_at("/tutor/live")
    wait_until(lambda: bool(tutor.news))
    view = tutor.news
    tutor.close()
    return view


def test_the_tutor_sees_who_plays_and_who_may_need_a_hand(school_class: ClassServer) -> None:
    tablet = school_class.tablet("Finn")
    tablet.stay()
    tablet.play()
    cards = [card["card"] for card in tablet.view["pyramid"]][-7:]
    values = {card: "A23456789TJQK".index(card[0]) + 1 for card in cards}
    wrong = next(
        (a, b)
        for a in cards
        for b in cards
        if a < b and values[a] + values[b] != 13 and 13 not in (values[a], values[b])
    )
    for _ in range(3):
        tablet.act("try", cards=list(wrong))
    tutor = school_class.tutor()

    def row() -> dict[str, object]:
        children: list[dict[str, object]] = view_of(tutor)["children"]  # type: ignore[assignment]
        return next(child for child in children if child["name"] == "Finn")

    wait_until(lambda: row()["wrong"] == 3)
    assert row()["now"] == "here"
    assert row()["hand"] == "3 wrong tries in a row."
    tablet.leave()
    assert row()["now"] == "not here"


def write_lesson(path: Path, title: str, seed: int) -> str:
    """A lesson with one board."""
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [
        nbformat.v4.new_markdown_cell(f"# {title}"),
        nbformat.v4.new_code_cell(f'from pyramid_lab.lesson import play\n\nplay("classic", {seed})'),
    ]
    nbformat.write(notebook, path)
    return str(path)


def test_the_log_away_then_pause_next_lesson_and_end(own_class: Callable[..., ClassServer], tmp_path: Path) -> None:
    lessons = [write_lesson(tmp_path / f"{number}.ipynb", f"Lesson {number}", number) for number in (1, 2)]
    server = own_class("Ana", lessons=lessons)
    tablet, tutor = server.tablet("Ana"), server.tutor()
    assert "Lesson 2</option>" in tutor.get("/tutor").text
    tablet.stay()
    tablet.play()
    tablet.act("draw")

    # The log is away: the child plays on, the tutor sees it, and later nothing is missing.
    with closing(sqlite3.connect(server.place, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        tablet.act("draw")
        tablet.act("draw")
        assert tablet.results == ("done", "done", "done")
        wait_until(lambda: view_of(tutor)["saved"] is False)
        assert "2 entries wait safely on this computer" in str(view_of(tutor)["store"])
        holder.execute("ROLLBACK")
    wait_until(lambda: view_of(tutor)["saved"] is True)
    wait_until(lambda: [event.event_type for event in events_of(server, "Ana")] == ["deal", "draw", "draw", "draw"])

    wait_until(lambda: tablet.news.get("state") == "playing")
    tutor.post("/tutor/do", {"do": "pause"})
    wait_until(lambda: tablet.news["state"] == "paused")
    tutor.post("/tutor/do", {"do": "resume"})
    wait_until(lambda: tablet.news["state"] == "playing")
    assert tablet.view["deal"].startswith("classic-1-")
    tutor.post("/tutor/do", {"do": "lesson", "about": "1"})
    wait_until(lambda: tablet.news["lesson"] == 1)
    tablet.close()
    tablet.stay()
    tablet.play()
    assert tablet.view["deal"].startswith("classic-2-")
    assert tutor.post("/tutor/do", {"do": "lesson", "about": "7"}).status_code == 400
    assert tutor.post("/tutor/do", {"do": "dance"}).status_code == 400
    tutor.post("/tutor/do", {"do": "end"})
    wait_until(lambda: tablet.news["page"] == "/over")
    wait_until(lambda: not server.kernels())
    assert tablet.get("/play").url.endswith("/over")
    assert "The class is over" in Tablet(server.address).join(server.code).text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own that is soon full."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be made by root on Linux only")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_loses_nothing_and_the_tutor_sees_it(tmp_path: Path, small_disk: Path) -> None:
    server = ClassServer(tmp_path / "home", ["Ana"], place=small_disk / "log.sqlite3")
    try:
        tablet, tutor = server.tablet("Ana"), server.tutor()
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
        wait_until(lambda: view_of(tutor)["saved"] is False)
        assert "wait safely on this computer" in str(view_of(tutor)["store"])
        ballast.unlink()
        wait_until(lambda: view_of(tutor)["saved"] is True, 60)
        wait_until(lambda: [event.event_type for event in events_of(server, "Ana")] == ["deal", *["draw"] * 7])
    finally:
        server.stop()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_no_process_outlives_joins_and_leaves_a_closed_page_a_killed_server_or_the_end(
    own_class: Callable[..., ClassServer],
) -> None:
    names = ("Ana", "Ben", "Cem", "Dora")
    server = own_class(*names, options=["--away=2"])
    waiting = len(names)
    wait_until(lambda: len(server.kernels()) == waiting)
    for turn, name in enumerate(names):
        tablet = server.tablet(name)
        tablet.load()
        if turn % 2:
            tablet.leave()  # the others just close the page
    wait_until(lambda: len(server.kernels()) == waiting)

    tablet = server.tablet("Ben")
    tablet.play()
    tablet.act("draw")
    kernels = server.kernels()
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    wait_until(lambda: not any(is_kernel(kernel) for kernel in kernels))
    assert [event.event_type for event in events_of(server, "Ben")] == ["deal", "draw"]
    server.start()
    back = server.tablet("Ben")
    back.play()
    assert back.view["stock"]["left"] == tablet.view["stock"]["left"]

    everyone = psutil.Process(server.process.pid).children(recursive=True)
    server.stop()
    assert not [one for one in everyone if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
