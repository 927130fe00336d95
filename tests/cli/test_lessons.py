"""The lessons' way into the tutor's folder: new, newer, edited, and what can be wrong with a folder."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner, Result

from pyramid_lab.cli import cli
from pyramid_lab.cli import lessons as opener
from pyramid_lab.cli.lessons import Outcome, Placed, place_lessons, shipped_lessons

NAME = "01_pairs.ipynb"


def never(name: str) -> bool:
    raise AssertionError(f"asked about {name}")


def notebook(text: str, *, output: str | None = None) -> str:
    cell = nbformat.v4.new_code_cell(text, id="one")
    if output is not None:
        cell.outputs = [nbformat.v4.new_output("stream", text=output)]
        cell.execution_count = 3
    return nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped"
    folder.mkdir()
    (folder / NAME).write_text(notebook("play()"), encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "Dokumente é" / "Pyramid Lab"


def test_a_new_folder_gets_every_lesson(shipped: Path, folder: Path) -> None:
    (shipped / "pictures").mkdir()
    (shipped / "pictures" / "mat.svg").write_text("<svg/>", encoding="utf-8")
    assert place_lessons(shipped, folder, replace_edited=never) == (
        Placed(NAME, Outcome.NEW),
        Placed("pictures/mat.svg", Outcome.NEW),
    )
    assert (folder / NAME).read_bytes() == (shipped / NAME).read_bytes()
    assert (folder / "pictures" / "mat.svg").exists()


def test_a_second_time_nothing_changes(shipped: Path, folder: Path) -> None:
    place_lessons(shipped, folder, replace_edited=never)
    before = (folder / NAME).stat().st_mtime_ns
    assert place_lessons(shipped, folder, replace_edited=never) == (Placed(NAME, Outcome.UNCHANGED),)
    assert (folder / NAME).stat().st_mtime_ns == before


def test_a_lesson_that_was_only_run_is_brought_up_to_date(shipped: Path, folder: Path) -> None:
    place_lessons(shipped, folder, replace_edited=never)
    (folder / NAME).write_text(notebook("play()", output="a board"), encoding="utf-8")
    (shipped / NAME).write_text(notebook("play(rows=3)"), encoding="utf-8")
    assert place_lessons(shipped, folder, replace_edited=never) == (Placed(NAME, Outcome.UPDATED),)
    assert "rows=3" in (folder / NAME).read_text(encoding="utf-8")


def test_a_deleted_lesson_comes_back(shipped: Path, folder: Path) -> None:
    place_lessons(shipped, folder, replace_edited=never)
    (folder / NAME).unlink()
    assert place_lessons(shipped, folder, replace_edited=never) == (Placed(NAME, Outcome.NEW),)


def test_an_edited_lesson_is_left_alone_while_nothing_newer_is_shipped(shipped: Path, folder: Path) -> None:
    place_lessons(shipped, folder, replace_edited=never)
    (folder / NAME).write_text(notebook("mine"), encoding="utf-8")
    assert place_lessons(shipped, folder, replace_edited=never) == (Placed(NAME, Outcome.KEPT),)
    assert "mine" in (folder / NAME).read_text(encoding="utf-8")


def edited_and_newer(shipped: Path, folder: Path) -> None:
    place_lessons(shipped, folder, replace_edited=never)
    (folder / NAME).write_text(notebook("mine"), encoding="utf-8")
    (shipped / NAME).write_text(notebook("newer"), encoding="utf-8")


def test_no_keeps_the_edited_lesson_and_puts_the_new_one_beside_it_once(shipped: Path, folder: Path) -> None:
    edited_and_newer(shipped, folder)
    asked: list[str] = []

    def no(name: str) -> bool:
        asked.append(name)
        return False

    assert place_lessons(shipped, folder, replace_edited=no) == (Placed(NAME, Outcome.BESIDE, "01_pairs (new).ipynb"),)
    assert asked == [NAME]
    assert "mine" in (folder / NAME).read_text(encoding="utf-8")
    assert "newer" in (folder / "01_pairs (new).ipynb").read_text(encoding="utf-8")
    assert place_lessons(shipped, folder, replace_edited=never) == (Placed(NAME, Outcome.KEPT),)

    (shipped / NAME).write_text(notebook("newest"), encoding="utf-8")
    (second,) = place_lessons(shipped, folder, replace_edited=no)
    assert second.beside == "01_pairs (new 2).ipynb"


def test_yes_replaces_it_and_keeps_the_edited_one_beside(shipped: Path, folder: Path) -> None:
    edited_and_newer(shipped, folder)
    assert place_lessons(shipped, folder, replace_edited=lambda name: True) == (
        Placed(NAME, Outcome.REPLACED, "01_pairs (mine).ipynb"),
    )
    assert "newer" in (folder / NAME).read_text(encoding="utf-8")
    assert "mine" in (folder / "01_pairs (mine).ipynb").read_text(encoding="utf-8")


@pytest.mark.parametrize("manifest", ["", "[1]", "{", '{"other.ipynb": 3}'])
def test_without_a_readable_manifest_a_different_lesson_counts_as_edited(
    shipped: Path, folder: Path, manifest: str
) -> None:
    edited_and_newer(shipped, folder)
    (folder / opener.MANIFEST).write_text(manifest, encoding="utf-8")
    (lesson,) = place_lessons(shipped, folder, replace_edited=lambda name: False)
    assert lesson.outcome is Outcome.BESIDE


def test_a_damaged_notebook_counts_as_edited(shipped: Path, folder: Path) -> None:
    place_lessons(shipped, folder, replace_edited=never)
    (folder / NAME).write_text('{"cells": 3', encoding="utf-8")
    (shipped / NAME).write_text(notebook("newer"), encoding="utf-8")
    (lesson,) = place_lessons(shipped, folder, replace_edited=lambda name: False)
    assert lesson.outcome is Outcome.BESIDE


def test_jupyters_own_checkpoints_are_not_lessons(shipped: Path, folder: Path) -> None:
    (shipped / ".ipynb_checkpoints").mkdir()
    (shipped / ".ipynb_checkpoints" / NAME).write_text("{}", encoding="utf-8")
    assert [lesson.name for lesson in place_lessons(shipped, folder, replace_edited=never)] == [NAME]


def test_the_shipped_lessons_are_there() -> None:
    assert "01_partners.ipynb" in {path.name for path in shipped_lessons().iterdir()}


Run = Callable[..., Result]


@pytest.fixture
def run(shipped: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line on the small shipped folder; JupyterLab is only noted in `run.started`."""
    started: list[dict[str, Any]] = []
    monkeypatch.setattr(opener, "shipped_lessons", lambda: shipped)
    monkeypatch.setattr(opener, "_run_jupyterlab", lambda folder, **how: started.append({"folder": folder, **how}))
    monkeypatch.setenv("XDG_DOCUMENTS_DIR", str(folder.parent))

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments)

    invoke.started = started  # type: ignore[attr-defined]
    return invoke


def test_the_command_places_the_lessons_says_where_and_opens_the_first(run: Any, folder: Path) -> None:
    result = run("--folder", str(folder), "--no-browser")
    assert result.exit_code == 0, result.output
    assert f"Your lessons are in {folder}" in result.output
    assert f"{NAME}  (new)" in result.output
    assert run.started == [{"folder": folder, "first": NAME, "port": None, "browser": False}]


def test_without_a_terminal_an_edited_lesson_is_kept_and_the_command_says_so(
    run: Any, shipped: Path, folder: Path
) -> None:
    edited_and_newer(shipped, folder)
    result = run("--folder", str(folder))
    assert result.exit_code == 0, result.output
    assert f"{NAME}  (yours, kept as it is; the new version is beside it: 01_pairs (new).ipynb)" in result.output
    assert run.started[0]["browser"] is True


def test_a_file_in_the_folders_place_is_named_with_the_way_out(run: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        result = run("--folder", str(place))
        assert result.exit_code == 1
        assert f"'{tmp_path / 'file'}' is a file" in result.output
        assert "--folder" in result.output
        assert run.started == []


def test_a_folder_that_cannot_be_written_is_named_with_the_way_out(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *args: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    result = run("--folder", str(folder))
    assert result.exit_code == 1
    assert f"cannot be written to '{folder}': Permission denied. Choose another folder" in result.output


def test_a_taken_port_is_named_before_anything_starts(run: Any, folder: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        result = run("--folder", str(folder), "--port", str(port))
    assert result.exit_code == 1
    assert f"Port {port} cannot be used" in result.output
    assert run.started == []


@pytest.mark.parametrize("port", ["0", "65536", "-1", "eighty"])
def test_an_impossible_port_is_refused(run: Any, port: str) -> None:
    result = run(f"--port={port}")
    assert result.exit_code == 2
    assert port in result.output


def test_the_manifest_is_plain_json(run: Any, folder: Path) -> None:
    run("--folder", str(folder))
    assert list(json.loads((folder / opener.MANIFEST).read_text(encoding="utf-8"))) == [NAME]
