"""Rule sets as data: one frozen record of values, and the named ones in ``rules.toml``."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

UNLIMITED: Final = "unlimited"
MOST_REDEALS: Final = 999
"""More passes than any game has moves for; a larger number is a slip of the pen."""
NO_FLOOR: Final = "none"
Redeals = int | Literal["unlimited"]


class RulesError(ValueError):
    """An unknown rule set or field, or fields that cannot go together; the message names them and the mend."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """How points are counted. Every number is added at its occasion; a penalty is a negative number.

    Attributes:
        start_per_card: for each card of the pack, at the start (Par begins at minus 52).
        card: a card discarded.
        match: a discard, whether a pair or a card alone.
        pyramid_card: a card discarded from the pyramid.
        row_bonus: a row of the pyramid emptied, the bottom row first.
        redeal: a redeal.
        floor: the score never falls below it; ``None`` for no floor.
        clear: the pyramid cleared, by the pass in which it happens; the last number holds for later passes.
        clear_per_card_left: the pyramid cleared, for each card left in stock and waste.
    """

    start_per_card: int = 0
    card: int = 0
    match: int = 0
    pyramid_card: int = 0
    row_bonus: tuple[int, ...] = ()
    redeal: int = 0
    floor: int | None = None
    clear: tuple[int, ...] = ()
    clear_per_card_left: int = 0


@dataclass(frozen=True, slots=True)
class Rules:
    """One rule set: a plain record of values, checked when it is made.

    Attributes:
        name: the name in ``rules.toml``, or that of the rule set it was made from with ``+`` added.
        title: the name for people.
        source: where the rules are written down.
        rows: rows of the pyramid, 3 to 7.
        target: what a pair totals, 10 to 13; the pack is cut to the values 1 to target; a card equal to it goes alone.
        draw: cards turned at a time, 1 to 3.
        piles: waste piles: 1, or 3 (then one card of each draw goes on each, in the same order all game).
        redeals: how often the waste may be turned over: 0, 1, 2 ... up to :data:`MOST_REDEALS`, or ``"unlimited"``.
        stock_top_in_play: the stock's top card lies face up and may be discarded.
        stock_waste_pair: the stock's top and the waste's top may go together.
        piles_pair: the tops of two waste piles may go together.
        coverer_pairs: a card may go together with the one card that still covers it.
        win: ``"pyramid"``: the pyramid is empty; ``"all"``: stock and waste are empty too.
        useful_redeal: a redeal counts as a way on only if it brings back at least this many cards.
        combo: whether discards in a row are counted; a draw ends the combo.
        scoring: the points.

    Raises:
        RulesError: a value is out of range, or two fields cannot go together.
    """

    name: str
    title: str = ""
    source: str = ""
    rows: int = 7
    target: int = 13
    draw: int = 1
    piles: int = 1
    redeals: Redeals = 0
    stock_top_in_play: bool = False
    stock_waste_pair: bool = False
    piles_pair: bool = False
    coverer_pairs: bool = False
    win: Literal["pyramid", "all"] = "pyramid"
    useful_redeal: int = 1
    combo: bool = False
    scoring: Scoring = field(default_factory=Scoring)

    def __post_init__(self) -> None:
        _whole("rows", self.rows, 3, 7)
        _whole("target", self.target, 10, 13)
        _whole("draw", self.draw, 1, 3)
        _whole("useful_redeal", self.useful_redeal, 1, None)
        for name in ("stock_top_in_play", "stock_waste_pair", "piles_pair", "coverer_pairs", "combo"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise RulesError(f"{name} is true or false, not {value!r}")
        if isinstance(self.piles, bool) or self.piles not in (1, 3):
            raise RulesError(f"piles is 1 or 3, not {self.piles!r}")
        if self.redeals != UNLIMITED:
            _whole("redeals", self.redeals, 0, MOST_REDEALS, UNLIMITED)
        if self.win not in ("pyramid", "all"):
            raise RulesError(f"win is 'pyramid' or 'all', not {self.win!r}")
        self._check_together()
        if len(self.scoring.row_bonus) not in (0, 7):
            raise RulesError(
                f"scoring.row_bonus needs 7 numbers, the bottom row first, or none; not {len(self.scoring.row_bonus)}"
            )

    def _check_together(self) -> None:
        if self.piles == 3:
            if self.draw != 3:
                raise RulesError(f"piles = 3 needs draw = 3: one card for each pile; draw is {self.draw}")
            if self.redeals != 0:
                raise RulesError(
                    f"piles = 3 needs redeals = 0: three piles have no order to turn over; redeals is {self.redeals!r}"
                )
            if self.stock_top_in_play:
                raise RulesError(
                    "piles = 3 does not go with stock_top_in_play: a discard from the stock would shift which card "
                    "goes on which pile"
                )
        elif self.piles_pair:
            raise RulesError("piles_pair needs piles = 3: with one waste pile there are no two tops to pair")
        if self.stock_waste_pair and not self.stock_top_in_play:
            raise RulesError("stock_waste_pair needs stock_top_in_play: the stock's top card is face down")

    @property
    def n_pyramid(self) -> int:
        """Cards in the pyramid: 1 + 2 + ... + rows."""
        return self.rows * (self.rows + 1) // 2

    @property
    def pack_size(self) -> int:
        """Cards in the pack: 4 suits of ``target`` values."""
        return 4 * self.target

    def replace(self, **changes: Any) -> Rules:
        """These rules with some fields changed; ``scoring`` may be a mapping that overlays the present scoring.

        Raises:
            RulesError: an unknown field, or values that cannot go together.
        """
        return Rules.from_dict({"base": self, **changes})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Rules:
        """Make rules from a mapping of field names, over a base.

        Args:
            values: fields of :class:`Rules`. ``base`` is the name of a rule set (or a :class:`Rules`) that gives the
                other fields; without it they have the defaults of ``rules.toml``. ``scoring`` is a mapping of fields of
                :class:`Scoring`; its ``floor`` may be ``"none"``.

        Raises:
            RulesError: an unknown key or an impossible value, by name.
        """
        changes = dict(values)
        base = changes.pop("base", None)
        if base is None:
            start = Rules(name="custom", title="Custom")
        elif isinstance(base, Rules):
            start = base
        else:
            start = rule_set(base)
        known = [item.name for item in dataclasses.fields(cls)]
        for key in changes:
            if key not in known:
                raise RulesError(f"unknown rule {key!r}{_nearest(key, known)}; the rules are {', '.join(known)}")
        if "scoring" in changes:
            changes["scoring"] = _scoring(start.scoring, changes["scoring"])
        made = dataclasses.replace(start, **changes)
        if base is not None and "name" not in changes and made != start:
            made = dataclasses.replace(made, name=start.name.removesuffix("+") + "+")
        return made

    def to_dict(self) -> dict[str, Any]:
        """Every field as plain JSON values; :meth:`from_dict` reads it back."""
        values = dataclasses.asdict(self)
        scoring = values["scoring"]
        scoring["row_bonus"] = list(scoring["row_bonus"])
        scoring["clear"] = list(scoring["clear"])
        scoring["floor"] = NO_FLOOR if scoring["floor"] is None else scoring["floor"]
        return values

    def describe(self) -> list[str]:
        """The rules in plain sentences, made from the fields themselves, so that they cannot say something else."""
        alone = {10: "a 10", 11: "a jack", 12: "a queen", 13: "a king"}[self.target]
        lines = [
            f"{self.n_pyramid} cards in {self.rows} rows; {self.pack_size - self.n_pyramid} in the stock.",
            f"Pairs that total {self.target} go; {alone} goes alone.",
            {1: "One card is turned", 2: "Two cards are turned", 3: "Three cards are turned"}[self.draw]
            + (" at a time, one on each of three piles." if self.piles == 3 else " at a time, to one waste pile."),
        ]
        if self.piles == 3:
            lines.append("The tops of the piles are in play" + (", also with each other." if self.piles_pair else "."))
        elif self.stock_top_in_play:
            lines.append(
                "The stock's top card and the waste's top card are in play"
                + (", also with each other." if self.stock_waste_pair else ", but not with each other.")
            )
        else:
            lines.append("The waste's top card is in play; the stock's is not.")
        if self.redeals == UNLIMITED:
            lines.append("The waste may be turned over as often as you like.")
        else:
            count = {
                0: "is never turned over",
                1: "may be turned over once",
                2: "may be turned over twice",
            }.get(self.redeals, f"may be turned over {self.redeals} times")
            lines.append(f"The waste {count}: {_passes(self.redeals + 1)} through the stock.")
        if self.coverer_pairs:
            lines.append("A card may go together with the one card that still covers it.")
        lines.append(
            "You win when the pyramid is empty."
            if self.win == "pyramid"
            else "You win when pyramid, stock and waste are all empty."
        )
        lines.extend(_describe_scoring(self.scoring))
        if self.combo:
            lines.append("Discards in a row make a combo; drawing a card ends it.")
        return lines


def _whole(name: str, value: object, low: int, high: int | None, word: str | None = None) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low or (high is not None and value > high):
        span = f"from {low} on" if high is None else f"from {low} to {high}"
        span += f", or {word!r}," if word else ","
        raise RulesError(f"{name} is a whole number {span} not {value!r}")


def _nearest(word: str, known: list[str], prefix: str = "") -> str:
    from difflib import get_close_matches  # only a slip needs it

    found = get_close_matches(str(word), known, n=1)
    return f" (did you mean {prefix + found[0]!r}?)" if found else ""


def _scoring(start: Scoring, values: object) -> Scoring:
    if isinstance(values, Scoring):
        return values
    if not isinstance(values, Mapping):
        raise RulesError(f"scoring is a table of points, not {values!r}")
    known = [item.name for item in dataclasses.fields(Scoring)]
    changes: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise RulesError(
                f"unknown rule 'scoring.{key}'{_nearest(key, known, 'scoring.')}; the points are {', '.join(known)}"
            )
        if key in ("row_bonus", "clear"):
            if not isinstance(value, (list, tuple)):
                raise RulesError(f"scoring.{key} is a list of whole numbers, not {value!r}")
            for number in value:
                _whole(f"each number of scoring.{key}", number, -1_000_000, 1_000_000)
            changes[key] = tuple(value)
        elif key == "floor" and (value is None or value == NO_FLOOR):
            changes[key] = None
        else:
            _whole(f"scoring.{key}", value, -1_000_000, 1_000_000)
            changes[key] = value
    return dataclasses.replace(start, **changes)


def _passes(count: int) -> str:
    return "one pass" if count == 1 else f"{count} passes"


def _points(count: int) -> str:
    return "1 point" if count == 1 else f"{count} points"


def _describe_scoring(scoring: Scoring) -> list[str]:
    lines = []
    if scoring.start_per_card:
        lines.append(f"The score starts at {_points(scoring.start_per_card)} for each card of the pack.")
    if scoring.card:
        lines.append(f"Each card discarded scores {_points(scoring.card)}.")
    if scoring.match:
        lines.append(f"Each discard, a pair or a card alone, scores {_points(scoring.match)}.")
    if scoring.pyramid_card:
        lines.append(f"Each pyramid card discarded scores {_points(scoring.pyramid_card)}.")
    if scoring.row_bonus:
        lines.append(f"Emptying a row scores {', '.join(map(str, scoring.row_bonus))} from the bottom row up.")
    if scoring.redeal:
        lines.append(f"A redeal costs {_points(-scoring.redeal)}.")
    if scoring.floor is not None:
        lines.append(f"The score never falls below {scoring.floor}.")
    if scoring.clear:
        if len(scoring.clear) == 1:
            lines.append(f"Clearing the pyramid adds {scoring.clear[0]}.")
        else:
            lines.append(f"Clearing the pyramid adds {', '.join(map(str, scoring.clear))} by the pass it happens in.")
    if scoring.clear_per_card_left:
        lines.append(f"Clearing adds {scoring.clear_per_card_left} more for every card left in stock and waste.")
    if not lines:
        lines.append("No points: the cards left in the pyramid are counted.")
    return lines


def _load() -> dict[str, Rules]:
    tables = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
    default = Rules.from_dict({"name": "default", **tables.pop("default")})
    return {name: Rules.from_dict({"base": default, "name": name, **table}) for name, table in tables.items()}


RULE_SETS: Final[Mapping[str, Rules]] = MappingProxyType(_load())
"""The named rule sets, in the order of ``rules.toml``."""


def rule_set(name: str | Mapping[str, Any] | Rules) -> Rules:
    """Rules by name (``"classic"``), by mapping (``{"base": "classic", "redeals": 0}``), or as they are.

    Raises:
        RulesError: no rule set has this name, or the mapping has an unknown or impossible value.
    """
    if isinstance(name, Rules):
        return name
    if isinstance(name, Mapping):
        return Rules.from_dict(name)
    if not isinstance(name, str) or name not in RULE_SETS:
        raise RulesError(
            f"no rule set is called {name!r}{_nearest(str(name), list(RULE_SETS))}; there are {', '.join(RULE_SETS)}"
        )
    return RULE_SETS[name]
