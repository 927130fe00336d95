"""Every lesson runs from its first cell to its last without a screen, and is plain: prose and one-line calls."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.browser.servers import home_environment

LESSONS = sorted((Path(__file__).parent.parent.parent / "lessons").glob("*.ipynb"))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_from_first_cell_to_last(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in home_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text


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
    assert texts[0].startswith("# Lesson ")
    assert texts[0].count("\n# ") == 0
    notes = [text for text in texts if "For the tutor" in text]
    assert notes
    assert all(note.startswith("<details>") and note.endswith("</details>") for note in notes)
