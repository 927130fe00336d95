"""A group of commands that names the nearest one when a command is mistyped."""

from __future__ import annotations

import click


class NearGroup(click.Group):
    """A click group; not every click that we run on looks for near names, and none in commands that are not loaded."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if self.get_command(ctx, word) is None and not ctx.resilient_parsing and not word.startswith("-"):
            from difflib import get_close_matches  # only a slip needs it

            near = get_close_matches(word, self.list_commands(ctx), n=1)
            ctx.fail(f"No such command {word!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)
