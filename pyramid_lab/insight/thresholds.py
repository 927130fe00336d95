"""Thresholds of the measures as data: the packaged ``thresholds.toml``, overlaid by a tutor's own file."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, get_type_hints


class ThresholdsError(ValueError):
    """A threshold that does not exist or cannot hold its value; the message names it and the mend."""


@dataclass(frozen=True, slots=True)
class Cleaning:
    shortest_ms: int
    longest_medians: float
    pause_s: float


@dataclass(frozen=True, slots=True)
class FactTime:
    min_discards: int
    min_kings: int
    last_tries: int
    huber_k: float
    search_s: float
    search_weight: float


@dataclass(frozen=True, slots=True)
class Bands:
    fast_s: float
    min_accuracy: float
    slow_s: float
    min_tries: int
    last_tries: int
    tries_per_game: float


@dataclass(frozen=True, slots=True)
class Counting:
    step_s: float
    min_facts: int


@dataclass(frozen=True, slots=True)
class Interval:
    level: float
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Growth:
    min_weeks: int
    min_tries: int
    last_weeks: int


@dataclass(frozen=True, slots=True)
class Errors:
    repeat_moves: int


@dataclass(frozen=True, slots=True)
class State:
    fast_probability: float
    min_tries: int
    last_tries: int
    levels: int
    levels_fast: int
    level_ratio: float
    quicker: float
    slower: float
    insight: float
    lapse: float
    spreads: tuple[float, ...]
    first_known: float
    first_any: float
    known_s: float
    known_spread: float
    count_from_s: float
    count_step_s: float
    count_spread: float
    right_fast: float
    right_slow: float


@dataclass(frozen=True, slots=True)
class Report:
    need_slow: float
    need_working: float
    need_few: float
    need_habit: float
    habit_times: int
    habit_share: float
    sit_beside: int
    smallest_group: int
    evidence_rows: int
    missed_share: float


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Every number that the measures compare with; what each means stands beside it in ``thresholds.toml``."""

    cleaning: Cleaning
    fact_time: FactTime
    bands: Bands
    counting: Counting
    interval: Interval
    growth: Growth
    errors: Errors
    state: State
    report: Report

    @classmethod
    def default(cls) -> Thresholds:
        """The thresholds that come with Pyramid Lab."""
        return _default()

    @classmethod
    def from_toml(cls, path: Path) -> Thresholds:
        """A tutor's thresholds: the defaults, with the keys of a TOML file in their place.

        Raises:
            ThresholdsError: the file is no TOML, or a key is unknown or holds what it cannot hold.
            OSError: the file cannot be read.
        """
        try:
            return cls.default().with_changes(tomllib.loads(path.read_text(encoding="utf-8-sig")))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ThresholdsError(f"{path.name} cannot be read as TOML: {error}") from error

    def with_changes(self, changes: Mapping[str, Mapping[str, Any]]) -> Thresholds:
        """A copy with some values changed, such as ``{"bands": {"fast_s": 1.5}}``.

        Raises:
            ThresholdsError: a section or key is unknown, or a value is of the wrong kind or out of range.
        """
        sections: dict[str, Any] = {}
        for name, values in changes.items():
            if name not in _SECTIONS:
                raise ThresholdsError(f"there is no section [{name}]{_meant(name, _SECTIONS)}")
            if not isinstance(values, Mapping):
                raise ThresholdsError(f"{name} is a section, written [{name}], not a value")
            sections[name] = _section(_SECTIONS[name], name, values, getattr(self, name))
        return dataclasses.replace(self, **sections)._checked()

    def _checked(self) -> Thresholds:
        if self.bands.slow_s < self.bands.fast_s:
            raise ThresholdsError(
                f"bands.slow_s ({self.bands.slow_s}) cannot lie below bands.fast_s ({self.bands.fast_s})"
            )
        if not 0 < self.interval.level < 1:
            raise ThresholdsError(f"interval.level lies between 0 and 1, not {self.interval.level}")
        if not 1 <= self.state.levels_fast < self.state.levels:
            raise ThresholdsError(f"state.levels_fast is 1 to {self.state.levels - 1}")
        if self.state.level_ratio <= 1:
            raise ThresholdsError("state.level_ratio is more than 1")
        for name in _SHARES:
            section, key = name.split(".")
            value = getattr(getattr(self, section), key)
            if not 0 <= value <= 1:
                raise ThresholdsError(f"{name} is a share from 0 to 1, not {value}")
        for total in (("quicker", "slower"), ("first_known", "first_any")):
            if sum(getattr(self.state, key) for key in total) > 1:
                raise ThresholdsError(f"state.{total[0]} and state.{total[1]} are more than 1 together")
        return self


_SECTIONS: dict[str, Any] = get_type_hints(Thresholds)
_SHARES = (
    "bands.min_accuracy", "state.fast_probability", "state.quicker", "state.slower", "state.insight", "state.lapse",
    "state.first_known", "state.first_any", "report.missed_share", "report.habit_share",
    "state.right_fast", "state.right_slow",
)  # fmt: skip
# These may be nought: a chance that is switched off, a weight that holds nothing, a seed.
_MAY_BE_ZERO = frozenset(
    {
        "quicker",
        "slower",
        "insight",
        "lapse",
        "first_known",
        "first_any",
        "search_weight",
        "search_s",
        "seed",
        "need_slow",
        "need_working",
    }
) | {"need_few", "need_habit", "min_kings", "shortest_ms", "min_accuracy", "fast_probability"}


@cache
def _default() -> Thresholds:
    text = files("pyramid_lab.insight").joinpath("thresholds.toml").read_text(encoding="utf-8")
    values = tomllib.loads(text)
    sections = {name: _section(kind, name, values[name], None) for name, kind in _SECTIONS.items()}
    return Thresholds(**sections)._checked()


def _section(kind: Any, section: str, values: Mapping[str, Any], base: Any) -> Any:
    hints = get_type_hints(kind)
    fields = {} if base is None else {key: getattr(base, key) for key in hints}
    for key, value in values.items():
        if key not in hints:
            raise ThresholdsError(f"[{section}] has no key {key}{_meant(key, hints)}")
        fields[key] = _value(f"{section}.{key}", hints[key], value)
    return kind(**fields)


def _value(name: str, kind: Any, value: Any) -> Any:
    if kind == tuple[float, ...]:
        if not isinstance(value, (list, tuple)) or not value:
            raise ThresholdsError(f"{name} is a list of numbers, not {value!r}")
        return tuple(_value(name, float, item) for item in value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ThresholdsError(f"{name} is a number, not {value!r}")
    if kind is int and not float(value).is_integer():
        raise ThresholdsError(f"{name} is a whole number, not {value!r}")
    if not 0 <= value < 1e9 or (value == 0 and name.split(".")[1] not in _MAY_BE_ZERO):
        raise ThresholdsError(f"{name} is a number above 0, not {value!r}")
    return kind(value)


def _meant(word: str, known: Mapping[str, Any]) -> str:
    close = get_close_matches(word, known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(known)}"
