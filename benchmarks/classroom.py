"""A class of thirty on one laptop: how soon everyone plays, how fast a click is answered, what it costs, what is lost.

    python benchmarks/classroom.py [--children 30] [--browsers 3] [--seconds 60] [--joins 100] [--next 30]

Starts the real command, waits until its kernels wait, rings the bell: all children load the lesson at once, some in
real browsers, the others as protocol clients that speak what a page speaks. Then everyone plays at a child's pace, a
click each 3 to 8 s, all at once on the bell. Every answered click is counted by the client that sent it and looked up
in the log's file. `--joins` lets so many children join and leave one after another and counts the processes; `--next`
takes so many children to the next lesson, all at once.

Figures depend on the machine and on what else runs: the load before the start is printed with them.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.classroom.class_server import ClassServer, wait_until, write_lesson
from tests.classroom.tablet import Tablet

CLICK = """async () => {
  const turn = document.querySelector('[aria-label^="Turn a card"]');
  const before = turn.getAttribute('aria-label');
  const start = performance.now();
  turn.click();
  return await new Promise((done) => {
    const look = () => {
      const now = document.querySelector('[aria-label^="Turn a card"]');
      if (!now || now.getAttribute('aria-label') !== before) done(performance.now() - start);
      else requestAnimationFrame(look);
    };
    look();
  });
}"""


class Child:
    """One child: joins, waits for the bell, plays, leaves."""

    def __init__(self, server: ClassServer, name: str, seconds: float, bell: threading.Barrier) -> None:
        self.server, self.name, self.seconds, self.bell = server, name, seconds, bell
        self.board_after = 0.0
        self.answers: list[float] = []
        self.acknowledged = 0
        self.problem: BaseException | None = None
        self.rung = 0.0
        self.done = threading.Event()
        self.go_home = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self.play()
        except BaseException as error:
            self.problem = error
            self.bell.abort()  # nobody waits for a child that does not come
        finally:
            self.done.set()

    def play(self) -> None:
        tablet = self.server.tablet(self.name)
        tablet.stay()
        chance = random.Random(self.name)
        self.bell.wait()
        start = time.perf_counter()
        tablet.play()
        self.board_after = time.perf_counter() - start
        self.bell.wait()
        end = time.perf_counter() + self.seconds
        while True:
            self.answers.append(tablet.act(self._what(tablet, chance)))
            self.acknowledged = sum(result == "done" for result in tablet.results)
            pause = chance.uniform(3, 8)
            if time.perf_counter() + pause > end:
                break
            self.go_home.wait(pause)
        self.done.set()
        self.go_home.wait(120)
        tablet.close()

    @staticmethod
    def _what(tablet: Tablet, chance: random.Random) -> str:
        if tablet.view["stock"]["left"] == 0:
            return "undo"
        return "undo" if tablet.view["stock"]["left"] < 20 and chance.random() < 0.3 else "draw"


class BrowserChild(Child):
    """One child at a real browser. Playwright wants a process's thread for itself: each has its own."""

    def play(self) -> None:
        from playwright.sync_api import sync_playwright

        from tests.browser.conftest import CHROMIUM_OPTIONS

        with sync_playwright() as playwright:
            program = os.environ.get("PYRAMID_LAB_CHROMIUM", "/usr/bin/chromium")
            browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_OPTIONS)
            page = browser.new_page()
            page.set_default_timeout(120_000)
            page.goto(f"{self.server.address}/")
            page.get_by_label("Type the number from the board").fill(self.server.code)
            page.get_by_role("button", name="Go").click()
            button = page.get_by_role("button", name=self.name, exact=False)
            button.wait_for()
            chance = random.Random(self.name)
            self.bell.wait()
            start = time.perf_counter()
            button.click()
            page.get_by_role("button", name="Turn a card").wait_for()
            self.board_after = time.perf_counter() - start
            self.bell.wait()
            end = time.perf_counter() + self.seconds
            while True:
                self.answers.append(page.evaluate(CLICK) / 1000)
                self.acknowledged += 1
                pause = chance.uniform(3, 8)
                if time.perf_counter() + pause > end or self.acknowledged > 20:
                    break
                self.go_home.wait(pause)
            self.done.set()
            self.go_home.wait(120)
            browser.close()


def memory(server: ClassServer) -> tuple[float, float]:
    """MB of the server and its kernels: PSS, which counts a page shared by many once, and the plain sum of RSS."""
    pss = rss = 0
    for process in [psutil.Process(server.process.pid), *psutil.Process(server.process.pid).children(recursive=True)]:
        try:
            full = process.memory_full_info()
        except psutil.NoSuchProcess:
            continue
        pss += getattr(full, "pss", full.rss)
        rss += full.rss
    return pss / 1e6, rss / 1e6


def in_the_log(server: ClassServer) -> dict[str, int]:
    """Rows of each child that are answers to a click, read from the file itself."""
    with closing(sqlite3.connect(server.place)) as log:
        found = log.execute(
            "SELECT student_id, count(*) FROM events WHERE event_type IN ('draw', 'undo') GROUP BY student_id"
        )
        return dict(found.fetchall())


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def wait_for_kernels(server: ClassServer, number: int) -> None:
    """A kernel counts from its first moment; quiet processors show that the imports are done too."""
    wait_until(lambda: len(server.kernels()) >= number, 300)
    busy = [psutil.Process(server.process.pid), *server.kernels()]
    wait_until(lambda: sum(one.cpu_percent(0.05) for one in busy) < 20, 300)


def lesson(children: int, browsers: int, seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="pyramid-lab-load-", ignore_cleanup_errors=True) as home:
        names = [f"Child {number:02}" for number in range(1, children + 1)]
        start = time.perf_counter()
        server = ClassServer(Path(home), names, options=["--away=5"], watched=False)
        try:
            wait_for_kernels(server, children)
            ready = time.perf_counter() - start
            waiting = memory(server)
            bell = threading.Barrier(children)
            crowd = [
                (BrowserChild if number < browsers else Child)(server, name, seconds, bell)
                for number, name in enumerate(names)
            ]
            limit = time.perf_counter() + 300 + seconds
            playing = memory(server)
            while not all(child.done.is_set() for child in crowd) and time.perf_counter() < limit:
                crowd[-1].done.wait(5)
                playing = max(playing, memory(server))
            problems = [f"{child.name}: {child.problem!r}" for child in crowd if child.problem]
            if not all(child.answers for child in crowd):
                raise SystemExit("not every child played:\n" + "\n".join(problems))
            kept = in_the_log(server)
            sent = {server.students[child.name]: child.acknowledged for child in crowd}
            for child in crowd:
                child.go_home.set()
            wait_until(lambda: len(server.kernels()) <= children, 60)
            answers = [answer for child in crowd[browsers:] for answer in child.answers]
            on_the_bell = [child.answers[0] for child in crowd if child.answers]
            clicks = [answer for child in crowd[:browsers] for answer in child.answers]
            return {
                "children": children,
                "kernels ready after, s": round(ready, 1),
                "first board, median of children, s": round(statistics.median(c.board_after for c in crowd), 2),
                "first board, last child, s": round(max(child.board_after for child in crowd), 2),
                "clicks": len(answers) + len(clicks),
                "answered, protocol clients, p50/p95/max ms": [
                    round(1000 * value)
                    for value in (statistics.median(answers), percentile(answers, 0.95), max(answers))
                ],
                "answered and drawn, browsers, p50/p95/max ms": [
                    round(1000 * value) for value in (statistics.median(clicks), percentile(clicks, 0.95), max(clicks))
                ]
                if clicks
                else None,
                "the first click, all at once, p50/max ms": [
                    round(1000 * value) for value in (statistics.median(on_the_bell), max(on_the_bell))
                ],
                "answered clicks that are not in the log": sum(max(0, n - kept.get(who, 0)) for who, n in sent.items()),
                "memory while waiting, MB (PSS, RSS)": [round(value) for value in waiting],
                "memory at most, MB (PSS, RSS)": [round(value) for value in playing],
                "problems": problems,
            }
        finally:
            server.stop()


def joins(count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="pyramid-lab-joins-", ignore_cleanup_errors=True) as home:
        server = ClassServer(Path(home), ["Ana", "Ben"], options=["--away=5"], watched=False)
        try:
            wait_until(lambda: len(server.kernels()) == 2, 120)
            process = psutil.Process(server.process.pid)
            files, before = process.num_fds(), memory(server)[0]
            start = time.perf_counter()
            for turn in range(count):
                tablet = server.tablet(("Ana", "Ben")[turn % 2])
                tablet.stay()
                tablet.play()
                tablet.act("draw")
                tablet.leave()
            took = time.perf_counter() - start
            wait_until(lambda: len(server.kernels()) == 2, 60)
            left = len(process.children(recursive=True))
            return {
                "joins and leaves": count,
                "s each": round(took / count, 2),
                "processes left (2 kernels wait)": left,
                "open files before and after": [files, process.num_fds()],
                "memory before and after, MB": [round(before), round(memory(server)[0])],
            }
        finally:
            server.stop()


def next_lesson(children: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="pyramid-lab-next-", ignore_cleanup_errors=True) as home:
        names = [f"Child {number:02}" for number in range(1, children + 1)]
        lessons = [write_lesson(Path(home) / f"{number}.ipynb", f"Lesson {number}", number) for number in (1, 2)]
        server = ClassServer(Path(home) / "class", names, *lessons, watched=False)
        try:
            wait_for_kernels(server, children)
            tablets, tutor = [server.tablet(name) for name in names], server.tutor()

            def boards() -> list[float]:
                """Seconds until each child has its board, all of them loading the page at one moment."""
                took: list[float] = []

                def load(tablet: Tablet) -> None:
                    start = time.perf_counter()
                    tablet.close()
                    tablet.play()
                    took.append(round(time.perf_counter() - start, 1))

                loading = [threading.Thread(target=load, args=(tablet,)) for tablet in tablets]
                for one in loading:
                    one.start()
                for one in loading:
                    one.join()
                return [statistics.median(took), max(took)]

            first = boards()
            tutor.post("/tutor/do", {"do": "lesson", "about": "1"})
            second = boards()
            return {
                "children who go to the next lesson": children,
                "first lesson's board, median and last child, s": first,
                "next lesson's board, median and last child, s": second,
                "kernels now": len(server.kernels()),
            }
        finally:
            server.stop()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--children", type=int, default=30)
    options.add_argument("--browsers", type=int, default=3)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--joins", type=int, default=100)
    options.add_argument("--next", type=int, default=30)
    chosen = options.parse_args()
    load = ", ".join(f"{value:.1f}" for value in psutil.getloadavg())
    print(f"{psutil.cpu_count()} processors; load before the start: {load}", flush=True)
    parts = []
    if chosen.children:
        parts.append(lesson(chosen.children, min(chosen.browsers, chosen.children - 1), chosen.seconds))
    if chosen.joins:
        parts.append(joins(chosen.joins))
    if chosen.next:
        parts.append(next_lesson(chosen.next))
    for part in parts:
        for what, value in part.items():
            print(f"  {what}: {value}")


if __name__ == "__main__":
    main()
