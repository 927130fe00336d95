"""What every command that runs one of Jupyter's servers does before it imports it."""

from __future__ import annotations

import sys


def start_sooner() -> None:
    """Leave out a grammar that Jupyter's imports would compile at every start, which takes longer than all the rest.

    ``jsonschema`` uses it, where it is installed, to check international web addresses; no page of ours has any. It
    does without when the package is missing, which is what this says.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None means: there is no such package
