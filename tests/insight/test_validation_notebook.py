"""The validation notebook runs from its first cell to its last, here with few students; it is kept without outputs."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "docs" / "validation.ipynb"


def test_the_notebook_runs_and_draws_four_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    monkeypatch.setenv("PYRAMID_LAB_VALIDATION_STUDENTS", "3")
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    kinds = [kind for cell in code for output in cell.outputs for kind in output.get("data", {})]
    assert kinds.count("image/png") == 4
