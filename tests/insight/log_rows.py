"""What the tests of this room share: the facts, and the type of the fixture that writes rows of a log by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Row = Callable[..., dict[str, Any]]

PAIRS = {"A+Q": (1, 12), "2+J": (2, 11), "3+10": (3, 10), "4+9": (4, 9), "5+8": (5, 8), "6+7": (6, 7)}
