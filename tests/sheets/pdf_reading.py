"""What an independent reader (pypdf, pikepdf, Poppler) finds in a PDF. Lengths in mm from the upper left corner."""

from __future__ import annotations

import io
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Any

import pikepdf
import pypdf

MM = 25.4 / 72


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def is_about(self, other: Box, within: float = 0.1) -> bool:
        return all(
            abs(mine - theirs) <= within
            for mine, theirs in zip(
                (self.left, self.top, self.right, self.bottom),
                (other.left, other.top, other.right, other.bottom),
                strict=True,
            )
        )


@dataclass(frozen=True)
class Piece:
    """Text shown by one operator."""

    text: str
    size: float  # points
    left: float
    baseline: float


def reader(content: bytes) -> pypdf.PdfReader:
    return pypdf.PdfReader(io.BytesIO(content))


def page_sizes(content: bytes) -> list[tuple[float, float]]:
    """Width and height of each page in points."""
    return [(float(page.mediabox.width), float(page.mediabox.height)) for page in reader(content).pages]


@dataclass(frozen=True)
class Page:
    """Its sides in mm; the bounds of every path that is stroked or filled; every text, in the order of the file."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    pieces: tuple[Piece, ...]
    text: str


def read(page: pypdf.PageObject) -> Page:
    """Everything that is drawn and written on a page, in one walk over it: most of a test's time goes into these."""
    height = float(page.mediabox.height)
    boxes: list[Box] = []
    pieces: list[Piece] = []
    points: list[tuple[float, float]] = []

    def see(operator: bytes, operands: Any, cm: list[float], _tm: list[float]) -> None:
        def put(x: float, y: float) -> None:
            a, b, c, d, e, f = cm
            points.append(((a * x + c * y + e) * MM, (height - (b * x + d * y + f)) * MM))

        if operator in (b"m", b"l"):
            put(*map(float, operands))
        elif operator == b"c":
            values = [float(operand) for operand in operands]
            for at in range(0, 6, 2):
                put(values[at], values[at + 1])
        elif operator == b"re":
            x, y, w, h = map(float, operands)
            for corner in ((x, y), (x + w, y + h)):
                put(*corner)
        elif operator in (b"S", b"s", b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"):
            if points:
                xs, ys = zip(*points, strict=True)
                boxes.append(Box(min(xs), min(ys), max(xs), max(ys)))
            points.clear()
        elif operator == b"n":
            points.clear()

    def hear(text: str, cm: list[float], tm: list[float], _font: Any, size: float) -> None:
        if text.strip():
            scale = sqrt(abs((tm[0] * tm[3] - tm[1] * tm[2]) * (cm[0] * cm[3] - cm[1] * cm[2])))
            x = cm[0] * tm[4] + cm[2] * tm[5] + cm[4]
            y = cm[1] * tm[4] + cm[3] * tm[5] + cm[5]
            pieces.append(Piece(text.strip(), size * scale, x * MM, (height - y) * MM))

    text = page.extract_text(visitor_operand_before=see, visitor_text=hear)
    return Page(float(page.mediabox.width) * MM, height * MM, tuple(boxes), tuple(pieces), text)


def _text_by_poppler(content: bytes, *options: str) -> str:
    done = subprocess.run(["pdftotext", *options, "-", "-"], input=content, capture_output=True, check=True)
    return done.stdout.decode("utf-8")


def page_in_grey(content: bytes, page: int, ppi: int = 72) -> bytes:
    """Poppler's picture of a page in shades of grey, as PNG."""
    options = ["-r", str(ppi), "-gray", "-png", "-f", str(page), "-l", str(page)]
    return subprocess.run(["pdftoppm", *options, "-"], input=content, capture_output=True, check=True).stdout


@cache
def pages_of(content: bytes) -> tuple[Page, ...]:
    """Every page."""
    return tuple(read(page) for page in reader(content).pages)


def text_of(content: bytes, page: int | None = None) -> str:
    """Poppler's text in the order of the file."""
    span = () if page is None else ("-f", str(page), "-l", str(page))
    return _text_by_poppler(content, "-raw", *span)


def words_of(content: bytes) -> list[list[Box]]:
    """Poppler's bounds of every word of every page."""
    listing = _text_by_poppler(content, "-bbox")
    pattern = re.compile(r'<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)"')
    return [
        [Box(*(float(number) * MM for number in match)) for match in pattern.findall(page)]
        for page in listing.split("<page ")[1:]
    ]


def elements(content: bytes) -> list[tuple[str, str]]:
    """The tree of tags in reading order: each tag with its alternative text."""
    found: list[tuple[str, str]] = []

    def walk(element: Any) -> None:
        if isinstance(element, pikepdf.Array):
            for child in element:
                walk(child)
        elif isinstance(element, pikepdf.Dictionary) and "/S" in element:
            found.append((str(element.S)[1:], str(element.get("/Alt", ""))))
            walk(element.get("/K", pikepdf.Array()))

    with pikepdf.open(io.BytesIO(content)) as document:
        walk(document.Root.StructTreeRoot.K)
    return found


def pictures(content: bytes) -> list[str]:
    """The alternative text of every picture."""
    return [alt for tag, alt in elements(content) if tag == "Figure"]
