"""The board in a real browser on a bare page: fingers, keys, looks, the stopwatch and a bad line."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ipywidgets import Widget
from playwright.sync_api import Browser, expect

from pyramid_lab.board import Board
from pyramid_lab.core import Deal, Move, Outcome, Position, rule_set
from pyramid_lab.solver import Winnable, solve
from tests.browser.axe import COLOURS, assert_axe_finds_nothing
from tests.browser.static_board import BarePage, StaticBoard, save_picture

# Three rows: 4♠ / 6♥ 7♠ / K♣ J♠ 2♦; the stock's fourth card is 9♠.
SMALL = rule_set("one-pass").replace(rows=3)
DEAL = 212

# Keeps the length of every motion, in ms.
WATCH_FLIGHTS = """() => { window.flights = []; const play = Element.prototype.animate;
    Element.prototype.animate = function (frames, options) { window.flights.push(options.duration);
    return play.call(this, frames, options); }; }"""

BUTTON_BOUNCE_MS = 400
CARD_BOUNCE_MS = 150

BLANK = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"""


PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def kept_pages(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Callable[..., BarePage]]:
    """kept_pages(**options): the page of a context of these options; it stays for the next test unless it is closed."""
    pages: dict[str, BarePage] = {}

    def get(**options: Any) -> BarePage:
        kind = repr(sorted(options.items()))
        if kind not in pages or pages[kind].page.is_closed():
            pages[kind] = BarePage(browser.new_context(**{**browser_context_args, **options}))
        return pages[kind]

    yield get
    for page in pages.values():
        page.close()


@pytest.fixture
def make(request: pytest.FixtureRequest, kept_pages: Callable[..., BarePage]) -> Iterator[Callable[..., StaticBoard]]:
    """make(*arguments, context={}, **options): a board on a page as good as new."""
    faults: list[str] = []
    boards: list[StaticBoard] = []
    used: list[BarePage] = []

    def note(error: Any) -> None:
        faults.append(str(error))

    def make_board(*arguments: Any, context: dict[str, Any] | None = None, **options: Any) -> StaticBoard:
        bare = kept_pages(**(context or {}))
        if bare not in used:
            bare.page.on("pageerror", note)
            used.append(bare)
        boards.append(StaticBoard(bare, *arguments, **options))
        return boards[-1]

    yield make_board
    report = getattr(request.node, "rep_call", None)  # pytest-playwright's
    for bare in used:
        if report is not None and report.passed:
            bare.clear()
            bare.page.remove_listener("pageerror", note)
        else:
            bare.close()  # whatever went wrong, the next test does not see it
    Widget.close_all()
    assert faults == []
    assert [fault for board in boards for fault in board.faults] == []


def pressed(board: StaticBoard) -> list[str]:
    return board.page.eval_on_selector_all("[aria-pressed=true]", "all => all.map(one => one.dataset.card)")


def click_after(board: StaticBoard, delays: list[tuple[str, float]], *, first: str = "") -> list[float]:
    """Click cards from inside the page, each no sooner than so many ms after the one before.

    The first delay runs from now or, if a button is to be clicked first, from the first painted frame of the view that
    this brings. Returns the delays as they came to be by the page's own clock: a busy machine makes them longer.
    """
    made: list[float] = board.page.evaluate(
        """async ([delays, first]) => {
            const frame = () => new Promise(requestAnimationFrame);
            const root = document.querySelector('.pl-board');
            if (first) {
                const changed = new Promise(done => new MutationObserver((_, observer) => {
                    observer.disconnect();
                    done();
                }).observe(root, {attributes: true, attributeFilter: ['data-view']}));
                document.querySelector(`button[data-action="${first}"]`).click();
                await changed;
                await frame();
                await frame();
            }
            let last = performance.now();
            const made = [];
            for (const [card, delay] of delays) {
                const due = last + delay;
                await new Promise(done => setTimeout(done, Math.max(0, due - performance.now() - 8)));
                while (performance.now() < due);
                const click = new MouseEvent('click', {bubbles: true, cancelable: true});
                document.querySelector(`button[data-card="${card}"]`).dispatchEvent(click);
                made.push(click.timeStamp - last);
                last = click.timeStamp;
            }
            return made;
        }""",
        [[list(one) for one in delays], first],
    )
    return made


def test_a_whole_game_by_mouse(make: Callable[..., StaticBoard], pictures: Path | None) -> None:
    board = make(SMALL, DEAL)
    board.card("Kc").click()
    expect(board.card("Kc")).to_have_count(0)
    board.card("Js").click()
    expect(board.card("Js")).to_have_attribute("aria-pressed", "true")
    expect(board.message).to_have_text("J (11) + ? = 13")
    board.card("2d").click()
    expect(board.message).to_have_text("J (11) + 2 is 13.")
    board.card("6h").click()
    board.card("7s").click()
    for left in (45, 44, 43, 42):
        board.action("draw").click()
        expect(board.page.locator(".pl-stock .pl-caption")).to_have_text(f"Stock {left}")
    board.card("4s").click()
    board.card("9s").click()
    expect(board.page.locator(".pl-end")).to_contain_text("The pyramid is clear")
    save_picture(board.page, "state-won", pictures)
    assert board.board.game.outcome is Outcome.WON
    assert [event.event_type for event in board.events] == (
        ["deal"] + ["attempt"] * 3 + ["draw"] * 4 + ["attempt", "end"]
    )
    assert {event.input for event in board.events if event.event_type == "attempt"} == {"mouse"}


def test_a_whole_game_by_keys_alone(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    keys = board.page.keyboard

    def focused() -> str:
        return str(board.page.evaluate("() => document.activeElement.dataset.card ?? ''"))

    keys.press("Tab")
    assert focused() == "Kc"
    keys.press("Enter")
    expect(board.card("Kc")).to_have_count(0)
    assert focused() == "Js"
    keys.press("Space")
    assert pressed(board) == ["Js"]
    keys.press("ArrowRight")
    assert focused() == "2d"
    keys.press("Enter")
    board.wait_for_view(2)
    assert focused() in ("6h", "7s")
    keys.press("Home")
    keys.press("ArrowDown")
    assert focused() == "6h"
    keys.press("Enter")
    keys.press("ArrowRight")
    keys.press("Enter")
    board.wait_for_view(3)
    for view in range(4, 8):
        keys.press("d")
        board.wait_for_view(view)
    keys.press("Home")
    keys.press("Enter")
    keys.press("ArrowLeft")
    assert focused() == "9s"
    keys.press("Enter")
    expect(board.page.locator(".pl-end")).to_contain_text("Well played")
    assert {event.input for event in board.events if event.event_type == "attempt"} == {"keyboard"}


def test_tab_enters_once_and_leaves(make: Callable[..., StaticBoard]) -> None:
    board = make("classic", 17)
    board.page.evaluate("() => document.body.insertAdjacentHTML('beforeend', '<button id=after>after</button>')")
    board.page.keyboard.press("Tab")
    assert board.page.evaluate("() => document.activeElement.closest('.pl-board') !== null")
    for key in ("ArrowUp", "ArrowLeft", "ArrowDown", "ArrowDown"):
        board.page.keyboard.press(key)
    board.page.keyboard.press("Tab")
    assert board.page.evaluate("() => document.activeElement.id") == "after"
    board.page.keyboard.press("Shift+Tab")
    assert board.page.evaluate("() => document.activeElement.closest('.pl-board') !== null")


def test_letters_work_and_stay_on_the_board(make: Callable[..., StaticBoard]) -> None:
    board = make("classic", 17)
    board.page.evaluate(
        """() => { window.leaked = []; for (const phase of [true, false])
            document.addEventListener('keydown', event => window.leaked.push(event.key), phase); }"""
    )
    board.page.keyboard.press("Tab")
    board.page.evaluate("() => { window.leaked.length = 0; }")
    for view, key in enumerate(["d", "u", "y", "h"], start=1):
        board.page.keyboard.press(key)
        board.wait_for_view(view)
    for key in ("b", "a", "x", "z", "Shift+Enter", "ArrowUp", "Escape", "1", "0"):
        board.page.keyboard.press(key)
    assert board.page.evaluate("() => window.leaked") == []
    assert [event.event_type for event in board.events] == ["deal", "draw", "undo", "redo", "hint"]


def test_every_card_can_be_reached_by_arrow_keys(make: Callable[..., StaticBoard]) -> None:
    board = make("three-pile", 17)
    board.action("draw").click()
    board.wait_for_view(1)
    reached = board.page.evaluate(
        """async () => {
            // A key leads to the card that is seen beside this one: the new cards are to lie first.
            await Promise.all(document.getAnimations().map(one => one.finished));
            const name = () => document.activeElement.dataset.card ?? document.activeElement.dataset.action;
            const press = key => document.activeElement.dispatchEvent(
                new KeyboardEvent('keydown', {key, bubbles: true, composed: true, cancelable: true}));
            const items = [...document.querySelectorAll('.pl-item')].filter(item => item.offsetParent);
            const seen = new Set([name()]);
            let waiting = [document.activeElement];
            while (waiting.length) {
                const from = waiting.pop();
                for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']) {
                    from.focus();
                    press(key);
                    if (!seen.has(name())) { seen.add(name()); waiting.push(document.activeElement); }
                }
            }
            return items.map(item => item.dataset.card ?? item.dataset.action).filter(one => !seen.has(one));
        }"""
    )
    assert reached == []


@pytest.mark.parametrize("gap", [0.0, 60.0])
def test_two_quick_taps_on_one_card_are_no_attempt(make: Callable[..., StaticBoard], gap: float) -> None:
    board = make("table", 17)
    click_after(board, [("9s", 300.0), ("9s", gap), ("9s", gap)])
    board.page.evaluate(BLANK)
    assert pressed(board) == ["9s"]
    assert board.events == []


def test_two_slow_taps_choose_a_card_and_put_it_back(make: Callable[..., StaticBoard]) -> None:
    board = make("table", 17)
    click_after(board, [("9s", 300.0), ("9s", 250.0)])
    assert pressed(board) == []
    assert board.events == []


def test_three_taps_on_a_king_within_60_ms_are_one_discard(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    click_after(board, [("Kc", 400.0), ("Kc", 0.0)])
    board.wait_for_view(1)
    assert [event.event_type for event in board.events] == ["deal", "attempt"]
    assert len(board.page.evaluate("() => window.sent")) == 1


def test_two_taps_on_the_stock_a_quarter_of_a_second_apart_turn_two_cards(make: Callable[..., StaticBoard]) -> None:
    board = make("one-pass", 17)
    board.page.evaluate(
        """async () => {
            const root = document.querySelector('.pl-board');
            const press = () => document.querySelector('button[data-action="draw"]').click();
            press();
            await new Promise(done => setTimeout(done, 250));
            while (root.dataset.view !== '1') await new Promise(done => setTimeout(done, 1));
            press();
        }"""
    )
    board.wait_for_view(2)
    assert board.board.game.position.stock_left == 22


@pytest.mark.parametrize("action", ["new", "hint"])
def test_a_double_click_on_a_button_acts_once(make: Callable[..., StaticBoard], action: str) -> None:
    board = make("one-pass", 17)
    board.action("draw").click()
    board.wait_for_view(1)
    board.action("undo").click()
    board.wait_for_view(2)
    board.action(action).dblclick()
    board.wait_for_view(3)
    board.page.evaluate(BLANK)
    assert board.board.view["number"] == 3


@pytest.mark.parametrize("action", ["new", "restart"])
def test_a_running_game_is_given_up_only_by_a_second_press(make: Callable[..., StaticBoard], action: str) -> None:
    board = make("one-pass", 17)
    page, button = board.page, board.action(action)
    page.evaluate("() => document.body.insertAdjacentHTML('beforeend', '<button>after</button>')")
    board.action("draw").click()
    board.wait_for_view(1)
    label, name = button.inner_text(), button.get_attribute("aria-label")
    game = board.board.game_id

    def asks() -> bool:
        page.evaluate(BLANK)
        asked = button.inner_text() == f"{label}?"
        assert ("press once more" in button.get_attribute("aria-label")) == asked
        assert board.message.inner_text().startswith("This game is not over. Press once more") == asked
        return asked

    # Neither a double click nor a key held down is a second press.
    button.dblclick()
    assert asks()
    assert page.locator(".pl-live").inner_text() == board.message.inner_text()
    board.card("Qc").click()
    assert not asks()
    expect(board.message).to_have_text("Q (12) + ? = 13")
    for way_back in ("Escape", "ArrowUp", "Tab"):
        button.focus()
        page.wait_for_timeout(BUTTON_BOUNCE_MS)  # what is tested is a press that is no bounce of the one before
        page.keyboard.down("Enter")
        page.keyboard.down("Enter")
        page.keyboard.up("Enter")
        assert asks()
        page.keyboard.press(way_back)
        assert not asks()
        expect(board.message).to_have_text("Q (12) + ? = 13")
    assert (button.inner_text(), button.get_attribute("aria-label")) == (label, name)
    assert board.board.game_id == game
    assert [event.event_type for event in board.events] == ["deal", "draw"]

    button.focus()
    page.wait_for_timeout(BUTTON_BOUNCE_MS)
    page.keyboard.press("Enter")
    assert asks()
    page.wait_for_timeout(BUTTON_BOUNCE_MS)
    page.keyboard.press("Enter")
    board.wait_for_view(2)
    assert board.board.game_id != game
    assert not asks()
    last = board.events[-1]
    assert (last.event_type, last.outcome, last.reason) == ("end", "stopped", "another_game")


def test_delays_come_back_within_20_ms(make: Callable[..., StaticBoard]) -> None:
    board = make("table", 17)
    board.action("hint").click()
    board.wait_for_view(1)
    plan = [("9s", "8d", 300, 450), ("Qc", "8c", 700, 900), ("8h", "Ad", 1200, 800)]
    for number, (one, other, least, least_between) in enumerate(plan, start=1):
        before, between = click_after(board, [(one, least), (other, least_between)], first="restart")
        assert before >= least
        assert between >= least_between
        board.wait_for_view(1 + 2 * number)
        event = board.events[-1]
        assert event.rt_first_ms == pytest.approx(before, abs=20)
        assert event.rt_second_ms == pytest.approx(between, abs=20)
        assert event.rt_ms == pytest.approx(before + between, abs=20)


def test_a_page_that_is_busy_does_not_stretch_the_time(make: Callable[..., StaticBoard]) -> None:
    board = make("table", 17)
    board.page.evaluate(BLANK)
    box = board.card("9s").bounding_box()
    other = board.card("8d").bounding_box()
    assert box and other
    client = board.page.context.new_cdp_session(board.page)

    def mouse(kind: str, at: dict[str, float]) -> None:
        client.send(
            "Input.dispatchMouseEvent",
            {"type": kind, "x": at["x"] + 20, "y": at["y"] + 20, "button": "left", "clickCount": 1},
        )

    board.page.mouse.move(box["x"] + 20, box["y"] + 20)
    mouse("mousePressed", box)
    mouse("mouseReleased", box)
    mouse("mousePressed", other)
    # The main thread is blocked when the button is let go; the click keeps the time at which that was. Only one event
    # is sent meanwhile, since each is answered only when the page has taken it.
    with board.page.expect_console_message(lambda message: message.text == "blocked"):
        board.page.evaluate(
            "() => { setTimeout(() => { console.log('blocked');"
            " const end = performance.now() + 400; while (performance.now() < end); }, 0); }"
        )
    mouse("mouseReleased", other)
    client.detach()
    board.wait_for_view(1)
    event = board.events[-1]
    assert event.event_type == "attempt"
    assert event.rt_second_ms is not None
    assert event.rt_second_ms < 380


def test_time_in_a_hidden_tab_is_logged_and_not_counted(make: Callable[..., StaticBoard]) -> None:
    board = make("table", 17)
    away, whole = board.page.evaluate(
        """async () => {
            const pass = ms => new Promise(done => setTimeout(done, ms));
            let hidden = false;
            Object.defineProperty(document, 'hidden', { get: () => hidden, configurable: true });
            const turn = now => { hidden = now; document.dispatchEvent(new Event('visibilitychange')); };
            const changed = new Promise(done => new MutationObserver((_, observer) => {
                observer.disconnect();
                done();
            }).observe(document.querySelector('.pl-board'), {attributes: true, attributeFilter: ['data-view']}));
            document.querySelector('[data-action="draw"]').click();
            await changed;
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            const shown = performance.now();
            await pass(200); turn(true);
            const left = performance.now();
            await pass(900); turn(false);
            const away = performance.now() - left;
            await pass(200);
            document.querySelector('[data-card="9s"]').click();
            await pass(200);
            document.querySelector('[data-card="8d"]').click();
            return [away, performance.now() - shown];
        }"""
    )
    board.wait_for_view(2)
    assert [event.event_type for event in board.events] == ["deal", "draw", "focus_lost", "focus_back", "attempt"]
    event = board.events[-1]
    assert event.rt_ms == pytest.approx(whole - away, abs=20)


def test_after_a_wrong_pair_the_time_waits_for_the_next_card(make: Callable[..., StaticBoard]) -> None:
    board = make("table", 17)
    click_after(board, [("9s", 400.0), ("8d", 400.0)])
    board.wait_for_view(1)
    _, between = click_after(board, [("Qc", 1500.0), ("Ad", 500.0)])
    board.wait_for_view(2)
    right = board.events[-1]
    assert right.outcome == "correct"
    assert right.rt_ms == pytest.approx(between, abs=20)
    assert right.rt_first_ms is None


def test_after_a_wrong_pair_the_next_two_taps_are_a_pair_of_their_own(make: Callable[..., StaticBoard]) -> None:
    board = make("table", 17)
    for number, (first, second) in enumerate([("9s", "8d"), ("Qc", "Ad")], start=1):
        board.card(first).click()
        board.card(second).click()
        board.wait_for_view(number)
        assert pressed(board) == []
    tries = [(event.first_card, event.second_card, event.outcome) for event in board.events[1:]]
    assert tries == [("9s", "8d", "incorrect"), ("Qc", "Ad", "correct")]


def test_a_slip_is_taken_back_with_escape_or_the_button(make: Callable[..., StaticBoard]) -> None:
    # From inside the page: on a busy machine a second and a half is short. On a fast one the cards' last taps are not
    # long past, and a second tap at once would count for none.
    take_back = """async ([way, bounce]) => {
        const press = name => document.querySelector(`button[data-card="${name}"]`).click();
        const wait = ms => new Promise(done => setTimeout(done, ms));
        await wait(bounce);
        press('9s'); press('8d');
        const slip = document.querySelector('button[data-action="slip"]');
        for (const end = performance.now() + 10_000; slip.hidden; await wait(1))
            if (performance.now() > end) throw new Error('no button for a slip');
        if (way === 'button') slip.click();
        else document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));
    }"""
    board = make("table", 17)
    board.card("Qc").focus()
    board.page.evaluate(take_back, ["Escape", CARD_BOUNCE_MS])
    board.wait_for_view(2)
    assert board.events[-1].event_type == "slip"
    board.page.evaluate(take_back, ["button", CARD_BOUNCE_MS])
    board.wait_for_view(4)
    assert [event.event_type for event in board.events] == ["deal", "attempt", "slip", "attempt", "slip"]
    board.page.wait_for_timeout(CARD_BOUNCE_MS)
    board.card("9s").click()
    board.card("8d").click()
    expect(board.action("slip")).to_be_hidden(timeout=5000)
    assert board.events[-1].outcome == "incorrect"


def test_a_reloaded_page_shows_the_same_position_and_gives_it_no_time(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    board.card("Kc").click()
    board.wait_for_view(1)
    board.load()
    assert board.page.locator("[data-card]").count() == 5
    board.card("Js").click()
    board.card("2d").click()
    board.wait_for_view(2)
    event = board.events[-1]
    assert (event.rt_ms, event.reason) == (None, "reshown")
    assert event.rt_second_ms is not None


def test_two_views_of_a_board_agree_and_one_click_is_one_row(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    board.page.evaluate("() => window.show('there')")
    board.page.locator("#there [data-card=Kc]").click()
    expect(board.page.locator("[data-card=Kc]")).to_have_count(0)
    assert [event.event_type for event in board.events] == ["deal", "attempt"]
    board.page.locator("#here [data-card=Js]").click()
    board.page.locator("#there [data-card='2d']").click()
    assert board.page.locator("#there [aria-pressed=true]").count() == 1
    assert board.events[-1].event_type == "attempt"
    assert len(board.events) == 2


def test_a_doubled_message_is_one_move(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    board.page.evaluate("() => { window.line = 'double'; }")
    board.card("Kc").click()
    board.wait_for_view(1)
    board.page.evaluate(BLANK)
    assert [event.event_type for event in board.events] == ["deal", "attempt"]


def test_a_cut_line_is_told_and_the_move_arrives_when_it_is_whole_again(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    board.page.evaluate("() => { window.line = 'cut'; }")
    board.card("Kc").click()
    expect(board.page.locator(".pl-notice")).to_contain_text("Python is still busy")
    assert board.events == []
    board.page.evaluate("() => { window.line = 'open'; window.tell('comm_live_update'); }")
    board.wait_for_view(1)
    expect(board.page.locator(".pl-notice")).to_be_hidden()
    assert [event.event_type for event in board.events] == ["deal", "attempt"]


def test_a_dead_line_is_told_in_plain_words(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    board.page.evaluate("() => { window.line = 'closed'; }")
    board.card("Kc").click()
    expect(board.page.locator(".pl-notice")).to_contain_text("Run this cell again")


def test_a_view_that_is_closed_lets_go_of_everything(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    board.page.evaluate("() => window.closeView()")
    assert board.page.locator(".pl-board").count() == 0
    board.page.keyboard.press("d")
    board.board.inform("anybody there?")
    assert board.page.evaluate("() => window.sent") == []


def test_asking_for_the_missing_number_chosen_and_typed(make: Callable[..., StaticBoard]) -> None:
    board = make("table", 17, ask="choose")
    board.card("9s").click()
    board.page.locator('[data-answer="5"]').click()
    expect(board.message).to_contain_text("9 + 5 is 14, not 13")
    assert pressed(board) == ["9s"]
    board.page.locator('[data-answer="4"]').click()
    expect(board.page.locator(".pl-ask")).to_be_hidden()
    board.card("8d").click()
    board.wait_for_view(3)
    assert [event.assistance for event in board.events[1:]] == ["ask_choose", "ask_choose", "none"]
    board.set(ask="type")
    board.page.keyboard.press("Escape")
    board.card("Qc").click()
    expect(board.page.locator(".pl-answer")).to_be_focused()
    board.page.keyboard.type("1")
    board.page.keyboard.press("Enter")
    expect(board.message).to_contain_text("Now take a card that is worth 1")
    board.card("Ad").click()
    expect(board.card("Ad")).to_have_count(0)


def test_the_settings_panel_changes_the_look_at_once(make: Callable[..., StaticBoard]) -> None:
    board = make("classic", 17)
    board.action("settings").click()
    board.page.get_by_label("Four colours").check()
    expect(board.page.locator(".pl-board")).to_have_attribute("data-four-colours", "")
    board.page.get_by_label("Light or dark").select_option("dark")
    expect(board.page.locator(".pl-board")).to_have_attribute("data-theme", "dark")
    board.page.keyboard.press("Escape")
    expect(board.page.locator(".pl-settings")).to_be_hidden()
    assert board.events == []


def test_the_clock_starts_with_the_first_move(make: Callable[..., StaticBoard]) -> None:
    board = make("classic", 17, clock=True)
    expect(board.page.locator(".pl-clock")).to_have_text("0:00")
    board.page.wait_for_timeout(1100)
    expect(board.page.locator(".pl-clock")).to_have_text("0:00")
    board.action("draw").click()
    expect(board.page.locator(".pl-clock")).to_have_text("0:02", timeout=6000)
    assert board.page.locator(".pl-board").count() == 1


def test_no_time_is_shown_by_default(make: Callable[..., StaticBoard]) -> None:
    board = make("classic", 17)
    assert board.page.locator(".pl-clock").count() == 0


def test_motion_is_short_and_there_is_none_where_less_is_asked_for(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    board.page.evaluate(WATCH_FLIGHTS)
    board.card("Kc").click()
    board.wait_for_view(1)
    flights = board.page.evaluate("() => window.flights")
    assert flights
    assert max(flights) <= 200
    board.page.emulate_media(reduced_motion="reduce")
    board.page.evaluate("() => { window.flights = []; }")
    board.action("draw").click()
    board.wait_for_view(2)
    assert board.page.evaluate("() => window.flights") == []


def test_only_a_card_that_was_turned_flies_from_the_stock(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    board.page.evaluate(
        """() => { window.ways = []; const play = Element.prototype.animate;
            Element.prototype.animate = function (frames, options) { window.ways.push(frames[0].transform ?? '');
            return play.call(this, frames, options); }; }"""
    )
    for number, card in enumerate(["Kc", "Js", "2d", "6h", "7s"]):
        board.card(card).click()
        board.wait_for_view([1, 1, 2, 2, 3][number])
    for number in range(4):
        board.action("draw").click()
        board.wait_for_view(4 + number)
    ways = board.page.evaluate("() => window.ways")
    turned = [way for way in ways if way]
    assert len(turned) == 4
    assert all(way.startswith("translate(-") for way in turned)  # the stock lies to the left of the waste
    # The pair takes the top of the waste: the card below it was there before.
    for card in ("4s", "9s"):
        board.card(card).click()
    board.wait_for_view(8)
    assert not any(board.page.evaluate("() => window.ways")[len(ways) :])


def test_motion_takes_as_long_on_a_sharp_screen(make: Callable[..., StaticBoard]) -> None:
    durations = []
    for context in ({}, {"device_scale_factor": 3, "viewport": {"width": 400, "height": 600}}):
        board = make(SMALL, DEAL, context=context)
        board.page.evaluate(WATCH_FLIGHTS)
        board.card("Kc").click()
        board.wait_for_view(1)
        board.action("draw").click()
        board.wait_for_view(2)
        durations.append(board.page.evaluate("() => window.flights"))
    assert durations[0] == durations[1]
    assert len(durations[0]) >= 2


def test_states_differ_by_shape_and_sign_and_not_by_colour_alone(make: Callable[..., StaticBoard]) -> None:
    board = make("table", 17)

    def look(card: str) -> tuple[str, str]:
        found = board.page.evaluate(
            """card => { const one = document.querySelector(`[data-card="${card}"]`);
            return [getComputedStyle(one).outlineStyle, one.querySelector('.pl-badge').textContent]; }""",
            card,
        )
        return (found[0], found[1])

    plain = look("8c")
    board.action("hint").click()
    board.wait_for_view(1)
    hinted = look("Qc")
    board.card("9s").click()
    board.page.mouse.move(0, 0)
    selected = look("9s")
    board.card("8d").click()
    board.wait_for_view(2)
    wrong = look("9s")
    assert [plain, hinted, selected, wrong] == [
        ("none", ""),
        ("dashed", "?"),
        ("solid", "✓"),
        ("double", "✗"),
    ]


def test_the_systems_own_few_colours_keep_every_state_apart(
    make: Callable[..., StaticBoard], pictures: Path | None
) -> None:
    board = make("one-pass", 17)
    board.page.set_viewport_size({"width": 900, "height": 800})
    board.page.emulate_media(forced_colors="active")
    board.action("draw").click()
    board.wait_for_view(1)
    board.action("hint").click()
    board.wait_for_view(2)
    board.card("9s").focus()
    board.page.keyboard.press("Enter")
    for _ in range(3):
        board.page.keyboard.press("ArrowRight")
    found = board.page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.pl-card')].map(card => {
            const look = getComputedStyle(card);
            const sign = getComputedStyle(card.querySelector('.pl-fine path:not([class])'));
            return [card.dataset.card, { edge: look.borderTopStyle, outline: look.outlineStyle,
                wide: parseFloat(look.outlineWidth), badge: card.querySelector('.pl-badge').textContent,
                hollow: sign.fill === look.backgroundColor && sign.stroke !== sign.fill, name: card.ariaLabel }];
        }))"""
    )
    covered = [card for card, look in found.items() if "covered by" in look["name"]]
    assert len(covered) == 21
    assert {card for card, look in found.items() if look["edge"] == "dashed"} == set(covered)
    assert {card for card, look in found.items() if look["hollow"]} == {card for card in found if card[-1] in "dh"}

    def marks(card: str) -> tuple[str, str]:
        return found[card]["outline"], found[card]["badge"]

    assert (marks("9s"), marks("Ad"), marks("9c")) == (("solid", "✓"), ("dashed", "?"), ("none", ""))
    assert board.page.evaluate("() => document.activeElement.dataset.card") == "8d"
    assert (found["8d"]["outline"], found["8d"]["wide"]) == ("solid", 4)
    save_picture(board.page, "state-forced-colours", pictures)


def test_live_words_are_said_once(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    board.page.evaluate(
        """() => { window.said = []; new MutationObserver(() => window.said.push(
            document.querySelector('.pl-live').textContent)).observe(document.querySelector('.pl-live'),
            { childList: true, characterData: true, subtree: true }); }"""
    )
    board.card("Js").click()
    board.card("2d").click()
    board.wait_for_view(1)
    assert board.page.evaluate("() => window.said") == ["jack of spades chosen", "J (11) + 2 is 13."]


@pytest.mark.parametrize("rules", ["classic", "one-pass", "three-pile"])
def test_on_a_phone_everything_fits_and_can_be_hit(make: Callable[..., StaticBoard], rules: str) -> None:
    board = make(rules, 17, context=PHONE, clock=True)
    board.action("draw").tap()
    board.wait_for_view(1)
    assert board.page.evaluate("() => document.documentElement.scrollWidth") <= 360
    small = board.page.evaluate(
        """() => [...document.querySelectorAll('.pl-item')].filter(item => item.offsetParent)
            .map(item => [item.dataset.card ?? item.dataset.action, item.getBoundingClientRect()])
            .filter(([, box]) => box.width < 43.5 || box.height < 43.5).map(([name]) => name)"""
    )
    assert small == []
    actions = board.page.evaluate("() => getComputedStyle(document.querySelector('.pl-board')).touchAction")
    assert actions == "manipulation"


def test_a_game_by_touch(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL, context=PHONE)
    board.card("Js").tap()
    board.card("2d").tap()
    board.wait_for_view(1)
    assert board.events[-1].outcome == "correct"
    assert board.events[-1].input == "touch"


@pytest.mark.parametrize("rules", ["classic", "three-pile"])
def test_nothing_overlaps_at_any_width_and_a_laptops_page_shows_it_all(
    make: Callable[..., StaticBoard], rules: str
) -> None:
    board = make(rules, 17)
    board.action("draw").click()
    board.wait_for_view(1)
    for width in (320, 360, 600, 700, 1000, 1280, 1900):
        board.page.set_viewport_size({"width": width, "height": 800})
        board.page.evaluate(BLANK)
        crossing = board.page.evaluate(
            """() => {
                const boxes = selector => [...document.querySelectorAll(selector)].filter(one => one.offsetParent)
                    .map(one => one.getBoundingClientRect());
                const cross = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
                    && a.top < b.bottom - 1 && b.top < a.bottom - 1;
                const pyramid = boxes('.pl-pyramid .pl-card');
                const rest = '.pl-piles .pl-card, .pl-piles button, .pl-piles .pl-caption, .pl-status > div, '
                    + '.pl-message, .pl-controls button';
                return [...document.querySelectorAll(rest)].filter(one => one.offsetParent)
                    .filter(one => pyramid.some(card => cross(card, one.getBoundingClientRect())))
                    .map(one => one.outerHTML.slice(0, 90));
            }"""
        )
        assert crossing == [], width
        assert board.page.evaluate("() => document.documentElement.scrollWidth") <= width
        if width >= 1000:
            # JupyterLab's bars leave 679 px of a laptop's 800, and a cell of one line takes 50 of them.
            assert board.page.locator(".pl-board").bounding_box()["height"] <= 629
            assert board.card("Ad").bounding_box()["width"] >= 70


@pytest.mark.parametrize("rules", ["classic", "three-pile"])
def test_an_upright_tablet_shows_it_all(make: Callable[..., StaticBoard], rules: str) -> None:
    """What a browser's bar leaves of an upright tablet, and the bar of a class takes 52 px of that."""
    board = make(rules, 17)
    for width, height in ((768, 954), (810, 1010), (834, 1124)):
        board.page.set_viewport_size({"width": width, "height": height})
        board.page.evaluate(BLANK)
        assert board.page.locator(".pl-board").bounding_box()["height"] <= height - 52
        tops = board.page.eval_on_selector_all(
            ".pl-controls button", "all => all.map(one => one.getBoundingClientRect().top)"
        )
        assert len(set(tops)) == 1  # one row
        assert board.card("Ad").bounding_box()["width"] >= 80


def click(board: StaticBoard, move: Move) -> None:
    buttons = [f'[data-action="{move.kind.value}"]'] if not move.cards else [f'[data-card="{c}"]' for c in move.cards]
    with board.next_view():
        board.page.evaluate("all => all.forEach(one => document.querySelector(`button${one}`).click())", buttons)


@pytest.mark.parametrize("won", [True, False])
@pytest.mark.parametrize(("rules", "seed"), [("one-pass", 268), ("three-pile", 4)])
def test_the_words_at_the_end_stand_in_the_free_place(
    make: Callable[..., StaticBoard], rules: str, seed: int, won: bool
) -> None:
    """The buttons stay where they were, and the words hide nothing."""
    board = make(rules, seed, motion="off")
    if won:
        answer = solve(Position.start(rule_set(rules), Deal.from_seed(seed)))
        assert isinstance(answer, Winnable)
        for move in answer.line:
            click(board, move)
    else:
        while (move := next(iter(board.board.game.position.legal_moves()), None)) is not None:
            click(board, move)
    assert board.board.view["end"]["won"] == won
    for width, height in ((390, 700), (768, 954), (918, 640), (1280, 629)):
        board.page.set_viewport_size({"width": width, "height": height})
        board.page.evaluate(BLANK)
        found = board.page.evaluate(
            """() => {
                const place = one => one.getBoundingClientRect();
                const words = place(document.querySelector('.pl-ended'));
                const cross = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
                    && a.top < b.bottom - 1 && b.top < a.bottom - 1;
                const others = '.pl-card, .pl-piles .pl-slot, .pl-caption, .pl-status > div, .pl-message, '
                    + '.pl-controls button';
                const hidden = [...document.querySelectorAll(others)].filter(one => one.offsetParent)
                    .filter(one => cross(words, place(one))).map(one => one.outerHTML.slice(0, 90));
                const end = document.querySelector('.pl-end');
                const high = place(document.querySelector('.pl-board')).height;
                end.style.display = 'none';
                const without = place(document.querySelector('.pl-board')).height;
                end.style.display = '';
                return [hidden, high - without];
            }"""
        )
        assert found == [[], 0], width


def test_the_end_comes_into_sight_on_a_low_page(make: Callable[..., StaticBoard]) -> None:
    board = make("table", 17)
    board.page.set_viewport_size({"width": 1000, "height": 300})
    board.page.evaluate("() => document.querySelector('button[data-action=draw]').click()")
    board.wait_for_view(1)
    board.page.evaluate("() => { scrollTo(0, 0); document.querySelector('button[data-action=finish]').click(); }")
    board.page.wait_for_function(
        """() => { const end = document.querySelector('.pl-end:not([hidden])')?.getBoundingClientRect();
            return end && end.top >= 0 && end.bottom <= innerHeight; }"""
    )


def test_the_pips_of_a_card_lie_clear_of_each_other(make: Callable[..., StaticBoard]) -> None:
    board = make("table", 17)
    numbers = board.page.evaluate(
        """() => {
            const found = {};
            for (const card of document.querySelectorAll('.pl-card')) {
                const signs = card.querySelector('.pl-fine > path:not([class])');
                const boxes = signs.getAttribute('d').split(/(?=M)/).map(outline => {
                    const one = signs.parentNode.appendChild(signs.cloneNode());
                    one.setAttribute('d', outline);
                    return one.getBoundingClientRect();
                });
                const cross = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
                const rank = card.dataset.card.slice(0, -1);
                const crossing = boxes.some((a, at) => boxes.slice(0, at).some(b => cross(a, b)));
                // Two of the signs belong to the corners.
                found[rank] = [boxes.length - 2, (found[rank]?.[1] ?? false) || crossing];
            }
            return found;
        }"""
    )
    values = {rank: value for value, rank in enumerate("23456789T", start=2) if rank in numbers}
    assert set("789T") <= set(values)
    assert {rank: numbers[rank] for rank in values} == {rank: [value, False] for rank, value in values.items()}


def states(board: StaticBoard) -> Iterator[str]:
    yield "start"
    board.card("9s").click()
    yield "selected"
    with board.next_view():
        board.card("8d").click()
    yield "wrong"
    with board.next_view():
        board.action("hint").click()
    yield "hinted"
    board.action("settings").click()
    yield "settings"
    board.action("settings").click()
    board.page.wait_for_function("() => document.querySelector('.pl-settings').hidden")
    with board.next_view():
        board.action("finish").click()
    yield "end"


# Cards of one suit in one state have the same colours: a look at the first is enough.
MARK_ALIKE = """() => {
    const seen = new Set();
    for (const card of document.querySelectorAll('.pl-card')) {
        const kind = [card.dataset.state, card.dataset.card.at(-1), card.querySelector('.pl-value') !== null].join();
        card.toggleAttribute('data-alike', seen.has(kind));
        seen.add(kind);
    }
}"""

# axe does not judge words on a gradient: the table takes that one of its two colours which is nearer to the words'.
FLAT_GROUND = """dark => {
    const root = document.querySelector('.pl-board');
    root.style.background = '';
    const ends = getComputedStyle(root).backgroundImage.match(/(rgb|color)\\([^)]*\\)/g);
    if (ends) root.style.background = ends.at(dark ? 0 : -1);
    document.body.style.background = dark ? '#111' : 'white';
}"""

# Nothing but colours differs from look to look.
LOOKS: dict[str, dict[str, Any]] = {
    "dark": {"theme": "dark"},
    "more contrast": {"contrast": "more", "four_colours": True},
    "dark, more contrast": {"theme": "dark", "contrast": "more"},
    "plain, values": {"guided": False, "values": True},
}
DARK_OR_STRONG = ("dark", "more contrast", "dark, more contrast")


def test_axe_finds_nothing(make: Callable[..., StaticBoard]) -> None:
    usual = {"theme": "light", "contrast": "normal", "four_colours": False, "guided": True, "values": False}
    board = make("table", 17, ask="off", **usual)

    def marks() -> Any:
        return board.page.eval_on_selector_all("[data-card]", "all => all.map(one => one.dataset.state)")

    def examine(state: str, *looks: str) -> None:
        board.page.mouse.move(0, 0)
        marked = marks()
        board.page.evaluate(FLAT_GROUND, False)
        assert_axe_finds_nothing(board.page, ".pl-board", state)
        board.page.evaluate(MARK_ALIKE)
        for name in looks:
            board.set(**{**usual, **LOOKS[name]})
            assert marks() == marked
            board.page.evaluate(FLAT_GROUND, LOOKS[name].get("theme") == "dark")
            assert_axe_finds_nothing(board.page, ".pl-board", f"{state}, {name}", rules=COLOURS, without="[data-alike]")
        board.set(**usual)

    for state in states(board):
        if state in ("wrong", "end"):
            examine(state, *DARK_OR_STRONG)
        elif state == "hinted":
            board.card("9s").click()  # hinted, chosen and the settings at once: more than this no look can colour
        elif state == "settings":
            expect(board.page.locator(".pl-settings")).to_be_visible()
            assert {"hinted", "selected"} < set(marks())
            examine("hinted, selected, settings", *LOOKS)
        else:
            examine(state)
    with board.next_view():
        board.action("new").click()
    board.set(ask="choose")
    board.page.locator('[data-state="exposed"]:not([data-card^="K"])').first.click()
    expect(board.page.locator(".pl-choice")).to_have_count(12)
    examine("asked", *DARK_OR_STRONG)


# Of words against the ground on which they stand; words may be dimmed.
CONTRASTS = """(all, ground) => all.map(words => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const read = colour => { canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
    const behind = read(getComputedStyle(words.closest(ground)).backgroundColor);
    const dim = Number(getComputedStyle(words).opacity);
    const ink = read(getComputedStyle(words).color).map((part, at) => part * dim + behind[at] * (1 - dim));
    const light = rgb => { const [r, g, b] = rgb.map(part => { const s = part / 255;
        return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const [low, high] = [light(ink), light(behind)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
})"""


def test_the_words_on_cards_have_enough_contrast_also_when_covered(make: Callable[..., StaticBoard]) -> None:
    """Large bold signs need 3 to 1 (WCAG 1.4.3); the dimmed face of a covered card is the weakest place."""
    board = make("table", 17)
    for theme in ("light", "dark"):
        board.set(theme=theme)
        assert min(board.page.eval_on_selector_all(".pl-face", CONTRASTS, ".pl-card")) >= 3


def test_the_signs_of_chosen_hinted_and_wrong_cards_have_enough_contrast(make: Callable[..., StaticBoard]) -> None:
    """4.5 to 1, since on a small board they are small (WCAG 1.4.3). axe does not look: readers are told otherwise."""
    board = make("table", 17, ask="off")
    seen = set()
    for state in states(board):
        if state not in ("selected", "wrong", "hinted"):
            continue
        for theme, contrast in itertools.product(("light", "dark"), ("normal", "more")):
            board.set(theme=theme, contrast=contrast)
            signs = board.page.locator(".pl-badge:visible")
            seen |= set(signs.all_inner_texts())
            assert min(signs.evaluate_all(CONTRASTS, ".pl-badge")) >= 4.5, (state, theme, contrast)
    assert seen == {"✓", "✗", "?"}


def test_a_deal_is_not_in_the_page_before_it_is_turned(make: Callable[..., StaticBoard]) -> None:
    board = make("one-pass", 17)
    hidden = [card.text for card in Deal.from_seed(17).cards[28:]]
    state = board.page.evaluate(
        "() => JSON.stringify([...document.querySelectorAll('.pl-board *')].map(one => one.outerHTML))"
    )
    assert [card for card in hidden if f'data-card=\\"{card}\\"' in state] == []


MODES: dict[str, tuple[str, dict[str, Any]]] = {
    "classic": ("classic", {}),
    "plain-four-colours-values": ("one-pass", {"guided": False, "four_colours": True, "values": True}),
    "dark": ("cardems", {"theme": "dark", "clock": True}),
    "high-contrast": ("classic", {"contrast": "more"}),
    "three-piles-recorder": ("three-pile", {"table": True}),
    "ask-choose": ("table", {"ask": "choose"}),
    "ask-type": ("table", {"ask": "type"}),
    "say-aloud": ("table", {"say": True}),
}


@pytest.mark.parametrize("name", MODES)
def test_every_mode_shows_itself(make: Callable[..., StaticBoard], name: str, pictures: Path | None) -> None:
    rules, options = MODES[name]
    board = make(rules, 17, **options)
    board.page.set_viewport_size({"width": 900, "height": 800})
    board.action("draw").click()
    board.wait_for_view(1)
    board.card("9s").click()
    expect(board.card("9s")).to_have_attribute("data-state", "selected")
    assert board.page.locator(".pl-ask:visible").count() == (options.get("ask", "off") != "off")
    assert board.page.evaluate("() => document.documentElement.scrollWidth") <= 900
    save_picture(board.page, f"board-{name}", pictures)


def test_states_for_the_docs(make: Callable[..., StaticBoard], pictures: Path | None) -> None:
    board = make("one-pass", 17)
    board.page.set_viewport_size({"width": 900, "height": 800})
    for state in states(board):
        assert board.page.locator(".pl-board").count() == 1
        save_picture(board.page, f"state-{state}", pictures)


def test_a_phone_for_the_docs(make: Callable[..., StaticBoard], pictures: Path | None) -> None:
    board = make("classic", 17, context=PHONE)
    board.action("draw").tap()
    board.card("Qc").tap()
    expect(board.message).to_have_text("Q (12) + ? = 13")
    save_picture(board.page, "board-phone", pictures)


def test_a_board_made_from_the_log_shows_where_it_stopped(make: Callable[..., StaticBoard]) -> None:
    board = make(SMALL, DEAL)
    board.card("Kc").click()
    board.wait_for_view(1)
    events = list(board.events)
    resumed = Board.resume(events[-1].game_id, events)
    after = make(board=resumed)
    expect(after.message).to_have_text("Here is your game, where you left it.")
    assert after.page.locator("[data-card]").count() == 5
