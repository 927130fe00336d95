"""The press: a Typst template and its data in, a PDF or pictures out.

Only the templates and the type beside this module are used: not the machine's fonts, not the network.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast

from pyramid_lab.sheets.errors import SheetError

_ROOM: Final = Path(__file__).parent
TEMPLATES: Final = _ROOM / "templates"
FONTS: Final = _ROOM / "fonts"
_MISSING: Final = re.compile(r'the text `"(.+?)"` could not be displayed')


def press(
    template: str,
    data: Mapping[str, Any],
    fonts: Sequence[Path] = (),
    kind: Literal["pdf", "png"] = "pdf",
    ppi: float | None = None,
) -> bytes | list[bytes]:
    """Compile a template with its data.

    Args:
        template: name of a file in ``templates/``, without its ending.
        data: plain JSON values.
        fonts: folders with fonts beside the sheets' own.
        kind: ``"pdf"`` (PDF/UA-1, the same bytes for the same data) or ``"png"``.
        ppi: dots per inch of a picture.

    Returns:
        The file; for ``"png"`` and more pages than one, a file for each.

    Raises:
        SheetError: a letter in the data is in none of the fonts.
    """
    import typst

    found = typst.Fonts(
        include_system_fonts=False,
        include_embedded_fonts=False,
        font_paths=[str(FONTS), *(str(folder) for folder in fonts)],
    )
    try:
        made = typst.Compiler(
            str(TEMPLATES / f"{template}.typ"),
            root=str(TEMPLATES),
            font_paths=found,
            sys_inputs={"data": json.dumps(data, ensure_ascii=False)},
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


def press_apart(template: str, data: Mapping[str, Any], fonts: Sequence[Path] = ()) -> bytes:
    """A PDF as :func:`press` makes it, pressed in a child process.

    Raises:
        SheetError: as :func:`press`.
        RuntimeError: the child process failed; the message is its own.
    """
    order = json.dumps({"template": template, "data": data, "fonts": [str(folder) for folder in fonts]})
    done = subprocess.run(
        [sys.executable, "-c", "from pyramid_lab.sheets import press; press.press_order()"],
        input=order.encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode == _REFUSED:
        raise SheetError(done.stderr.decode("utf-8"))
    if done.returncode != 0:
        raise RuntimeError(f"a part of the sheet could not be made: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout


def joined(parts: Iterable[bytes]) -> bytes:
    """One PDF from several that :func:`press` made, with their pages, bookmarks and one tree of tags."""
    import pikepdf

    waiting = iter(parts)
    whole = pikepdf.open(io.BytesIO(next(waiting)))
    tree = whole.Root.StructTreeRoot
    document = tree.K[0]
    bookmarks = _bookmarks(whole)
    for part in waiting:
        source = pikepdf.open(io.BytesIO(part))
        first_page = len(whole.pages)
        bookmarks += [(title, first_page + page) for title, page in _bookmarks(source)]
        whole.pages.extend(source.pages)
        # The pages were copied first, so the tags below point to those copies.
        tags = whole.copy_foreign(source.Root.StructTreeRoot)
        for element in tags.K[0].K:
            element.P = document
            document.K.append(element)
        # Each page holds a key into the tree of parents; the keys of this part go on where the last ones ended.
        first_key = int(tree.ParentTreeNextKey)
        keys = tags.ParentTree.Nums
        for place in range(0, len(keys), 2):
            tree.ParentTree.Nums.append(int(keys[place]) + first_key)
            tree.ParentTree.Nums.append(keys[place + 1])
        tree.ParentTreeNextKey = first_key + int(tags.ParentTreeNextKey)
        for page in list(whole.pages)[first_page:]:
            page.obj.StructParents = int(page.obj.StructParents) + first_key
    with whole.open_outline() as outline:
        outline.root[:] = [pikepdf.OutlineItem(title, page) for title, page in bookmarks]
    made = io.BytesIO()
    whole.save(made, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    return made.getvalue()


def _bookmarks(source: Any) -> list[tuple[str, int]]:
    """The outermost bookmarks: title and page, from 0."""
    places = {page.obj.objgen: number for number, page in enumerate(source.pages)}
    with source.open_outline() as outline:
        return [(str(item.title), places[item.destination[0].objgen]) for item in outline.root]


_REFUSED: Final = 3


def press_order() -> None:
    """The child's side of :func:`press_apart`: an order on the standard input, the PDF on the standard output."""
    order = json.loads(sys.stdin.buffer.read())
    try:
        made = press(order["template"], order["data"], [Path(folder) for folder in order["fonts"]])
    except SheetError as error:
        sys.stderr.buffer.write(str(error).encode())
        sys.exit(_REFUSED)
    sys.stdout.buffer.write(cast(bytes, made))
