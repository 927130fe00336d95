"""What several commands take: files that are there, files to write, days and classes, and how a wrong one is said."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

import click

_P = ParamSpec("_P")
_R = TypeVar("_R")


class ThereIs(click.Path):
    """A file that has to be there; if it is not, the error names the folder that was looked in."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Any:
        place = Path(value).absolute()
        if not place.exists():
            folder = place.parent
            missing = "" if folder.is_dir() else ", for there is no such folder"
            self.fail(f"there is no file {place.name} in {folder}{missing}; name the file with its folder", param, ctx)
        if place.is_dir():
            self.fail(f"{place} is a folder; name a file in it", param, ctx)
        return super().convert(value, param, ctx)


class Day(click.DateTime):
    """A day, and with ``time`` also a time of day; the error says how it is written."""

    def __init__(self, *, time: bool = False) -> None:
        super().__init__(["%Y-%m-%d", *(["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"] if time else [])])
        self.example = "2026-11-30" + (" or '2026-11-30 09:30'" if time else "")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            found = super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is no date; write it as {self.example}", param, ctx)
        assert isinstance(found, datetime)
        return found


DAY: Final = Day()
FROM_DAY: Final = "Only from this day on, such as 2026-11-30."
BEFORE_DAY: Final = "Only before this day, such as 2026-11-30."


def plainly(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """Say what is wrong in plain lines instead of a traceback."""

    @wraps(command)
    def run(*arguments: _P.args, **options: _P.kwargs) -> _R:
        try:
            return command(*arguments, **options)
        except (ValueError, OSError) as error:
            from pyramid_lab.log.errors import NoLogError

            mend = ". Play a lesson first (pyramid-lab), or name another log with --store."
            raise click.ClickException(f"{error}{mend if isinstance(error, NoLogError) else ''}") from None

    return run


def ends_in(*endings: str, also: tuple[str, ...] = ()) -> Callable[[click.Context, click.Parameter, Path], Path]:
    """Callback of an option that names a file to write: refuses a name whose ending says another kind of file.

    Args:
        endings: the endings to write, the usual one first.
        also: endings that are taken, but need not be named.

    Raises:
        click.BadParameter: the name has none of the endings.
    """

    def check(context: click.Context, parameter: click.Parameter, out: Path) -> Path:
        # That a folder is no file is said, with the mend, by those who write.
        if out.suffix.lower() not in (*endings, *also) and not out.is_dir():
            how = (
                f"does not end in {endings[0]}" if len(endings) == 1 else f"ends neither in {' nor in '.join(endings)}"
            )
            mend = out.with_suffix(endings[0]) if out.name else endings[0]
            raise click.BadParameter(f"{out.name} {how}; write {mend}", context, parameter)
        return out

    return check


def known_class(class_name: str | None, classes: Iterable[str | None]) -> None:
    """Refuse a class that nobody is in.

    Raises:
        click.ClickException: there is no such class.
    """
    named = sorted({name for name in classes if name})
    if class_name is not None and class_name not in named:
        raise click.ClickException(
            f"There is no class {class_name!r}. Classes with students: {', '.join(named) or 'none'}."
        )
