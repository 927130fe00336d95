"""The form for a recording sheet, typed into by keys alone in JupyterLab; for Voila see test_course_walk.py."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.axe import assert_axe_finds_nothing
from tests.browser.servers import NotebookPage, Server

# Row 7 of the pyramid is 8h 5d Kd Qc Qd Qh Jd; 4c and 9s lie at its top, covered.
CARDS = (
    "4c 9s 2c 2d 3c 3d 4d 4h 6c 6d 6h 7c 7d 7h 9c 9d 9h Tc Td Th Jc 8h 5d Kd Qc Qd Qh Jd As "
    "Ac Ad Ah 2h 2s 3h 3s 4s 5c 5h 5s 6s 7s 8c 8d 8s Ts Jh Js Qs Kc Kh Ks"
)


def test_a_sheet_is_typed_in_by_keys_and_saved_once(
    lab: Server, opened: Callable[..., NotebookPage], tmp_path: Path
) -> None:
    store = tmp_path / "log.sqlite3"
    lab.write(
        "paper.ipynb",
        [
            f"import os; os.environ['PYRAMID_LAB_STORE'] = {str(store)!r}",
            f"from pyramid_lab.paper_form import enter_sheet\n\nenter_sheet({CARDS!r})",
        ],
    )
    notebook = opened("lab", "paper.ipynb", keep_kernel=True)
    page = notebook.page
    notebook.run_all()
    form = page.locator(".pl-paper-form")
    said = form.get_by_role("status")

    def type_row(number: int, *cells: str) -> None:
        form.get_by_label(f"{number}. first card").focus()
        for cell in cells:
            page.keyboard.type(cell)
            page.keyboard.press("Tab")

    type_row(1, "8h", "5d", "13", "x", "3,5")
    expect(said).to_contain_text("1 try; nothing to look at")
    type_row(2, "4c", "9s", "13", "x", "4")
    expect(said).to_contain_text("row 2: 4♣ + 9♠ was not possible here")
    form.get_by_role("button", name="Save").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("Not saved yet")
    assert_axe_finds_nothing(page, ".pl-paper-form")
    # A line that keeps its element is read out when its words change.
    said.evaluate("line => { window.line = line; }")
    page.keyboard.press("Tab")
    expect(form.get_by_role("button", name="Save all the same")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("2 tries saved")
    assert said.evaluate("line => line === window.line")
    expect(form.get_by_label("1. first card")).to_be_disabled()
    assert_axe_finds_nothing(page, ".pl-paper-form")

    with sqlite3.connect(store) as connection:
        logged = connection.execute(
            "SELECT source, outcome, rt_ms FROM events WHERE event_type = 'attempt' ORDER BY seq"
        ).fetchall()
    assert logged == [("table", "correct", 3500), ("table", "blocked", 4000)]
    assert len(notebook.outputs()) == 2  # no key reached the notebook: 'x' would have cut a cell
