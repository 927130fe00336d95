"""Pictures for children who do not read yet, such as 'two fish': told apart by shape and number, not by colour."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Final
from xml.sax.saxutils import quoteattr

_SHAPES: Final = tuple(tomllib.loads(files(__package__).joinpath("pictures.toml").read_text(encoding="utf-8"))["shape"])
_NUMBERS: Final = ("one", "two", "three")
# Left, top and scale of each copy in the box of 48 by 48.
_LAYOUTS: Final = (
    ((6, 6, 1.5),),
    ((1, 3, 0.95), (24, 22, 0.95)),
    ((12, 1, 0.95), (1, 25, 0.95), (24, 25, 0.95)),
)

PICTURES: Final = len(_SHAPES) * len(_NUMBERS)
"""How many different pictures there are."""


def picture_name(number: int) -> str:
    """What a picture shows: ``two fish``; after :data:`PICTURES` the same again with a letter: ``two fish B``."""
    round_, shape, count = _split(number)
    name = _SHAPES[shape]["plural" if count else "name"]
    letter = f" {chr(ord('A') + round_)}" if round_ else ""
    return f"{_NUMBERS[count]} {name}{letter}"


def picture_svg(number: int) -> str:
    """A picture as an SVG element with its name for those who cannot see it."""
    round_, shape, count = _split(number)
    drawing, colour = _SHAPES[shape]["drawing"], _SHAPES[shape]["colour"]
    copies = "".join(
        f'<g transform="translate({left} {top}) scale({scale})">{drawing}</g>' for left, top, scale in _LAYOUTS[count]
    )
    letter = ""
    if round_:
        sign = chr(ord("A") + round_)
        letter = f'<text x="2" y="14" font-size="13" font-weight="bold" fill="#1a202c">{sign}</text>'
    name = quoteattr(picture_name(number))
    return f'<svg viewBox="0 0 48 48" role="img" aria-label={name} fill="{colour}">{copies}{letter}</svg>'


def _split(number: int) -> tuple[int, int, int]:
    # Neighbours on a class list get different shapes.
    round_, rest = divmod(number, PICTURES)
    count, shape = divmod(rest, len(_SHAPES))
    return round_, shape, count
