"""Paper: sizes by name, and the strip along the edges that a printer may not reach. All lengths are in millimetres."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pyramid_lab.sheets.errors import SheetError

MARGIN: Final = 8.0
"""Nothing is printed nearer to a paper's edge than this many millimetres."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A size of paper, upright.

    Attributes:
        name: ``"a4"``, ``"letter"``, ``"a3"`` or ``"tabloid"``.
        width: in mm, the shorter side.
        height: in mm, the longer side.
    """

    name: str
    width: float
    height: float


PAPERS: Final[Mapping[str, Paper]] = MappingProxyType(
    {
        paper.name: paper
        for paper in (
            # ISO 216 and ANSI/ASME Y14.1 (8.5 x 11 in and 11 x 17 in).
            Paper("a4", 210.0, 297.0),
            Paper("letter", 215.9, 279.4),
            Paper("a3", 297.0, 420.0),
            Paper("tabloid", 279.4, 431.8),
        )
    }
)
"""Every paper by name."""

DESK_PAPERS: Final = ("a4", "letter")
"""What an ordinary printer takes: every sheet comes in these; only mats come in the large ones too."""


def paper_named(name: str, among: tuple[str, ...] = DESK_PAPERS) -> Paper:
    """A paper by its name, in upper or lower case.

    Args:
        name: the name.
        among: the names that this sheet comes in.

    Raises:
        SheetError: the sheet does not come in this paper; the message lists those it does.
    """
    key = name.strip().lower() if isinstance(name, str) else name
    if key not in among:
        raise SheetError(f"no paper {name!r} for this sheet; it comes in {', '.join(among)}")
    return PAPERS[key]
