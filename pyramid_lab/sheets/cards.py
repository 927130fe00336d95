"""Cards to cut out, and the test sheet that shows how far a printer's second side is off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pyramid_lab.core.cards import SUITS, pack
from pyramid_lab.sheets.errors import SheetError
from pyramid_lab.sheets.paper import MARGIN, Paper, paper_named
from pyramid_lab.sheets.sheet import Sheet

CARD_WIDTH: Final = 63.5
"""Width of a full-size (poker) card in mm."""
CARD_HEIGHT: Final = 88.9
"""Height of a full-size card in mm."""
STYLES: Final = ("plain", "large", "words")
DUPLEX: Final = ("long-edge", "short-edge")
NARROWEST: Final = 30.0
OFFSET_LIMIT: Final = 3.0
"""A printer whose second side is further off than this, in mm, needs a mechanic."""

# Room above and below the cards for the crop marks and for the line with the ruler, in mm.
_STRIP: Final = 7.0
_WORDS: Final = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Grid:
    columns: int
    rows: int
    left: float
    top: float
    width: float
    height: float

    @property
    def size(self) -> int:
        return self.columns * self.rows


def _grid(paper: Paper, width: float) -> _Grid:
    if not isinstance(width, (int, float)) or not NARROWEST <= width <= CARD_WIDTH:
        raise SheetError(f"a card is {NARROWEST:g} to {CARD_WIDTH:g} mm wide, not {width!r}")
    height = width * CARD_HEIGHT / CARD_WIDTH
    columns = int((paper.width - 2 * MARGIN) // width)
    rows = int((paper.height - 2 * (MARGIN + _STRIP)) // height)
    return _Grid(columns, rows, (paper.width - columns * width) / 2, (paper.height - rows * height) / 2, width, height)


def _turned_over(place: int, grid: _Grid, duplex: str) -> int:
    """Where the back of the card at ``place`` lies on the second side of an upright sheet.

    Over the long edge left and right change places, over the short edge top and bottom do.
    """
    row, column = divmod(place, grid.columns)
    if duplex == "long-edge":
        return row * grid.columns + grid.columns - 1 - column
    return (grid.rows - 1 - row) * grid.columns + column


def _checked_duplex(duplex: str, offset: tuple[float, float]) -> None:
    if duplex not in DUPLEX:
        raise SheetError(f"no way of turning {duplex!r}; a sheet is turned over its {' or its '.join(DUPLEX)}")
    if len(offset) != 2 or not all(isinstance(part, (int, float)) and abs(part) <= OFFSET_LIMIT for part in offset):
        raise SheetError(f"an offset is two numbers of mm, right and down, up to {OFFSET_LIMIT:g} each, not {offset!r}")


def cards(
    paper: str = "a4",
    *,
    style: str = "plain",
    width: float = CARD_WIDTH,
    target: int = 13,
    letters: bool = False,
    backs: bool = True,
    duplex: str = "long-edge",
    offset: tuple[float, float] = (0.0, 0.0),
) -> Sheet:
    """A pack to cut out: 63.5 x 88.9 mm a card, fronts and backs on alternate pages.

    Args:
        paper: ``"a4"`` (nine cards a page) or ``"letter"`` (six).
        style: ``"plain"``; ``"large"``, one great index; ``"words"``, the value in words too, with J 11, Q 12, K 13.
        width: of a card in mm, 30 to 63.5; the height follows. Narrower cards fit a mat on desk paper.
        target: 10 to 13; the pack holds the values 1 to ``target``.
        letters: print C, D, H or S by the suit sign.
        backs: whether each page of fronts is followed by its backs.
        duplex: which edge the printer turns the sheet over: ``"long-edge"`` or ``"short-edge"``.
        offset: how far to move the backs, right and down, in mm, to meet the fronts.

    Raises:
        SheetError: bad input, named in the message.
    """
    chosen = paper_named(paper)
    if style not in STYLES:
        raise SheetError(f"no style {style!r}; cards come as {', '.join(STYLES)}")
    if target not in (10, 11, 12, 13):
        raise SheetError(f"a pack is for pairs to 10, 11, 12 or 13, not {target!r}")
    _checked_duplex(duplex, offset)
    grid = _grid(chosen, width)
    whole = sorted(pack(target), key=lambda card: (SUITS.index(card.suit), card.rank))
    pages: list[dict[str, Any]] = []
    for first in range(0, len(whole), grid.size):
        part = whole[first : first + grid.size]
        span = f"{part[0].label} to {part[-1].label}"
        pages.append(
            {
                "side": "front",
                "title": f"Cards {span}",
                "alt": "Cards to cut out, row by row: " + ", ".join(card.name for card in part) + ".",
                "places": [
                    {"at": place, "card": card.text, "word": _WORDS[card.value - 1], "value": str(card.value)}
                    for place, card in enumerate(part)
                ],
            }
        )
        if backs:
            pages.append(
                {
                    "side": "back",
                    "title": f"Backs of {span}",
                    "alt": f"Backs for {len(part)} cards, all alike: two small pyramids in a frame.",
                    "places": [{"at": _turned_over(place, grid, duplex)} for place in range(len(part))],
                }
            )
    return _sheet(f"Cards to cut out, {style}", chosen, grid, pages, offset, style, letters)


def duplex_test(paper: str = "a4", *, duplex: str = "long-edge", offset: tuple[float, float] = (0.0, 0.0)) -> Sheet:
    """One sheet to print on both sides before a whole pack: numbered places with crosses.

    Hold it to the light. Each number meets itself if ``duplex`` is right; how far the crosses miss is the offset to
    give to :func:`cards`.

    Args:
        paper, duplex, offset: as for :func:`cards`.

    Raises:
        SheetError: bad input, named in the message.
    """
    chosen = paper_named(paper)
    _checked_duplex(duplex, offset)
    grid = _grid(chosen, CARD_WIDTH)
    pages: list[dict[str, Any]] = [
        {
            "side": "test",
            "title": f"{side} of the test sheet",
            "alt": f"{grid.size} numbered places with a cross in each.",
            "places": [
                {"at": place if side == "Front" else _turned_over(place, grid, duplex), "label": f"{side} {place + 1}"}
                for place in range(grid.size)
            ],
        }
        for side in ("Front", "Back")
    ]
    return _sheet(f"Test sheet for two sides, {duplex}", chosen, grid, pages, offset, "plain", False)


def _sheet(
    title: str,
    paper: Paper,
    grid: _Grid,
    pages: list[dict[str, Any]],
    offset: tuple[float, float],
    style: str,
    letters: bool,
) -> Sheet:
    for page in pages:
        back = page["side"] == "back" or page["title"].startswith("Back")
        page["offset"] = list(offset) if back else [0, 0]
        for item in page["places"]:
            row, column = divmod(item.pop("at"), grid.columns)
            item["x"] = grid.left + column * grid.width
            item["y"] = grid.top + row * grid.height
    data = {
        "grid": {
            "columns": grid.columns,
            "rows": grid.rows,
            "left": grid.left,
            "top": grid.top,
            "width": grid.width,
            "height": grid.height,
        },
        "margin": MARGIN,
        "style": style,
        "letters": letters,
        "pages": pages,
    }
    return Sheet(title, "cards", data, paper)
