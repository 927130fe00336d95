"""A list of sheets in a TOML file: what ``worksheets/`` is printed from, and what a tutor may write too.

One table a sheet; its name is the file's, its key ``sheet`` the kind, and the other keys are the arguments of the
function of that name in :mod:`pyramid_lab.sheets`::

    [mat-three-piles-a3]
    sheet = "mat"
    rules = "three-pile"
    paper = "a3"

A ``pack`` has ``deals``: a list of tables with ``seed`` and, for the answer key, ``line`` (moves with spaces between
them, as ``8c+5d draw Kh``); also ``shortest``, ``level`` and ``name``.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pyramid_lab.core.deal import Deal
from pyramid_lab.core.position import Move
from pyramid_lab.core.rules import rule_set
from pyramid_lab.sheets.cards import cards, duplex_test
from pyramid_lab.sheets.deals import PackDeal, answer_key, class_pack, deal_sheet
from pyramid_lab.sheets.errors import SheetError
from pyramid_lab.sheets.forms import recording_sheet, rules_card
from pyramid_lab.sheets.mats import mat
from pyramid_lab.sheets.practice import practice
from pyramid_lab.sheets.sheet import Sheet


def _pack(deals: list[dict[str, Any]], rules: str = "table", **options: Any) -> Sheet:
    chosen = rule_set(rules)
    return class_pack([_pack_deal(target=chosen.target, **given) for given in deals], chosen, **options)


def _key(line: str | None = None, **options: Any) -> Sheet:
    return answer_key(line=None if line is None else _moves(line), **options)


def _moves(line: str) -> tuple[Move, ...]:
    return tuple(Move.parse(move) for move in line.split())


def _pack_deal(
    seed: int, target: int, line: str = "", shortest: bool = False, level: str = "", name: str = ""
) -> PackDeal:
    return PackDeal(Deal.from_seed(seed, target), _moves(line), shortest, level, name)


KINDS: Final[Mapping[str, Callable[..., Sheet]]] = MappingProxyType(
    {
        "deal": deal_sheet,
        "key": _key,
        "pack": _pack,
        "cards": cards,
        "test-sheet": duplex_test,
        "mat": mat,
        "recording": recording_sheet,
        "practice": practice,
        "rules-card": rules_card,
    }
)
"""The kinds of sheets by name."""


def read_list(path: Path) -> dict[str, Sheet]:
    """The sheets that a list describes, by name, in the order of the file.

    Raises:
        SheetError: the file cannot be read, or a sheet has an unknown kind, argument or value; the message names it.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise SheetError(f"{path} is no UTF-8 text: save it again as UTF-8") from None
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SheetError(f"cannot read the list {path}: {error}") from None
    if not tables:
        raise SheetError(f'{path} lists no sheet; a sheet begins with a line such as [my-mat], and then sheet = "mat"')
    return {name: _made(name, table) for name, table in tables.items()}


def _made(name: str, table: Any) -> Sheet:
    if not isinstance(table, dict):
        raise SheetError(f"{name} = {table!r} is no sheet; a sheet begins with a line [{name}]")
    if not name or name != Path(name).name:
        raise SheetError(f"[{name}]: the name becomes a file's name, so it has no / in it")
    options = dict(table)
    kind = options.pop("sheet", None)
    make = KINDS.get(kind) if isinstance(kind, str) else None
    if make is None:
        raise SheetError(f"[{name}]: no sheet {kind!r}; the kinds are {', '.join(KINDS)}")
    try:
        if "offset" in options:
            options["offset"] = tuple(options["offset"])
        inspect.signature(make).bind(**options)
        if not isinstance(options.get("name", ""), str):
            raise SheetError(f"a name is text, not {options['name']!r}")
        return make(**options)
    except (ValueError, TypeError) as error:
        raise SheetError(f"[{name}]: {error}") from None
