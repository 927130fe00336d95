"""What the check finds, and that it finds nothing in a sound log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from pyramid_lab.log.check import Finding, check
from pyramid_lab.log.store import Store
from tests.log.made_events import START, made_event

NOW = START + timedelta(days=1)


NEGATIVE = "UPDATE events SET rt_ms = -4, rt_first_ms = NULL WHERE event_index = 1"


def change(statement: str) -> Callable[[Store], None]:
    def done(store: Store) -> None:
        with store.transaction() as connection:
            connection.exec_driver_sql(statement)

    return done


def test_a_sound_log(filled: Store) -> None:
    assert check(filled, NOW) == []


@pytest.mark.parametrize(
    ("spoil", "kind", "severity", "count"),
    [
        (change("DELETE FROM events WHERE event_index = 2 AND session_id <> 'sit-3'"), "gap", "error", 2),
        (change("DELETE FROM events WHERE event_index = 0 AND session_id = 'sit-3'"), "gap", "error", 1),
        (change("UPDATE events SET t_utc = '2027-01-01T00:00:00.000Z' WHERE event_type = 'end'"), "time", "warning", 3),
        (change("UPDATE events SET t_utc = '2026-03-01T00:00:00.000Z' WHERE event_index = 3"), "time", "warning", 3),
        (change("UPDATE events SET t_utc = 'noon' WHERE event_index = 6"), "time", "error", 3),
        (change(NEGATIVE), "response_time", "warning", 3),
        (change("UPDATE events SET rt_ms = 9000000 WHERE event_index = 1"), "response_time", "warning", 3),
        (change("UPDATE events SET rt_ms = 4000 WHERE seq = 2"), "response_time", "warning", 1),
        (change("UPDATE events SET deal = '6d 5h' WHERE seq = 1"), "deal", "error", 1),
        (change("UPDATE events SET rule_set = 'spider' WHERE seq = 1"), "rules", "warning", 1),
        (change("UPDATE events SET rule_set = '{broken' WHERE seq = 1"), "rules", "warning", 1),
        (change("UPDATE events SET event_type = 'sneeze' WHERE seq = 1"), "type", "warning", 1),
    ],
)
def test_each_fault_is_found(
    filled: Store, spoil: Callable[[Store], None], kind: str, severity: str, count: int
) -> None:
    spoil(filled)
    found = {finding.kind: finding for finding in check(filled, NOW)}
    assert (found[kind].severity, found[kind].count) == (severity, count)
    assert found[kind].mend
    assert str(found[kind]).startswith(f"{severity}: ")


def test_two_windows_on_one_game(filled: Store) -> None:
    filled.append(made_event(6, game_id="game-sit-1", event_id="00000000-0000-4000-8000-000000000001"))
    (finding,) = check(filled, NOW)
    assert (finding.kind, finding.severity) == ("double_number", "warning")
    assert "two windows" in finding.mend


def test_rules_that_are_written_out_are_known(store: Store) -> None:
    from pyramid_lab.core.deal import Deal
    from pyramid_lab.core.rules import rule_set
    from pyramid_lab.log.events import rules_text

    tens = rule_set("table").replace(target=10, rows=4)
    store.append(made_event(0, "deal", rule_set=rules_text(tens), deal=Deal.from_seed(3, 10).text))
    assert check(store, NOW) == []


def test_a_damaged_page_is_found_and_left_alone(place: Path) -> None:
    with Store(place) as store:
        for index in range(300):
            store.append(made_event(index))
    whole = bytearray(place.read_bytes())
    middle = len(whole) // 2 // 4096 * 4096
    whole[middle : middle + 4096] = b"\xa5" * 4096
    place.write_bytes(whole)
    with Store(place) as store:
        found = check(store, NOW)
    assert [(finding.kind, finding.severity) for finding in found] == [("damage", "error")]
    assert "backup" in found[0].mend
    assert place.read_bytes() == bytes(whole)


def test_what_waits_and_what_was_refused(place: Path, tmp_path: Path) -> None:
    Store(place).close()
    with Store(f"sqlite:///file:{place}?mode=ro&uri=true", outbox=tmp_path / "outbox", retry_s=1000) as store:
        store.append(made_event(0))
        waiting: list[Finding] = check(store, NOW)
        assert [(finding.kind, finding.severity) for finding in waiting] == [("waiting", "warning")]
