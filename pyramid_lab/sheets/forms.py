"""Sheets that a child writes on or reads from: the recording sheet and the rules card."""

from __future__ import annotations

from typing import Any, Final

from pyramid_lab.core.cards import Card, rank_label
from pyramid_lab.core.deal import Deal
from pyramid_lab.core.position import addend
from pyramid_lab.core.rules import UNLIMITED, Rules, rule_set
from pyramid_lab.sheets.deals import Folders, code_of, deal_for, font_folders
from pyramid_lab.sheets.errors import SheetError
from pyramid_lab.sheets.paper import paper_named
from pyramid_lab.sheets.sheet import Sheet

ROWS_LIMIT: Final = 60


def recording_sheet(
    paper: str = "a4",
    *,
    time: bool = False,
    rows: int = 30,
    deal: Deal | int | str | None = None,
    rules: str | Rules | None = None,
    name: str = "",
    fonts: Folders = (),
) -> Sheet:
    """Rows for the pairs of a table game: first card, second card, total, a tick, and the time if it is taken.

    The rows, typed into a CSV file, become attempts in the log again.

    Args:
        paper: ``"a4"`` or ``"letter"``.
        time: a column for the seconds a pair took.
        rows: 1 to 60.
        deal: the deal that is played, as for :func:`deal_sheet`; its code is printed. ``None`` leaves a line for it.
        rules: the rule set or its name.
        name: whose sheet it is; empty leaves a line for it.
        fonts: folders with more fonts, if a name needs them.

    Raises:
        InvalidDealError, RulesError, SheetError: bad input, named in the message.
    """
    chosen = paper_named(paper)
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= ROWS_LIMIT:
        raise SheetError(f"a recording sheet has 1 to {ROWS_LIMIT} rows, not {rows!r}")
    code = ""
    if deal is not None:
        code = code_of(*deal_for(deal, rules))
    found = rule_set("table" if rules is None else rules) if deal is None else deal_for(deal, rules)[1]
    data: dict[str, Any] = {
        "time": time,
        "rows": rows,
        "name": name,
        "code": code,
        "rules": found.title if (deal is not None or rules is not None) else "",
        "target": found.target,
    }
    return Sheet("Recording sheet", "recording", data, chosen, fonts=font_folders(fonts))


def rules_card(rules: str | Rules = "table", paper: str = "a4") -> Sheet:
    """The rules for the child: a few words and a picture for each step, for one waste pile or three.

    Args:
        rules: a rule set or its name.
        paper: ``"a4"`` or ``"letter"``.

    Raises:
        RulesError, SheetError: bad input, named in the message.
    """
    found = rule_set(rules)
    chosen = paper_named(paper)
    target = found.target
    pairs = [[_card(low), _card(target - low)] for low in range(1, (target + 1) // 2)]
    if target % 2 == 0:
        pairs.append([f"{_card(target // 2)[0]}h", f"{_card(target // 2)[0]}s"])
    steps = [
        {
            "picture": "pyramid",
            "head": "Build",
            "text": f"Lay {found.rows} rows, from 1 card to {found.rows} cards. Each row covers half of the row above. "
            "Put the other cards face down: that is the stock.",
            "alt": f"A pyramid of {found.rows} rows of cards, with the stock beside it.",
        },
        {
            "picture": "pairs",
            "head": f"Make {target}",
            "text": f"Two free cards that make {target} go away together. {_alone(target)} goes alone. "
            "You choose: you need not take a pair.",
            "alt": "Pairs of cards: "
            + ", ".join(f"{addend(low)} and {addend(target - low)}" for low in range(1, target // 2 + 1))
            + f"; and {addend(target)} alone.",
        },
        {
            "picture": "free",
            "head": "Is it free?",
            "text": "A card is free when no card lies on it.",
            "alt": "Three cards: two side by side with a tick, free; one under both of them with a cross, covered.",
        },
        _turn_step(found),
        {
            "picture": "win",
            "head": "Win",
            "text": _end(found),
            "alt": "A star.",
        },
    ]
    data = {
        "rows": found.rows,
        "piles": found.piles,
        "pairs": pairs,
        "alone": _card(target),
        "values": [f"{rank_label(value)} is {value}" for value in (1, 11, 12, 13) if value <= target],
        "target": target,
        "steps": steps,
    }
    return Sheet(f"How to play: pairs to {target}", "rules", data, chosen)


def _card(value: int) -> str:
    return Card(value, "s").text


def _alone(target: int) -> str:
    return {10: "A 10", 11: "A jack", 12: "A queen", 13: "A king"}[target]


def _turn_step(rules: Rules) -> dict[str, str]:
    if rules.piles == 3:
        words = "Turn three cards, one on each pile, always in the same order. The top card of each pile is free" + (
            ", and two tops may go together." if rules.piles_pair else "."
        )
        alt = "The stock, face down, and an arrow to three piles, face up, numbered 1, 2, 3."
    else:
        number = {1: "one card", 2: "two cards", 3: "three cards"}[rules.draw]
        words = f"Turn {number} from the stock onto the waste. Only its top card is free."
        if rules.stock_top_in_play:
            words = (
                f"The top of the stock is free, and so is the top of the waste. Turn {number} from stock to waste "
                "when you like."
            )
        alt = "The stock, face down, and an arrow to the waste pile, face up."
    words += " Cards below come back when those on top have gone."
    return {"picture": "turn", "head": "Turn", "text": words, "alt": alt}


def _end(rules: Rules) -> str:
    win = "the pyramid is gone" if rules.win == "pyramid" else "every card is gone"
    if rules.redeals == UNLIMITED:
        again = "When the stock is empty, turn the waste over as often as you like."
    elif rules.redeals == 0:
        again = "When the stock is empty and no pair is left, count the cards in the pyramid."
    else:
        times = {1: "once", 2: "twice"}.get(int(rules.redeals), f"{rules.redeals} times")
        again = f"When the stock is empty, you may turn the waste over {times}."
    return f"You win when {win}. {again}"
