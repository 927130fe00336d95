"""The log as DataFrames: every row, the right types, the right sums."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyramid_lab.log import frames
from pyramid_lab.log.errors import DamagedLogError
from pyramid_lab.log.events import FIELDS, NUMBER_FIELDS
from pyramid_lab.log.store import Store
from tests.log.made_events import START, made_event

EVENT_SIGNS = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufffe\uffff")
DOCS = Path(__file__).parents[2] / "docs" / "log.md"


def test_attempts_have_the_documented_columns_and_types(filled: Store) -> None:
    table = frames.attempts(filled)
    assert list(table.columns) == list(frames.ATTEMPT_COLUMNS)
    assert len(table) == 9
    for name in set(NUMBER_FIELDS) & set(table.columns):
        assert table[name].dtype == pd.Int64Dtype(), name
    assert str(table["t_utc"].dtype) == "datetime64[ms, UTC]"
    assert table["first_move"].dtype == table["interrupted"].dtype == bool
    for name in ("outcome", "fact", "first_card", "class_name", "lesson", "rule_set"):
        assert isinstance(table[name].dtype, pd.CategoricalDtype), name
    for name in ("student_id", "session_id", "game_id"):
        assert isinstance(table[name].dtype, pd.StringDtype), name


def test_values_are_those_of_the_events(filled: Store) -> None:
    events = [event for event in filled.events() if event.event_type == "attempt"]
    table = frames.attempts(filled, columns=FIELDS)
    for name in FIELDS:
        values = [None if pd.isna(value) else value for value in table[name]]
        wanted = [getattr(event, name) for event in events]
        assert values == wanted, name
    row = frames.attempts(filled).iloc[0]
    assert (row["class_name"], row["lesson"]) == ("3a", "01")
    assert row["score"] == -6


def test_events_hold_all_types(filled: Store) -> None:
    table = frames.events(filled)
    assert list(table.columns) == list(FIELDS)
    assert len(table) == 21
    assert len(frames.events(filled, types=["draw", "hint"])) == 6


def test_compact_events_tell_the_same_with_the_deal_in_the_first_row_of_a_game(filled: Store) -> None:
    plain, compact = frames.events(filled), frames.events(filled, compact=True)
    first = compact["event_index"] == 0
    assert compact.loc[first, "deal"].tolist() == plain.loc[first, "deal"].tolist()
    assert compact.loc[~first, "deal"].isna().all()
    assert isinstance(compact["student_id"].dtype, pd.CategoricalDtype)
    rest = plain.columns.drop("deal")
    same = compact[rest].astype(plain[rest].dtypes.to_dict())
    pd.testing.assert_frame_equal(same, plain[rest], check_categorical=False)


@pytest.mark.parametrize("frame", [frames.attempts, frames.events, frames.games, frames.sessions, frames.students])
def test_an_empty_log_gives_an_empty_frame_of_the_same_kind(store: Store, frame: Callable[..., pd.DataFrame]) -> None:
    empty = frame(store)
    assert len(empty) == 0
    store.append(made_event(0, "deal"))
    store.append(made_event(1))
    full = frame(store)
    assert list(full.columns) == list(empty.columns)
    kinds = [[type(kind) for kind in table.dtypes] for table in (empty, full)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        ({"student": "s-anna"}, 6),
        ({"student": ["s-anna", "s-ben"]}, 9),
        ({"student": []}, 0),
        ({"class_name": "3b"}, 3),
        ({"class_name": "9z"}, 0),
        ({"lesson": "01"}, 6),
        ({"lesson": "01", "student": "s-anna"}, 3),
        ({"since": "2026-03-02"}, 9),
        ({"since": date(2026, 3, 3)}, 0),
        ({"until": "2026-03-02", "tz": "Europe/Berlin"}, 0),
        ({"since": "2026-03-02T09:00:03", "tz": "Europe/Berlin"}, 6),
        ({"since": START + timedelta(seconds=3), "until": START + timedelta(seconds=7)}, 3),
    ],
)
def test_filters(filled: Store, choice: dict[str, Any], count: int) -> None:
    assert len(frames.attempts(filled, **choice)) == count
    assert frames.games(filled, **choice)["n_attempts"].sum() == count


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"since": "yesterday"}, "'yesterday' is no date; write it as 2026-11-30"),
        ({"since": "2026-01-01", "tz": "Mars/Olympus"}, "no time zone"),
        ({"columns": ["rt"]}, "no column is called 'rt'"),
    ],
)
def test_a_choice_that_cannot_be(filled: Store, choice: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        frames.attempts(filled, **choice)


def write(store: Store, kinds: list[tuple[str, dict[str, Any]]]) -> None:
    for index, (kind, fields) in enumerate(kinds):
        store.append(made_event(index, kind, **fields))


def test_first_moves_and_interruptions(store: Store) -> None:
    wrong, right = {"outcome": "incorrect"}, {"outcome": "correct"}
    write(
        store,
        [
            ("deal", {}),
            ("attempt", wrong),  # nothing has moved since the deal
            ("attempt", right),  # still so: a wrong try moves nothing
            ("attempt", right),
            ("focus_lost", {}),
            ("focus_back", {}),
            ("attempt", wrong),  # the position was out of sight
            ("attempt", right),  # the same position, so this one too
            ("attempt", right),
            ("draw", {}),
            ("pause", {}),
            ("resume", {}),
            ("draw", {}),
            ("attempt", right),  # a new position since the pause
            ("deal", {}),
            ("attempt", right),
        ],
    )
    table = frames.attempts(store)
    assert table["first_move"].tolist() == [True, True, False, False, False, False, False, True]
    assert table["interrupted"].tolist() == [False, False, False, True, True, False, False, False]


def test_what_happened_in_one_game_does_not_touch_another(store: Store) -> None:
    store.append(made_event(0, "deal", game_id="a"))
    store.append(made_event(1, "focus_lost", game_id="a"))
    store.append(made_event(2, game_id="b"))
    table = frames.attempts(store)
    assert table[["first_move", "interrupted"]].values.tolist() == [[True, False]]


def test_games_add_up(filled: Store) -> None:
    filled.append(made_event(0, "deal", game_id="open", student_id="s-ben", score=0))
    filled.append(made_event(1, game_id="open", student_id="s-ben", outcome="blocked", score=-3))
    games = frames.games(filled).set_index("game_id")
    won = games.loc["game-sit-2"]
    assert won["outcome"] == "won"
    assert (won["n_events"], won["n_attempts"], won["n_correct"], won["n_incorrect"], won["n_blocked"]) == (
        7,
        3,
        2,
        1,
        0,
    )
    assert (won["n_draws"], won["n_hints"], won["n_undos"]) == (1, 1, 0)
    assert (won["lesson"], won["class_name"], won["student_id"]) == ("02", "3a", "s-anna")
    assert won["wall_ms"] == won["active_ms"] == 12_000
    assert won["deal"] == made_event(0).deal
    still = games.loc["open"]
    assert pd.isna(still["outcome"])
    assert (still["score"], still["n_blocked"]) == (-3, 1)


def test_time_out_of_sight_is_not_active_time(store: Store) -> None:
    hidden = START + timedelta(minutes=18)
    write(
        store,
        [
            ("deal", {"t_utc": START}),
            ("focus_lost", {"t_utc": START}),
            ("focus_back", {"t_utc": hidden}),
            ("attempt", {"t_utc": hidden + timedelta(seconds=5)}),
        ],
    )
    game = frames.games(store).iloc[0]
    assert game["active_ms"] == 5_000
    assert game["wall_ms"] == 1_085_000


def test_a_game_through_the_night_when_the_clocks_change(store: Store) -> None:
    # In Berlin 02:50 summer time to 02:20 winter time: half an hour.
    begun = datetime(2026, 10, 25, 0, 50, tzinfo=UTC)
    for index in range(31):
        store.append(made_event(index, t_utc=begun + timedelta(minutes=index)))
    game = frames.games(store).iloc[0]
    assert game["wall_ms"] == game["active_ms"] == 30 * 60_000
    assert frames.sessions(store).iloc[0]["wall_ms"] == 30 * 60_000


def test_a_clock_set_back_makes_no_negative_time(store: Store) -> None:
    for index, seconds in enumerate((0, 10, -3600, -3595)):
        store.append(made_event(index, t_utc=START + timedelta(seconds=seconds)))
    assert frames.games(store).iloc[0]["active_ms"] == 15_000


def test_sittings_and_students_add_up(filled: Store) -> None:
    filled.put_students({"s-new": "3b"})
    sittings = frames.sessions(filled).set_index("session_id")
    assert sittings["n_games"].tolist() == [1, 1, 1]
    assert sittings.loc["sit-2", "lesson"] == "02"
    people = frames.students(filled).set_index("student_id")
    assert people.loc["s-anna", ["n_sessions", "n_games", "n_attempts", "n_correct"]].tolist() == [2, 2, 6, 4]
    assert people.loc["s-new", "n_attempts"] == 0
    assert pd.isna(people.loc["s-new", "last_seen"])
    assert people.loc["s-ben", "class_name"] == "3b"
    assert list(frames.students(filled, class_name="3b")["student_id"]) == ["s-ben", "s-new"]


def test_facts_come_in_the_order_in_which_they_are_taught(store: Store) -> None:
    for index, fact in enumerate(["K", "6+7", "A+Q", "3+10"]):
        store.append(made_event(index, fact=fact))
    assert list(frames.attempts(store)["fact"].cat.categories) == ["A+Q", "3+10", "6+7", "K"]


@pytest.mark.parametrize("student", ["NA", "null", "None", "nan", "True", "1e5", "007", "7", "-", "s-ö'b\"%s\\"])
def test_ids_that_look_like_something_else_stay_as_they_are(store: Store, student: str) -> None:
    store.append(made_event(0, student_id=student))
    assert frames.attempts(store)["student_id"].tolist() == [student]
    assert frames.attempts(store, student=student)["student_id"].tolist() == [student]
    assert frames.students(store)["student_id"].tolist() == [student]


@settings(max_examples=20)
@given(text=st.text(EVENT_SIGNS, min_size=1, max_size=30))
def test_any_text_comes_through(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("texts") / "log.sqlite3"
    with Store(place) as store:
        store.append(made_event(0, assistance=text, student_id=text, rule_set=text))
        row = frames.attempts(store).iloc[0]
    assert (row["assistance"], row["student_id"], row["rule_set"]) == (text, text, text)


def test_blocks_join_without_a_seam(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for index in range(25):
        store.append(made_event(index, assistance=None if index < 12 else f"help {index}"))
    whole = frames.attempts(store)
    monkeypatch.setattr(frames, "_BLOCK", 4)
    assert frames.attempts(store).equals(whole)
    assert whole["event_index"].tolist() == list(range(25))


def test_a_row_that_another_program_broke_is_named(store: Store) -> None:
    store.append(made_event(0))
    with store.transaction() as connection:
        connection.exec_driver_sql("UPDATE events SET assistance = 'two' || char(10) || 'lines'")
    with pytest.raises(DamagedLogError, match="a row of the log cannot be read"):
        frames.attempts(store)


def test_any_database_can_be_read_without_its_own_fast_way(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = frames.attempts(filled), frames.games(filled)
    monkeypatch.setattr(filled.engine.dialect, "name", "other")
    monkeypatch.setattr(filled.engine.dialect, "driver", "other")
    assert frames.attempts(filled).equals(fast[0])
    assert frames.games(filled).equals(fast[1])


def test_the_documentation_names_every_column_and_no_other(filled: Store) -> None:
    text = DOCS.read_text(encoding="utf-8")
    for title, table in {
        "attempts": frames.attempts(filled),
        "games": frames.games(filled),
        "sessions": frames.sessions(filled),
        "students": frames.students(filled),
    }.items():
        part = text.split(f"### `{title}`", 1)[1].split("\n### ", 1)[0].split("\n## ", 1)[0]
        documented = [line.split("|")[1].strip(" `") for line in part.splitlines() if line.startswith("| `")]
        assert documented == list(table.columns), title
