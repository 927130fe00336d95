"""The command line: one group; the module of a command is loaded when that command (or the help) needs it."""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import sys
from pathlib import Path

import click

from pyramid_lab.cli.group import NearGroup

# name -> "module:object", in the order of the help. A command's module imports heavy rooms inside its functions,
# so that the help stays quick.
COMMANDS: dict[str, str] = {
    "deal": "pyramid_lab.cli.game:deal",
    "replay": "pyramid_lab.cli.game:replay",
    "solve": "pyramid_lab.cli.solve:solve",
    "odds": "pyramid_lab.cli.solve:odds",
    "print": "pyramid_lab.cli.sheets:print_group",
    "class": "pyramid_lab.cli.classroom:class_",
    "merge": "pyramid_lab.cli.classroom:merge",
    "school": "pyramid_lab.cli.classroom:school",
    "student": "pyramid_lab.cli.log:student",
    "review": "pyramid_lab.cli.insight:review",
    "export": "pyramid_lab.cli.log:export",
    "backup": "pyramid_lab.cli.log:backup",
    "prune": "pyramid_lab.cli.log:prune",
    "log": "pyramid_lab.cli.log:log",
}


class LazyGroup(NearGroup):
    """A click group over `COMMANDS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, _, name = target.partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command), target
        return command


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where your copy of the lessons lives. Without it: 'Pyramid Lab' in your documents.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="NUMBER",
    help="The port JupyterLab listens on. Without it: the first free one from 8888 on.",
)
@click.option("--no-browser", is_flag=True, help="Open no browser; print the address to visit instead.")
@click.version_option(package_name="pyramid-lab", message="Pyramid Lab %(version)s")
@click.pass_context
def cli(ctx: click.Context, folder: Path | None, port: int | None, no_browser: bool) -> None:
    """Teach addition to 13 with Pyramid Solitaire.

    With no command, puts the lessons into your own folder and opens them in JupyterLab. A lesson that you
    have changed is never overwritten without asking.
    """
    if ctx.invoked_subcommand is None:
        from pyramid_lab.cli.lessons import open_lessons

        open_lessons(folder=folder, port=port, browser=not no_browser)
    elif folder is not None or port is not None or no_browser:
        raise click.UsageError(
            f"--folder, --port and --no-browser open the lessons; they do not go with '{ctx.invoked_subcommand}'."
            f" See 'pyramid-lab {ctx.invoked_subcommand} --help'."
        )


def main() -> None:
    """Run the command line; what it prints is UTF-8, also into a file on Windows."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    # Nothing that is left at the end needs a last look; to go through all of pandas for it takes a second.
    atexit.register(gc.freeze)
    cli(prog_name="pyramid-lab")
