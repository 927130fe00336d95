"""What holds for the shared class as a whole, and its end: after every other test that uses it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.classroom.class_server import ClassServer, wait_until
from tests.classroom.tablet import Tablet
from tests.classroom.test_class_in_browser import PAGE_MS, join, no_barriers, shoot, stock, stock_left


def test_no_process_of_the_class_called_or_looked_up_anything_elsewhere(school_class: ClassServer) -> None:
    tablet = school_class.tablet("Ana")
    tablet.play()
    tablet.act("draw")
    tablet.leave()
    notes = school_class.calls.read_text(encoding="utf-8").splitlines()
    began = [line for line in notes if line.startswith("began")]
    # The command and its kernels were watched from their first moment.
    assert any("pyramid_lab class" in line for line in began)
    assert sum("ipykernel_launcher" in line for line in began) >= len(school_class.kernels())
    assert [line for line in notes if line not in began] == []


@pytest.mark.browser
def test_the_tutor_pauses_draws_a_new_number_and_ends_the_class(
    page: Page, new_context: Callable[..., BrowserContext], school_class: ClassServer
) -> None:
    join(page, school_class, school_class.address, "=1+1")
    cards = stock_left(page)
    stock(page).click()
    expect(page.get_by_role("button", name=f"Stock: {cards - 1} cards")).to_be_visible()
    tutor = new_context().new_page()
    tutor.set_default_timeout(PAGE_MS)
    tutor.goto(f"{school_class.address}/tutor/door#{school_class.secret}")
    row = tutor.get_by_role("row").filter(has_text="=1+1")
    expect(row).to_contain_text("here")
    expect(tutor.get_by_role("rowheader", name="Émile <b>bold</b>")).to_be_visible()
    no_barriers(tutor)
    shoot(tutor, "tutor")

    tutor.get_by_role("button", name="Pause all").click()
    expect(page.get_by_role("dialog")).to_contain_text("Pause. Look at your tutor.")
    shoot(page, "pause")
    tutor.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    wait_until(lambda: school_class.kinds("=1+1")[-2:] == ["pause", "resume"])
    stock(page).click()
    expect(page.get_by_role("button", name=f"Stock: {cards - 2} cards")).to_be_visible()

    tutor.get_by_role("button", name="New number").click()
    expect(tutor.locator("#code")).not_to_have_text(school_class.code)
    school_class.code = tutor.locator("#code").inner_text()
    shown = new_context().new_page()
    shown.goto(f"{school_class.address}/tutor/show")
    expect(shown).to_have_url(f"{school_class.address}/tutor/door?next=%2Ftutor%2Fshow")  # the secret first
    large = tutor.context.new_page()
    large.goto(f"{school_class.address}/tutor/show")
    expect(large.get_by_role("img", name="QR code")).to_be_visible()
    shoot(large, "show")
    no_barriers(large)

    second = Tablet(school_class.address)
    second.join(school_class.code)
    assert second.take(school_class.students["=1+1"]).headers["Location"] == "/wait"
    expect(tutor.get_by_text("Two tablets, one name")).to_be_visible()
    tutor.get_by_role("button", name="End the class").click()
    tutor.get_by_role("button", name="Yes, end it").click()
    expect(page.get_by_role("heading", name="Well played!")).to_be_visible()
    # A tablet that waits for a name is not left waiting.
    assert second.get("/wait").url.endswith("/over")
    expect(tutor.get_by_role("heading", name="The class is over")).to_be_focused()
    expect(tutor.get_by_role("columnheader")).to_have_text(["Name", "Right", "Wrong", "Games"])
    expect(tutor.get_by_text("Two tablets, one name")).to_be_hidden()
    expect(large.get_by_text("The class is over.")).to_be_visible()
    shoot(tutor, "over")
    no_barriers(tutor)
    no_barriers(large)
    expect(tutor.locator("#over")).to_contain_text("Every try is saved.")
    # Nothing is left to be ordered, and nobody to be let in.
    expect(tutor.get_by_role("button")).to_have_count(0)
    expect(tutor.locator("#join")).to_be_hidden()
    expect(tutor.locator("#children tr")).not_to_have_count(0)
    wait_until(lambda: not school_class.kernels())
    # The server goes on, for tablets that wake up; its window says so once.
    assert school_class.process.poll() is None
    assert school_class.said().count("The class is over") == 1
