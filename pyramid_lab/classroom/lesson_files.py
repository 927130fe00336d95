"""Which notebooks a class goes through: found by name, checked, and copied, without the tutor's notes, to a place of
their own."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pyramid_lab.classroom.register import ClassLesson

FREE_PLAY: Final = Path(__file__).parent / "lessons" / "play.ipynb"
_PICTURES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".svg"})
_TUTORS: Final = re.compile(r"\btutor", re.IGNORECASE)
_NOTES: Final = re.compile(r"<details>\s*<summary>For the tutor.*?</details>\s*", re.DOTALL)
_SHOWS_EVERYONE: Final = re.compile(r"\bclass_report\b")


class LessonError(ValueError):
    """A lesson that is not there or cannot be shown; the message says which and what to do."""


def gather(wanted: Sequence[str], folders: Sequence[Path], root: Path) -> list[ClassLesson]:
    """Find lessons and copy them into ``root``, so that a class goes on undisturbed while the tutor edits one.

    Args:
        wanted: names, their beginnings, or paths; none for free play.
        folders: where lessons are looked for by name, the tutor's own first.
        root: an empty folder.

    Raises:
        LessonError: a lesson is not found, is meant by a name that fits several, is no notebook, or is the tutor's own.
    """
    lessons = []
    for number, source in enumerate([find(name, folders) for name in wanted] or [FREE_PLAY], start=1):
        title, code = _read(source)
        if _TUTORS.search(title) or _SHOWS_EVERYONE.search(code):
            raise LessonError(
                f"{source.stem} is for you, not for the children's tablets. Leave it out here, and open it with "
                "'pyramid-lab'."
            )
        folder = root / str(number)
        folder.mkdir()
        (folder / "lesson.ipynb").write_text(_for_children(source), encoding="utf-8")
        for picture in source.parent.iterdir():
            if picture.suffix.lower() in _PICTURES and picture.is_file():
                shutil.copyfile(picture, folder / picture.name)
        lessons.append(ClassLesson(folder / "lesson.ipynb", title, source.stem))
    return lessons


def _for_children(path: Path) -> str:
    """The notebook without the tutor's folded notes, which hold the answers."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    kept = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            cell["source"] = _NOTES.sub("", text)
            if text.strip() and not cell["source"].strip():
                continue
        kept.append(cell)
    notebook["cells"] = kept
    return json.dumps(notebook, ensure_ascii=False, indent=1)


def find(name: str, folders: Sequence[Path]) -> Path:
    """The notebook that a name means: a path, a file's name with or without its ending, or how it begins.

    Raises:
        LessonError: none or several.
    """
    path = Path(name).expanduser()
    if path.suffix == ".ipynb" and path.is_file():
        return path.absolute()
    for folder in folders:
        notebooks = sorted(folder.glob("*.ipynb"))
        for fits in (
            [notebook for notebook in notebooks if name in (notebook.name, notebook.stem)],
            [notebook for notebook in notebooks if notebook.stem.startswith(name)],
        ):
            if len(fits) > 1:
                listed = ", ".join(fit.stem for fit in fits)
                raise LessonError(f"{name!r} may mean any of these lessons: {listed}. Say more of its name.")
            if fits:
                return fits[0]
    known = ", ".join(dict.fromkeys(book.stem for folder in folders for book in sorted(folder.glob("*.ipynb"))))
    raise LessonError(f"There is no lesson {name!r}. There are: {known or 'none'}.")


def _read(path: Path) -> tuple[str, str]:
    """A notebook's first heading, else its file's name; and all its code."""
    try:
        cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LessonError(f"{path} is no notebook that can be read ({error}).") from None
    lines = [line for kind, text in texts if kind == "markdown" for line in text.splitlines()]
    title = next((line[2:].strip() for line in lines if line.startswith("# ")), path.stem)
    return title, "\n".join(text for kind, text in texts if kind == "code")
