"""Many laptops' logs into one store: nothing twice, nothing overwritten, and what does not agree is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import sqlalchemy as sa

from pyramid_lab.log import schema
from pyramid_lab.log.names import Names, Person
from pyramid_lab.log.store import Store

_BATCH: Final = 500
_MOST_NAMED: Final = 50
"""Conflicts that are named one by one; of more, the number is told."""


@dataclass(slots=True)
class Merged:
    """What merging one log did.

    Attributes:
        events, sessions, students, names: new rows in the target.
        known: events that were there already, the same to the letter.
        conflicts: what does not agree, a sentence each; the target's rows stay as they were.
        more_conflicts: how many further ones are not put into words.
        twins: students whom the two sides know under different pseudonyms but one name and class.
    """

    events: int = 0
    known: int = 0
    sessions: int = 0
    students: int = 0
    names: int = 0
    conflicts: list[str] = field(default_factory=list)
    more_conflicts: int = 0
    twins: list[str] = field(default_factory=list)

    def conflict(self, sentence: str) -> None:
        """Note what does not agree."""
        if len(self.conflicts) < _MOST_NAMED:
            self.conflicts.append(sentence)
        else:
            self.more_conflicts += 1


def merge(
    source: Store, target: Store, *, names: tuple[Names, Names] | None = None, same_names: bool = False
) -> Merged:
    """Copy every row of ``source`` that ``target`` has not got; all of them or, on an error, none.

    Merging the same log again changes nothing. A row that both sides have under one id but with different contents
    stays as the target has it and is named as a conflict; so are two different events with one number in one game,
    which comes of a log that was copied and then gone on with on both computers (both are kept).

    Args:
        names: the names of source and target; those that the target lacks are added.
        same_names: take students of one name in one class for one child: the source's rows are written under the
            target's pseudonym.

    Raises:
        StoreError: a log cannot be read or written.
    """
    done = Merged()
    people = _people(names, done, same_names) if names else {}
    with target.transaction() as connection:
        for batch in _rows(source, schema.students):
            _students(connection, batch, people, done)
        for batch in _rows(source, schema.sessions):
            _put(connection, schema.sessions, "session_id", batch, people, done)
        for batch in _rows(source, schema.events):
            _put(connection, schema.events, "event_id", batch, people, done)
        new = _new_names(names, people, connection, done) if names else []
    # Last, so that an error above leaves the names as they were.
    if names and new:
        names[1].put(new, target)
    return done


def _rows(store: Store, table: sa.Table) -> Iterator[list[dict[str, Any]]]:
    """The rows of a table in batches, in order, without the number that each database gives its own rows."""
    columns = [column for column in table.c if column.name != "seq"]
    order = table.c.seq if "seq" in table.c else next(iter(table.primary_key))
    with store.reading() as connection:
        found = connection.execution_options(yield_per=_BATCH).execute(sa.select(*columns).order_by(order))
        for batch in found.mappings().partitions():
            yield [dict(row) for row in batch]


def _put(
    connection: sa.Connection,
    table: sa.Table,
    key: str,
    batch: Sequence[dict[str, Any]],
    people: Mapping[str, str],
    done: Merged,
) -> None:
    rows = [{**row, "student_id": people.get(row["student_id"], row["student_id"])} for row in batch]
    known = _known(connection, table, key, [row[key] for row in rows])
    new = []
    for row in rows:
        there = known.get(row[key])
        if there is None:
            new.append(row)
            known[row[key]] = row
        elif there == row:
            done.known += table is schema.events
        else:
            done.conflict(_different(table, key, row, there))
    if not new:
        return
    if table is schema.events:
        _name_forks(connection, new, done)
        done.events += len(new)
    else:
        done.sessions += len(new)
    connection.execute(sa.insert(table), new)


def _known(connection: sa.Connection, table: sa.Table, key: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    columns = [column for column in table.c if column.name != "seq"]
    found = connection.execute(sa.select(*columns).where(table.c[key].in_(ids))).mappings()
    return {row[key]: dict(row) for row in found}


def _different(table: sa.Table, key: str, row: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    fields = [name for name in row if row[name] != there[name]]
    what = f"{fields[0]} is {there[fields[0]]!r} here and {row[fields[0]]!r} there"
    more = f" (and {', '.join(fields[1:])})" if fields[1:] else ""
    kind = "Event" if table is schema.events else "Sitting"
    place = f", number {there['event_index']} of game {there['game_id']}," if table is schema.events else ""
    return f"{kind} {row[key]}{place} differs: {what}{more}. It was left as it is here."


def _name_forks(connection: sa.Connection, new: Sequence[Mapping[str, Any]], done: Merged) -> None:
    """Two different events with one number in one game: the game was gone on with on two computers."""
    events = schema.events
    games = {row["game_id"] for row in new}
    query = sa.select(events.c.game_id, events.c.event_index).where(events.c.game_id.in_(games))
    taken = {(game, index) for game, index in connection.execute(query)}
    forks: dict[str, list[int]] = {}
    for row in new:
        if (row["game_id"], row["event_index"]) in taken:
            forks.setdefault(row["game_id"], []).append(row["event_index"])
    for game, numbers in forks.items():
        done.conflict(
            f"Game {game} went on on two computers: from number {min(numbers)} on there are two different events. "
            "Both are kept; 'pyramid-lab log check' shows them."
        )


def _students(
    connection: sa.Connection, batch: Sequence[Mapping[str, Any]], people: Mapping[str, str], done: Merged
) -> None:
    table = schema.students
    rows = [{**row, "student_id": people.get(row["student_id"], row["student_id"])} for row in batch]
    known = _known(connection, table, "student_id", [row["student_id"] for row in rows])
    for row in rows:
        there = known.get(row["student_id"])
        if there is None:
            connection.execute(sa.insert(table), row)
            known[row["student_id"]] = row
            done.students += 1
        elif there["class_name"] != row["class_name"]:
            done.conflict(
                f"Student {row['student_id']} is in class {there['class_name']!r} here and "
                f"{row['class_name']!r} there. The class was left as it is here."
            )


def _key(person: Person) -> tuple[str, str | None]:
    return (" ".join(person.name.split()).casefold(), person.class_name)


def _people(names: tuple[Names, Names], done: Merged, same_names: bool) -> dict[str, str]:
    """Which of the source's pseudonyms become which of the target's."""
    source, target = names
    here: dict[tuple[str, str | None], list[Person]] = {}
    for person in target.people():
        here.setdefault(_key(person), []).append(person)
    ids = {person.student_id for person in target.people()}
    people: dict[str, str] = {}
    for person in source.people():
        twins = here.get(_key(person), [])
        if person.student_id in ids or not twins:
            continue
        if same_names and len(twins) == 1:
            people[person.student_id] = twins[0].student_id
        else:
            where = f" of class {person.class_name}" if person.class_name else ""
            done.twins.append(
                f"{person.label}{where} is {twins[0].student_id} here and {person.student_id} there. "
                "If this is one child, merge with --same-names before anything else."
            )
    return people


def _new_names(
    names: tuple[Names, Names], people: Mapping[str, str], connection: sa.Connection, done: Merged
) -> list[Person]:
    source, target = names
    here = {person.student_id: person for person in target.people()}
    new = []
    for person in source.people():
        there = here.get(people.get(person.student_id, person.student_id))
        if there is None:
            known = _known(connection, schema.students, "student_id", [person.student_id])
            class_name = known[person.student_id]["class_name"] if known else person.class_name
            new.append(replace(person, class_name=class_name))
        elif person.student_id not in people and (there.name, there.class_name) != (person.name, person.class_name):
            done.conflict(
                f"Student {person.student_id} is {there.label!r} ({there.class_name or 'no class'}) here and "
                f"{person.label!r} ({person.class_name or 'no class'}) there. The name was left as it is here."
            )
    done.names = len(new)
    return new
