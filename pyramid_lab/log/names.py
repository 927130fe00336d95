"""Who is who: names, in a file apart from the log, and the roster that fills it.

A student's pseudonym is drawn at random and says nothing about the name. Events and exports hold pseudonyms only; this
file stays with the tutor.
"""

from __future__ import annotations

import csv
import io
import re
import secrets
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import platformdirs

from pyramid_lab.log import schema
from pyramid_lab.log.errors import NotALogError, RosterError, StoreError
from pyramid_lab.log.spreadsheet import restore
from pyramid_lab.log.store import Store, place_beside

# Without vowels, so that no word comes out, and without signs that look alike.
_SIGNS: Final = "bcdfghjkmnpqrstvwxz23456789"
_ID_SIGNS: Final = 10
_LONGEST: Final = 200
_DELIMITERS: Final = ",;\t"

_HEADINGS: Final = {
    "name": "name",
    "student": "name",
    "student name": "name",
    "full name": "name",
    "first name": "first",
    "given name": "first",
    "forename": "first",
    "last name": "last",
    "family name": "last",
    "surname": "last",
    "class": "class_name",
    "class name": "class_name",
    "group": "class_name",
    "id": "roster_id",
    "student id": "roster_id",
    "number": "roster_id",
    "roster id": "roster_id",
    "student_id": "student_id",
    "class_name": "class_name",
    "roster_id": "roster_id",
}


@dataclass(frozen=True, slots=True)
class Person:
    """One student as the tutor knows them.

    Attributes:
        student_id: the random pseudonym.
        name: exactly as it was given, without white space at its ends.
        class_name: the class, or ``None``.
        roster_id: the school's own id as text (``007`` is not ``7``), or ``None``.
    """

    student_id: str
    name: str
    class_name: str | None = None
    roster_id: str | None = None

    @property
    def label(self) -> str:
        """The name in one line, for a list."""
        return " ".join(self.name.split())


@dataclass(frozen=True, slots=True)
class RosterRow:
    """One line of a roster: what a :class:`Person` holds, before it has a pseudonym."""

    line: int
    name: str
    class_name: str | None = None
    roster_id: str | None = None
    student_id: str | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    Attributes:
        new, changed, unchanged: the students, as they are now.
        renamed: the name before, and the student as he or she is now, of each whose name has changed; also in
            ``changed``. If the two are different children, the roster has a wrong id.
    """

    new: tuple[Person, ...] = ()
    changed: tuple[Person, ...] = ()
    unchanged: tuple[Person, ...] = ()
    renamed: tuple[tuple[str, Person], ...] = ()

    def __str__(self) -> str:
        return f"{len(self.new)} new, {len(self.changed)} changed, {len(self.unchanged)} unchanged"


def labels_of(people: Iterable[Person], *, with_class: bool = True) -> list[tuple[str, str]]:
    """Labels in alphabetical order (É beside E), each with its pseudonym, for a list to choose from.

    Where two names are alike, the class (if wanted), the school's id or a number tells them apart.
    """
    shown = sorted(people, key=lambda person: _plain_letters(person.label))
    alike = Counter(person.label for person in shown)
    seen: Counter[str] = Counter()
    labels = []
    for person in shown:
        seen[person.label] += 1
        label = person.label
        if alike[label] > 1:
            more = [person.class_name if with_class else None, person.roster_id or str(seen[label])]
            label += f" ({', '.join(filter(None, more))})"
        labels.append((label, person.student_id))
    return labels


def _plain_letters(text: str) -> str:
    """The text in small letters without accents, to sort by."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))


class Names:
    """The file of names.

    Args:
        path: the file; made when the first name is added.

    Raises:
        NotALogError: the path is a folder or another kind of file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        if self.path.is_dir():
            raise NotALogError(f"{self.path} is a folder; name a file in it")
        if schema.is_other_file(self.path):
            raise NotALogError(f"{self.path} is no file of names (no SQLite file); nothing was changed")

    @classmethod
    def of(cls, store: Store) -> Names:
        """The file that goes with a store: beside a SQLite file, else in the user's data folder."""
        folder = platformdirs.user_data_path("pyramid-lab", appauthor=False)
        return cls(place_beside(store.url, ".names.sqlite3", folder))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one transaction; committed at the end, undone on an error.

        Raises:
            StoreError: the file cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.path.exists():
                self.path.touch(mode=0o600)
            # Closing undoes a transaction that was not committed.
            with closing(sqlite3.connect(self.path, timeout=30, isolation_level=None)) as connection:
                connection.execute("PRAGMA secure_delete=ON")
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS people (student_id TEXT PRIMARY KEY, name TEXT NOT NULL, "
                    "class_name TEXT, roster_id TEXT, number INTEGER NOT NULL)"
                )
                yield connection
                connection.execute("COMMIT")
        except (sqlite3.DatabaseError, OSError) as error:
            raise StoreError(
                f"the names in {self.path} cannot be written ({_said(error)}); nothing was changed. Make room on the "
                "disk, or mend your right to write there, and do the same again."
            ) from error

    def people(self) -> list[Person]:
        """Everyone, in the order in which they were added.

        Raises:
            StoreError: the file cannot be read.
        """
        if not self.path.is_file() or not self.path.stat().st_size:
            return []
        connection = sqlite3.connect(self.path, timeout=30)
        try:
            return [Person(*row) for row in connection.execute(f"SELECT {_COLUMNS} FROM people ORDER BY number")]
        except sqlite3.DatabaseError as error:
            raise StoreError(f"the names in {self.path} cannot be read ({error})") from error
        finally:
            connection.close()

    def name_of(self, student_id: str) -> str | None:
        """The name behind a pseudonym, if it is known here."""
        return next((person.name for person in self.people() if person.student_id == student_id), None)

    def find(self, text: str, class_name: str | None = None) -> list[Person]:
        """The students whom a text may mean: by pseudonym, by the school's id, or by the whole name."""
        everyone = [person for person in self.people() if class_name in (None, person.class_name)]
        for same in (
            lambda person: person.student_id == text,
            lambda person: person.roster_id == text,
            lambda person: _key(person.name) == _key(text),
        ):
            if found := [person for person in everyone if same(person)]:
                return found
        return []

    def called(self, name: str) -> list[Person]:
        """The students of this whole name, however its accents and white space are written."""
        return [person for person in self.people() if _key(person.name) == _key(name)]

    def put(self, people: Iterable[Person], store: Store) -> None:
        """Keep people here, and their pseudonyms and classes in the store; all of them or, on an error, none.

        Raises:
            StoreError: the names or the log cannot be written; nothing was changed.
        """
        people = list(people)
        ids = {person.student_id for person in people}
        before = [person for person in self.people() if person.student_id in ids]
        self._keep(people)
        try:
            store.put_students({person.student_id: person.class_name for person in people})
        except BaseException:
            # Taking back needs no more room on the disk than the keeping has just given back.
            self._keep(before, without=ids - {person.student_id for person in before})
            raise

    def _keep(self, people: Iterable[Person], *, without: Iterable[str] = ()) -> None:
        with self._writing() as connection:
            connection.executemany("DELETE FROM people WHERE student_id = ?", [(name,) for name in without])
            last = connection.execute("SELECT coalesce(max(number), 0) FROM people").fetchone()[0]
            for number, person in enumerate(people, start=last + 1):
                connection.execute(
                    f"INSERT INTO people ({_COLUMNS}, number) VALUES (?, ?, ?, ?, ?) "
                    "ON CONFLICT (student_id) DO UPDATE SET "
                    "name = excluded.name, class_name = excluded.class_name, roster_id = excluded.roster_id",
                    (person.student_id, person.name, person.class_name, person.roster_id, number),
                )

    def add(self, store: Store, name: str, *, class_name: str | None = None, roster_id: str | None = None) -> Person:
        """Add one student under a new pseudonym.

        Raises:
            RosterError: the name is empty or holds what no text file can, or the school's id is another student's.
        """
        row = _clean(RosterRow(0, name, class_name, roster_id))
        if row.roster_id is not None:
            for other in self.people():
                if other.roster_id == row.roster_id:
                    raise RosterError([(0, f"the id {row.roster_id!r} is {other.label}'s already; give another")])
        person = Person(new_pseudonym(), row.name, row.class_name, row.roster_id)
        self.put([person], store)
        return person

    def import_roster(self, rows: Iterable[RosterRow], store: Store) -> Imported:
        """Bring the names up to date with a roster; the same roster again changes nothing.

        A row meets a known student by pseudonym, by the school's id, by name within the class, or, if that leaves just
        one of the name on either side, by name alone (then the class has changed). Equal names meet in their order.
        Students whom the roster does not name stay.
        """
        rows = list(rows)
        known = self.people()
        met = _match(rows, known)
        new: list[Person] = []
        changed: list[Person] = []
        unchanged: list[Person] = []
        renamed: list[tuple[str, Person]] = []
        for at, row in enumerate(rows):
            before = met.get(at)
            if before is None:
                new.append(Person(row.student_id or new_pseudonym(), row.name, row.class_name, row.roster_id))
                continue
            after = replace(
                before,
                name=row.name,
                class_name=row.class_name or before.class_name,
                roster_id=row.roster_id or before.roster_id,
            )
            (unchanged if after == before else changed).append(after)
            if _key(after.name) != _key(before.name):
                renamed.append((before.name, after))
        # Those who have not changed too: an import that was broken off may have left their pseudonyms out of the log.
        self.put([*new, *changed, *unchanged], store)
        return Imported(tuple(new), tuple(changed), tuple(unchanged), tuple(renamed))

    def backup(self, target: Path) -> Path:
        """Copy the names into a new file; gives its path.

        Raises:
            StoreError: the file exists already, or the names cannot be copied.
        """
        if target.exists():
            raise StoreError(f"{target} exists already and was not overwritten; name another file")
        try:
            target.touch(mode=0o600)
            with closing(sqlite3.connect(self.path, timeout=30)) as source, closing(sqlite3.connect(target)) as copy:
                source.backup(copy)
        except (sqlite3.DatabaseError, OSError) as error:
            with suppress(OSError):
                target.unlink(missing_ok=True)
            raise StoreError(f"the names in {self.path} cannot be copied to {target} ({_said(error)})") from error
        return target

    def erase(self, student_id: str) -> bool:
        """Remove one name, and overwrite it on the disk; False if it was not here."""
        if not self.path.is_file():
            return False
        with self._writing() as connection:
            gone = connection.execute("DELETE FROM people WHERE student_id = ?", (student_id,)).rowcount == 1
        try:
            with closing(sqlite3.connect(self.path, timeout=30, isolation_level=None)) as connection:
                connection.execute("VACUUM")
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"the name is erased, but traces of it may be left in {self.path}, which cannot be packed ({error}). "
                "Make room on the disk and erase any other student, or copy the file with 'pyramid-lab backup'."
            ) from error
        return gone


_COLUMNS: Final = "student_id, name, class_name, roster_id"


def _said(error: sqlite3.DatabaseError | OSError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def new_pseudonym() -> str:
    """A new random pseudonym, such as ``s-k7m2q9x4hd``."""
    return "s-" + "".join(secrets.choice(_SIGNS) for _ in range(_ID_SIGNS))


def read_roster(source: Path | bytes) -> list[RosterRow]:
    """Read a roster: a name a line, or CSV with ``,``, ``;`` or tab, quoted or not, with a heading line.

    A CSV needs a column ``name`` (or ``first name`` and ``last name``); ``class`` and ``id`` may be there, others are
    left alone. UTF-8 with or without a mark, UTF-16 with a mark, and what Excel writes on Windows are understood.

    Raises:
        RosterError: with every line that is wrong.
        OSError: the file cannot be read.
    """
    if isinstance(source, Path):
        if source.is_dir():
            raise RosterError([(0, f"{source} is a folder; name the roster's file")])
        source = source.read_bytes()
    text = _without_hint(_decoded(source))
    if not text.strip(f"{_DELIMITERS}\r\n "):
        raise RosterError([(0, "the roster is empty: write a name a line, or a CSV with a column called name")])
    lines = _lines(text, _delimiter(text))
    if _names_alone(text):
        lines.insert(0, (0, ["name"]))
    return _rows(lines)


def _lines(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """The cells of each line that is not empty, and the number of the line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines: list[tuple[int, list[str]]] = []
    start = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append((start, cells))
            start = reader.line_num + 1
    except csv.Error as error:
        raise RosterError([(start, f"the quotation marks do not close ({error}); is the file whole?")]) from None
    return lines


def _names_alone(text: str) -> bool:
    """Whether a roster is a name a line: no heading that is known, and one column, whatever sign may part columns."""
    first, *_ = _lines(text, _delimiter(text))
    if any(_heading(cell) for cell in first[1]):
        return False
    return all(
        not any(cell.strip() for cell in cells[1:]) for delimiter in _DELIMITERS for _, cells in _lines(text, delimiter)
    )


def without_heading(source: Path | bytes) -> bool:
    """Whether :func:`read_roster` takes every line of a roster, also the first, for a name.

    Raises:
        RosterError: the roster is no text, or its quotation marks do not close.
        OSError: the file cannot be read.
    """
    return _names_alone(_without_hint(_decoded(source.read_bytes() if isinstance(source, Path) else source)))


def unread_columns(source: Path | bytes) -> list[str]:
    """The columns of a roster with a heading that :func:`read_roster` leaves alone, as their headings say.

    Raises:
        RosterError: the roster is no text.
        OSError: the file cannot be read.
    """
    text = _without_hint(_decoded(source.read_bytes() if isinstance(source, Path) else source))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    heading = next((cells for cells in reader if any(cell.strip() for cell in cells)), [])
    return [cell.strip() for cell in heading if cell.strip() and _heading(cell) is None]


def _without_hint(text: str) -> str:
    # Excel understands, and some programs write, a first line that names the delimiter.
    return re.sub(r"\A\s*sep=.\r?\n", "", text)


def _decoded(raw: bytes) -> str:
    try:
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            return raw.decode("utf-16")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        raise RosterError([(0, "this is no text file; save the roster as CSV, UTF-8")]) from None


def _delimiter(text: str) -> str:
    """The sign that parts the heading line into the most columns that are known."""
    heading = next(line for line in text.splitlines() if line.strip())

    def known(delimiter: str) -> tuple[int, int]:
        cells = next(csv.reader([heading], delimiter=delimiter))
        return sum(_heading(cell) is not None for cell in cells), len(cells)

    return max(_DELIMITERS, key=known)


def _heading(cell: str) -> str | None:
    return _HEADINGS.get(" ".join(cell.lower().split()))


def _rows(lines: list[tuple[int, list[str]]]) -> list[RosterRow]:
    (first, heading), *rest = lines
    columns = [_heading(cell) for cell in heading]
    problems: list[tuple[int, str]] = []
    doubled = [name for name, count in Counter(filter(None, columns)).items() if count > 1]
    if doubled:
        problems.append((first, f"two columns are both a {doubled[0].replace('_', ' ')}"))
    if "name" not in columns and not {"first", "last"} <= set(columns):
        shown = ", ".join(cell.strip() or "(empty)" for cell in heading[:6])
        problems.append(
            (
                first,
                f"the heading needs a column called name (or first name and last name); it has: {shown}. If it is no "
                "heading but a student, put a line above it that says what each column is, with the word name",
            )
        )
    if problems:
        raise RosterError(problems)
    found: list[RosterRow] = []
    for line, cells in rest:
        extra = [cell for cell in cells[len(columns) :] if cell.strip()]
        if extra:
            problems.append(
                (line, f"{len(cells)} cells, but the heading has {len(columns)}; put a name with a comma in quotes")
            )
            continue
        values = {column: restore(cell).strip() for column, cell in zip(columns, cells, strict=False) if column}
        name = values.get("name") or " ".join(filter(None, (values.get("first"), values.get("last"))))
        row = RosterRow(
            line,
            name,
            values.get("class_name") or None,
            values.get("roster_id") or None,
            values.get("student_id") or None,
        )
        try:
            found.append(_clean(row))
        except RosterError as error:
            problems += error.problems
    for field in ("roster_id", "student_id"):
        problems += _repeated(found, field)
    if problems:
        raise RosterError(sorted(problems))
    return found


def _repeated(rows: list[RosterRow], field: str) -> Iterator[tuple[int, str]]:
    seen: dict[str, RosterRow] = {}
    for row in rows:
        value = getattr(row, field)
        if value is not None and value in seen:
            yield row.line, f"the id {value!r} stands in line {seen[value].line} already"
        seen.setdefault(value, row)


def _clean(row: RosterRow) -> RosterRow:
    cleaned = replace(
        row,
        name=row.name.strip(),
        class_name=(row.class_name or "").strip() or None,
        roster_id=(row.roster_id or "").strip() or None,
    )
    if not cleaned.name:
        raise RosterError([(row.line, "the name is empty")])
    for what, text in (("name", cleaned.name), ("class", cleaned.class_name), ("id", cleaned.roster_id)):
        if text is None:
            continue
        if len(text) > _LONGEST:
            raise RosterError(
                [(row.line, f"the {what} has {len(text)} characters; {_LONGEST} at most: {text[:30]!r}...")]
            )
        kinds = {unicodedata.category(sign) for sign in text if sign not in "\t\n\r"}
        if kinds & {"Cc", "Cs"}:
            raise RosterError([(row.line, f"the {what} holds a control character: {text!r}")])
    if cleaned.class_name is not None:
        cleaned = replace(cleaned, class_name=" ".join(cleaned.class_name.split()))
    return cleaned


def _key(text: str | None) -> str:
    """What makes two writings of a name the same: accents in one piece or two, and white space, do not matter."""
    return " ".join(unicodedata.normalize("NFC", text or "").split())


def _match(rows: list[RosterRow], known: list[Person]) -> dict[int, Person]:
    """Which row means which known student, by the surest sign first; each is used once."""
    free = {person.student_id: person for person in known}
    met: dict[int, Person] = {}

    def take(at: int, person: Person) -> None:
        met[at] = free.pop(person.student_id)

    for at, row in enumerate(rows):
        if row.student_id in free:
            take(at, free[row.student_id])
    for at, row in enumerate(rows):
        if at not in met and row.roster_id is not None:
            same_id = [person for person in free.values() if person.roster_id == row.roster_id]
            if same_id:
                take(at, same_id[0])

    def may_be(row: RosterRow, person: Person) -> bool:
        clash = None not in (row.roster_id, person.roster_id) and row.roster_id != person.roster_id
        return row.student_id is None and _key(row.name) == _key(person.name) and not clash

    for at, row in enumerate(rows):
        if at not in met:
            fitting = [
                person
                for person in free.values()
                if may_be(row, person) and (row.class_name is None or row.class_name == person.class_name)
            ]
            if fitting:
                take(at, fitting[0])
    for at, row in enumerate(rows):
        if at not in met:
            fitting = [person for person in free.values() if may_be(row, person)]
            others = [
                other for also, other in enumerate(rows) if also not in met and _key(other.name) == _key(row.name)
            ]
            if len(fitting) == 1 and len(others) == 1:
                take(at, fitting[0])
    return met
