"""The list of names in a lesson, in a real browser: chosen by mouse and by keys, whatever the name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from pyramid_lab.lesson import STUDENT_VARIABLE
from pyramid_lab.log.names import Names, RosterRow
from pyramid_lab.log.store import Store
from tests.browser.axe import assert_axe_finds_nothing
from tests.browser.servers import NotebookPage, Server

# As the list shows them: in the alphabet's order, accents or not.
NAMES = ["<b>Bo</b> & <script>", "=1+1", "Émile", "Müller, Zoë", "O'Neill", "Zora", "🦊 Fox"]
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
WHO = f"import os; print(os.environ.get('{STUDENT_VARIABLE}', 'nobody'), end='')"


def the_list(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Your name")


@pytest.fixture(scope="module")
def ids(lab: Server) -> dict[str, str]:
    """The pseudonym of each name in the log that the lesson opens."""
    with Store(lab.root / "picker.sqlite3", outbox=lab.home / "picker.outbox") as store:
        names = Names.of(store)
        names.import_roster([RosterRow(at, name, "3a") for at, name in enumerate(reversed(NAMES))], store)
        return {person.name: person.student_id for person in names.people()}


@pytest.fixture(scope="module")
def run_lesson(lab: Server, opened: Callable[..., NotebookPage], ids: dict[str, str]) -> NotebookPage:
    cell = f"from pyramid_lab.picker import pick_student\n\npick_student('{lab.root / 'picker.sqlite3'}')"
    lab.write("picker.ipynb", [cell, "1 + 1"])
    notebook = opened("lab", "picker.ipynb", keep_kernel=True)
    notebook.run_all()
    return notebook


@pytest.fixture
def lesson(run_lesson: NotebookPage, request: pytest.FixtureRequest) -> Iterator[NotebookPage]:
    """The lesson with no name chosen. One kernel serves every test, unless one fails: then another starts."""
    yield run_lesson
    report = getattr(request.node, "rep_call", None)  # pytest-playwright's
    if report is not None and report.passed:
        the_list(run_lesson.page).select_option(index=0)
    else:
        run_lesson.switch("picker.ipynb")
        run_lesson.run_all()


def theme(notebook: NotebookPage, name: str) -> None:
    notebook.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
    expect(notebook.page.locator("body")).to_have_attribute("data-jp-theme-name", name)


def test_every_name_can_be_chosen_by_mouse(lesson: NotebookPage, ids: dict[str, str]) -> None:
    page, names = lesson.page, the_list(lesson.page)
    expect(names.locator("option")).to_have_text(["Choose your name", *NAMES])
    expect(names.locator("option:checked")).to_have_text("Choose your name")
    said = page.get_by_role("status").filter(has_text="Now choose Run, Run All Cells once more.")
    expect(said).to_have_count(0)
    assert lesson.execute(WHO) == "nobody"
    for name in NAMES:
        names.select_option(name)
        expect(said).to_have_text(f"Hello, {name}! Now choose Run, Run All Cells once more.")
        assert lesson.execute(WHO) == ids[name]


def test_keys_choose_a_name_and_do_nothing_to_the_notebook(lesson: NotebookPage, ids: dict[str, str]) -> None:
    page, names = lesson.page, the_list(lesson.page)
    said = page.get_by_role("status").filter(has_text="Now choose Run, Run All Cells once more.")
    names.focus()
    # In JupyterLab's own command mode arrows walk to other cells, Z takes back, D D deletes a cell, A makes a new one.
    for keys, name in (
        ("ArrowDown ArrowDown", "=1+1"),
        ("z", "Zora"),
        ("Home ArrowDown", NAMES[0]),
        ("End", NAMES[-1]),
    ):
        for key in keys.split():
            page.keyboard.press(key)
        expect(said).to_have_text(f"Hello, {name}! Now choose Run, Run All Cells once more.")
        assert lesson.execute(WHO) == ids[name]
    for key in "dda":
        page.keyboard.press(key)
    expect(names).to_be_focused()
    assert len(lesson.outputs()) == 2
    page.keyboard.press("Home")
    expect(said).to_have_count(0)
    assert lesson.execute(WHO) == "nobody"
    page.keyboard.press("Tab")
    expect(names).not_to_be_focused()


def test_axe_finds_nothing_in_light_and_dark(lesson: NotebookPage) -> None:
    picker = lesson.page.locator(".pl-picker")
    the_list(lesson.page).select_option("Müller, Zoë")
    expect(picker).to_contain_text("Hello, Müller, Zoë!")
    try:
        for name in ("JupyterLab Light", "JupyterLab Dark"):
            theme(lesson, name)
            assert_axe_finds_nothing(lesson.page, ".pl-picker", name)
            if os.environ.get("PYRAMID_LAB_PICTURES") == "1":
                box = picker.bounding_box()
                assert box is not None
                clip = {"x": box["x"], "y": box["y"], "width": 400, "height": box["height"]}
                look = "dark" if name.endswith("Dark") else "light"
                lesson.page.screenshot(path=PICTURES / f"picker-{look}.png", clip=clip)  # type: ignore[arg-type]
    finally:
        theme(lesson, "JupyterLab Light")  # the server, which others use, remembers it
