"""Text that a spreadsheet leaves alone, and reading it back.

A cell that begins with ``=``, ``+``, ``-`` or ``@``, also after white space, may be taken for a formula. An apostrophe
before it keeps it text (OWASP, "CSV Injection"). Numbers are not touched, so that a score of -6 stays a number.
"""

from __future__ import annotations

from typing import Final

_FORMULA: Final = "=+-@\t\r\n"
# Full-width signs count as formulas too, after a spreadsheet in an East Asian setting has folded them.
_FOLDED: Final = "＝＋－＠"
_GUARD: Final = "'"


def _live(text: str) -> bool:
    """Whether the text, or what is left of it without apostrophes before it, could be taken for a formula."""
    bare = text.lstrip(_GUARD)
    return bool(bare) and (bare[0] in _FORMULA or bare.lstrip()[:1] in (*_FORMULA, *_FOLDED))


def neutralise(text: str) -> str:
    """The text with an apostrophe before it if it could be taken for a formula; :func:`restore` takes it off again."""
    return _GUARD + text if _live(text) else text


def restore(text: str) -> str:
    """The text that :func:`neutralise` was given."""
    return text[1:] if text.startswith(_GUARD) and _live(text) else text
