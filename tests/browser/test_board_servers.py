"""The board in real JupyterLab, Notebook 7 and Voila: what the notebook around it adds and takes away."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import Page, expect

from pyramid_lab.core import Deal, Game, Move, rule_set
from tests.browser.servers import NotebookPage, Server, no_request_leaves
from tests.browser.static_board import save_picture
from tests.browser.test_board_page import BUTTON_BOUNCE_MS
from tests.solver.plain_search import fewest_steps

# Makes, plays and closes boards, each with a line to whatever page listens; prints what is left and the growth in MB.
MANY_BOARDS = """
import gc, json, psutil, weakref
from comm import get_comm_manager
from ipywidgets.widgets.widget import _instances
from pyramid_lab.board import Board

def left():
    gc.collect()
    return len(get_comm_manager().comms), len(_instances), psutil.Process().memory_info().rss / 2**20

base, boards = left(), []
for seed in range(200):
    board = Board("classic", seed)
    board._receive(board, {"kind": "draw", "page": "p", "n": 1, "number": 0}, [])
    assert len(board.game.moves) == 1 and board.comm is not None
    boards.append(weakref.ref(board))
    board.close()
    del board
    if seed == 49:
        early = left()
late = left()
print(json.dumps([late[0] - base[0], late[1] - base[1], sum(one() is not None for one in boards), late[2] - early[2]]))
"""

# Three rows: 4♠ / 6♥ 7♠ / K♣ J♠ 2♦; the stock's fourth card is 9♠.
CELL = "from pyramid_lab.lesson import play\n\nplay('one-pass', 212, rows=3, place='{log}')"


Opened = Callable[..., NotebookPage]


@pytest.fixture
def log(lab: Server) -> Path:
    """A log of the test's own. A second try has another: it does not go on with the game of the first."""
    return lab.root / f"{uuid.uuid4()}.sqlite3"


def log_rows(log: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(f"file:{log}?mode=ro", uri=True) as connection:
        query = "SELECT event_type, first_card, second_card, outcome, input, rt_ms FROM events ORDER BY seq"
        rows = connection.execute(query).fetchall()
    # A hint names its cards in no order of choosing: here the jack first.
    return [(row[0], row[2], row[1], *row[3:]) if row[:3] == ("hint", "2d", "Js") else row for row in rows]


def card(page: Page, name: str) -> Any:
    return page.locator(f'button[data-card="{name}"]')


def view(page: Page, number: int) -> None:
    """Wait for a view of at least this number, drawn and painted: only then does its time run."""
    page.wait_for_function(
        "number => Number(document.querySelector('.pl-board')?.dataset.view ?? -1) >= number", arg=number
    )
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.parametrize("kind", ["lab", "voila"])
def test_a_game_by_mouse_and_keys(kind: str, lab: Server, opened: Opened, log: Path) -> None:
    name = f"board-{kind}.ipynb"
    lab.write(name, [CELL.format(log=log), "1 + 1"])
    play_by_mouse_and_keys(opened(kind, name), log)


def test_a_game_in_notebook_7_and_a_second_tab_that_agrees(lab: Server, page: Page, opened: Opened, log: Path) -> None:
    lab.write("tabs.ipynb", [CELL.format(log=log), "1 + 1"])
    strangers = no_request_leaves(page)
    first = lab.showing("notebook").open(page, "tabs.ipynb")
    play_by_mouse_and_keys(first, log)
    first.save()
    second = opened("lab", "tabs.ipynb").page
    expect(card(second, "6h")).to_have_count(1)
    for one in ("6h", "7s"):
        card(second, one).click()
    for tab in (second, page):
        expect(card(tab, "4s")).to_have_count(1)
        expect(card(tab, "6h")).to_have_count(0)
    # The game's five, the first tab's loss of the focus, and the one from the second tab.
    rows = [row[:4] for row in log_rows(log)][6:]
    assert [row for row in rows if row[0] != "focus_lost"] == [("attempt", "6h", "7s", "correct")]
    assert strangers == []


def play_by_mouse_and_keys(notebook: NotebookPage, log: Path) -> None:
    """Play the game of CELL, and see that the notebook around it takes no key and the log holds every move."""
    page, server = notebook.page, notebook.server
    if server.kind != "voila":
        notebook.run_all()
    expect(page.locator(".pl-board")).to_have_count(1)
    words = page.locator(".pl-status dt, .pl-status dd")
    expect(words).to_have_count(8)
    # A page's own style for such a list must not cut its words off.
    assert words.evaluate_all("found => found.filter(one => one.scrollWidth > one.clientWidth + 1).length") == 0
    card(page, "Kc").click()
    view(page, 1)
    # From here on by keys alone; a letter that the notebook took would add, cut or run a cell.
    for key in ("b", "a", "x", "m", "Shift+Enter"):
        page.keyboard.press(key)
    page.keyboard.press("h")
    view(page, 2)
    page.keyboard.press("d")
    view(page, 3)
    page.keyboard.press("u")
    view(page, 4)
    card(page, "Js").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    view(page, 5)
    if server.kind != "voila":
        assert len(notebook.outputs()) == 2
    assert [row[:4] for row in log_rows(log)] == [
        ("deal", None, None, None),
        ("attempt", "Kc", None, "correct"),
        ("hint", "Js", "2d", None),
        ("draw", None, None, None),
        ("undo", None, None, None),
        ("attempt", "Js", "2d", "correct"),
    ]
    last = log_rows(log)[-1]
    assert last[4] == "keyboard"
    assert last[5] is not None
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('.pl-board')") is None


def test_two_notebooks_on_one_kernel_both_work(lab: Server, opened: Opened, log: Path) -> None:
    for name, rows in (("one.ipynb", 3), ("two.ipynb", 4)):
        lab.write(name, [f"from pyramid_lab.lesson import play\n\nplay('one-pass', 212, rows={rows}, place='{log}')"])
    notebook = opened("lab", "one.ipynb", keep_kernel=True)
    page = notebook.page
    notebook.run_all()
    card(page, "Kc").click()
    expect(card(page, "Kc")).to_have_count(0)
    page.evaluate(
        """async () => {
            const app = window.jupyterapp;
            const id = app.shell.currentWidget.sessionContext.session.kernel.id;
            const opened = await app.commands.execute('docmanager:open', { path: 'two.ipynb', kernel: { id } });
            app.shell.activateById(opened.id);
            await opened.sessionContext.ready;
        }"""
    )
    page.wait_for_function("() => window.jupyterapp.shell.currentWidget?.context?.path === 'two.ipynb'")
    notebook.wait_for_kernel()
    notebook.run_all()
    second = page.locator(".jp-NotebookPanel:visible")
    expect(second.locator(".pl-board")).to_have_count(1)
    second.locator("button[data-action=draw]").click()
    expect(second.locator(".pl-message")).to_contain_text("Turned")
    page.evaluate(
        """() => { const app = window.jupyterapp; for (const one of app.shell.widgets('main'))
            if (one.context?.path === 'one.ipynb') app.shell.activateById(one.id); }"""
    )
    first = page.locator(".jp-NotebookPanel:visible")
    expect(first.locator(".pl-board")).to_have_count(1)
    first.locator("button[data-card=Js]").click()
    first.locator("button[data-card='2d']").click()
    expect(first.locator("button[data-card=Js]")).to_have_count(0)
    assert [row[0] for row in log_rows(log)] == ["deal", "attempt", "deal", "draw", "attempt"]


def test_two_clicks_while_the_kernel_is_busy_are_one_discard_and_one_stale_row(
    lab: Server, opened: Opened, log: Path
) -> None:
    lab.write("busy.ipynb", [CELL.format(log=log)])
    notebook = opened("lab", "busy.ipynb", keep_kernel=True)
    page = notebook.page
    notebook.run_all()
    card(page, "Kc").click()
    view(page, 1)
    page.evaluate(
        """async () => {
            const wait = ms => new Promise(done => setTimeout(done, ms));
            const press = name => document.querySelector(`button[data-card="${name}"]`).click();
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
            const frame = () => new Promise(requestAnimationFrame);
            await frame(); await frame();
            // Hold the board itself, as a kernel does that cannot answer.
            const code = 'import time, threading\\nboard = _  # what the cell gave\\n' +
                'held = threading.Event()\\n' +
                'def hold():\\n    with board._lock:\\n        held.set(); time.sleep(2.5)\\n' +
                'threading.Thread(target=hold).start(); held.wait()';
            await kernel.requestExecute({code}).done;
            await wait(400); press('Js'); await wait(600); press('2d');
            await wait(600); press('Js'); await wait(300); press('2d');
        }"""
    )
    expect(card(page, "Js")).to_have_count(0, timeout=20_000)
    page.wait_for_function("() => document.querySelector('.pl-board').dataset.link === 'live'")
    rows = log_rows(log)
    assert [row[:4] for row in rows[2:]] == [("attempt", "Js", "2d", "correct"), ("stale", "Js", "2d", None)]
    # The time of the pair is the child's, not the kernel's.
    assert rows[2][5] < 3000


def test_a_saved_notebook_shows_the_last_position_and_how_to_go_on(lab: Server, opened: Opened, log: Path) -> None:
    lab.write("saved.ipynb", [CELL.format(log=log)])
    notebook = opened("lab", "saved.ipynb", keep_kernel=True)
    page = notebook.page
    notebook.run_all()
    card(page, "Kc").click()
    view(page, 1)
    expect(page.locator(".pl-fallback")).to_be_hidden()
    page.wait_for_function(
        """() => JSON.stringify([...window.jupyterapp.shell.currentWidget.content.model.cells]
            .map(cell => cell.toJSON())).includes('1 move made')"""
    )
    notebook.save()
    opened("lab", "saved.ipynb")
    expect(page.locator(".pl-fallback")).to_be_visible()
    expect(page.locator(".pl-fallback figcaption")).to_contain_text("deal 212, 1 move made, score 1")
    expect(page.locator(".pl-fallback figcaption")).to_contain_text("run this cell again")
    notebook.run_all()
    expect(page.locator(".pl-message")).to_have_text("Here is your game, where you left it.")
    expect(card(page, "Kc")).to_have_count(0)
    expect(page.locator(".pl-fallback")).to_be_hidden()


def test_a_restarted_kernel_is_told_on_the_board_that_it_left_behind(lab: Server, opened: Opened, log: Path) -> None:
    lab.write("restart.ipynb", [CELL.format(log=log)])
    notebook = opened("lab", "restart.ipynb", keep_kernel=True)
    page = notebook.page
    notebook.run_all()
    card(page, "Kc").click()
    view(page, 1)
    notebook.restart_kernel()
    card(page, "Js").click()
    card(page, "2d").click()
    expect(page.locator(".pl-notice")).to_contain_text("Run this cell again")
    notebook.run_all()
    expect(card(page, "Js")).to_have_count(1)
    card(page, "Js").click()
    card(page, "2d").click()
    expect(card(page, "Js")).to_have_count(0)
    assert [row[:4] for row in log_rows(log)] == [
        ("deal", None, None, None),
        ("attempt", "Kc", None, "correct"),
        ("attempt", "Js", "2d", "correct"),
    ]


def test_the_solver_points_the_way_and_proves_that_none_is_left(
    lab: Server, opened: Opened, log: Path, pictures: Path | None
) -> None:
    # 4♠ and 6♥ is the first legal discard, and after it nothing can be won, as the search without pruning has it too.
    options = {"rows": 4, "draw": 3, "target": 10}
    start = Game(rule_set("one-pass").replace(**options), Deal.from_seed(24, 10)).position
    assert start.legal_moves()[0] == Move.parse("4s+6h")
    assert fewest_steps(start) is not None
    assert fewest_steps(start.play(Move.parse("4s+6h"))) is None
    cell = f"play('one-pass', 24, **{options}, place='{log}')"
    lab.write("proof.ipynb", [f"from pyramid_lab.lesson import play\n\n{cell}"])
    notebook = opened("lab", "proof.ipynb", keep_kernel=True)
    page = notebook.page
    notebook.run_all()
    message, notice = page.locator(".pl-message"), page.locator(".pl-notice")
    page.locator("button[data-action=hint]").click()
    expect(message).to_have_text("Turn a card. That way the pyramid can be cleared.")
    expect(page.locator("button[data-action=draw]")).to_have_attribute("data-hinted", "")
    expect(notice).to_be_hidden()
    card(page, "4s").click()
    card(page, "6h").click()
    view(page, 2)
    page.wait_for_timeout(BUTTON_BOUNCE_MS)  # two presses sooner after one another are one
    page.keyboard.press("h")
    expect(notice).to_contain_text("There was still a way 1 step ago.")
    for number in range(10):
        page.keyboard.press("d")
        view(page, 4 + number)
    expect(page.locator(".pl-end strong")).to_have_text("No move is left: 8 cards in the pyramid.")
    expect(notice).to_contain_text("There was still a way 11 steps ago.")
    save_picture(page, "state-no-way-left", pictures)
    notice.get_by_role("button", name="Go back there").click()
    expect(message).to_have_text("From here there is a way. Look for another move.")
    expect(notice).to_be_hidden()
    page.keyboard.press("h")
    expect(message).to_have_text("Turn a card. That way the pyramid can be cleared.")


def test_a_killed_kernel_is_told_in_plain_words_and_the_game_goes_on_as_it_was(
    lab: Server, opened: Opened, log: Path
) -> None:
    lab.write("killed.ipynb", [f"from pyramid_lab.lesson import play\n\nplay('classic', 17, draw=3, place='{log}')"])
    notebook = opened("lab", "killed.ipynb", keep_kernel=True)
    page = notebook.page
    notebook.run_all()
    card(page, "Qc").click()
    card(page, "Ad").click()
    view(page, 1)
    # Eight draws, the redeal, one more draw; that and the redeal are taken back, and the redeal is played again.
    for number, key in enumerate("dddddddddduuy", start=2):
        page.keyboard.press(key)
        view(page, number)
    before = table(page)
    assert ("Pass", "2 of 3") in before["status"]
    os.kill(int(notebook.execute("import os; print(os.getpid())")), signal.SIGKILL)
    page.keyboard.press("d")
    expect(page.locator(".pl-notice")).to_contain_text("Run this cell again")
    assert "Everything up to your last answered move is saved" in page.locator(".pl-notice").inner_text()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    notebook.wait_for_kernel()
    notebook.run_all()
    expect(page.locator(".pl-message")).to_have_text("Here is your game, where you left it.")
    assert table(page) == before
    page.locator("button[data-action=undo]").click()
    view(page, 1)
    assert ("Pass", "1 of 3") in table(page)["status"]
    page.keyboard.press("y")
    view(page, 2)
    assert table(page) == before
    rows = [row[0] for row in log_rows(log)]
    assert rows == ["deal", "attempt", *["draw"] * 8, "redeal", "draw", "undo", "undo", "redo", "undo", "redo"]


def table(page: Page) -> dict[str, Any]:
    """What a child sees of a game: the cards in sight, the figures, and which buttons can be pressed."""
    found: dict[str, Any] = page.evaluate(
        """() => ({
            cards: [...document.querySelectorAll('.pl-card')].map(one => one.ariaLabel).sort(),
            captions: [...document.querySelectorAll('.pl-caption')].map(one => one.textContent),
            status: [...document.querySelectorAll('.pl-status > div')]
                .map(one => [...one.children].map(part => part.textContent)),
            buttons: [...document.querySelectorAll('.pl-button[data-action]:not([aria-disabled])')]
                .filter(one => one.offsetParent).map(one => one.dataset.action),
        })"""
    )
    found["status"] = [tuple(line) for line in found["status"]]
    return found


def test_two_hundred_boards_in_a_real_kernel_leave_neither_widgets_nor_memory() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(MANY_BOARDS)])
    with ThreadPoolExecutor(1) as thread:  # the browser's loop runs in this one
        thread.submit(NotebookClient(notebook, kernel_name="python3", timeout=120).execute).result()
    comms, widgets, alive, grown_mb = json.loads(notebook.cells[0].outputs[-1].text)
    assert (comms, widgets, alive) == (0, 0, 0)
    assert grown_mb < 20
