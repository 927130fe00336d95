"""Is the log sound? Damage, gaps, impossible times, rows that wait: what was found and what to do about it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

import sqlalchemy as sa

from pyramid_lab.core.deal import Deal, InvalidDealError
from pyramid_lab.core.rules import RulesError
from pyramid_lab.log import schema
from pyramid_lab.log.events import EVENT_TYPES, rules_of
from pyramid_lab.log.store import Store

Severity = Literal["error", "warning", "note"]

LONGEST_TRY: Final = timedelta(hours=2)
"""A response time above this cannot be one child's thinking."""

_SHOWN: Final = 3
_TIME_SHAPE: Final = "____-__-__T__:__:__.___Z"
_AHEAD: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of thing that is wrong.

    Attributes:
        severity: ``error`` (something is lost or cannot be read), ``warning`` (measures may be wrong), ``note``.
        kind: a short name for programs: ``damage``, ``gap``, ``double_number``, ``time``, ``response_time``,
            ``deal``, ``rules``, ``type``, ``waiting``, ``refused``.
        found: what was found, with the first few places.
        mend: what to do.
        count: how many rows or games it touches.
    """

    severity: Severity
    kind: str
    found: str
    mend: str
    count: int = 1

    def __str__(self) -> str:
        return f"{self.severity}: {self.found}\n  {self.mend}"


def check(store: Store, now: datetime) -> list[Finding]:
    """Look through a log; nothing is changed.

    Args:
        store: an open store.
        now: the time, aware; events from after it cannot be.

    Returns:
        What was found, the worst first; empty for a sound log.

    Raises:
        StoreAwayError: the database cannot be reached.
        DamagedLogError: not even the schema can be read.
    """
    damage = list(_damage(store))
    found = list(damage)
    if not damage:
        found += [*_numbers(store), *_times(store, now), *_contents(store)]
    found += _waiting(store)
    order = ("error", "warning", "note")
    return sorted(found, key=lambda finding: order.index(finding.severity))


def _damage(store: Store) -> Iterator[Finding]:
    if store.path is None:
        return
    try:
        with closing(sqlite3.connect(store.path)) as connection:
            said = [row[0] for row in connection.execute("PRAGMA integrity_check(20)")]
    except sqlite3.DatabaseError as error:
        said = [str(error)]
    if said != ["ok"]:
        yield Finding(
            "error",
            "damage",
            f"{store.path} is damaged: {'; '.join(said[:_SHOWN])}",
            "Stop using it and keep it as it is. Put your newest backup in its place, or save what can be read into "
            f'a new file: sqlite3 "{store.path}" .recover | sqlite3 "{store.path.with_suffix(".saved.sqlite3")}"',
            len(said),
        )


def _listed(items: list[str]) -> str:
    more = len(items) - _SHOWN
    return ", ".join(items[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _numbers(store: Store) -> Iterator[Finding]:
    events = schema.events
    count, low, high = sa.func.count(), sa.func.min(events.c.event_index), sa.func.max(events.c.event_index)
    different = sa.func.count(sa.distinct(events.c.event_index))
    query = (
        sa.select(
            events.c.game_id, count.label("n"), different.label("different"), low.label("low"), high.label("high")
        )
        .group_by(events.c.game_id)
        .having((different != high + 1) | (count != different) | (low != 0))
    )
    with store.reading() as connection:
        games = connection.execute(query).all()
    gaps = [row for row in games if row.different != row.high + 1]
    doubles = [row for row in games if row.n != row.different]
    if gaps:
        shown = [f"game {row.game_id} ({row.different} of {row.high + 1} events)" for row in gaps]
        yield Finding(
            "error",
            "gap",
            f"events are missing in {_listed(shown)}",
            "Open the log again on the computer where the game was played: what waits in its outbox is written then. "
            "If the gap stays, the game cannot be replayed to its end; its other tries still count.",
            len(gaps),
        )
    if doubles:
        shown = [f"game {row.game_id}" for row in doubles]
        yield Finding(
            "warning",
            "double_number",
            f"two events have the same number in {_listed(shown)}",
            "The game was open in two windows or on two devices at once. Nothing is lost; leave these games out when "
            "you compare times.",
            len(doubles),
        )


def _times(store: Store, now: datetime) -> Iterator[Finding]:
    events = schema.events
    ahead = schema.time_text(now + _AHEAD)
    longest = int(LONGEST_TRY.total_seconds() * 1000)
    rt = [events.c.rt_ms, events.c.rt_first_ms, events.c.rt_second_ms]
    bad_rt = sa.or_(*(column < 0 for column in rt), *(column > longest for column in rt))
    parts = events.c.rt_first_ms + events.c.rt_second_ms
    readable = events.c.t_utc.like(_TIME_SHAPE)
    with store.reading() as connection:
        late = connection.execute(sa.select(events.c.seq).where(readable, events.c.t_utc > ahead)).scalars().all()
        unread = connection.execute(sa.select(events.c.seq).where(sa.not_(readable))).scalars().all()
        impossible = connection.execute(sa.select(events.c.seq).where(bad_rt)).scalars().all()
        unequal = (
            connection.execute(sa.select(events.c.seq).where(sa.func.abs(events.c.rt_ms - parts) > 50)).scalars().all()
        )
        back = _games_that_go_back(connection)
    if unread:
        yield Finding(
            "error", "time", f"{len(unread)} events have no readable time (row {_rows(unread)})",
            "They were not written by Pyramid Lab. Remove or mend them with an SQL tool, after a backup.", len(unread),
        )  # fmt: skip
    if late:
        yield Finding(
            "warning", "time", f"{len(late)} events are dated in the future (row {_rows(late)})",
            "A computer's clock was wrong. Set it; response times are right all the same, dates and growth are not.",
            len(late),
        )  # fmt: skip
    if back:
        yield Finding(
            "warning", "time", f"the clock was set back during {_listed([f'game {game}' for game in back])}",
            "Response times are right all the same (another clock measures them); how long the game took is not known.",
            len(back),
        )  # fmt: skip
    if impossible or unequal:
        rows = sorted({*impossible, *unequal})
        yield Finding(
            "warning", "response_time",
            f"{len(rows)} response times cannot be (negative, above {longest // 3_600_000} hours, or not the sum of "
            f"their parts; row {_rows(rows)})",
            "Leave them out of measures of speed. If they are many, say which program wrote them: this is a fault.",
            len(rows),
        )  # fmt: skip


def _rows(numbers: Iterable[int]) -> str:
    return _listed([str(number) for number in numbers])


def _games_that_go_back(connection: sa.Connection) -> list[str]:
    events = schema.events
    before = sa.func.lag(events.c.t_utc).over(partition_by=events.c.game_id, order_by=events.c.event_index)
    pairs = (
        sa.select(events.c.game_id, events.c.t_utc, before.label("before"))
        .where(events.c.t_utc.like(_TIME_SHAPE))
        .subquery()
    )
    query = sa.select(pairs.c.game_id).where(pairs.c.t_utc < pairs.c.before).distinct()
    return list(connection.execute(query).scalars())


def _contents(store: Store) -> Iterator[Finding]:
    events = schema.events
    with store.reading() as connection:
        deals = connection.execute(sa.select(events.c.deal, events.c.rule_set).distinct()).all()
        types = connection.execute(
            sa.select(events.c.event_type, sa.func.count())
            .where(events.c.event_type.not_in(EVENT_TYPES))
            .group_by(events.c.event_type)
        ).all()
    bad_deals, bad_rules = [], []
    targets: dict[str, int] = {}
    for text in sorted({row.rule_set for row in deals}):
        try:
            targets[text] = rules_of(text).target
        except (RulesError, json.JSONDecodeError):
            bad_rules.append(repr(text[:40]))
    for deal, rules in deals:
        try:
            Deal.from_text(deal, targets.get(rules, 13))
        except InvalidDealError:
            bad_deals.append(repr(deal[:20]))
    if bad_deals:
        yield Finding(
            "error", "deal", f"these deals are no deals: {_listed(bad_deals)}",
            "Their games cannot be replayed or taken up again; their tries still count.", len(bad_deals),
        )  # fmt: skip
    if bad_rules:
        yield Finding(
            "warning", "rules", f"these rule sets are not known: {_listed(bad_rules)}",
            "A newer version or another program wrote them. Their games cannot be replayed here.", len(bad_rules),
        )  # fmt: skip
    if types:
        shown = [f"{name} ({count})" for name, count in types]
        yield Finding(
            "warning", "type", f"these types of events are not known: {_listed(shown)}",
            "A newer version or another program wrote them. Measures leave them out.", len(types),
        )  # fmt: skip


def _waiting(store: Store) -> Iterator[Finding]:
    waiting, refused = store.waiting(), store.waiting(refused=True)
    if waiting:
        yield Finding(
            "warning", "waiting", f"{len(waiting)} entries wait on this computer and are not in the log yet",
            "They are written as soon as the log can be; open it again when the database is back.", len(waiting),
        )  # fmt: skip
    if refused:
        yield Finding(
            "error", "refused",
            f"the database did not accept {len(refused)} entries ({refused[0].refused})",
            "They are kept on this computer. Show the message to whoever looks after the database: often a right to "
            "write is missing.",
            len(refused),
        )  # fmt: skip
