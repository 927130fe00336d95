"""Sheets about deals: the deal to lay out, its answer key, and a class pack of many."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, Final

from pyramid_lab.core.cards import Card, InvalidCardError
from pyramid_lab.core.deal import SEED_LIMIT, Deal, deal_code, parse_deal_code
from pyramid_lab.core.position import IllegalMoveError, Move, MoveKind, Outcome, Place, Position
from pyramid_lab.core.rules import RULE_SETS, Rules, rule_set
from pyramid_lab.sheets.errors import SheetError
from pyramid_lab.sheets.facts import Fact, read_fact
from pyramid_lab.sheets.paper import paper_named
from pyramid_lab.sheets.sheet import Sheet
from pyramid_lab.solver import RICH, Answer, Level, Unknown, Unwinnable, Winnable, solve
from pyramid_lab.solver import difficulty as measured_difficulty

SOLVE_SECONDS: Final = 20.0
"""How long the solver may look for a shortest line."""
SIZES: Final = ("normal", "large")
Folders = Iterable[str | os.PathLike[str]]

# Millimetres. The frame is what house.typ leaves free on each side; the rest are the sizes of the normal and the
# large deal sheet, chosen so that a covered card still shows its rank and suit.
_FRAME_X: Final = 20.0
_FRAME_Y: Final = 26.0
_GAP: Final = 1.6
_NORMAL_CARD: Final = 24.0
_NORMAL_STRIP: Final = 0.75
_LARGE_STRIP: Final = 0.6
_NORMAL_REST: Final = 112.0
_LARGE_REST: Final = 22.0
_HEIGHT: Final = 88.9 / 63.5


@dataclass(frozen=True, slots=True)
class PackDeal:
    """One deal of a class pack.

    Attributes:
        deal: the deal.
        line: moves that clear its pyramid, for the answer key; empty for a deal without a key.
        shortest: whether the line is proved to be a shortest one.
        level: how hard it is, in a word or two for the list in front; may be empty.
        name: whose sheet it is; may be empty.
    """

    deal: Deal
    line: tuple[Move, ...] = ()
    shortest: bool = False
    level: str = ""
    name: str = ""


def deal_for(deal: Deal | int | str, rules: str | Rules | None = None) -> tuple[Deal, Rules]:
    """Read what a tutor may give for a deal: the deal, its seed, its code, or its cards as text.

    Args:
        deal: a deal, a seed, a code such as ``table-17-U``, or the cards in order.
        rules: a rule set or its name; ``None`` for the one in the code, or ``table`` where there is no code.

    Raises:
        InvalidDealError: it gives no deal.
        RulesError: no such rule set.
        SheetError: the code belongs to another rule set than the one asked for, or the pack does not fit it.
    """
    if isinstance(deal, str) and not any(_is_card(word) for word in deal.replace(",", " ").split()):
        name, seed = parse_deal_code(deal)
        chosen = rule_set(rules if rules is not None else name)
        if chosen.name != name:
            raise SheetError(f"the code {deal} is a deal for {name}, not for {chosen.name}")
        return Deal.from_seed(seed, chosen.target), chosen
    chosen = rule_set("table" if rules is None else rules)
    if isinstance(deal, str):
        return Deal.from_text(deal, chosen.target), chosen
    if isinstance(deal, int):
        return Deal.from_seed(deal, chosen.target), chosen
    if not isinstance(deal, Deal):
        raise SheetError(f"a deal is a seed, a code such as table-17-U, or its cards, not {deal!r}")
    if deal.target != chosen.target:
        raise SheetError(f"the deal has a pack for pairs to {deal.target}, {chosen.name} plays to {chosen.target}")
    return deal, chosen


def _is_card(word: str) -> bool:
    try:
        Card.parse(word)
    except InvalidCardError:
        return False
    return True


def code_of(deal: Deal, rules: Rules) -> str:
    """The code that stands for this deal on paper, or ``""`` if it has none: it needs a seed and a named rule set."""
    if deal.seed is None or RULE_SETS.get(rules.name) != rules:
        return ""
    return deal_code(rules.name, deal.seed)


def deal_sheet(
    deal: Deal | int | str,
    rules: str | Rules | None = None,
    *,
    paper: str = "a4",
    size: str = "normal",
    letters: bool = False,
    name: str = "",
    fonts: Folders = (),
) -> Sheet:
    """The deal to lay out with real cards: the pyramid pictured, the stock in order, and how to stack the pack.

    Args:
        deal: a deal, seed, code or text; see :func:`deal_for`.
        rules: a rule set or its name.
        paper: ``"a4"`` or ``"letter"``.
        size: ``"normal"`` (one page), or ``"large"`` (landscape, cards over 30 mm wide, for young eyes).
        letters: print C, D, H or S beside every suit sign.
        name: whose sheet it is.
        fonts: folders with more fonts, if a name needs them.

    Raises:
        InvalidDealError, RulesError, SheetError: bad input, named in the message.
    """
    found, chosen = deal_for(deal, rules)
    return _sheet_of_pages(
        _title("Deal", found, chosen),
        [_deal_page(found, chosen, name, _layout(chosen, paper, size), letters)],
        paper,
        size,
        _note(found, chosen),
        fonts,
    )


def answer_key(
    deal: Deal | int | str,
    rules: str | Rules | None = None,
    line: Sequence[Move] | None = None,
    *,
    shortest: bool = False,
    max_seconds: float = SOLVE_SECONDS,
    paper: str = "a4",
    fonts: Folders = (),
) -> Sheet:
    """The answer key of a deal: a line that clears the pyramid, pair by pair, with where each card lies.

    Args:
        deal: a deal, seed, code or text; see :func:`deal_for`.
        rules: a rule set or its name.
        line: moves from the first position to the cleared pyramid; every one is checked against the rules. ``None`` to
            have the solver find a shortest one; the key then says so if there is none.
        shortest: say on the sheet that no shorter line than ``line`` exists. The caller vouches for it.
        max_seconds: how long the solver may look for a shortest line, and then again for any line.
        paper: ``"a4"`` or ``"letter"``.
        fonts: folders with more fonts.

    Raises:
        InvalidDealError, RulesError: bad input, named in the message.
        SheetError: a move is illegal or the line does not clear the pyramid; the message names the step.
    """
    found, chosen = deal_for(deal, rules)
    paper_named(paper)
    if line is not None:
        page = _key_page(found, chosen, line, shortest)
    else:
        answer = solved(found, chosen, max_seconds)
        if isinstance(answer, Winnable):
            page = _key_page(found, chosen, answer.line, answer.shortest)
        else:
            page = _no_key_page(found, chosen, answer, max_seconds)
    return _sheet_of_pages(_title("Answer key", found, chosen), [page], paper, "normal", _note(found, chosen), fonts)


def solved(deal: Deal, rules: Rules, max_seconds: float = SOLVE_SECONDS) -> Answer:
    """What the solver says of a deal: a shortest line if it can be found in time, else any line in as much time again.

    Args:
        deal: the deal.
        rules: the rule set.
        max_seconds: for each of the two searches.
    """
    start = Position.start(rules, deal)
    answer = solve(start, shortest=True, max_seconds=max_seconds)
    return solve(start, max_seconds=max_seconds) if isinstance(answer, Unknown) else answer


def class_pack(
    deals: Sequence[PackDeal],
    rules: str | Rules = "table",
    *,
    keys: bool = True,
    first_number: int = 1,
    paper: str = "a4",
    size: str = "normal",
    letters: bool = False,
    fonts: Folders = (),
) -> Sheet:
    """Many deals in one file: the list for the tutor first, then the deal sheets, then the answer keys.

    Args:
        deals: 1 to 10,000 of them.
        rules: the rule set all are for, or its name.
        keys: whether the answer keys follow.
        first_number: the number of the first deal in the list, when a pack comes in several files.
        paper, size, letters, fonts: as for :func:`deal_sheet`.

    Raises:
        RulesError, SheetError: bad input, named in the message.
    """
    chosen = rule_set(rules)
    check_count(len(deals))
    layout = _layout(chosen, paper, size)
    pages = [_list_page(deals, chosen, keys, first_number)]
    pages += [_deal_page(item.deal, chosen, item.name, layout, letters) for item in deals]
    if keys:
        pages += [_key_page(item.deal, chosen, item.line, item.shortest) for item in deals if item.line]
    return _sheet_of_pages(f"Class pack: {len(deals)} deals", pages, paper, size, chosen.title, fonts)


def pack(
    rules: str | Rules = "table",
    *,
    count: int = 30,
    start_seed: int = 1,
    rich_in: Sequence[str] = (),
    difficulty: Level | None = None,
    names: Sequence[str] = (),
    keys: bool = True,
    paper: str = "a4",
    size: str = "normal",
    letters: bool = False,
    fonts: Folders = (),
) -> Sheet:
    """A class pack of certified deals: each can be won, and its key is a shortest way.

    Args:
        rules: a rule set or its name.
        count: how many deals, 1 to 10,000.
        start_seed: look for deals from this seed on, 0 to 2**64 - 1.
        rich_in: facts that every deal practises, such as ``["5+8"]``; see :func:`certified`.
        difficulty: ``easy``, ``medium`` or ``hard``; see :func:`certified`.
        names: whose sheets they are, in turn; at most ``count``.
        keys: whether the answer keys follow.
        paper, size, letters, fonts: as for :func:`deal_sheet`.

    Raises:
        InvalidDealError, RulesError, SheetError: bad input, named in the message.
    """
    chosen = rule_set(rules)
    check_count(count)
    _layout(chosen, paper, size)
    if len(names) > count:
        raise SheetError(f"{len(names)} names, but only {count} deals")
    Deal.from_seed(start_seed, chosen.target)
    found = named(islice(certified(chosen, start_seed, rich_in, difficulty), count), names)
    return class_pack(found, chosen, keys=keys, paper=paper, size=size, letters=letters, fonts=fonts)


def every_deal(rules: Rules, start_seed: int) -> Iterator[PackDeal]:
    """The deal of every seed from ``start_seed`` on, whether it can be won or not."""
    for seed in range(start_seed, SEED_LIMIT):
        yield PackDeal(Deal.from_seed(seed, rules.target))


def certified(
    rules: Rules, start_seed: int, rich_in: Iterable[str] = (), difficulty: Level | None = None
) -> Iterator[PackDeal]:
    """The deals that can be won, from ``start_seed`` on, each with the line of its answer key.

    Args:
        rules: the rule set.
        start_seed: the first seed to look at.
        rich_in: facts such as ``5+8``: the line of each deal makes every one of them at least
            :data:`~pyramid_lab.solver.RICH` times.
        difficulty: only deals of this level, as :func:`~pyramid_lab.solver.difficulty` measures it (some tenths of a
            second a deal); each deal then says its level.

    Raises:
        SheetError: a fact that is none of the target's, or :data:`LONGEST_LOOK` seeds in a row gave no such deal.
    """
    wanted = [read_fact(fact, rules.target) for fact in rich_in]
    looked = 0
    for item in every_deal(rules, start_seed):
        answer = solved(item.deal, rules)
        if isinstance(answer, Winnable) and _is_rich(answer.line, wanted):
            level = _level(item.deal, rules, answer.line) if difficulty else None
            if level == difficulty:
                looked = 0
                yield replace(item, line=answer.line, shortest=answer.shortest, level=level or "")
                continue
        looked += 1
        if looked == LONGEST_LOOK:
            what = f" rich in {' and '.join(rich_in)}" if wanted else ""
            hard = f"{difficulty} " if difficulty else ""
            raise SheetError(f"no {hard}deal{what} that can be won in {LONGEST_LOOK:,} seeds: ask for less")


def _level(deal: Deal, rules: Rules, line: tuple[Move, ...]) -> Level:
    return measured_difficulty(Position.start(rules, deal), line=line).level


def _is_rich(line: Sequence[Move], wanted: Sequence[Fact]) -> bool:
    made = Counter(tuple(sorted(card.value for card in move.cards)) for move in line)
    return all(made[fact] >= RICH for fact in wanted)


def named(deals: Iterable[PackDeal], names: Iterable[str]) -> list[PackDeal]:
    """The deals with a child's name each, as far as the names go."""
    return [replace(item, name=name) for item, name in zip(deals, chain(names, repeat("")), strict=False)]


LONGEST_LOOK: Final = 20_000
"""So many seeds without a fitting deal end the search for one."""
FILE_LIMIT: Final = 1_000
"""A longer pack comes in several files: a file of some thousand pages asks much of a reader and of the memory."""
PACK_LIMIT: Final = 10_000


def check_count(count: int) -> None:
    """Refuse a number of deals that no class needs.

    Raises:
        SheetError: fewer than 1 or more than 10,000.
    """
    if not 1 <= count <= PACK_LIMIT:
        raise SheetError(f"a pack holds 1 to {PACK_LIMIT:,} deals, not {count:,}")


@dataclass(frozen=True, slots=True)
class _Layout:
    card: float
    strip: float
    gap: float
    stock_card: float
    order_size: float
    break_stock: bool


def _layout(rules: Rules, paper: str, size: str) -> _Layout:
    sides = paper_named(paper)
    if size not in SIZES:
        raise SheetError(f"no size {size!r}; a deal sheet is {' or '.join(SIZES)}")
    large = size == "large"
    width, height = (sides.height, sides.width) if large else (sides.width, sides.height)
    strip, rest = (_LARGE_STRIP, _LARGE_REST) if large else (_NORMAL_STRIP, _NORMAL_REST)
    by_width = (width - _FRAME_X - (rules.rows - 1) * _GAP) / rules.rows
    by_height = (height - _FRAME_Y - rest) / ((rules.rows - 1) * strip + _HEIGHT)
    card = round(min(by_width, by_height, 40.0 if large else _NORMAL_CARD), 2)
    return _Layout(card, round(card * strip, 2), _GAP, 27.0 if large else 14.0, 12 if large else 9.5, large)


def _sheet_of_pages(title: str, pages: list[dict[str, Any]], paper: str, size: str, note: str, fonts: Folders) -> Sheet:
    return Sheet(
        title,
        "deals",
        {"note": note, "first_page": 1, "pages": pages},
        paper_named(paper),
        landscape=size == "large",
        fonts=font_folders(fonts),
    )


def font_folders(folders: Folders) -> tuple[Path, ...]:
    """Folders of fonts as paths.

    Raises:
        SheetError: one is not there.
    """
    found = tuple(Path(folder) for folder in folders)
    for folder in found:
        if not folder.is_dir():
            raise SheetError(f"there is no folder of fonts at {folder}")
    return found


def _title(kind: str, deal: Deal, rules: Rules) -> str:
    return f"{kind}: {_note(deal, rules)}"


def _note(deal: Deal, rules: Rules) -> str:
    """The deal's code; where it has none, what is known of it: rules of a tutor's own have no code."""
    if code := code_of(deal, rules):
        return code
    changed = "" if RULE_SETS.get(rules.name) == rules else ", changed rules"
    return f"{rules.title}{changed}" + ("" if deal.seed is None else f", seed {deal.seed}")


def _deal_page(deal: Deal, rules: Rules, name: str, layout: _Layout, letters: bool) -> dict[str, Any]:
    cards = [card.text for card in deal]
    rows = []
    for row in range(1, rules.rows + 1):
        first = row * (row - 1) // 2
        rows.append(f"row {row}: " + ", ".join(card.name for card in deal.cards[first : first + row]))
    stock = deal.cards[rules.n_pyramid :]
    # Of rules without a code, all has to be said: the page is all there is.
    told = rules.describe()[1:3] if RULE_SETS.get(rules.name) == rules else rules.describe()
    return {
        "kind": "deal",
        "title": _title("Deal", deal, rules),
        "name": name,
        "lines": [f"{rules.title}. " + " ".join(told)],
        "cards": cards,
        "n_pyramid": rules.n_pyramid,
        "rows": rules.rows,
        "card": layout.card,
        "strip": layout.strip,
        "gap": layout.gap,
        "stock_card": layout.stock_card,
        "order_size": layout.order_size,
        "break_stock": layout.break_stock,
        "letters": letters,
        "draw": rules.draw,
        "pyramid_alt": f"The pyramid, face up, from the top. {'; '.join(rows)}.",
        "stock_title": f"The stock: {len(stock)} cards, face down, number 1 on top"
        + (f"; turned {rules.draw} at a time" if rules.draw > 1 else ""),
        "stock_alt": "The stock in drawing order: "
        + ", ".join(f"{place} {card.name}" for place, card in enumerate(stock, start=1))
        + ".",
        "code": code_of(deal, rules),
        "text": deal.text,
    }


def _where(place: Place, piles: int) -> str:
    if place.kind == "pyramid":
        return f"row {place.row}, card {place.column}"
    if place.kind == "stock":
        return "stock"
    return f"pile {place.pile}" if piles > 1 else "waste"


def _key_page(deal: Deal, rules: Rules, line: Sequence[Move], shortest: bool) -> dict[str, Any]:
    title = _title("Answer key", deal, rules)
    position = Position.start(rules, deal)
    steps: list[dict[str, Any]] = []
    draws = 0
    for number, move in enumerate(line, start=1):
        try:
            position.check(move)
        except IllegalMoveError as error:
            raise SheetError(f"{title}: step {number} of the line, {move.label}, cannot be played: {error}") from None
        if move.kind is MoveKind.DRAW:
            draws += 1
            if number == len(line) or line[number].kind is not MoveKind.DRAW:
                steps.append({"cards": [], "text": _turn(draws, rules.draw), "place": "", "ways": ""})
                draws = 0
        elif move.kind is MoveKind.REDEAL:
            steps.append({"cards": [], "text": "Turn the waste over", "place": "", "ways": ""})
        else:
            ways = len(position.legal_discards())
            places = " and ".join(_where(position.place(card), rules.piles) for card in move.cards)
            steps.append(
                {
                    "cards": [card.text for card in move.cards],
                    "place": places,
                    "ways": "" if ways == 1 else f"{ways} ways",
                }
            )
        position = position.play(move)
    if position.outcome is not Outcome.WON:
        raise SheetError(f"{title}: the line does not clear the pyramid; {position.pyramid_left} cards are left in it")
    for number, step in enumerate(steps, start=1):
        step["number"] = number
    discards = sum(move.kind is MoveKind.DISCARD for move in line)
    proof = "No shorter way exists." if shortest else "There may be a shorter way."
    return {
        "kind": "key",
        "title": title,
        "lines": [
            f"One way to clear the pyramid: {discards} discards, {len(line) - discards} turns of the stock. {proof}",
            "Rows count from the top, cards in a row from the left. Where more than one discard was possible, the last "
            "column says how many.",
        ],
        "steps": steps,
    }


def _no_key_page(deal: Deal, rules: Rules, answer: Answer, max_seconds: float) -> dict[str, Any]:
    if isinstance(answer, Unwinnable):
        words = (
            "No way clears this pyramid: every way was tried. Play it for the fewest cards left, "
            "or choose another deal for a win."
        )
    else:
        words = f"No way was found in {2 * max_seconds:g} seconds, and none was ruled out."
    return {"kind": "key", "title": _title("Answer key", deal, rules), "lines": [words], "steps": []}


def _turn(draws: int, at_a_time: int) -> str:
    if at_a_time > 1:
        return f"Turn {at_a_time} cards" + (f", {draws} times" if draws > 1 else "")
    return f"Turn {draws} cards" if draws > 1 else "Turn a card"


def _list_page(deals: Sequence[PackDeal], rules: Rules, keys: bool, first_number: int) -> dict[str, Any]:
    with_key = sum(bool(item.line) for item in deals) if keys else 0
    follow = {
        0: "",
        1: " The answer key of 1 deal follows the deals.",
    }.get(with_key, f" The answer keys of {with_key} deals follow the deals.")
    return {
        "kind": "list",
        "title": f"Class pack: {len(deals)} deals",
        "lines": [
            f"{rules.title}. " + " ".join(rules.describe()),
            f"The code of a deal opens the same deal on the screen.{follow}",
        ],
        "deals": [
            {"number": number, "code": code_of(item.deal, rules), "level": item.level, "name": item.name}
            for number, item in enumerate(deals, start=first_number)
        ],
    }
