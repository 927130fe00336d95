"""The house keeps its rooms apart, its lessons clean and its front door quick."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pyramid_lab"

# Who may import whom. A module is named where only that module of a room may be imported.
MAY_IMPORT = {
    "core": set(),
    "solver": {"core"},
    "log": {"core"},
    "board": {"core", "log.events"},
    "sheets": {"core", "solver"},
    "insight": {"core", "log", "solver"},
    "lesson": {"core", "solver", "board", "log", "insight", "sheets", "lesson_review"},
    "lesson_review": {"core", "log", "insight"},
    "course": {"core", "solver", "board", "log", "insight", "lesson", "picker"},
    "picker": {"core", "log", "lesson"},
    "paper_form": {"core", "log", "lesson", "picker", "sheets"},
    "classroom": {"core", "log", "board", "insight", "lesson"},
    "cli": {"core", "solver", "board", "log", "insight", "sheets", "lesson", "classroom"},
    "check": set(),
    "": {"core"},
    "__main__": {"cli"},
}

# Heavy libraries, and the only rooms that may need them.
HEAVY = {
    "pandas": {"log", "insight", "lesson_review", "course", "cli"},
    "matplotlib": {"insight", "lesson_review", "course", "cli"},
    "anywidget": {"board", "picker"},
    "ipywidgets": {"lesson", "lesson_review", "course", "picker", "paper_form"},
    "sqlalchemy": {"log", "classroom"},
    "statsmodels": {"insight", "solver"},
    "scipy": {"insight"},
    "typst": {"sheets", "insight"},
    "wasmtime": {"solver"},
    "jupyterlab": {"cli"},
}

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "_lessons" not in path.parts)


ROOMS = {path.stem for path in PACKAGE.iterdir()} - {"__init__"}


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """Every name that the file imports, in full ('pyramid_lab.core.deal.Deal'), wherever in the file it does so."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            names |= {f"{source}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_room_imports_only_the_rooms_it_may(path: Path) -> None:
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} is a new room: say in MAY_IMPORT what it may import"
    inside = {name.removeprefix("pyramid_lab.") for name in imports_of(path) if name.startswith("pyramid_lab.")}
    of_other_rooms = {name for name in inside if name.partition(".")[0] in ROOMS - {room}}
    allowed = tuple(f"{may}." for may in MAY_IMPORT[room])
    assert {name for name in of_other_rooms if not f"{name}.".startswith(allowed)} == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_heavy_libraries_stay_in_their_rooms(path: Path) -> None:
    room = room_of(path)
    libraries = {name.partition(".")[0] for name in imports_of(path)}
    assert {library for library in libraries & HEAVY.keys() if room not in HEAVY[library]} == set()


def test_the_core_needs_the_standard_library_alone() -> None:
    libraries = {name.partition(".")[0] for path in (PACKAGE / "core").rglob("*.py") for name in imports_of(path)}
    assert libraries - sys.stdlib_module_names == {"pyramid_lab"}


@pytest.mark.parametrize(
    "program", ["import pyramid_lab", "from pyramid_lab.cli import cli; cli(['--help'], standalone_mode=False)"]
)
def test_the_front_door_loads_no_heavy_library(program: str) -> None:
    show = f"import json, sys; {program}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", show], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert set(loaded) & HEAVY.keys() == set()


@pytest.mark.parametrize("path", sorted((ROOT / "lessons").glob("*.ipynb")), ids=lambda path: path.name)
def test_a_lesson_is_kept_without_outputs(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"  # else JupyterLab asks for one
    assert "widgets" not in notebook["metadata"]


def test_the_wheel_brings_the_lessons(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for path in (ROOT / "lessons").glob("*.ipynb"):
        assert f"pyramid_lab/_lessons/{path.name}" in names
    assert "pyramid_lab/core/rules.toml" in names
    assert not [name for name in names if name.startswith("tests/")]
