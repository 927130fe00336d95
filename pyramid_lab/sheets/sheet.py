"""A sheet: a Typst template with its data, made into a PDF or into pictures of its pages.

The templates and the type lie beside this module; nothing else of the machine is used, neither its fonts nor the
network. The same data give the same bytes, with one version of the ``typst`` package.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final, Literal, cast

from pyramid_lab.sheets.errors import SheetError
from pyramid_lab.sheets.paper import Paper

_ROOM: Final = Path(__file__).parent
_TEMPLATES: Final = _ROOM / "templates"
_FONTS: Final = _ROOM / "fonts"
_MISSING: Final = re.compile(r'the text `"(.+?)"` could not be displayed')

PREVIEW_PPI: Final = 60
"""Dots per inch of the pictures that a notebook shows."""
PREVIEW_PAGES: Final = 3
"""A notebook shows this many pages at most, and says how many more there are."""


@dataclass(frozen=True)
class Sheet:
    """Pages ready to be printed. In a notebook it shows itself; :meth:`save` writes the PDF.

    Attributes:
        title: the document's title.
        template: name of the Typst template.
        data: what the template prints; plain JSON values, lengths in mm.
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

    def pdf(self) -> bytes:
        """The PDF file (PDF/UA-1: tagged, titled, every picture described). The same sheet gives the same bytes.

        Raises:
            SheetError: a letter, for instance of a name, is in none of the fonts.
        """
        return cast(bytes, self._compile("pdf"))

    def pages(self, ppi: float = PREVIEW_PPI) -> list[bytes]:
        """A PNG picture of each page.

        Args:
            ppi: dots per inch.

        Raises:
            SheetError: as :meth:`pdf`.
        """
        made = self._compile("png", ppi)
        return made if isinstance(made, list) else [made]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the PDF. The file appears whole or not at all; a file that is there already is replaced.

        Returns:
            The path written.

        Raises:
            SheetError: the folder is missing or cannot be written, or as :meth:`pdf`.
        """
        place = writable(path)
        write_whole(place, self.pdf())
        return place

    def _compile(self, kind: Literal["pdf", "png"], ppi: float | None = None) -> bytes | list[bytes]:
        import typst

        fonts = typst.Fonts(
            include_system_fonts=False,
            include_embedded_fonts=False,
            font_paths=[str(_FONTS), *(str(folder) for folder in self.fonts)],
        )
        sides = (self.paper.width, self.paper.height)
        width, height = reversed(sides) if self.landscape else sides
        payload = {"title": self.title, "paper": {"width": width, "height": height}, **self.data}
        try:
            made = typst.Compiler(
                str(_TEMPLATES / f"{self.template}.typ"),
                root=str(_TEMPLATES),
                font_paths=fonts,
                sys_inputs={"data": json.dumps(payload, ensure_ascii=False)},
            ).compile(format=kind, ppi=ppi, pdf_standards="ua-1" if kind == "pdf" else [], timestamp=0)
        except typst.TypstError as error:
            missing = _MISSING.findall(error.diagnostic)
            if not missing:
                raise
            raise SheetError(
                f"the sheet's type has no letter for {', '.join(dict.fromkeys(missing))}; "
                "write it with other letters, or name a folder with a font that has them: fonts=[...] or --fonts"
            ) from None
        return cast("bytes | list[bytes]", made)

    def _repr_html_(self) -> str:
        pages = self.pages()
        shown = "".join(
            f'<img alt="{escape(self.title)}, page {number}" style="border:1px solid #999;margin:4px;max-width:100%" '
            f'src="data:image/png;base64,{b64encode(page).decode("ascii")}">'
            for number, page in enumerate(pages[:PREVIEW_PAGES], start=1)
        )
        more = len(pages) - PREVIEW_PAGES
        tail = f" First {PREVIEW_PAGES} of {len(pages)} pages." if more > 0 else ""
        return f"<div>{shown}<p>{escape(self.title)}.{tail} Save it to print: <code>.save('sheet.pdf')</code></p></div>"


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
