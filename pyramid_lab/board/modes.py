"""What a tutor chooses for one board: what is shown, what is asked, how it looks. A checked record of values."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Literal


class ModeError(ValueError):
    """An unknown mode, or a value it cannot have; the message names both and what is possible."""


@dataclass(frozen=True, slots=True)
class Modes:
    """How one board behaves and looks.

    Attributes:
        score: show the score; ``None``: where the rule set counts one.
        combo: show the combo; ``None``: where the rule set counts one.
        clock: show the time played. Off unless the tutor turns it on; it starts at the first move and rests in pauses.
        passes: show which pass through the stock this is.
        hints: a hint may be asked for.
        undo: moves may be taken back.
        ask: after the first card, ask what is missing: ``"type"`` it, ``"choose"`` it, or ``"off"``.
        say: after the first card, ask the child to say the fact aloud (nothing is typed).
        guided: dim the covered cards, so that the exposed ones stand out; off: a plain table.
        values: print the value on A, J, Q and K.
        retry: after a try that fails the first card stays chosen, so that only its partner is looked for again. Off
            unless the tutor turns it on: a child who goes on to another pair would have its first card tried with the
            old one, and one slip would be logged as several errors. With both cards put back a mistaken tap only
            chooses a card. A card whose missing number has been answered stays chosen either way.
        table: the tutor records a game that is played with real cards: logged as ``source=table``, ``clock=tutor``.
            Words are for the tutor, undo mends a wrong tap, and there are no hints.
        kings: ``"tap"`` them, or ``"auto"``: an exposed king goes by itself after a move.
        theme: ``"auto"`` (as the notebook), ``"light"`` or ``"dark"``.
        contrast: ``"auto"`` (as the system asks), ``"more"`` or ``"normal"``.
        four_colours: clubs green and diamonds blue, so that each suit has its own colour.
        motion: ``"auto"`` (short; none where the system asks for less), or ``"off"``.
        settings: the panel with which these can be changed on the board itself.
    """

    score: bool | None = None
    combo: bool | None = None
    clock: bool = False
    passes: bool = True
    hints: bool = True
    undo: bool = True
    ask: Literal["off", "type", "choose"] = "off"
    say: bool = False
    guided: bool = True
    values: bool = False
    retry: bool = False
    table: bool = False
    kings: Literal["tap", "auto"] = "tap"
    theme: Literal["auto", "light", "dark"] = "auto"
    contrast: Literal["auto", "more", "normal"] = "auto"
    four_colours: bool = False
    motion: Literal["auto", "off"] = "auto"
    settings: bool = True

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ModeError(f"{name} is one of {', '.join(map(repr, choices))}, not {getattr(self, name)!r}")
        for name in _SWITCHES:
            value = getattr(self, name)
            if not isinstance(value, bool) and not (value is None and name in ("score", "combo")):
                raise ModeError(f"{name} is True or False, not {value!r}")
        if self.table and self.kings == "auto":
            raise ModeError("table=True with kings='auto' would record kings that nobody took; leave kings at 'tap'")

    def changed(self, **changes: Any) -> Modes:
        """These modes with some changed.

        Raises:
            ModeError: an unknown mode, or a value it cannot have.
        """
        for name in changes:
            if name not in MODE_NAMES:
                near = get_close_matches(name, MODE_NAMES, n=1)
                meant = f" (did you mean {near[0]!r}?)" if near else ""
                raise ModeError(f"a board has no mode {name!r}{meant}; the modes are {', '.join(MODE_NAMES)}")
        return dataclasses.replace(self, **changes)


CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "ask": ("off", "type", "choose"),
    "kings": ("tap", "auto"),
    "theme": ("auto", "light", "dark"),
    "contrast": ("auto", "more", "normal"),
    "motion": ("auto", "off"),
}
MODE_NAMES: Final = tuple(item.name for item in dataclasses.fields(Modes))
_SWITCHES: Final = tuple(name for name in MODE_NAMES if name not in CHOICES)

PANEL: Final[dict[str, str]] = {
    "guided": "Dim covered cards",
    "values": "Values on A, J, Q, K",
    "four_colours": "Four colours",
    "score": "Show the score",
    "combo": "Show the combo",
    "passes": "Show the pass",
    "clock": "Show the time",
    "hints": "Allow hints",
    "undo": "Allow undo",
    "retry": "Keep the first card after a wrong pair",
    "say": "Say it aloud",
    "ask": "Ask for the missing number",
    "theme": "Light or dark",
    "contrast": "Contrast",
    "motion": "Motion",
}
"""What can be changed on the board while a game is on, in the order of the panel, with its label."""

CHOICE_LABELS: Final[dict[str, dict[str, str]]] = {
    "ask": {"off": "do not ask", "type": "typed", "choose": "chosen"},
    "theme": {"auto": "as the notebook", "light": "light", "dark": "dark"},
    "contrast": {"auto": "as the system", "more": "high", "normal": "normal"},
    "motion": {"auto": "short", "off": "none"},
}
