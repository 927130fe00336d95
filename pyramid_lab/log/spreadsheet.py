"""Text that a spreadsheet leaves alone, and reading it back.

A cell that begins with ``=``, ``+``, ``-`` or ``@``, also after white space, may be taken for a formula; ``5-7``
becomes a date, ``007`` a 7, ``1e5`` a number, ``true`` a truth value. An apostrophe before it keeps it text (for
formulas: OWASP, "CSV Injection"). Numbers themselves are not touched, so that a score of -6 stays a number.
"""

from __future__ import annotations

import re
from typing import Final

_FORMULA: Final = "=+-@\t\r\n"
# Full-width signs count as formulas too, after a spreadsheet in an East Asian setting has folded them.
_FOLDED: Final = "＝＋－＠"
_GUARD: Final = "'"
_CHANGED: Final = re.compile(
    r"""\d{1,4}\s*[-/.:]\s*\d{1,2}(\s*[-/.:]\s*\d{1,4})?  # a date or a time of day
    |0\d[\d.,]*|\d{16,}|[\d.,]+e[+-]?\d+             # a number that would lose something
    |true|false""",
    re.IGNORECASE | re.VERBOSE,
)


def _live(text: str) -> bool:
    """Whether the text, without apostrophes before it, would be taken for something else."""
    bare = text.lstrip(_GUARD)
    if not bare:
        return False
    inner = bare.strip()
    return bare[0] in _FORMULA or inner[:1] in (*_FORMULA, *_FOLDED) or _CHANGED.fullmatch(inner) is not None


def neutralise(text: str) -> str:
    """The text with an apostrophe before it if a spreadsheet would change it; :func:`restore` takes it off again."""
    return _GUARD + text if _live(text) else text


def restore(text: str) -> str:
    """The text that :func:`neutralise` was given."""
    return text[1:] if text.startswith(_GUARD) and _live(text) else text
