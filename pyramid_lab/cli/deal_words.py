"""A deal as a tutor types it: a seed, a code or the cards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    _Words = click.ParamType[int | str]
else:
    _Words = click.ParamType  # older versions of click have no types in brackets

_EXAMPLE: Final = "such as 17 (a seed) or table-17-U (the code on a sheet)"
_BELOW_NOUGHT: Final = re.compile(r"-\d+")


def _refuse(text: str, param: click.Parameter | None, ctx: click.Context | None) -> click.BadParameter:
    return click.BadParameter(f"a seed is 0 or more, such as 17, not {text}", ctx, param)


class DealWords(_Words):
    """A deal; a number is a seed, anything else is left to those who read codes and cards."""

    name = "deal"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if not isinstance(value, str):
            return int(value)
        if _BELOW_NOUGHT.fullmatch(value):
            raise _refuse(value, param, ctx)
        return int(value) if value.isdecimal() else value

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return f"Name a deal, {_EXAMPLE}."


class OfADeal(click.Command):
    """A command whose argument is a deal: a seed below 0, which looks like an option, is called by its name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            for word in words:
                if _BELOW_NOUGHT.fullmatch(word) and word.startswith(error.option_name):
                    deal = next(one for one in self.params if isinstance(one.type, DealWords))
                    raise _refuse(word, deal, ctx) from None
            raise


DEAL: Final = DealWords()
