"""The lessons in the tutor's own folder, opened in JupyterLab."""

from __future__ import annotations

import contextlib
import enum
import hashlib
import json
import os
import shutil
import socket
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import platformdirs

# Remembers, for each lesson, the fingerprint of what was placed: how an edit is told from an older version.
MANIFEST = ".pyramid-lab-lessons.json"

# JupyterLab's defaults for a lesson; what the tutor sets in its menus still wins. No question about news. Messages of
# widgets are not sent to a thread of their own: after a restart of the kernel the page goes on naming the old one, and
# clicks are lost.
LAB_SETTINGS = Path(__file__).parent / "jupyterlab"


class Outcome(enum.StrEnum):
    """What became of one lesson; the value is what the tutor reads."""

    NEW = "new"
    UNCHANGED = "as it was"
    UPDATED = "brought up to date"
    KEPT = "yours, kept as it is"
    BESIDE = "yours, kept as it is; the new version is beside it"
    REPLACED = "brought up to date; yours is kept beside it"


@dataclass(frozen=True, slots=True)
class Placed:
    """One lesson after `place_lessons`: its name, what became of it, and the second file if there is one."""

    name: str
    outcome: Outcome
    beside: str | None = None


def open_lessons(*, folder: Path | None, port: int | None, browser: bool) -> None:
    """Place the lessons in `folder` (by default in the user's documents) and run JupyterLab there until it is
    stopped.

    Raises:
        click.ClickException: the folder cannot be used, or the port is taken.
    """
    folder = (folder or default_folder()).expanduser().absolute()
    if port is not None:
        _require_free(port)
    with _explained(folder):
        placed = place_lessons(shipped_lessons(), folder, replace_edited=_ask)
    click.echo(f"Your lessons are in {folder}")
    for lesson in placed:
        if lesson.outcome is not Outcome.UNCHANGED:
            beside = f": {lesson.beside}" if lesson.beside else ""
            click.echo(f"  {lesson.name}  ({lesson.outcome}{beside})")
    click.echo("Starting JupyterLab; the first time can take half a minute ...")
    _run_jupyterlab(folder, first=placed[0].name, port=port, browser=browser)


def default_folder() -> Path:
    """'Pyramid Lab' in the user's documents folder, wherever this system keeps documents."""
    return platformdirs.user_documents_path() / "Pyramid Lab"


def shipped_lessons() -> Path:
    """The folder of lessons that came with this version: inside the package, or the checkout's own.

    Raises:
        click.ClickException: neither is there.
    """
    package = Path(__file__).parent.parent
    for folder in (package / "_lessons", package.parent / "lessons"):
        if any(folder.glob("*.ipynb")):
            return folder
    raise click.ClickException("This installation holds no lessons. Install Pyramid Lab again.")


def place_lessons(shipped: Path, folder: Path, *, replace_edited: Callable[[str], bool]) -> tuple[Placed, ...]:
    """Copy every file of `shipped` into `folder`, in order of name; nothing the user wrote is lost.

    A lesson counts as edited when the text of its cells differs from what was placed; running it, which only
    adds outputs, is no edit. An edited lesson of which there is a newer version is put to `replace_edited`
    (given its name): if true, the new version takes its name and the user's is kept beside it; if false, the
    new version is put beside it. Either way it is not asked about again until there is a newer version still.

    Raises:
        OSError: the folder cannot be made or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    manifest = _read_manifest(folder)
    placed = []
    for source in sorted(shipped.rglob("*")):
        if source.is_dir() or ".ipynb_checkpoints" in source.parts:
            continue
        name = source.relative_to(shipped).as_posix()
        placed.append(_place(source, folder, name, manifest.get(name), replace_edited))
        manifest[name] = fingerprint(source)
    _write(folder / MANIFEST, json.dumps(manifest, indent=1, sort_keys=True).encode())
    return tuple(placed)


def fingerprint(path: Path) -> str:
    """A SHA-256 of what the user can edit: of a notebook the kind and text of each cell, else every byte."""
    data = path.read_bytes()
    if path.suffix == ".ipynb":
        # A damaged notebook is told apart by its bytes.
        with contextlib.suppress(ValueError, KeyError, TypeError):
            cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(data)["cells"]]
            data = json.dumps(cells).encode()
    return hashlib.sha256(data).hexdigest()


def _place(source: Path, folder: Path, name: str, known: str | None, replace_edited: Callable[[str], bool]) -> Placed:
    target = folder / name
    if not target.exists():
        _write(target, source.read_bytes())
        return Placed(name, Outcome.NEW)
    ours, theirs = fingerprint(source), fingerprint(target)
    if theirs == ours:
        return Placed(name, Outcome.UNCHANGED)
    if theirs == known:
        _write(target, source.read_bytes())
        return Placed(name, Outcome.UPDATED)
    if known == ours:
        return Placed(name, Outcome.KEPT)
    if replace_edited(name):
        beside = _free_name(target, "mine")
        shutil.copy2(target, beside)
        _write(target, source.read_bytes())
        return Placed(name, Outcome.REPLACED, beside.name)
    beside = _free_name(target, "new")
    _write(beside, source.read_bytes())
    return Placed(name, Outcome.BESIDE, beside.name)


def _free_name(path: Path, mark: str) -> Path:
    number = 1
    while True:
        suffix = f" ({mark})" if number == 1 else f" ({mark} {number})"
        candidate = path.with_name(f"{path.stem}{suffix}{path.suffix}")
        if not candidate.exists():
            return candidate
        number += 1


def _read_manifest(folder: Path) -> dict[str, str]:
    # Without a readable manifest every lesson that differs counts as edited: the careful reading.
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    if not isinstance(manifest, dict):
        return {}
    return {str(name): str(value) for name, value in manifest.items()}


def _write(path: Path, data: bytes) -> None:
    # Whole or not at all: half a lesson would count as edited ever after.
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data)
    part.replace(path)


def _ask(name: str) -> bool:
    if not sys.stdin.isatty():
        return False
    return click.confirm(
        f"You have changed {name}, and there is a new version of it.\n"
        "Put the new one in its place? (Yours is then kept beside it.)",
        default=False,
    )


@contextlib.contextmanager
def _explained(folder: Path) -> Iterator[None]:
    other = "Choose another folder with --folder."
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        file = next((place for place in (folder, *folder.parents) if place.is_file()), error.filename)
        raise click.ClickException(f"'{file}' is a file, so lessons cannot be kept in '{folder}'. {other}") from error
    except OSError as error:
        raise click.ClickException(
            f"Lessons cannot be written to '{folder}': {error.strerror or error}. {other}"
        ) from error


def _require_free(port: int) -> None:
    with socket.socket() as listener:
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise click.ClickException(
                f"Port {port} cannot be used ({error.strerror}). Give another with --port, or leave --port out."
            ) from error


def _run_jupyterlab(folder: Path, *, first: str, port: int | None, browser: bool) -> None:
    # In this process, so that whatever ends this command ends JupyterLab.
    from pyramid_lab.cli.jupyter import start_sooner

    start_sooner()
    from jupyterlab.labapp import LabApp

    arguments = [
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.open_browser={browser}",
        "--ServerApp.answer_yes=True",
        "--Application.log_level=ERROR",
        # Else each kernel says in the tutor's window that it is not.
        "--MappingKernelManager.transport_encryption=auto",
        f"--LabApp.default_url=/lab/tree/{first}",
        # Nothing here calls the network: no news, no search for updates or extensions.
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        f"--LabApp.app_settings_dir={LAB_SETTINGS}",
    ]
    if port is not None:
        arguments += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--ServerApp.allow_root=True")
    with warnings.catch_warnings(record=True):  # Jupyter's extensions warn each other; a tutor can do nothing about it
        server = LabApp.initialize_server(argv=arguments)
    click.echo("Keep this window open while you teach; Ctrl+C here ends it.")
    server.start()  # prints the address
