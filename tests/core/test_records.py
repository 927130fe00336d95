"""Records stand apart for each rule set and redeal setting, and only a win can be fast or short."""

from pyramid_lab.core import Outcome, rule_set
from pyramid_lab.core.records import Record, record_key


def test_each_redeal_setting_keeps_its_own_records() -> None:
    keys = {record_key(rule_set({"base": "classic", "redeals": redeals})) for redeals in (0, 1, 2, "unlimited")}
    assert keys == {
        "classic, redeals 0",
        "classic, redeals 1",
        "classic, redeals 2",
        "classic, redeals unlimited",
    }


def test_a_changed_field_is_another_record() -> None:
    assert record_key(rule_set({"base": "classic", "rows": 4})) == "classic, rows 4, redeals 2"


def test_a_lost_game_counts_for_the_score_alone() -> None:
    record = Record().after(score=310, outcome=Outcome.LOST, moves=5, active_ms=1000)
    assert record == Record(best_score=310)


def test_the_better_of_two_wins_stands_figure_by_figure() -> None:
    record = Record().after(score=900, outcome=Outcome.WON, moves=60, active_ms=90_000)
    record = record.after(score=880, outcome=Outcome.WON, moves=55, active_ms=120_000)
    assert record == Record(best_score=900, fastest_win_ms=90_000, fewest_moves=55)


def test_a_win_without_a_clock_keeps_the_fastest_time() -> None:
    record = Record(900, 90_000, 60).after(score=905, outcome=Outcome.WON, moves=61, active_ms=None)
    assert record == Record(905, 90_000, 60)


def test_a_game_that_goes_on_changes_nothing() -> None:
    record = Record(10, 20, 30)
    assert record.after(score=999, outcome=Outcome.PLAYING, moves=1, active_ms=1) == record
