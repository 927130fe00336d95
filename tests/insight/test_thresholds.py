from __future__ import annotations

from pathlib import Path

import pytest

from pyramid_lab.insight import Thresholds, ThresholdsError


def test_a_tutors_file_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[bands]\nfast_s = 1.5\n", encoding="utf-8")
    mine, usual = Thresholds.from_toml(file), Thresholds.default()
    assert mine.bands.fast_s == 1.5
    assert mine.bands.slow_s == usual.bands.slow_s == 2.0
    assert mine.with_changes({"bands": {"fast_s": 1.25}}) == usual


def test_bands_start_at_the_published_values() -> None:
    bands = Thresholds.default().bands
    assert (bands.fast_s, bands.slow_s, bands.min_accuracy, bands.min_tries) == (1.25, 2.0, 0.9, 8)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"bands": {"fats_s": 1.0}}, "fast_s"),
        ({"band": {}}, "bands"),
        ({"bands": 3}, "bands"),
        ({"bands": {"fast_s": "quick"}}, "bands.fast_s"),
        ({"bands": {"fast_s": 3.0}}, "bands.slow_s"),
        ({"bands": {"min_tries": 2.5}}, "bands.min_tries"),
        ({"bands": {"min_accuracy": 90}}, "bands.min_accuracy"),
        ({"bands": {"fast_s": -1}}, "bands.fast_s"),
        ({"bands": {"fast_s": float("nan")}}, "bands.fast_s"),
        ({"bands": {"min_tries": float("inf")}}, "bands.min_tries"),
        ({"interval": {"level": 1.0}}, "interval.level"),
        ({"state": {"spreads": []}}, "state.spreads"),
        ({"state": {"quicker": 0.9, "slower": 0.2}}, "state.quicker"),
        ({"state": {"levels_fast": 40}}, "state.levels_fast"),
    ],
)
def test_a_threshold_that_cannot_be_is_named(changes: dict[str, object], named: str) -> None:
    with pytest.raises(ThresholdsError, match=named):
        Thresholds.default().with_changes(changes)  # type: ignore[arg-type]


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("fast = ", encoding="utf-8")
    with pytest.raises(ThresholdsError, match=r"mine\.toml"):
        Thresholds.from_toml(file)
