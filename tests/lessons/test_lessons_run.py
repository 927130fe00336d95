"""Every lesson runs from its first cell to its last without a screen, and is plain: prose and one-line calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import click
import nbformat
import pytest
from nbformat import NotebookNode

from pyramid_lab.cli import cli
from tests.lessons.conftest import LESSONS

FOR_THE_TUTOR_OR_OLDER_PUPILS = {"10", "11"}


@pytest.mark.parametrize("name", [path.stem for path in LESSONS])
def test_a_lesson_runs_from_first_cell_to_last(name: str, executed: Mapping[str, NotebookNode]) -> None:
    cells = executed[name].cells
    for cell in cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error", "\n".join(output.traceback)
            assert output.get("name") != "stderr", output.text
    if name[:2] not in FOR_THE_TUTOR_OR_OLDER_PUPILS:
        # A class has a kernel for each child: with these libraries it would need more than twice the memory.
        loaded = set(cells[-1].outputs[0].text.split())
        assert loaded & {"pandas", "matplotlib", "scipy", "statsmodels"} == set()


def test_lesson_11_shows_a_simulated_class_of_ten_until_somebody_has_played(
    executed: Mapping[str, NotebookNode],
) -> None:
    (report,) = (
        output.data["text/html"]
        for cell in executed["11_review"].cells
        for output in cell.get("outputs", [])
        if "<iframe" in output.get("data", {}).get("text/html", "")
    )
    assert "Nobody has played yet" in report
    assert "10 students" in report
    for number in range(1, 11):
        assert f"Child {number} (simulated)" in report


def test_lesson_10_gives_nothing_away_before_somebody_presses_and_speaks_plainly(
    executed: Mapping[str, NotebookNode],
) -> None:
    (name,) = (path.stem for path in LESSONS if path.stem.startswith("10_"))
    shown = [output for cell in executed[name].cells[:-1] for output in cell.get("outputs", [])]
    found = [text for output in shown if "won" in (text := output.get("data", {}).get("text/html", ""))]
    assert len(found) >= 3
    assert all(text.count("<details>") == 1 for text in found)
    for output in shown:
        assert not re.search(r"NaN|it/s|s/it|dataframe", str(output))
        text = output.get("data", {}).get("text/html", "")
        assert "of 500 deals" not in re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_is_prose_and_one_line_calls(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            statements = ast.parse(cell.source).body
            calls = [statement for statement in statements if not isinstance(statement, ast.Import | ast.ImportFrom)]
            assert len(calls) <= 1, cell.source
            assert all(isinstance(call, ast.Expr | ast.Assign) for call in calls), cell.source


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_says_its_aim_first_and_folds_the_tutors_notes(path: Path) -> None:
    texts = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    titles = [line for line in texts[0].splitlines() if line.startswith("# ")]
    assert len(titles) == 1
    assert titles[0].startswith("# Lesson ")
    assert "**Today:**" in texts[0]
    assert re.search(r"\b(ten|[234]\d) minutes", texts[0])
    notes = [text for text in texts if "<summary>For the tutor" in text]
    assert notes
    assert all(note.startswith("<details>") and note.endswith("</details>") for note in notes)


@pytest.mark.parametrize("path", LESSONS[1:-1], ids=lambda path: path.stem)
def test_a_childs_lesson_has_all_its_parts_and_asks_who_plays(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    headings = [line for cell in cells for line in cell.source.splitlines() if line.startswith("## ")]
    places = [
        next((at for at, heading in enumerate(headings) if heading.startswith(f"## {part}")), None)
        for part in ("Warm-up", "Talk about it", "Check", "Before you go")
    ]
    assert None not in places, headings
    assert places[0] == 0
    assert places[-1] == len(headings) - 1
    assert "who_plays()" in next(cell.source for cell in cells if cell.cell_type == "code")


def test_the_course_is_complete_and_listed_for_the_tutor() -> None:
    assert [path.stem[:2] for path in LESSONS] == [f"{number:02d}" for number in range(12)]
    listed = next(
        cell.source for cell in nbformat.read(LESSONS[0], as_version=4).cells if "## The way through" in cell.source
    )
    for path in LESSONS[1:]:
        first = nbformat.read(path, as_version=4).cells[0].source
        title = next(line for line in first.splitlines() if line.startswith("# "))
        assert f"| {title.removeprefix('# Lesson ').replace(':', '')} |" in listed


def test_the_commands_that_lessons_name_are_there() -> None:
    named = {
        tuple(match.split()[1:])
        for path in LESSONS
        for cell in nbformat.read(path, as_version=4).cells
        for match in re.findall(r"pyramid-lab(?: [a-z][a-z-]*)+", cell.source)
    }
    assert ("print", "recording") in named
    for words in named:
        command: click.Command | None = cli
        for word in words:
            if not isinstance(command, click.Group):
                break  # an argument, such as a deal
            command = command.get_command(click.Context(command), word)
            assert command is not None, words
