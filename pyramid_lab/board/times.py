"""From the page's readings to response times: whole milliseconds, or none with a reason; never zero, never negative."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

CLOCK_DRIFT_MS: Final = 2000
"""How far the page's wall clock may differ from its steady clock over one try. Beyond it the machine has slept or its
clock has been set, and no length of time can be believed."""

LONGEST_MS: Final = 24 * 3600 * 1000


class ResponseTimes(NamedTuple):
    """Times of one try, in whole ms, without the time away; ``None`` where they cannot be known.

    Attributes:
        rt_ms: from the position being ready to the try complete.
        rt_first_ms: from the position being ready to the first card.
        rt_second_ms: from the first card to the second.
        reason: why ``rt_ms`` is ``None``: ``no_start`` (no first painted frame was seen), ``after_mistake`` (the time
            began with the card that completed it), ``reshown`` (the position had been on screen before), ``clock``
            (readings that cannot be true).
    """

    rt_ms: int | None = None
    rt_first_ms: int | None = None
    rt_second_ms: int | None = None
    reason: str | None = None


def response_times(readings: Mapping[str, Any] | None) -> ResponseTimes:
    """Response times from the readings of a page.

    Args:
        readings: ``start`` (``shown``, ``select``, ``reshown`` or ``none``), ``t_shown``, ``t_first``, ``t_second``
            (ms of the page's steady clock, or ``None``), ``away_first_ms`` and ``away_second_ms`` (time away before
            and after the first card), ``wall_shown`` and ``wall_second`` (ms of the page's wall clock).
    """
    readings = readings or {}
    start = readings.get("start")
    shown, first, second = (_reading(readings.get(name)) for name in ("t_shown", "t_first", "t_second"))
    away_first = _reading(readings.get("away_first_ms")) or 0.0
    away_second = _reading(readings.get("away_second_ms")) or 0.0
    if second is None:
        return ResponseTimes(reason="no_start")
    rt_second = _span(first, second, away_second)
    if first is not None and rt_second is None:
        return ResponseTimes(reason="clock")
    if start == "select":
        # After a mistake the time runs from the next card chosen, so the search before it is not part of it.
        if shown is None or first is None:
            return ResponseTimes(rt_second_ms=rt_second, reason="after_mistake")
        return ResponseTimes(rt_second, None, rt_second)
    if start == "reshown":
        return ResponseTimes(rt_second_ms=rt_second, reason="reshown")
    if start != "shown" or shown is None:
        return ResponseTimes(rt_second_ms=rt_second, reason="no_start")
    rt_first = _span(shown, second if first is None else first, away_first)
    whole = _span(shown, second, away_first + away_second)
    if rt_first is None or whole is None or not _clocks_agree(readings, second - shown):
        return ResponseTimes(reason="clock")
    return ResponseTimes(whole, rt_first, rt_second)


def _reading(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _span(start: float | None, end: float, away: float) -> int | None:
    if start is None:
        return None
    length = round(end - start - away)
    return length if 0 < length <= LONGEST_MS else None


def _clocks_agree(readings: Mapping[str, Any], steady: float) -> bool:
    before, after = _reading(readings.get("wall_shown")), _reading(readings.get("wall_second"))
    if before is None or after is None:
        return True
    return abs((after - before) - steady) <= CLOCK_DRIFT_MS
