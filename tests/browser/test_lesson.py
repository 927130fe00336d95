"""Lesson 1 for real: the command, JupyterLab, the browser and the log, from the first click to the last row."""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from pyramid_lab.core import Deal, Game, Move, MoveKind, Outcome, rule_set
from tests.browser.servers import NotebookPage, Server

LESSON = "01_partners.ipynb"
FIRST_BOARD_CELL, LAST_BOARD_CELL = 5, 11

# The lesson's first and last board, and a way to win each; the test below plays them by the rules first.
SMALL, SMALL_RULES = Deal.from_seed(212), rule_set("one-pass").replace(rows=3)
SMALL_WIN = "Kc Js+2d 6h+7s draw draw draw draw 4s+9s"
FULL, FULL_RULES = Deal.from_seed(268), rule_set("one-pass")
FULL_WIN = (
    "4c+9d 2h+Jc 3c+Tc Kh 2d+Jh 3d+Ts 6d+7d Kd draw 4d+9s draw draw draw draw Ac+Qd 6c+7c draw 6h+7s draw draw "
    "3s+Td 4h+9h Kc draw draw Ah+Qh draw draw 4s+9c Ad+Qs draw 5s+8s"
)

Row = dict[str, Any]


@pytest.fixture
def lesson(lab: Server, opened: Callable[..., NotebookPage]) -> NotebookPage:
    """The lesson as the command opens it, no cell run yet: a notebook and a child of its own, the next one to sit down
    at this computer."""
    child = f"child-{uuid.uuid4()}"
    shutil.copy(lab.root / LESSON, lab.root / f"{child}.ipynb")
    notebook = opened("lab", f"{child}.ipynb", keep_kernel=True)
    sit_down(notebook)
    return notebook


def sit_down(notebook: NotebookPage) -> None:
    notebook.execute(f"import os; os.environ['PYRAMID_LAB_STUDENT'] = {child_of(notebook)!r}")


def child_of(notebook: NotebookPage) -> str:
    return notebook.name.removesuffix(".ipynb")


def rows(notebook: NotebookPage, *kinds: str) -> list[Row]:
    """The child's rows of the log in the order in which they were written, read with SQLite alone."""
    path = notebook.server.home / "data" / "pyramid-lab" / "log.sqlite3"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        connection.row_factory = sqlite3.Row
        query = "SELECT * FROM events WHERE student_id = ? ORDER BY seq"
        found = [dict(row) for row in connection.execute(query, [child_of(notebook)])]
    return [row for row in found if not kinds or row["event_type"] in kinds]


def move_of(row: Row) -> str:
    """What a row says was done, as a move's text."""
    if row["event_type"] == "draw":
        return "draw"
    assert row["outcome"] == "correct"
    return "+".join(card for card in (row["first_card"], row["second_card"]) if card)


def card(board: Locator, name: object) -> Locator:
    return board.locator(f'button[data-card="{name}"]')


def buttons(move: Move) -> list[str]:
    return [f'button[data-card="{one}"]' for one in move.cards] or ['button[data-action="draw"]']


def wait_until_played(board: Locator, move: Move, view: str) -> None:
    expect(board).not_to_have_attribute("data-view", view)
    for one in move.cards:
        expect(card(board, one)).to_have_count(0)


# A promise of the position after a move: the board has a new view, without the move's cards, and is painted.
NEXT_POSITION = """(root, presses) => {
    const before = root.dataset.view;
    window.plNext = new Promise((done, fail) => {
        const observer = new MutationObserver(() => {
            if (root.dataset.view === before) return;
            if (presses.some(press => root.querySelector(press)?.dataset.card)) return;
            observer.disconnect();
            requestAnimationFrame(() => requestAnimationFrame(done));
        });
        observer.observe(root, {attributes: true, childList: true, subtree: true});
        setTimeout(() => fail(new Error(`no answer to ${presses}`)), 30000);
    });
    window.plNext.catch(() => {});
}"""


def play_by_clicks(board: Locator, script: str) -> None:
    """Press the mouse where each card of a move is on the screen."""
    page = board.page
    places = """(root, presses) => presses.map(press => {
        const button = root.querySelector(press);
        button.scrollIntoView({block: 'nearest'});
        const box = button.getBoundingClientRect();
        // Its upper edge: the lower part of a card in the pyramid may lie under another.
        return [box.x + 8, box.y + 6];
    })"""
    expect(board).to_have_attribute("data-link", "live")
    for move in map(Move.parse, script.split()):
        board.evaluate(NEXT_POSITION, buttons(move))
        for x, y in board.evaluate(places, buttons(move)):
            page.mouse.click(x, y)
        page.evaluate("() => window.plNext")


def walk_to(board: Locator, name: object) -> None:
    """Press arrow keys until the card has the focus."""
    page = board.page
    steps = """(root, name) => {
        const middle = element => {
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        };
        const now = document.activeElement;
        const from = middle(now);
        const to = middle(root.querySelector(`button[data-card="${name}"]`));
        const [x, y] = [to[0] - from[0], to[1] - from[1]];
        const keys = [x < 0 ? 'ArrowLeft' : 'ArrowRight', y < 0 ? 'ArrowUp' : 'ArrowDown'];
        return [now.dataset.card ?? now.dataset.action ?? '', Math.abs(x) > Math.abs(y) ? keys : keys.reverse()];
    }"""
    pressed: Counter[tuple[str, str]] = Counter()
    for _ in range(200):
        now, way = board.evaluate(steps, str(name))
        if now == str(name):
            return
        # The way there, as the eye sees it; where that leads round in a ring, the key that was tried least.
        key = min([*way, "ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight"], key=lambda key: pressed[now, key])
        pressed[now, key] += 1
        page.keyboard.press(key)
    raise AssertionError(f"the arrow keys do not lead to {name}: {pressed}")


def play_by_keys(board: Locator, script: str) -> None:
    board.locator('[tabindex="0"]').first.focus()
    for move in map(Move.parse, script.split()):
        board.evaluate(NEXT_POSITION, buttons(move))
        if move.kind is MoveKind.DRAW:
            board.page.keyboard.press("d")
        for one in move.cards:
            walk_to(board, one)
            board.page.keyboard.press("Enter")
        board.page.evaluate("() => window.plNext")


@pytest.mark.parametrize(
    ("rules", "deal", "script"),
    [(SMALL_RULES, SMALL, SMALL_WIN), (FULL_RULES, FULL, FULL_WIN)],
    ids=["three rows", "seven rows"],
)
def test_the_scripts_win_by_the_rules(rules: Any, deal: Deal, script: str) -> None:
    game = Game(rules, deal)
    for move in map(Move.parse, script.split()):
        game.play(move)
    assert game.outcome is Outcome.WON


def test_games_are_won_by_clicks_and_by_keys_and_the_log_equals_the_scripts(lesson: NotebookPage) -> None:
    boards = lesson.page.locator(".pl-board")
    lesson.run_all()
    expect(boards).to_have_count(3)
    play_by_clicks(boards.nth(2), FULL_WIN)
    expect(boards.nth(2).locator(".pl-end")).to_be_visible()
    play_by_keys(boards.first, SMALL_WIN)
    expect(boards.first.locator(".pl-end")).to_be_visible()

    played = rows(lesson, "attempt", "draw")
    games = list(dict.fromkeys(row["game_id"] for row in played))
    scripts = ((FULL_WIN, "mouse", FULL), (SMALL_WIN, "keyboard", SMALL))
    for game, (script, hand, deal) in zip(games, scripts, strict=True):
        of_game = [row for row in played if row["game_id"] == game]
        assert [Move.parse(move_of(row)) for row in of_game] == [Move.parse(move) for move in script.split()]
        assert [row["event_index"] for row in of_game] == sorted(row["event_index"] for row in of_game)
        assert {row["input"] for row in of_game} == {hand}
        assert {row["clock"] for row in of_game} == {"browser"}
        assert {row["deal"] for row in of_game} == {deal.text}
        (end,) = [row for row in rows(lesson, "end") if row["game_id"] == game]
        assert end["outcome"] == "won"

    # The tutor sees it: a table and a picture.
    lesson.page.get_by_role("button", name="Show the newest tries").click()
    tries = sum(move.count("+") + (move[0] == "K") for move in (*FULL_WIN.split(), *SMALL_WIN.split()))
    caption = lesson.page.get_by_text(f"What was tried to make 13: {tries} tries in all")
    expect(caption).to_be_visible()
    expect(lesson.page.get_by_role("img", name="Bars of the median response time")).to_be_visible()


def test_scripted_delays_come_back_within_50_ms_also_while_the_kernel_is_busy(lesson: NotebookPage) -> None:
    board = lesson.page.locator(".pl-board").last
    lesson.run_cell(FIRST_BOARD_CELL)
    lesson.run_cell(LAST_BOARD_CELL)
    # In the page, so that nothing of the test's own time enters: after the position was painted, wait, press the first
    # card, wait, press the second; give back when the last press was, counted from the paint.
    press = """async (root, {presses, delays}) => {
        const frame = () => new Promise(requestAnimationFrame);
        const wait = ms => new Promise(done => setTimeout(done, ms));
        const shown = window.plShown;
        let last = 0;
        for (const [at, press] of presses.entries()) {
            const left = shown + delays[at] - performance.now();
            if (left > 0) await wait(left);
            const click = new MouseEvent('click', {bubbles: true, cancelable: true});
            last = click.timeStamp;
            const before = root.dataset.view;
            const changed = new Promise(done => new MutationObserver((_, observer) => {
                if (root.dataset.view === before) return;
                observer.disconnect();
                done();
            }).observe(root, {attributes: true, attributeFilter: ['data-view']}));
            root.querySelector(press).dispatchEvent(click);
            if (at === presses.length - 1) {
                await changed;
                await frame();
                await frame();
                window.plShown = performance.now();
            }
        }
        return last - shown;
    }"""
    script = [Move.parse(move) for move in FULL_WIN.split()][:8]
    delays = [(300, 600), (500, 700), (450, 1300), (350, 1000), (600, 2000), (300, 800)]
    # The first position was painted before anything here watched: its move and the next are played, not measured.
    play_by_clicks(board, str(script[0]))
    lesson.page.evaluate("() => { window.plShown = performance.now(); }")
    board.evaluate(press, {"presses": buttons(script[1]), "delays": [300, 600]})

    expected: list[float] = []
    for number, move in enumerate(script[2:]):
        presses = buttons(move)
        delay = delays[number % len(delays)][-len(presses) :]
        if number % 2 == 0:  # a cell runs until after the last press
            lesson.execute(f"import time; time.sleep({delay[-1] / 1000 + 0.4})", wait=False)
        expected.append(board.evaluate(press, {"presses": presses, "delays": delay}))

    logged = [row["rt_ms"] for row in rows(lesson, "attempt", "draw")][2:]
    assert len(logged) == len(expected)
    assert min(expected) >= 300
    off = [round(got - true) for got, true in zip(logged, expected, strict=True)]
    assert all(abs(error) <= 50 for error in off), (off, logged, expected)


def test_five_runs_of_the_cell_and_one_click_make_one_row(lesson: NotebookPage) -> None:
    for _ in range(5):
        lesson.run_cell(FIRST_BOARD_CELL)
    play_by_clicks(lesson.page.locator(".pl-board").first, "Kc")
    (row,) = rows(lesson, "attempt")
    assert move_of(row) == "Kc"


def test_reload_and_restart_lose_nothing(lesson: NotebookPage) -> None:
    script = SMALL_WIN.split()
    board = lesson.page.locator(".pl-board").first
    lesson.run_cell(FIRST_BOARD_CELL)
    play_by_clicks(board, " ".join(script[:2]))
    lesson.save()

    lesson.load()
    expect(card(board, "6h")).to_have_count(1)
    expect(card(board, "Kc")).to_have_count(0)
    play_by_clicks(board, " ".join(script[2:4]))

    lesson.restart_kernel()
    sit_down(lesson)
    lesson.run_cell(FIRST_BOARD_CELL)
    expect(card(board, "4s")).to_have_count(1)
    expect(card(board, "6h")).to_have_count(0)
    for _ in script[2:4]:  # what was done before the restart can be taken back
        view = board.get_attribute("data-view") or ""
        board.locator('button[data-action="undo"]').click()
        expect(board).not_to_have_attribute("data-view", view)
    expect(card(board, "6h")).to_have_count(1)
    play_by_clicks(board, " ".join(script[2:]))
    expect(board.locator(".pl-end")).to_be_visible()

    done = rows(lesson, "attempt", "draw", "undo", "end")
    assert len({row["game_id"] for row in done}) == 1
    story = [row["event_type"] if row["event_type"] in ("undo", "end") else move_of(row) for row in done]
    assert story == [*script[:4], "undo", "undo", *script[2:], "end"]
