"""How a progress bar is shown: in plain words, to people who teach."""

from __future__ import annotations

from typing import Final

PLAIN: Final = "{desc} {bar} {n_fmt} of {total_fmt}"
"""A bar without a speed or a time, which say nothing to a tutor and change all the while."""
