"""A sheet: pages ready to be printed, shown or saved."""

from __future__ import annotations

import os
import re
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any, Final, cast

from pyramid_lab.sheets.errors import SheetError
from pyramid_lab.sheets.paper import Paper
from pyramid_lab.sheets.press import joined, press, press_apart

PREVIEW_PPI: Final = 60
"""Dots per inch of the pictures that a notebook shows."""
PREVIEW_PAGES: Final = 3
"""A notebook shows this many pages at most, and says how many more there are."""

Progress = Callable[[int, int], None]
"""Called with the pages done and the pages in all."""

# Typst keeps every page in memory until the last is laid out, some megabytes each. Beyond the first number of pages a
# sheet is pressed in parts of the second number, each in a child process; see docs/sheets.md for the measurement.
_WHOLE_PAGES: Final = 150
_PART_PAGES: Final = 50


@dataclass(frozen=True)
class Sheet:
    """Pages ready to be printed. In a notebook it shows itself; :meth:`save` writes the PDF.

    Attributes:
        title: the document's title.
        template: name of the Typst template.
        data: what the template prints; plain JSON values, lengths in mm. A template whose data have a list ``pages``
            and a number ``first_page`` can be pressed in parts.
        paper: the paper of every page.
        landscape: whether the pages lie on their long side.
        fonts: folders with more fonts, for letters that the sheet's own type lacks.
    """

    title: str
    template: str
    data: Mapping[str, Any]
    paper: Paper
    landscape: bool = False
    fonts: tuple[Path, ...] = ()

    def pdf(self, progress: Progress | None = None) -> bytes:
        """The PDF file (PDF/UA-1: tagged, titled, every picture described). The same sheet gives the same bytes.

        Args:
            progress: called after each part of a long sheet.

        Raises:
            SheetError: a letter, for instance of a name, is in none of the fonts.
        """
        pages = self.data.get("pages", ())
        if "first_page" in self.data and len(pages) > _WHOLE_PAGES:
            return joined(self._parts(pages, progress))
        made = cast(bytes, press(self.template, self._payload(), self.fonts))
        if progress is not None:
            progress(len(pages), len(pages))
        return made

    def pages(self, ppi: float = PREVIEW_PPI) -> list[bytes]:
        """A PNG picture of each page.

        Args:
            ppi: dots per inch.

        Raises:
            SheetError: as :meth:`pdf`.
        """
        made = press(self.template, self._payload(), self.fonts, "png", ppi)
        return [made] if isinstance(made, bytes) else made

    def save(self, path: str | os.PathLike[str], progress: Progress | None = None) -> Path:
        """Write the PDF. The file appears whole or not at all; a file that is there already is replaced.

        Args:
            path: of the file.
            progress: as for :meth:`pdf`.

        Returns:
            The path written.

        Raises:
            SheetError: the folder is missing or cannot be written, or as :meth:`pdf`.
        """
        place = writable(path)
        write_whole(place, self.pdf(progress))
        return place

    def _payload(self) -> dict[str, Any]:
        sides = (self.paper.width, self.paper.height)
        width, height = reversed(sides) if self.landscape else sides
        return {"title": self.title, "paper": {"width": width, "height": height}, **self.data}

    def _parts(self, pages: list[Any], progress: Progress | None) -> Iterator[bytes]:
        import pikepdf

        payload = self._payload()
        for start in range(0, len(pages), _PART_PAGES):
            part = press_apart(self.template, {**payload, "pages": pages[start : start + _PART_PAGES]}, self.fonts)
            with pikepdf.open(BytesIO(part)) as made:
                payload["first_page"] += len(made.pages)
            if progress is not None:
                progress(min(start + _PART_PAGES, len(pages)), len(pages))
            yield part

    def _repr_html_(self) -> str:
        few = self
        total = len(self.data.get("pages", ()))
        if total > PREVIEW_PAGES:
            few = replace(self, data={**self.data, "pages": self.data["pages"][:PREVIEW_PAGES]})
        pages = few.pages()
        total = max(total, len(pages))
        shown = "".join(
            f'<img alt="{escape(self.title)}, page {number}" style="border:1px solid #999;margin:4px;max-width:100%" '
            f'src="data:image/png;base64,{b64encode(page).decode("ascii")}">'
            for number, page in enumerate(pages[:PREVIEW_PAGES], start=1)
        )
        tail = f" The first {PREVIEW_PAGES} of {total} pages." if total > PREVIEW_PAGES else ""
        if total > PREVIEW_PAGES:
            how = "To print it, put <code>.save('sheet.pdf')</code> behind the line above, and run the cell again."
        else:
            name = "-".join(re.findall(r"\w+", self.title.lower()))
            data = b64encode(self.pdf()).decode("ascii")
            how = (
                f'<a download="{name}.pdf" href="data:application/pdf;base64,{data}">Save it as a PDF</a>, to print it.'
            )
        return f"<div>{shown}<p>{escape(self.title)}.{tail} {how}</p></div>"


def writable(path: str | os.PathLike[str]) -> Path:
    """Make sure, before any work, that a file can be written here.

    Returns:
        The path.

    Raises:
        SheetError: the path is a folder, its folder is missing, or nothing can be written there.
    """
    place = Path(path)
    if place.is_dir():
        raise SheetError(f"{place} is a folder: name a file in it, such as {place / 'sheet.pdf'}")
    if not place.parent.is_dir():
        raise SheetError(f"there is no folder {place.parent}: make it first, or name another")
    try:
        with tempfile.TemporaryFile(dir=place.parent):
            pass
    except OSError as error:
        raise SheetError(f"cannot write in the folder {place.parent}: {error.strerror}") from None
    return place


def write_whole(place: Path, content: bytes) -> None:
    """Write a file under another name beside its place, then move it there: a reader never meets half of it.

    Raises:
        SheetError: the disk would not take it; whatever lay there before is untouched.
    """
    draft = place.with_name(f"{place.name}.{os.getpid()}.part")
    try:
        draft.write_bytes(content)
        draft.replace(place)
    except OSError as error:
        raise SheetError(f"cannot write {place}: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
