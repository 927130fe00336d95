"""The log in other programs' formats: CSV and Excel for spreadsheets, DataShop and xAPI for research.

Every format holds pseudonyms only, unless names are asked for. Each writer has a reader that gives the events back;
what a format cannot hold stands in :data:`HOLDS`.
"""

from __future__ import annotations

import csv
import json
import uuid
import zipfile
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import sqlalchemy as sa
from tqdm import tqdm

from pyramid_lab.log import schema
from pyramid_lab.log.choice import Choice
from pyramid_lab.log.errors import ExportError
from pyramid_lab.log.events import FIELDS, NUMBER_FIELDS, Event, InvalidEventError
from pyramid_lab.log.names import Names, Person
from pyramid_lab.log.progress import PLAIN
from pyramid_lab.log.spreadsheet import neutralise, restore
from pyramid_lab.log.store import Store

if TYPE_CHECKING:
    import pandas as pd

Format = Literal["csv", "xlsx", "datashop", "xapi"]

FORMATS: Final[tuple[Format, ...]] = ("csv", "xlsx", "datashop", "xapi")

HOLDS: Final = {
    "csv": "every event, every field",
    "xlsx": "every event, every field; at most 1,048,575 rows on a sheet",
    "datashop": "attempts and hints, every field; no draws, undos, pauses or ends of games",
    "xapi": "attempts, every field; no draws, hints, undos, pauses or ends of games",
}
"""What each format can hold."""

SMALLEST_GROUP: Final = 5
"""A class with fewer students is not named in an export without names: it would say who they are."""

COLUMNS: Final = (
    "student_id", "class_name", "session_id", "lesson", "game_id", "event_index", "event_type", "t_local",
    *(name for name in FIELDS if name not in ("student_id", "session_id", "game_id", "event_index", "event_type")),
)  # fmt: skip
"""Columns of the CSV and of the sheet ``events``: the fields of an event, the class and lesson it belongs to, and
``t_local``, the time on the student's own clock, which spreadsheets read as a date."""

SHEET_LIMIT: Final = 1_048_576
_BATCH: Final = 2_000
_XLSX_ESCAPE: Final = "_x005F_"

DATASHOP_COLUMNS: Final = (
    "Anon Student Id", "Session Id", "Time", "Time Zone", "Student Response Type", "Student Response Subtype",
    "Tutor Response Type", "Tutor Response Subtype", "Level(Lesson)", "Problem Name", "Problem Start Time",
    "Step Name", "Attempt At Step", "Outcome", "Selection", "Action", "Input", "Feedback Text",
    "Feedback Classification", "Help Level", "Total Num Hints", "Condition Name", "Condition Type", "KC(Fact)",
    "KC Category(Fact)", "School", "Class",
    *(f"CF({name})" for name in FIELDS if name not in ("student_id", "session_id")),
)  # fmt: skip
"""Columns of the DataShop file, in the order of its tab-delimited format (DataShop help, "Importing data")."""

XAPI_HOME: Final = "http://pyramid-lab.invalid"
"""Home page of the accounts and root of the ids in xAPI statements; ``.invalid`` is reserved to belong to nobody."""

_ANSWERED: Final = "http://adlnet.gov/expapi/verbs/answered"
_INTERACTION: Final = "http://adlnet.gov/expapi/activities/cmi.interaction"


def export(
    store: Store,
    target: Path,
    format: Format,
    choice: Choice | None = None,
    *,
    names: Names | None = None,
    delimiter: str = ",",
    overwrite: bool = False,
    allow_empty: bool = True,
    progress: bool = True,
) -> int:
    """Write the chosen events to a file; it appears whole or not at all.

    Args:
        store: an open store.
        target: the file.
        format: one of :data:`FORMATS`.
        choice: which events; all by default.
        names: adds a column ``name`` (CSV and Excel only); without it there are pseudonyms only.
        delimiter: between the cells of a CSV: ``,``, ``;`` or a tab.
        overwrite: replace a file that is there.
        allow_empty: write a file also when it would hold no row; if False, that is an error.
        progress: show a bar on standard error when it takes more than a second.

    Returns:
        The number of rows written.

    Raises:
        ExportError: the target is a folder or exists, its folder does not, the format is unknown or cannot hold the
            rows or names, or there is no row.
        StoreAwayError, DamagedLogError: the log cannot be read.
    """
    if format not in FORMATS:
        raise ExportError(f"no format is called {format!r}; there are {', '.join(FORMATS)}")
    if names is not None and format not in ("csv", "xlsx"):
        raise ExportError(f"the format {format} is for research and holds no names; use csv or xlsx for names")
    with _whole_file(target, overwrite) as part:
        rows = _rows(store, choice or Choice(), names, progress)
        match format:
            case "csv":
                count = _write_csv(part, rows, names is not None, delimiter)
            case "xlsx":
                count = _write_xlsx(part, rows, names is not None, store, choice or Choice())
            case "datashop":
                count = _write_datashop(part, rows)
            case "xapi":
                count = _write_xapi(part, rows)
        _check_rows(count, target, allow_empty)
    return count


def read_events(source: Path, format: Format) -> list[Event]:
    """The events that :func:`export` wrote; see :data:`HOLDS` for what each format has.

    A CSV may have been saved again with another delimiter or without its mark.

    Raises:
        ExportError: the file is not what it should be; the line is named.
    """
    readers: dict[str, Callable[[Path], Iterator[tuple[int, dict[str, Any]]]]] = {
        "csv": _read_csv,
        "xlsx": _read_xlsx,
        "datashop": _read_datashop,
        "xapi": _read_xapi,
    }
    if format not in readers:
        raise ExportError(f"no format is called {format!r}; there are {', '.join(FORMATS)}")
    if not source.is_file():
        raise ExportError(f"{source} is no file")
    found = []
    for line, values in readers[format](source):
        try:
            found.append(Event.from_dict(values))
        except InvalidEventError as error:
            raise ExportError(f"{source}, line {line}: {error}") from None
    return found


def unnamed_classes(store: Store, choice: Choice | None = None) -> tuple[str, ...]:
    """The classes that an export without names does not name, as they have fewer than :data:`SMALLEST_GROUP` students.

    Args:
        store: an open store.
        choice: only classes that have chosen events; all by default.
    """
    events, students = schema.events, schema.students
    named = students.c.class_name
    with store.reading() as connection:
        sizes = sa.select(named).where(named.is_not(None)).group_by(named).having(sa.func.count() < SMALLEST_GROUP)
        found = set(connection.execute(sizes).scalars())
        if choice is not None and found:
            seen = sa.select(events.c.student_id).where(*choice.conditions()).distinct()
            found &= set(connection.execute(sa.select(named).where(students.c.student_id.in_(seen))).scalars())
    return tuple(sorted(found))


@contextmanager
def _whole_file(target: Path, overwrite: bool) -> Iterator[Path]:
    if target.is_dir():
        raise ExportError(f"{target} is a folder; name a file in it")
    if target.exists() and not overwrite:
        raise ExportError(f"{target} exists already and was not overwritten; name another file, or use --force")
    if not target.parent.is_dir():
        raise ExportError(f"there is no folder {target.parent}; make it, or mend the path")
    part = target.with_name(target.name + ".part")
    try:
        yield part
        part.replace(target)
    except OSError as error:
        raise ExportError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def _check_rows(count: int, target: Path, allow_empty: bool) -> None:
    if not count and not allow_empty:
        raise ExportError(f"there is nothing to export: the log holds no such rows. {target} was not written.")


def _count(store: Store, choice: Choice) -> int:
    """How many events are chosen."""
    with store.reading() as connection:
        query = sa.select(sa.func.count()).select_from(schema.events).where(*choice.conditions())
        return int(connection.execute(query).scalar_one())


def _rows(store: Store, choice: Choice, names: Names | None, progress: bool) -> Iterator[dict[str, Any]]:
    """The chosen events as plain values, with their class, lesson, local time and, if asked for, name."""
    events, sessions, students = schema.events, schema.sessions, schema.students
    people = {} if names is None else {person.student_id: person.name for person in names.people()}
    conditions = choice.conditions()
    with store.reading() as connection:
        classes = {row.student_id: row.class_name for row in connection.execute(sa.select(students))}
        if names is None:
            unnamed = unnamed_classes(store)
            classes = {who: name for who, name in classes.items() if name not in unnamed}
        lessons = {row.session_id: row.lesson for row in connection.execute(sa.select(sessions))}
        total = _count(store, choice)
        query = sa.select(*(events.c[name] for name in FIELDS)).where(*conditions).order_by(events.c.seq)
        result = connection.execution_options(yield_per=_BATCH).execute(query)
        shown = tqdm(
            result.mappings(),
            desc="Rows written:",
            total=total,
            bar_format=PLAIN,
            delay=1.0,
            disable=not progress,
            leave=False,
        )
        for row in shown:
            values = dict(row)
            values["class_name"] = classes.get(values["student_id"])
            values["lesson"] = lessons.get(values["session_id"])
            values["t_local"] = _local(values["t_utc"], values["tz"])
            if names is not None:
                values["name"] = people.get(values["student_id"])
            yield values


def _local(t_utc: str, tz: str | None) -> str | None:
    if tz is None:
        return None
    try:
        zone = ZoneInfo(tz)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
    return schema.time_of(t_utc).astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")


def _shown_columns(with_names: bool) -> tuple[str, ...]:
    return ("student_id", "name", *COLUMNS[1:]) if with_names else COLUMNS


# CSV


def _write_csv(target: Path, rows: Iterable[Mapping[str, Any]], with_names: bool, delimiter: str) -> int:
    if delimiter not in (",", ";", "\t"):
        raise ExportError(f"cells are parted by , or ; or a tab, not by {delimiter!r}")
    columns = _shown_columns(with_names)
    written = 0
    # The mark at the start makes spreadsheets read the accents in names.
    with target.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        for row in rows:
            writer.writerow([_csv_cell(name, row[name]) for name in columns])
            written += 1
    return written


def _csv_cell(name: str, value: Any) -> Any:
    if value is None or isinstance(value, int):
        return value
    if name == "t_local":
        return value
    return neutralise(value)


def _read_csv(source: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with source.open(encoding="utf-8-sig", newline="") as file:
        head = file.readline()
        (last,) = deque(chain([head], file), maxlen=1)
        if last and not last.endswith(("\n", "\r")):
            raise ExportError(
                f"{source} ends in the middle of a line; is the file whole? If so, add a line break at its end"
            )
        file.seek(0)
        reader = csv.reader(file, delimiter=max(",;\t", key=head.count), strict=True)
        try:
            columns = next(reader, [])
            _need_columns(source, columns)
            for cells in reader:
                if len(cells) != len(columns):
                    raise ExportError(
                        f"{source}, line {reader.line_num}: {len(cells)} cells, but the heading has {len(columns)}; "
                        "is the file whole?"
                    )
                named = zip(columns, cells, strict=True)
                yield reader.line_num, {name: _from_cell(name, cell) for name, cell in named if name in FIELDS}
        except (csv.Error, UnicodeDecodeError) as error:
            raise ExportError(f"{source}, line {reader.line_num + 1}: {error}; is the file whole?") from None


def _need_columns(source: Path, columns: Iterable[Any]) -> None:
    missing = [name for name in FIELDS if name not in set(columns)]
    if missing:
        raise ExportError(f"{source} has no column {missing[0]}; is it an export of events?")


def _from_cell(name: str, cell: str) -> Any:
    if cell == "":
        return None
    if name in NUMBER_FIELDS:
        try:
            return int(cell)
        except ValueError:
            return cell  # the event says what is wrong with it
    return restore(cell)


def export_table(
    frame: pd.DataFrame,
    target: Path,
    *,
    unnamed: Collection[str] = (),
    delimiter: str = ",",
    overwrite: bool = False,
    allow_empty: bool = True,
) -> int:
    """Write a frame of :mod:`pyramid_lab.log.frames` as a CSV that spreadsheets read well; gives the number of rows.

    Args:
        frame: the table.
        target: the file.
        unnamed: classes whose name is left out, as :func:`unnamed_classes` gives them.
        delimiter, overwrite, allow_empty: as for :func:`export`.

    Raises:
        ExportError: the target is a folder or exists, its folder does not, or there is no row (see :func:`export`).
    """
    _check_rows(len(frame), target, allow_empty)
    frame = _without_classes(frame, unnamed)
    with _whole_file(target, overwrite) as part, part.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(frame.columns)
        for values in frame.astype(object).itertuples(index=False, name=None):
            plain = map(_plain, values)
            writer.writerow([neutralise(value) if isinstance(value, str) else value for value in plain])
    return len(frame)


def export_person(store: Store, person: Person, target: Path, *, overwrite: bool = False) -> int:
    """Write all that is kept about one student into a zip of CSV files, name included; gives the number of events.

    Raises:
        ExportError: the target is a folder or exists, or its folder does not.
    """
    from pyramid_lab.log import frames

    with _whole_file(target, overwrite) as part, TemporaryDirectory() as folder:
        choice = Choice(students=(person.student_id,))
        columns = ("student_id", "name", "class_name", "roster_id")
        who = [[neutralise(str(getattr(person, name) or "")) for name in columns]]
        with (Path(folder) / "student.csv").open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows([columns, *who])
        count = export(store, Path(folder) / "events.csv", "csv", choice, progress=False)
        export_table(frames.chosen_sessions(store, choice), Path(folder) / "sessions.csv")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).iterdir()):
                archive.write(path, path.name)
    return count


# Excel


def _write_xlsx(target: Path, rows: Iterable[Mapping[str, Any]], with_names: bool, store: Store, choice: Choice) -> int:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    shown = _count(store, choice)
    if shown >= SHEET_LIMIT:
        raise ExportError(
            f"an Excel sheet holds {SHEET_LIMIT - 1:,} rows, and there are {shown:,}; choose a class, a student or "
            "dates, or write a csv"
        )
    book = Workbook(write_only=True)

    def cell(sheet: Any, value: Any) -> Any:
        if isinstance(value, str):
            made = WriteOnlyCell(sheet, _escaped(value))
            made.data_type = "s"  # what begins with = is a text here, never a formula
            made.quotePrefix = True
            return made
        return value

    def heading(sheet: Any, columns: Iterable[str]) -> None:
        sheet.freeze_panes = "A2"
        made = [WriteOnlyCell(sheet, name) for name in columns]
        for one in made:
            one.font = Font(bold=True)
        sheet.append(made)

    columns = _shown_columns(with_names)
    sheet = book.create_sheet("events")
    heading(sheet, columns)
    written = 0
    for row in rows:
        written += 1
        local = row["t_local"] and datetime.fromisoformat(row["t_local"])
        sheet.append([local if name == "t_local" else cell(sheet, row[name]) for name in columns])
    for title, frame in _summaries(store, choice, with_names).items():
        sheet = book.create_sheet(title)
        heading(sheet, frame.columns)
        for values in frame.astype(object).itertuples(index=False, name=None):
            sheet.append([cell(sheet, _plain(value)) for value in values])
    book.save(target)
    return written


def _summaries(store: Store, choice: Choice, with_names: bool) -> dict[str, Any]:
    from pyramid_lab.log import frames

    found = {"games": frames.chosen_games(store, choice), "sessions": frames.chosen_sessions(store, choice)}
    if not with_names:
        unnamed = unnamed_classes(store)
        found = {title: _without_classes(frame, unnamed) for title, frame in found.items()}
    return found


def _without_classes(frame: pd.DataFrame, unnamed: Collection[str]) -> pd.DataFrame:
    """The frame with an empty cell in place of the names of these classes."""
    if not unnamed:
        return frame
    classes = frame["class_name"].astype(object)
    return frame.assign(class_name=classes.where(~classes.isin(list(unnamed)), None))


def _plain(value: Any) -> Any:
    if value is None or value != value:  # a missing value is not equal to itself
        return None
    if hasattr(value, "isoformat"):
        return None if str(value) == "NaT" else schema.time_text(value.to_pydatetime())
    return value.item() if hasattr(value, "item") else value


def _escaped(text: str) -> str:
    """Excel reads ``_x0041_`` in a text as a sign's number; an underscore written that way stays an underscore."""
    return text.replace("_x", _XLSX_ESCAPE + "x")


def _unescaped(cell: Any) -> Any:
    return cell.replace(_XLSX_ESCAPE + "x", "_x") if isinstance(cell, str) else cell


def _read_xlsx(source: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    from zipfile import BadZipFile

    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    with source.open("rb") as file:  # as a file, so that its name may end as it likes
        try:
            book = load_workbook(file, read_only=True)
        except (BadZipFile, InvalidFileException, KeyError, OSError) as error:
            raise ExportError(f"{source} is no Excel workbook, or not whole ({error})") from None
        if "events" not in book.sheetnames:
            raise ExportError(f"{source} has no sheet called events")
        lines = book["events"].iter_rows(values_only=True)
        columns = [str(name) for name in next(lines, ())]
        _need_columns(source, columns)
        for line, cells in enumerate(lines, start=2):
            values = {name: _unescaped(cell) for name, cell in zip(columns, cells, strict=False)}
            yield line, {name: values.get(name) for name in FIELDS}


# DataShop


def _write_datashop(target: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    started: dict[str, str] = {}
    done: dict[str, Counter[str]] = defaultdict(Counter)
    tries: dict[str, Counter[str]] = defaultdict(Counter)
    written = 0
    with target.open("w", encoding="utf-8", newline="") as file:
        file.write("\t".join(DATASHOP_COLUMNS) + "\n")
        for row in rows:
            game = row["game_id"]
            started.setdefault(game, row["t_utc"])
            if row["event_type"] not in ("attempt", "hint"):
                continue
            fact = row["fact"] or ""
            # Each discard that a fact calls for is a step of its own: a second 4+9 is no second try at the first.
            step = f"{fact} ({done[game][fact] + 1})" if fact else ""
            tries[game][step] += 1
            cells = _datashop_cells(row, started[game], step, tries[game][step])
            done[game][fact] += row["outcome"] == "correct"
            file.write("\t".join(cells) + "\n")
            written += 1
    return written


def _datashop_cells(row: Mapping[str, Any], started: str, step: str, nth: int) -> list[str]:
    hint = row["event_type"] == "hint"
    cards = " ".join(filter(None, (row["first_card"], row["second_card"])))
    outcome = "HINT" if hint else "CORRECT" if row["outcome"] == "correct" else "INCORRECT"
    known = {
        "Anon Student Id": row["student_id"],
        "Session Id": row["session_id"],
        "Time": _datashop_time(row["t_utc"]),
        "Time Zone": "UTC",
        "Student Response Type": "HINT_REQUEST" if hint else "ATTEMPT",
        "Tutor Response Type": "HINT_MSG" if hint else "RESULT",
        "Level(Lesson)": row["lesson"],
        "Problem Name": row["game_id"],
        "Problem Start Time": _datashop_time(started),
        "Step Name": step,
        "Attempt At Step": str(nth) if step else None,
        "Outcome": outcome,
        "Selection": cards,
        "Action": "hint" if hint else "discard",
        "Input": "+".join(str(row[name]) for name in ("value_a", "value_b") if row[name] is not None),
        "Feedback Classification": row["reason"],
        "Condition Name": row["rule_set"] if not str(row["rule_set"]).startswith("{") else "custom rules",
        "Condition Type": "rule set",
        "KC(Fact)": row["fact"],
        "Class": row["class_name"],
    }
    known |= {f"CF({name})": row[name] for name in FIELDS}
    return [_datashop_cell(known.get(name)) for name in DATASHOP_COLUMNS]


def _datashop_time(t_utc: str) -> str:
    return t_utc.replace("T", " ").removesuffix("Z")


def _datashop_cell(value: Any) -> str:
    # A tab or line break would part the row; in an event there is none, in the name of a lesson or class there may be.
    return "" if value is None else " ".join(str(value).split("\t")).replace("\n", " ").replace("\r", " ")


def _read_datashop(source: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with source.open(encoding="utf-8", newline="\n") as file:
        columns = file.readline().rstrip("\n").split("\t")
        if tuple(columns) != DATASHOP_COLUMNS:
            raise ExportError(f"{source} does not have the columns of our DataShop file")
        for line, text in enumerate(file, start=2):
            cells = text.rstrip("\n").split("\t")
            if len(cells) != len(columns):
                raise ExportError(f"{source}, line {line}: {len(cells)} cells, but the heading has {len(columns)}")
            row = dict(zip(columns, cells, strict=True))
            values = {name: _number_or_text(name, row.get(f"CF({name})", "")) for name in FIELDS}
            values |= {"student_id": row["Anon Student Id"], "session_id": row["Session Id"]}
            yield line, values


def _number_or_text(name: str, cell: str) -> Any:
    if cell == "":
        return None
    return int(cell) if name in NUMBER_FIELDS and cell.removeprefix("-").isdecimal() else cell


# xAPI


def _write_xapi(target: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    written = 0
    with target.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            if row["event_type"] == "attempt":
                file.write(json.dumps(_statement(row), ensure_ascii=False, separators=(",", ":")) + "\n")
                written += 1
    return written


def _statement(row: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "success": row["outcome"] == "correct",
        "response": "+".join(filter(None, (row["first_card"], row["second_card"]))),
        "extensions": {f"{XAPI_HOME}/xapi/rt_ms": row["rt_ms"]},
    }
    if row["rt_ms"] is not None:
        result["duration"] = f"PT{row['rt_ms'] / 1000:.3f}S"
    return {
        "id": row["event_id"],
        "actor": {"objectType": "Agent", "account": {"homePage": XAPI_HOME, "name": row["student_id"]}},
        "verb": {"id": _ANSWERED, "display": {"en": "answered"}},
        "object": {
            "objectType": "Activity",
            "id": f"{XAPI_HOME}/xapi/fact/{_iri_part(row['fact'])}",
            "definition": {
                "type": _INTERACTION,
                "interactionType": "other",
                "name": {"en": str(row["fact"])},
                "correctResponsesPattern": [str(row["fact"])],
            },
        },
        "result": result,
        "context": {
            "registration": _registration(row["game_id"]),
            "platform": "Pyramid Lab",
            "extensions": {
                f"{XAPI_HOME}/xapi/event": {name: row[name] for name in FIELDS},
                f"{XAPI_HOME}/xapi/lesson": row["lesson"],
                f"{XAPI_HOME}/xapi/class": row["class_name"],
            },
        },
        "timestamp": row["t_utc"],
    }


def _iri_part(text: str | None) -> str:
    from urllib.parse import quote

    return quote(text or "none", safe="")


def _registration(game_id: str) -> str:
    """A game's UUID: its own id where that is one, else one made from it."""
    try:
        return str(uuid.UUID(game_id))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{XAPI_HOME}/game/{game_id}"))


def _read_xapi(source: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with source.open(encoding="utf-8") as file:
        for line, text in enumerate(file, start=1):
            try:
                yield line, json.loads(text)["context"]["extensions"][f"{XAPI_HOME}/xapi/event"]
            except (ValueError, KeyError, TypeError):
                raise ExportError(f"{source}, line {line}: no statement of ours; is the file whole?") from None
