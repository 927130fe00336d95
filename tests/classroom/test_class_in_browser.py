"""A class in a real browser: a child's way from the number to the game and back to it, and the tutor's page."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pyramid_lab.log.names import Names
from pyramid_lab.log.store import Store
from tests.browser.axe import assert_axe_finds_nothing
from tests.browser.servers import no_request_leaves
from tests.classroom.class_server import ClassServer, wait_until
from tests.classroom.tablet import Tablet
from tests.classroom.wifi import Wifi

pytestmark = pytest.mark.browser
PAGE_MS = 60_000
BOX = "document.getElementById('rendered_cells')"
"""What scrolls on a lesson's page."""
PICTURES = os.environ.get("PYRAMID_LAB_SCREENSHOTS")
"""A folder for pictures of the pages, for the documentation."""


def shoot(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"class-{name}.png")


def no_barriers(page: Page) -> None:
    assert_axe_finds_nothing(page, "html", rules=["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"])


def stock(page: Page) -> Any:
    return page.get_by_role("button", name="Turn a card")


def stock_left(page: Page) -> int:
    found = re.search(r"Stock: (\d+) cards", page.locator(".pl-board").aria_snapshot())
    assert found
    return int(found[1])


def enter(page: Page, server: ClassServer, address: str, name: str) -> None:
    page.set_default_timeout(PAGE_MS)
    page.goto(f"{address}/")
    page.get_by_label("Type the number from the board").fill(server.code)
    page.get_by_role("button", name="Go").click()
    page.get_by_role("button", name=name).click()


def join(page: Page, server: ClassServer, address: str, name: str) -> None:
    enter(page, server, address, name)
    expect(stock(page)).to_be_visible(timeout=PAGE_MS)


def test_a_childs_way_into_the_game_without_a_request_to_elsewhere(page: Page, school_class: ClassServer) -> None:
    strangers = no_request_leaves(page)
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.set_default_timeout(PAGE_MS)
    page.goto(f"{school_class.address}/")
    no_barriers(page)
    shoot(page, "join")
    page.get_by_label("Type the number from the board").fill("000 000")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_role("alert")).to_contain_text("This is not the number")

    # The QR code carries the number behind the #.
    page.goto("about:blank")
    page.goto(f"{school_class.address}/#{school_class.code}")
    expect(page.get_by_role("heading", name="Who are you?")).to_be_visible()
    no_barriers(page)
    shoot(page, "names")
    page.get_by_role("button", name="Émile").click()
    expect(stock(page)).to_be_visible(timeout=PAGE_MS)
    expect(page.locator(".pl-who")).to_have_text("Émile <b>bold</b>")
    assert page.locator(".pl-who b").count() == 0
    assert page.locator("text=from pyramid_lab").count() == 0  # no code on the page
    shoot(page, "lesson")
    no_barriers(page)
    cards = stock_left(page)
    stock(page).click()
    expect(page.get_by_role("button", name=f"Stock: {cards - 1} cards")).to_be_visible()

    # Loaded again: the same game, at the same place of the page.
    page.set_viewport_size({"width": 800, "height": 400})
    # One thing scrolls, and all of it can be seen: what is below the bar ends where the tablet does.
    page.wait_for_function(f"{BOX}.getBoundingClientRect().bottom === 400")
    assert page.evaluate("document.documentElement.scrollHeight") == 400
    page.wait_for_function(f"{BOX}.scrollTo(0, 100), {BOX}.scrollTop === 100")
    page.reload()
    expect(page.get_by_role("button", name=f"Stock: {cards - 1} cards")).to_be_visible(timeout=PAGE_MS)
    page.wait_for_function(f"{BOX}.scrollTop === 100")
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_label("Type the number from the board")).to_be_visible()
    assert strangers == [] and dialogs == []
    assert not [url for url in addresses if "mile" in url or school_class.code in url.partition("#")[0]]


def test_wifi_lost_and_found_goes_on_with_the_same_game(page: Page, school_class: ClassServer) -> None:
    wifi = Wifi(school_class.port)
    try:
        join(page, school_class, wifi.address, "Ana")
        cards, draws = stock_left(page), school_class.kinds("Ana").count("draw")
        stock(page).click()
        expect(page.get_by_role("button", name=f"Stock: {cards - 1} cards")).to_be_visible()
        page.evaluate("() => addEventListener('pyramid-lab-line', () => { window.opened = true; })")
        wifi.lose()
        expect(page.get_by_text("Waiting for the class computer")).to_be_visible()
        shoot(page, "no-line")
        stock(page).click()
        wifi.find()
        expect(page.get_by_text("Waiting for the class computer")).to_be_hidden(timeout=PAGE_MS)
        # The click that waited on the page arrives, once.
        expect(page.get_by_role("button", name=f"Stock: {cards - 2} cards")).to_be_visible(timeout=PAGE_MS)
        wait_until(lambda: school_class.kinds("Ana").count("draw") == draws + 2)
        # The page opened the line itself; the notebook alone may take half a minute to try again.
        page.wait_for_function("() => window.opened")
        page.get_by_role("button", name="Leave").click()
        expect(page.get_by_label("Type the number from the board")).to_be_visible()
    finally:
        wifi.close()


def test_a_board_whose_process_dies_at_the_start_is_loaded_again_by_the_child(
    page: Page, school_class: ClassServer
) -> None:
    tutor = school_class.tutor()
    tutor.post("/tutor/do", {"do": "lesson", "about": "3"})
    try:
        enter(page, school_class, school_class.address, "Ines")
        said = page.get_by_role("dialog")
        expect(said).to_contain_text("Something went wrong. Your game is kept.", timeout=PAGE_MS)
        assert not re.search("Voil|server|cell", page.locator("body").inner_text())
        shoot(page, "failed")
        (child,) = [child for child in school_class.view(tutor)["children"] if child["name"] == "Ines"]
        assert "The lesson failed on this tablet" in child["hand"]
        said.get_by_role("button", name="Load this page again").click()
        expect(stock(page)).to_be_visible(timeout=PAGE_MS)
        (child,) = [child for child in school_class.view(tutor)["children"] if child["name"] == "Ines"]
        assert child["hand"] == ""
        page.get_by_role("button", name="Leave").click()
        expect(page.get_by_label("Type the number from the board")).to_be_visible()
    finally:
        tutor.post("/tutor/do", {"do": "lesson", "about": "0"})


def test_children_of_one_name_are_told_apart_by_their_pictures(page: Page, tmp_path: Path) -> None:
    server = ClassServer(tmp_path, ["Ben"])
    try:
        with Store(server.place, outbox=server.outbox) as log:
            adas = [Names.of(log).add(log, name).student_id for name in ("Ada", "ada")]
        server.stop()
        server.start()
        first, second = Tablet(server.address), Tablet(server.address)
        first.join(server.code)
        first.take(adas[0])
        first.stay()
        wait_until(lambda: bool(first.news))
        second.join(server.code)
        assert second.take(adas[0]).headers["Location"] == "/wait"
        page.set_default_timeout(PAGE_MS)
        page.goto(f"{server.address}/tutor/door#{server.secret}")
        expect(page.get_by_role("rowheader")).to_have_text(["Ada (one fish)", "ada (one house)", "Ben"])
        expect(page.get_by_role("rowheader", name="one star Ben")).to_be_visible()
        expect(page.get_by_role("rowheader", name="Ada (one fish)", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Send out Ada (one fish)")).to_be_visible()
        asking = page.get_by_role("region", name="Two tablets, one name")
        expect(asking).to_contain_text("Ada (one fish) is playing, and another tablet wants this name.")
        expect(asking.get_by_role("button", name="Let the new tablet in as Ada (one fish)")).to_be_visible()
        no_barriers(page)
        shoot(page, "one-name")
        first.close()
    finally:
        server.stop()
