"""Which notebooks a class goes through."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from pyramid_lab.classroom.lesson_files import LessonError, find, gather
from pyramid_lab.cli import cli
from pyramid_lab.cli.lessons import shipped_lessons


def write(path: Path, *cells: str) -> Path:
    """A notebook; a cell that begins with # is text."""
    path.parent.mkdir(exist_ok=True)
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_markdown_cell(cell) if cell.startswith("#") else nbformat.v4.new_code_cell(cell)
        for cell in cells
    ]
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def test_without_a_name_children_simply_play(root: Path) -> None:
    (lesson,) = gather([], [], root)
    assert lesson.title == "Make 13"
    assert lesson.path.is_file() and root in lesson.path.parents


def test_a_lesson_is_found_by_the_beginning_of_its_name_the_tutors_own_first(tmp_path: Path, root: Path) -> None:
    theirs = write(tmp_path / "mine" / "01_pairs.ipynb", "# My own pairs", "play()")
    shipped = write(tmp_path / "shipped" / "01_pairs.ipynb", "# Pairs", "play()")
    other = write(tmp_path / "shipped" / "02_rows.ipynb", "play()")
    folders = [theirs.parent, shipped.parent]
    assert find("01", folders) == find("01_pairs.ipynb", folders) == theirs
    assert find(str(shipped), folders) == shipped
    lessons = gather(["02", "01"], folders, root)
    assert [lesson.title for lesson in lessons] == [other.stem, "My own pairs"]
    assert [lesson.name for lesson in lessons] == ["02_rows", "01_pairs"]


def test_a_lesson_keeps_its_pictures_and_does_not_change_while_the_class_plays(tmp_path: Path, root: Path) -> None:
    source = write(tmp_path / "mine" / "03.ipynb", "# Three", "play()")
    (source.parent / "tree.png").write_bytes(b"picture")
    (source.parent / "names.csv").write_text("Ana", encoding="utf-8")
    (lesson,) = gather(["03"], [source.parent], root)
    before = lesson.path.read_bytes()
    write(source, "# Changed")
    assert lesson.path.read_bytes() == before
    assert {path.name for path in lesson.path.parent.iterdir()} == {"lesson.ipynb", "tree.png"}


def test_what_is_no_lesson_is_named_with_the_mend(tmp_path: Path, root: Path) -> None:
    folder = write(tmp_path / "mine" / "01_a.ipynb", "# A").parent
    write(folder / "01_b.ipynb", "# B")
    with pytest.raises(LessonError, match=r"01_a, 01_b\. Say more"):
        gather(["01"], [folder], root)
    with pytest.raises(LessonError, match=r"no lesson '07'\. There are: 01_a, 01_b"):
        gather(["07"], [folder], root)
    (folder / "broken.ipynb").write_text('{"cells": [{}]}', encoding="utf-8")
    with pytest.raises(LessonError, match=r"broken\.ipynb is no notebook"):
        gather(["broken"], [folder], root)


@pytest.mark.parametrize("name", ["00", "11"])
def test_the_tutors_own_lessons_are_not_for_tablets(root: Path, name: str) -> None:
    with pytest.raises(LessonError, match=f"^{name}_.* is for you.* open it with 'pyramid-lab'"):
        gather([name], [shipped_lessons()], root)


def test_every_other_lesson_is(root: Path) -> None:
    children = [f"{number:02}" for number in range(1, 11)]
    assert len(gather(children, [shipped_lessons()], root)) == 10


def test_a_copy_that_shows_the_whole_class_is_not_for_tablets_under_any_name(tmp_path: Path, root: Path) -> None:
    source = write(tmp_path / "mine" / "play.ipynb", "# Play", "from pyramid_lab import course\ncourse.class_report()")
    with pytest.raises(LessonError, match=r"^play is for you"):
        gather([str(source)], [], root)


def test_the_command_says_so_and_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DOCUMENTS_DIR", str(tmp_path))
    said = CliRunner().invoke(cli, ["class", "11", "--guests=2", f"--store={tmp_path / 'log.sqlite3'}"])
    assert said.exit_code == 1
    assert "11_review is for you" in said.output


def test_the_tutors_notes_with_their_answers_stay_off_the_tablets(tmp_path: Path, root: Path) -> None:
    note = "<details>\n<summary>For the tutor: the answers</summary>\n\nIt is 5.\n\n</details>"
    whole = write(
        tmp_path / "own" / "08.ipynb", "# Partners", f"# Ask\n\nWhat goes with 8?\n\n{note}\n\nSay it.", "play()"
    )
    (lesson,) = gather([str(whole)], [], root)
    cells = nbformat.read(lesson.path, as_version=4).cells
    assert [cell.source.split() for cell in cells] == [
        ["#", "Partners"],
        ["#", "Ask", "What", "goes", "with", "8?", "Say", "it."],
        ["play()"],
    ]


def test_no_shipped_lesson_tells_the_children_what_it_tells_the_tutor(root: Path) -> None:
    folder = shipped_lessons()
    names = [path.stem for path in sorted(folder.glob("*.ipynb")) if path.stem[:2] not in ("00", "11")]
    assert len(names) == 10
    for lesson in gather(names, [folder], root):
        assert "For the tutor" not in lesson.path.read_text(encoding="utf-8")
