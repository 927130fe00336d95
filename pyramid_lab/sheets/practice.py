"""Fact practice on paper, with its key: missing addends, totals to check, fact families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from pyramid_lab.core.cards import rank_label
from pyramid_lab.core.deal import SEED_LIMIT, splitmix64
from pyramid_lab.sheets.deals import Folders, font_folders
from pyramid_lab.sheets.errors import SheetError
from pyramid_lab.sheets.facts import Fact, facts_to, read_fact
from pyramid_lab.sheets.paper import paper_named
from pyramid_lab.sheets.sheet import Sheet

KINDS: Final = ("missing", "total", "family")
_COUNTS: Final = {"missing": 24, "total": 24, "family": 6}
COUNT_LIMIT: Final = 240

_Item = TypeVar("_Item")


def practice(
    kind: str = "missing",
    *,
    seed: int = 1,
    count: int | None = None,
    target: int = 13,
    facts: Sequence[str] = (),
    ranks: bool = False,
    paper: str = "a4",
    name: str = "",
    fonts: Folders = (),
) -> Sheet:
    """Practice of the facts, and a page with the answers. Every fact comes once before any comes again.

    Args:
        kind: ``"missing"`` (5 + _ = 13), ``"total"`` (add, and tick what makes the target; near misses are mixed in),
            or ``"family"`` (three numbers, four sums).
        seed: 0 to 2**64 - 1; the same seed gives the same sheet.
        count: of problems, 1 to 240; ``None`` for as many as fill a page.
        target: 10 to 13.
        facts: only these, such as ``["5+8", "6+7"]``; empty for all.
        ranks: write A, J, Q, K for 1, 11, 12, 13, as the cards do.
        paper: ``"a4"`` or ``"letter"``.
        name: whose sheet it is; empty leaves a line for it.
        fonts: folders with more fonts, if a name needs them.

    Raises:
        SheetError: bad input, named in the message.
    """
    chosen = paper_named(paper)
    if kind not in KINDS:
        raise SheetError(f"no practice {kind!r}; there is {', '.join(KINDS)}")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < SEED_LIMIT:
        raise SheetError(f"a seed is a whole number from 0 to {SEED_LIMIT - 1}, not {seed!r}")
    number = _COUNTS[kind] if count is None else count
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= COUNT_LIMIT:
        raise SheetError(f"a practice sheet has 1 to {COUNT_LIMIT} problems, not {count!r}")
    wanted = tuple(dict.fromkeys(read_fact(fact, target) for fact in facts)) or facts_to(target)
    numbers = splitmix64(seed)
    make = {"missing": _missing, "total": _total, "family": _family}[kind]
    problems = make(_rounds(wanted, number, numbers), target, numbers, ranks)
    heads = {
        "missing": f"What is missing? Make {target}",
        "total": f"Add. Tick what makes {target}",
        "family": f"Fact families of {target}",
    }
    data: dict[str, Any] = {"kind": kind, "name": name, "problems": problems, "note": f"{kind}, seed {seed}"}
    return Sheet(heads[kind], "practice", data, chosen, fonts=font_folders(fonts))


def _shuffled(items: Sequence[_Item], numbers: Iterator[int]) -> list[_Item]:
    return [item for _, item in sorted(((next(numbers), item) for item in items), key=lambda pair: pair[0])]


def _rounds(items: Sequence[_Item], count: int, numbers: Iterator[int]) -> list[_Item]:
    """``count`` items in rounds: each round has every item once, in an order of its own, and no round begins with
    the item that ended the one before."""
    dealt: list[_Item] = []
    while len(dealt) < count:
        turn = _shuffled(items, numbers)
        if dealt and len(turn) > 1 and turn[0] == dealt[-1]:
            turn[0], turn[1] = turn[1], turn[0]
        dealt += turn
    return dealt[:count]


def _said(value: int, ranks: bool) -> str:
    return rank_label(value) if ranks and value in (1, 11, 12, 13) else str(value)


def _missing(facts: Sequence[Fact], target: int, numbers: Iterator[int], ranks: bool) -> list[dict[str, Any]]:
    """A fact's first two times give its two addends, and every time puts the gap elsewhere."""
    seen: dict[Fact, int] = {}
    problems = []
    for fact in facts:
        times = seen.setdefault(fact, next(numbers) % 6)
        seen[fact] = times + 1
        shown, hidden = fact if times % 2 == 0 else fact[::-1]
        said, answer = _said(shown, ranks), _said(hidden, ranks)
        parts = (
            [said, "+", None, "=", str(target)],
            [None, "+", said, "=", str(target)],
            [str(target), "=", said, "+", None],
        )[times % 3]
        problems.append({"parts": parts, "answer": answer})
    return problems


def _total(facts: Sequence[Fact], target: int, numbers: Iterator[int], ranks: bool) -> list[dict[str, Any]]:
    """Every second problem on average keeps its fact; the others have one addend one or two off."""
    problems = []
    for fact in facts:
        turn = next(numbers)
        first, second = fact if turn & 1 else fact[::-1]
        if turn & 2:
            near = (-2, -1, 1, 2)[turn >> 2 & 3]
            second = second + near if 1 <= second + near <= target else second - near
        parts = [_said(first, ranks), "+", _said(second, ranks), "=", None]
        total = first + second
        problems.append({"parts": parts, "answer": str(total), "tick": total == target})
    return problems


def _family(facts: Sequence[Fact], target: int, numbers: Iterator[int], ranks: bool) -> list[dict[str, Any]]:
    problems = []
    for fact in facts:
        shown, hidden = fact if next(numbers) & 1 else fact[::-1]
        a, b, whole = _said(shown, ranks), _said(hidden, ranks), str(target)
        lines = [[a, "+", b, "=", whole], [b, "+", a, "=", whole], [whole, "−", a, "=", b], [whole, "−", b, "=", a]]
        problems.append(
            {
                "whole": whole,
                "shown": a,
                "answer": b,
                "lines": lines[:1] + lines[2:3] if shown == hidden else lines,
                "alt": f"A roof with {whole} at the top, {a} and an empty box below.",
                "key_alt": f"A roof with {whole} at the top, {a} and {b} below.",
            }
        )
    return problems
