"""A walk through the lessons in real pages: the tutor's in JupyterLab with its cells run, each child's on a page of
Voila without code."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import expect

from pyramid_lab.core import Card, Deal, Position, rule_set
from pyramid_lab.log.events import record
from pyramid_lab.log.store import Store
from tests.browser.axe import assert_axe_finds_nothing
from tests.browser.servers import NotebookPage, Server

LESSONS_HOME = Path(__file__).parents[2] / "lessons"
LESSONS = sorted(LESSONS_HOME.glob("*.ipynb"))

# Boards and flash rounds that each lesson shows.
BOARDS = {"00": 1, "01": 3, "02": 2, "03": 2, "04": 2, "05": 2, "06": 2, "07": 2, "08": 1, "09": 3, "10": 1, "11": 0}
ROUNDS = {"00": 1, "02": 1, "03": 1, "04": 1, "05": 1, "06": 1, "07": 1, "09": 1}

# Lesson 1 in JupyterLab is in test_lesson.py, the form of lesson 8 in test_paper_form.py.
IN_JUPYTERLAB = [path for path in LESSONS if path.name[:2] == "00"]
# One after the other on one page: loading a page and its kernel takes longer than a lesson.
AS_A_PAGE = [["01", "02", "03", "04", "05"], ["06", "07", "08", "09", "10", "11"]]

Opened = Callable[..., NotebookPage]

ALONE = "For the tutor: does more than one child play on this computer?"


@pytest.mark.parametrize("path", IN_JUPYTERLAB, ids=lambda path: path.stem)
def test_a_lesson_in_jupyterlab(path: Path, lab: Server, opened: Opened, tmp_path: Path) -> None:
    shutil.copy(path, lab.root / path.name)
    lesson = opened("lab", path.name)
    store = log_with_a_try(tmp_path / "log.sqlite3")
    lesson.execute(f"import os; os.environ['PYRAMID_LAB_STORE'] = {str(store)!r}")
    lesson.run_all()
    number = path.name[:2]
    expect(lesson.page.locator(".pl-board")).to_have_count(BOARDS[number])
    expect(lesson.page.locator(".pl-flash")).to_have_count(ROUNDS.get(number, 0))
    # JupyterLab goes to the last cell; the child begins where the name is asked for.
    expect(lesson.page.get_by_text(ALONE)).to_be_in_viewport()


def test_where_one_cell_is_run_the_page_stays(lab: Server, opened: Opened) -> None:
    filling = ["%%markdown\n" + "\n\n".join(["line"] * 60)] * 2
    lab.write("stays.ipynb", ["from pyramid_lab.course import who_plays\n\nwho_plays()", *filling, "print('the end')"])
    lesson = opened("lab", "stays.ipynb", keep_kernel=True)
    start, end = lesson.page.get_by_text(ALONE), lesson.page.locator(".jp-OutputArea-output", has_text="the end")
    lesson.run_all()
    expect(start).to_be_in_viewport()
    lesson.run_cell(3)
    expect(end).to_be_in_viewport()
    expect(start).not_to_be_in_viewport()
    # Scrolled up and down again, the note is drawn again: nothing moves by itself.
    for seen, hidden, cell in ((start, end, 0), (end, start, 3)):
        lesson.page.evaluate("at => window.jupyterapp.shell.currentWidget.content.scrollToItem(at, 'center')", cell)
        expect(seen).to_be_in_viewport()
        expect(hidden).not_to_be_in_viewport()


@pytest.mark.parametrize("numbers", AS_A_PAGE, ids=" ".join)
def test_lessons_as_a_page_without_code(numbers: list[str], lab: Server, opened: Opened) -> None:
    log_with_a_try(lab.home / "data" / "pyramid-lab" / "log.sqlite3")
    lessons = [nbformat.read(path, as_version=4) for path in LESSONS if path.name[:2] in numbers]
    name = f"lessons-{'-'.join(numbers)}.ipynb"
    cells = [cell for lesson in lessons for cell in lesson.cells]
    for at, cell in enumerate(cells):
        cell.id = f"step-{at}"  # each lesson counts its own
    nbformat.write(nbformat.v4.new_notebook(metadata=lessons[0].metadata, cells=cells), lab.root / name)
    page = opened("voila", name).page
    expect(page.locator(".pl-board")).to_have_count(sum(BOARDS[number] for number in numbers), timeout=60_000)
    expect(page.locator(".pl-flash")).to_have_count(sum(ROUNDS.get(number, 0) for number in numbers))
    titles = page.get_by_role("heading", level=1)
    expect(titles).to_contain_text([f"Lesson {int(number)}" for number in numbers])
    expect(page.locator(".jp-InputArea-editor")).to_have_count(0)
    for fault in ("There was an error when executing cell", "Error displaying widget"):
        expect(page.get_by_text(fault)).to_have_count(0)
    if "08" in numbers:
        form = page.locator(".pl-paper-form")
        form.get_by_label("1. first card").focus()
        for cell in ("9s", "4s", "13", "x", "3,5"):
            page.keyboard.type(cell)
            page.keyboard.press("Tab")
        expect(form.get_by_role("status")).to_contain_text("1 try; nothing to look at")


def log_with_a_try(place: Path) -> Path:
    """A log that somebody has tried something in: lesson 11 then reports on it and need not simulate a class."""
    position = Position.start(rule_set("one-pass"), Deal.from_seed(268))
    with Store(place) as store:
        for number, kind in enumerate(("deal", "attempt")):
            cards = [Card.parse("4c"), Card.parse("9d")] if kind == "attempt" else []
            event = record(
                kind,
                position,
                cards,
                event_id=f"00000000-0000-4000-8000-{number:012d}",
                student_id="somebody",
                session_id="earlier",
                game_id="earlier",
                event_index=number,
                t_utc=datetime(2026, 9, 7, 8, 0, number, tzinfo=UTC),
                rt_ms=1500 if kind == "attempt" else None,
                clock="browser",
            )
            store.append(event)
    return place


def test_a_flash_round_by_touch_and_keys_is_logged_with_its_times(lab: Server, opened: Opened, tmp_path: Path) -> None:
    store = tmp_path / "log.sqlite3"
    lab.write(
        "flash.ipynb",
        [
            f"import os; os.environ['PYRAMID_LAB_STORE'] = {str(store)!r}",
            "from pyramid_lab.course import flash\n\nflash(3)",
        ],
    )
    lesson = opened("lab", "flash.ipynb", keep_kernel=True)
    page = lesson.page
    lesson.run_all()
    cells = len(lesson.outputs())
    board = page.locator(".pl-flash")

    def partner() -> int:
        names = {"ace": 1, "jack": 11, "queen": 12}
        rank = (board.locator(".pf-card").get_attribute("aria-label") or "").partition(" of ")[0]
        return 13 - (names.get(rank) or int(rank))

    assert_axe_finds_nothing(page, ".pl-flash")

    # A wrong answer: the same card is asked again.
    first = board.locator(".pf-card").get_attribute("aria-label")
    wrong = partner() % 12 + 1
    board.locator(f'[data-answer="{wrong}"]').click()
    expect(board).to_have_attribute("data-tone", "try")
    assert board.locator(".pf-card").get_attribute("aria-label") == first

    for number, press in enumerate(("click", "key", "key"), start=1):
        value = partner()
        if press == "click":
            board.locator(f'[data-answer="{value}"]').click()
        else:
            board.locator(".pf-button").first.focus()
            page.keyboard.press({1: "a", 10: "t", 11: "j", 12: "q"}.get(value, str(value)))
        expect(board.locator(".pf-title")).to_contain_text(f"{number} of 3")
    expect(board.get_by_role("button", name="Another round")).to_be_visible()
    assert len(lesson.outputs()) == cells  # no key reached the notebook: 'a' would have made a cell

    with sqlite3.connect(store) as connection:
        logged: list[tuple[Any, ...]] = connection.execute(
            "SELECT event_type, outcome, input, rt_ms FROM events ORDER BY seq"
        ).fetchall()
    assert [row[:3] for row in logged] == [
        ("deal", None, None),
        ("attempt", "incorrect", "mouse"),
        ("attempt", "correct", "mouse"),
        ("attempt", "correct", "keyboard"),
        ("attempt", "correct", "keyboard"),
        ("end", "won", None),
    ]
    assert all(isinstance(row[3], int) for row in logged[1:5])
