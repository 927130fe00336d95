"""Events made by hand, for tests that do not need a game behind them."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from pyramid_lab.core.deal import Deal
from pyramid_lab.log.events import Event

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
DEAL = Deal.from_seed(7).text
NAMESPACE = uuid.UUID("11111111-2222-4333-8444-555555555555")


def made_event(index: int, event_type: str = "attempt", **fields: Any) -> Event:
    """Event number ``index`` of a game, one every two seconds; the same arguments give the same event."""
    game = fields.setdefault("game_id", "game-1")
    values: dict[str, Any] = {
        "event_id": str(uuid.uuid5(NAMESPACE, f"{game}/{index}")),
        "student_id": "s-anna",
        "session_id": "sit-1",
        "deal": DEAL,
        "rule_set": "classic",
        "event_index": index,
        "event_type": event_type,
        "t_utc": START + timedelta(seconds=2 * index),
        "tz": "Europe/Berlin",
        "app_version": "0.1.0",
        "source": "board",
    }
    if event_type == "attempt":
        values |= {
            "rt_ms": 1500, "rt_first_ms": 900, "rt_second_ms": 600, "clock": "browser",
            "first_card": "4c", "second_card": "9d", "first_place": "r7c1", "second_place": "waste",
            "value_a": 4, "value_b": 9, "total": 13, "outcome": "correct", "fact": "4+9",
            "n_exposed": 8, "n_legal": 1, "n_legal_cards": 2, "legal_facts": "4+9", "newly_exposed": 0,
            "best_newly_exposed": 0, "waste_top": "9d", "stock_left": 20, "redeals_left": 2, "score": -6,
            "input": "mouse", "assistance": "none",
        }  # fmt: skip
    return Event(**(values | fields))
