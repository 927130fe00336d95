"""Whether boards can be shown here: what is missing, and how to play meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

PACKAGES: Final = ("jupyterlab", "ipywidgets", "jupyterlab_widgets", "anywidget")
"""What a board needs from other hands."""

PARTS: Final = {
    "jupyterlab_widgets": "@jupyter-widgets/jupyterlab-manager",
    "anywidget": "anywidget",
}
"""For each package, the folder that it puts among the extensions of JupyterLab."""

AS_TEXT: Final = """from pyramid_lab import Deal, Game, Move
game = Game("classic", Deal.from_seed(7))
print(game.position)
game.play(Move.parse("Qs+Ah"))
"""
"""A game without a board, until what is missing is there."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found; shows itself as text and in a notebook.

    Attributes:
        problems: a sentence for each thing that is missing, with its mend; empty if boards can be shown.
    """

    problems: tuple[str, ...]

    def __str__(self) -> str:
        if not self.problems:
            return "All that a board needs is here."
        return "\n".join([*self.problems, "Meanwhile a game can be played as text:", "", AS_TEXT])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def check(extensions: Iterable[str | Path] | None = None) -> Checked:
    """Look for what a board needs; for a notebook in which no board appears.

    Args:
        extensions: folders in which JupyterLab looks for extensions; default: those of this Python. Where JupyterLab
            runs from another Python than the notebook, run this there too.
    """
    from jupyter_core.paths import jupyter_path

    folders = [Path(folder) for folder in (jupyter_path("labextensions") if extensions is None else extensions)]
    problems = []
    for package in PACKAGES:
        part = PARTS.get(package)
        if not _is_installed(package):
            problems.append(_missing(package))
        elif part and not any((folder / part / "package.json").is_file() for folder in folders):
            problems.append(f"JupyterLab does not find its part of {package}. {_mend(package, again=True)}")
    return Checked(tuple(problems))


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _missing(package: str) -> str:
    return f"The package {package} is not installed where this notebook's Python is. {_mend(package)}"


def _mend(package: str, *, again: bool = False) -> str:
    options = "--force-reinstall --no-deps " if again else ""
    return (
        f"Type: python -m pip install {options}{package} (with the Python that JupyterLab runs on), then start "
        "JupyterLab again and load the page."
    )
