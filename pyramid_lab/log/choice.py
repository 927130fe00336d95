"""Which rows of a log are wanted: by student, class, lesson and date."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa

from pyramid_lab.log import schema


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rows are wanted.

    Attributes:
        students: pseudonyms.
        class_name: students who are in this class now.
        lesson: sittings at this lesson.
        since: from this moment on, as the tables keep times.
        until: before this moment.
        types: types of events.

    ``None`` leaves nothing out.
    """

    students: tuple[str, ...] | None = None
    class_name: str | None = None
    lesson: str | None = None
    since: str | None = None
    until: str | None = None
    types: tuple[str, ...] | None = None

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        """The choice as SQL conditions on ``events``."""
        events, sessions, students = schema.events, schema.sessions, schema.students
        found: list[sa.ColumnElement[bool]] = []
        if self.students is not None:
            found.append(events.c.student_id.in_(self.students))
        if self.class_name is not None:
            members = sa.select(students.c.student_id).where(students.c.class_name == self.class_name)
            found.append(events.c.student_id.in_(members))
        if self.lesson is not None:
            sittings = sa.select(sessions.c.session_id).where(sessions.c.lesson == self.lesson)
            found.append(events.c.session_id.in_(sittings))
        if self.since is not None:
            found.append(events.c.t_utc >= self.since)
        if self.until is not None:
            found.append(events.c.t_utc < self.until)
        if self.types is not None:
            found.append(events.c.event_type.in_(self.types))
        return found


def choose(
    student: str | Iterable[str] | None = None,
    class_name: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    lesson: str | None = None,
    tz: str | tzinfo = "UTC",
    types: Iterable[str] | None = None,
) -> Choice:
    """Make a :class:`Choice`; dates and times that name no zone are in ``tz``.

    Raises:
        ValueError: a date cannot be read, or there is no such zone.
    """
    try:
        zone = ZoneInfo(tz) if isinstance(tz, str) else tz
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueError(f"{tz!r} is no time zone; one is called Europe/Berlin") from None
    students = None if student is None else (student,) if isinstance(student, str) else tuple(student)
    return Choice(
        students,
        class_name,
        lesson,
        _moment(since, zone),
        _moment(until, zone),
        None if types is None else tuple(types),
    )


def _moment(when: date | str | None, zone: tzinfo) -> str | None:
    if when is None:
        return None
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            raise ValueError(f"{when!r} is no date; write it as 2026-11-30 or 2026-11-30T08:15") from None
    elif not isinstance(when, datetime):
        when = datetime(when.year, when.month, when.day, tzinfo=zone)
    return schema.time_text(when if when.tzinfo else when.replace(tzinfo=zone))
