from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pyramid_lab.insight import accuracy, clean, growth, own_times, rate, weekly
from pyramid_lab.insight.practice import _resampled_medians, _theil_sen, local_times, share_interval
from tests.insight.log_rows import Row


def test_a_share_has_the_interval_of_its_beta_posterior() -> None:
    # 8 of 8 with a flat prior is Beta(9, 1): its distribution function is x^9.
    mean, low, high = share_interval([8], [8])
    assert mean[0] == pytest.approx(0.9)
    assert low[0] == pytest.approx(0.05 ** (1 / 9))
    assert high[0] == pytest.approx(0.95 ** (1 / 9))


def test_accuracy_counts_right_and_wrong_and_nothing_else(row: Row) -> None:
    rows = [row(), row(), row(outcome="incorrect"), row(outcome="blocked"), row(fact="5+8", outcome="incorrect")]
    table = accuracy(clean(pd.DataFrame(rows))).set_index("fact")
    assert table.loc["4+9", ["n", "n_right"]].tolist() == [3, 2]
    assert table.loc["5+8", "share_right"] == 0.0
    assert 0 < table.loc["5+8", "mean"] < 0.5


def at(text: str) -> pd.Timestamp:
    return pd.Timestamp(text, tz="UTC")


def test_active_time_on_the_night_when_the_clocks_change_is_that_of_utc(row: Row) -> None:
    # 02:50 to 02:20 on the wall of Berlin, and half an hour all the same.
    moments = pd.date_range(at("2026-10-25 00:50"), at("2026-10-25 01:20"), freq="5s")
    table = rate(pd.DataFrame([row(t_utc=moment) for moment in moments]))
    assert table["active_min"].tolist() == pytest.approx([30.0])
    assert table["per_min"].tolist() == pytest.approx([len(moments) / 30])


def test_time_away_and_long_gaps_are_not_active(row: Row) -> None:
    start = at("2026-09-07 08:00")
    seconds = [(0, "deal"), (5, "attempt"), (8, "focus_lost"), (12, "focus_back"), (16, "attempt"), (76, "attempt")]
    rows = [row(kind, t_utc=start + pd.Timedelta(seconds=second)) for second, kind in seconds]
    # 5 + 3, the four seconds away left out, + 4, the minute left out.
    assert rate(pd.DataFrame(rows))["active_min"].tolist() == pytest.approx([12 / 60])


def test_one_event_has_no_rate(row: Row) -> None:
    table = rate(pd.DataFrame([row()]))
    assert table["active_min"].tolist() == [0.0]
    assert table["per_min"].isna().all()


def test_wall_clock_times_are_those_of_the_place() -> None:
    times = pd.Series([at("2026-07-01 12:00"), at("2026-01-01 12:00"), at("2026-01-01 12:00")])
    local = local_times(times, pd.Series(["Europe/Berlin", "Europe/Berlin", "Mars/Crater"], dtype=object))
    assert [moment.hour for moment in local] == [14, 13, 12]


def test_theil_sen_and_its_resamples_agree_with_scipy() -> None:
    rng = np.random.default_rng(3)
    weeks = np.array([0.0, 1, 2, 4, 7])
    values = rng.normal(size=(20, 5))
    # Not above: it takes a second to load, which only one worker need spend.
    from scipy import stats

    expected = [stats.theilslopes(one, weeks).slope for one in values]
    assert _theil_sen(weeks, values) == pytest.approx(expected)


@pytest.mark.parametrize("n", [3, 4, 9, 10])
def test_resampled_medians_are_those_of_resamples(n: int) -> None:
    rng = np.random.default_rng(8)
    values = rng.normal(size=n)
    drawn = np.median(rng.choice(values, (40_000, n)), axis=1)
    # The group stands between two others, of which nothing may be seen.
    others = np.full(3, 99.0)
    ordered = np.concatenate([others, np.sort(values), others])
    quick = _resampled_medians(ordered, np.array([0, 3, 3 + n]), np.array([3, n, 3]), 40_000, rng)[1]
    shares = [0.05, 0.25, 0.5, 0.75, 0.95]
    cuts = np.quantile(drawn, shares) + 1e-9
    assert [(quick <= cut).mean() for cut in cuts] == pytest.approx([(drawn <= cut).mean() for cut in cuts], abs=0.02)


def practised(row: Row, weekly_factor: float, weeks: int = 5) -> pd.DataFrame:
    """A student whose time for 5+8 changes by a factor each week, Kings and other pairs unchanged."""
    rng = np.random.default_rng(1)
    rows = []
    for week in range(weeks):
        moment = at("2026-09-07 08:00") + pd.Timedelta(weeks=week)
        rows.append(row("draw", t_utc=moment, game_id=f"g{week}"))
        for turn in range(8):
            for fact, own in (("5+8", 3.0 * weekly_factor**week), ("4+9", 1.5), ("K", 0.0)):
                seconds = 1.0 + own * float(np.exp(rng.normal(0, 0.1)))
                moment += pd.Timedelta(seconds=6)
                rows.append(
                    row(fact=fact, t_utc=moment, game_id=f"g{week}", rt_ms=round(1000 * seconds), n_exposed=turn + 2,
                        n_legal_cards=turn + 2)
                )  # fmt: skip
    return own_times(clean(pd.DataFrame(rows)))


def test_growth_is_claimed_only_where_the_interval_leaves_out_no_change(row: Row) -> None:
    table = growth(practised(row, 0.8)).set_index("fact")
    assert table.loc["5+8", "reading"] == "quicker"
    assert table.loc["5+8", "change"] == pytest.approx(-0.2, abs=0.05)
    assert table.loc["5+8", "low"] <= table.loc["5+8", "change"] <= table.loc["5+8", "high"] < 0
    assert table.loc["4+9", "reading"] == "no clear change"
    assert "K" not in table.index


def test_two_weeks_are_too_few(row: Row) -> None:
    table = growth(practised(row, 0.8, weeks=2))
    assert table["reading"].eq("too few weeks").all()
    assert table["change"].isna().all()


def test_weeks_begin_on_monday(row: Row) -> None:
    table = weekly(practised(row, 1.0, weeks=3))
    assert table["week"].dt.day_name().eq("Monday").all()
    assert table[table["fact"] == "5+8"]["n"].tolist()[1:] == [8, 8]
