"""The commands that keep the log: students, retention, backup, export and check."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pyramid_lab.cli.deal_words import DEAL
from pyramid_lab.cli.group import NearGroup
from pyramid_lab.cli.options import BEFORE_DAY, FROM_DAY, Day, ThereIs, ends_in, known_class, plainly
from pyramid_lab.cli.place import kept

if TYPE_CHECKING:
    from dateutil.relativedelta import relativedelta

    from pyramid_lab.log.names import Names, Person
    from pyramid_lab.log.store import Store

_FORMATS: Final = ("csv", "xlsx", "datashop", "xapi")
_ENDINGS: Final = {".csv": "csv", ".xlsx": "xlsx"}  # the formats for research share theirs with other files
_TABLES: Final = ("events", "attempts", "games", "sessions", "students")
_DELIMITERS: Final = {"comma": ",", "semicolon": ";", "tab": "\t"}
_AGE: Final = re.compile(r"(\d{1,4})\s*(y|years?|m|months?|w|weeks?|d|days?)", re.IGNORECASE)
_UNITS: Final = {"y": "years", "m": "months", "w": "weeks", "d": "days"}


_store = click.option(
    "--store",
    "place",
    metavar="PLACE",
    callback=kept,
    help="The log: a file or a database URL. Without it: $PYRAMID_LAB_STORE, else the log of this computer.",
)
_class = click.option("--class", "class_name", metavar="CLASS", help="Only this class.")
_yes = click.option("--yes", is_flag=True, help="Do not ask.")


@contextmanager
def _open(place: str | None, *, create: bool = False, away: bool = False) -> Iterator[tuple[Store, Names]]:
    """The log and its names; with ``away`` also while the database cannot be reached."""
    from pyramid_lab.log.errors import StoreAwayError
    from pyramid_lab.log.names import Names
    from pyramid_lab.log.store import Store

    with Store(place, create=create) as store:
        try:
            if not away:
                with store.reading():
                    pass  # says clearly, before anything is done, if the database is away
            if not store.state.saved:
                click.echo(f"Note: {store.state.message}", err=True)
            yield store, Names.of(store)
        except StoreAwayError as error:
            where = store.path or store.url.render_as_string(hide_password=True)
            raise click.ClickException(f"{where}: {error}; nothing was changed") from None


def _one(store: Store, names: Names, who: str, class_name: str | None) -> Person:
    """The one student a word means; by pseudonym also someone who is only in the log.

    Raises:
        click.ClickException: nobody, or several.
    """
    from pyramid_lab.log.names import Person

    _known(store, names, class_name)
    found = names.find(who, class_name)
    if len(found) > 1:
        lines = [f"  {person.student_id}  {person.label}  {person.class_name or ''}".rstrip() for person in found]
        raise click.ClickException(
            f"{len(found)} students are called {who}; name one by the first column:\n" + "\n".join(lines)
        )
    if found:
        return found[0]
    if store.events(student_id=who, event_types=("deal", "attempt", "draw", "end")):
        return Person(who, "")
    raise click.ClickException(f"nobody is called {who}; see: pyramid-lab student list")


def _known(store: Store, names: Names, class_name: str | None) -> None:
    """Refuse a class that neither the names nor the log have."""
    if class_name is not None:
        known_class(class_name, [*store.class_names(), *(person.class_name for person in names.people())])


@click.group(cls=NearGroup)
def student() -> None:
    """Keep the list of students: their names, classes and pseudonyms.

    Names stay in a file of their own on this computer; the log holds pseudonyms only.
    """


@student.command("list")
@_store
@_class
@click.option("--csv", "as_csv", is_flag=True, help="Print a roster that 'student import' reads.")
@plainly
def list_students(place: str | None, class_name: str | None, as_csv: bool) -> None:
    """List the students."""
    import csv
    import sys

    from pyramid_lab.log.errors import NoLogError
    from pyramid_lab.log.spreadsheet import neutralise

    known: list[Person] = []
    try:
        with _open(place) as (_, names):
            known = names.people()
    except NoLogError as error:
        click.echo(f"Note: {error}", err=True)  # nobody has been added; looking makes no log
    known_class(class_name, [person.class_name for person in known])
    people = [person for person in known if class_name in (None, person.class_name)]
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["student_id", "name", "class", "id"])
        for person in people:
            cells = (person.student_id, person.name, person.class_name or "", person.roster_id or "")
            writer.writerow([neutralise(cell) for cell in cells])
    elif not people:
        click.echo("No students yet. Add one with 'pyramid-lab student add NAME', or a roster with 'student import'.")
    else:
        widths = [max(len(text) for text in column) for column in zip(*map(_cells, people), strict=True)]
        for person in people:
            line = "  ".join(text.ljust(width) for text, width in zip(_cells(person), widths, strict=True))
            click.echo(line.rstrip())


def _cells(person: Person) -> tuple[str, str, str, str]:
    return person.student_id, person.label, person.class_name or "", person.roster_id or ""


@student.command("add")
@click.argument("name")
@_store
@click.option("--class", "class_name", metavar="CLASS", help="Their class.")
@click.option("--id", "roster_id", metavar="ID", help="The school's own id.")
@plainly
def add_student(name: str, place: str | None, class_name: str | None, roster_id: str | None) -> None:
    """Add one student under a new pseudonym."""
    with _open(place, create=True) as (store, names):
        person = names.add(store, name, class_name=class_name, roster_id=roster_id)
        click.echo(f"{person.label} is {person.student_id}. Names are in {names.path}.")
        if said := _namesakes(person, names.called(person.name)):
            click.echo(said)


def _namesakes(new: Person, alike: list[Person]) -> str:
    """What is said of a new student whose name others have too: who they are, and how to tell them apart."""
    from pyramid_lab.log.names import labels_of

    others = [person for person in alike if person.student_id != new.student_id]
    if not others:
        return ""
    known = ", ".join(f"{person.student_id} {person.class_name or ''}".rstrip() for person in others)
    *before, last = (label for label, _ in labels_of(alike))
    labels = f"{', '.join(before)} and {last}"
    there_is = f"The name {new.label} was there already ({known}); in a list they are now {labels}."
    apart = new.class_name and all(person.class_name not in (None, new.class_name) for person in others)
    if apart or new.roster_id:
        return there_is
    return (
        f"{there_is} If it is the same child, or to give {'' if new.class_name else 'a class (--class) or '}a fuller "
        f"name, take this one back with 'pyramid-lab student erase {new.student_id}'."
    )


@student.command("import")
@click.argument("roster", type=ThereIs())
@_store
@plainly
def import_students(roster: Path, place: str | None) -> None:
    """Import a ROSTER: a name a line, or a CSV with a column 'name', and 'class' and 'id' if you have them.

    The same roster again changes nothing. If a line is wrong, it is named and nothing is imported.
    """
    from pyramid_lab.log.errors import RosterError
    from pyramid_lab.log.names import read_roster, unread_columns, without_heading

    try:
        rows = read_roster(roster)
        plain = without_heading(roster)
        unread = [] if plain else unread_columns(roster)
    except RosterError as error:
        raise click.ClickException(f"{roster}: nothing was imported\n{error}") from None
    with _open(place, create=True) as (store, names):
        done = names.import_roster(rows, store)
        for what, people in (("new", done.new), ("changed", done.changed)):
            for person in people:
                click.echo(f"{what}: {person.label}  {person.class_name or ''}".rstrip())
        for before, person in done.renamed:
            click.echo(
                f"renamed: {before} is now {person.name}. If these are two children, mend the id and import again."
            )
        if plain:
            first = " ".join(rows[0].name.split())
            click.echo(f"There is no heading, so every line is a name, also the first: {first}.")
        if unread:
            click.echo(f"Not used: the columns {', '.join(unread)}. Known are name, class and id.")
        click.echo(f"{done}. Names are in {names.path}.")


@student.command("export")
@click.argument("who")
@_store
@_class
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    callback=ends_in(".zip"),
    metavar="FILE",
    help="The .zip to write.",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@plainly
def export_student(who: str, place: str | None, class_name: str | None, out: Path, force: bool) -> None:
    """Write all that is kept about one student, with the name, into a .zip of CSV files.

    WHO is a name, a pseudonym or the school's id.
    """
    from pyramid_lab.log.exports import export_person

    with _open(place) as (store, names):
        person = _one(store, names, who, class_name)
        count = export_person(store, person, out, overwrite=force)
        click.echo(
            f"{out.absolute()}: {count} events of {person.label or person.student_id}. "
            "It holds the name; keep it private."
        )


@student.command("erase")
@click.argument("who")
@_store
@_class
@_yes
@plainly
def erase_student(who: str, place: str | None, class_name: str | None, yes: bool) -> None:
    """Erase one student: the name, every event, and what still waits to be written.

    WHO is a name, a pseudonym or the school's id. It cannot be undone; backups made before still hold the student.
    """
    with _open(place) as (store, names):
        person = _one(store, names, who, class_name)
        shown = person.label or person.student_id
        count = len(store.events(student_id=person.student_id))
        if not yes:
            click.confirm(f"Erase {shown} and {count} events for good?", abort=True)
        removed = store.erase_student(person.student_id)
        names.erase(person.student_id)
        click.echo(f"{shown} is erased: {removed.events + removed.waiting} events in {removed.games} games.")
        click.echo("Backups and exports made before still hold this student; delete those too.")


@click.command()
@_store
@click.option(
    "--older-than",
    "age",
    required=True,
    envvar="PYRAMID_LAB_KEEP",
    metavar="AGE",
    help="Such as 1y, 6m, 8w or 90d. $PYRAMID_LAB_KEEP sets it for good.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@_yes
@plainly
def prune(place: str | None, age: str, dry_run: bool, yes: bool) -> None:
    """Remove games that ended longer ago than AGE. Students stay listed."""
    before = datetime.now(UTC) - _age(age)
    with _open(place) as (store, _):
        would = store.prune(before, dry_run=True)
        what = f"{would.games} games ({would.events} events) that ended before {before:%Y-%m-%d}"
        if dry_run or not would.games:
            click.echo(f"Would remove {what}.")
            return
        if not yes:
            click.confirm(f"Remove {what} for good?", abort=True)
        done = store.prune(before)
        click.echo(f"Removed {done.games} games ({done.events} events) and {done.sessions} sessions.")


def _age(text: str) -> relativedelta:
    from dateutil.relativedelta import relativedelta

    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"{text!r} is no age; write 1y, 6m, 8w or 90d", param_hint="--older-than")
    units: dict[str, Any] = {_UNITS[match[2][0].lower()]: int(match[1])}
    return relativedelta(**units)


@click.command()
@_store
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where to put it. Without it: a folder 'backups' beside the log.",
)
@click.option("--without-names", is_flag=True, help="Leave the names out.")
@plainly
def backup(place: str | None, folder: Path | None, without_names: bool) -> None:
    """Copy the log, and the names beside it, also while children play.

    To go back to a backup, name it with --store, or put it in the place of the log.
    """
    with _open(place) as (store, names):
        target = _new_backup(folder or names.path.parent / "backups")
        click.echo(f"The log is copied to {store.backup(target)}")
        if not without_names and names.path.exists():
            click.echo(f"The names are copied to {names.backup(target.with_name(target.stem + '.names.sqlite3'))}")
        if store.waiting():
            click.echo(f"{len(store.waiting())} entries are not in the log yet and not in this backup.", err=True)


def _new_backup(folder: Path) -> Path:
    """A file name of this second that no backup in the folder has; makes the folder, but not those above it."""
    try:
        folder.mkdir(exist_ok=True)
    except FileNotFoundError:
        raise click.ClickException(f"There is no folder {folder.parent}; make it, or mend --to.") from None
    except OSError as error:
        raise click.ClickException(
            f"No backup can be put into {folder} ({error.strerror}); name another folder with --to."
        ) from None
    stem = f"pyramid-lab-{datetime.now():%Y%m%d-%H%M%S}"  # noqa: DTZ005
    names = (f"{stem}{'' if nth == 1 else f'-{nth}'}.sqlite3" for nth in itertools.count(1))
    return next(folder / name for name in names if not (folder / name).exists())


@click.command()
@_store
@click.option(
    "--format",
    "named_format",
    type=click.Choice(_FORMATS),
    help="What to write. Without it: what the ending of FILE says, .csv or .xlsx.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The file to write.")
@click.option(
    "--table", type=click.Choice(_TABLES), default="events", show_default=True, help="Which table (csv only)."
)
@click.option("--student", "who", metavar="WHO", help="Only this student: name, pseudonym or school's id.")
@_class
@click.option("--lesson", metavar="LESSON", help="Only this lesson.")
@click.option("--since", metavar="DATE", help=FROM_DAY)
@click.option("--until", metavar="DATE", help=BEFORE_DAY)
@click.option(
    "--delimiter", type=click.Choice(list(_DELIMITERS)), default="comma", show_default=True, help="Between cells (csv)."
)
@click.option("--with-names", is_flag=True, help="Add the names (csv and xlsx). Keep such a file private.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@plainly
def export(
    place: str | None,
    named_format: str | None,
    out: Path,
    table: str,
    who: str | None,
    class_name: str | None,
    lesson: str | None,
    since: str | None,
    until: str | None,
    delimiter: str,
    with_names: bool,
    force: bool,
) -> None:
    """Write the log for a spreadsheet or for research.

    csv and xlsx hold every event; datashop and xapi hold the tries at a discard, for the tools of that name. There are
    pseudonyms only, unless you ask for names. If there is nothing to write, no file is made, and it ends with 1.
    """
    from dateutil.tz import tzlocal

    from pyramid_lab.log import exports
    from pyramid_lab.log.choice import choose

    format_name = _format_of(out, named_format)
    if table != "events" and (format_name != "csv" or with_names):
        raise click.UsageError(f"--table {table} goes with --format csv and without --with-names")
    with _open(place) as (store, names):
        _known(store, names, class_name)
        one = None if who is None else _one(store, names, who, None).student_id
        choice = choose(one, class_name, since, until, lesson, tzlocal())
        unnamed = () if with_names else exports.unnamed_classes(store, choice)
        if table != "events":
            frame = _table(store, table, one, class_name, since, until, lesson)
            count = exports.export_table(
                frame,
                out,
                unnamed=exports.unnamed_classes(store),
                delimiter=_DELIMITERS[delimiter],
                overwrite=force,
                allow_empty=False,
            )
        else:
            count = exports.export(
                store,
                out,
                exports.FORMATS[_FORMATS.index(format_name)],
                choice,
                names=names if with_names else None,
                delimiter=_DELIMITERS[delimiter],
                overwrite=force,
                allow_empty=False,
            )
    click.echo(f"{out.absolute()}: {count} rows.")
    if format_name in ("datashop", "xapi"):
        click.echo(f"This format holds: {exports.HOLDS[format_name]}.")
    if unnamed:
        click.echo(_why_unnamed(unnamed, exports.SMALLEST_GROUP, allowed=format_name in ("csv", "xlsx")))


def _format_of(out: Path, named: str | None) -> str:
    """The format that was asked for, or the one that the ending says.

    Raises:
        click.BadParameter: the two are not the same, or neither says a format.
    """
    said = "csv" if out.is_dir() else _ENDINGS.get(out.suffix.lower())  # the export says what is wrong with a folder
    if named is None and said is None:
        ending = f"ends in {out.suffix}, which says no format" if out.suffix else "has no ending to say the format"
        raise click.BadParameter(
            f"{out.name} {ending}; end the name in .csv or .xlsx, or give --format {'|'.join(_FORMATS)}",
            param_hint="--out",
        )
    if named is not None and said is not None and named != said:
        raise click.BadParameter(
            f"{out.name} ends as {said} does, but --format says {named}; leave --format out, or give the file another "
            "ending",
            param_hint="--out",
        )
    return named or str(said)


def _why_unnamed(classes: tuple[str, ...], smallest: int, *, allowed: bool) -> str:
    """What an export says of the classes that it does not name; ``allowed``: whether names may be asked for."""
    mend = (
        "For your own use, --with-names writes every event with the names of classes and students."
        if allowed
        else "Files for research never name such a class."
    )
    which = f"class {classes[0]}" if len(classes) == 1 else f"the classes {', '.join(classes)}"
    return (
        f"The rows are all there. Left out is the name of {which}: with fewer than {smallest} students it would say "
        f"who they are. {mend}"
    )


def _table(store: Store, table: str, one: str | None, class_name: str | None, *dates_and_lesson: str | None) -> Any:
    from dateutil.tz import tzlocal

    from pyramid_lab.log import frames

    since, until, lesson = dates_and_lesson
    if table == "students":
        return frames.students(store, class_name=class_name)
    made: Callable[..., Any] = getattr(frames, table)
    return made(store, student=one, class_name=class_name, since=since, until=until, lesson=lesson, tz=tzlocal())


@click.group("log", cls=NearGroup)
def log() -> None:
    """Look after the log itself."""


@log.command("where")
@_store
@plainly
def where(place: str | None) -> None:
    """Say where the log and the names are."""
    with _open(place, create=place is None, away=True) as (store, names):
        click.echo(f"log    {store.path or store.url.render_as_string(hide_password=True)}")
        click.echo(f"names  {names.path}{'' if names.path.exists() else '  (none yet)'}")
        click.echo(store.state.message)


@log.command("check")
@_store
@plainly
def check_log(place: str | None) -> None:
    """Look for damage, missing events and impossible times, and say what to do.

    Nothing is changed. Ends with 1 if something is lost or cannot be read.
    """
    from pyramid_lab.log.check import check
    from pyramid_lab.log.store import Store

    with Store(place, create=False) as store:
        found = check(store, datetime.now(UTC))
    for finding in found:
        click.echo(str(finding))
    errors = sum(finding.severity == "error" for finding in found)
    click.echo("The log is sound." if not found else f"{len(found)} findings, {errors} of them errors.")
    if errors:
        raise click.exceptions.Exit(1)


@log.command("enter")
@click.argument("sheet", metavar="FILE.csv", type=ThereIs())
@click.option(
    "--deal", required=True, metavar="DEAL", type=DEAL, help="The code on the deal sheet; or a seed, or the cards."
)
@click.option("--student", "who", required=True, metavar="WHO", help="Name or pseudonym of the student.")
@click.option("--rules", metavar="NAME", help="The rule set, if the code does not say it.")
@click.option(
    "--started",
    type=Day(time=True),
    metavar="TIME",
    help="When the game began, local time, as 2026-03-02 or '2026-03-02 09:30'. Without it: the file's own time.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be entered; change nothing.")
@_store
@_class
@plainly
def enter(
    sheet: Path,
    deal: int | str,
    who: str,
    rules: str | None,
    started: datetime | None,
    dry_run: bool,
    place: str | None,
    class_name: str | None,
) -> None:
    """Enter a recording sheet of a table game, row by row, checked against the deal.

    The first line of FILE.csv names the columns: first,second,total,tick,seconds (only first must be there). A sheet
    that was entered before is not doubled.
    """
    from pyramid_lab.log.paper import enter as write
    from pyramid_lab.log.paper import paper_game, read_recording
    from pyramid_lab.sheets.deals import deal_for

    found, chosen = deal_for(deal, rules)
    try:
        text = sheet.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.ClickException(
            f"{sheet} is no UTF-8 text, at byte {error.start + 1}; save it as CSV, UTF-8"
        ) from None
    try:
        rows = read_recording(text, chosen.target)
    except ValueError as error:
        raise click.ClickException(f"{sheet}: {error}") from None
    moment = started or datetime.fromtimestamp(sheet.stat().st_mtime, UTC)
    with _open(place, create=place is None) as (store, names):
        person = _one(store, names, who, class_name)
        game = paper_game(rows, chosen, found, student_id=person.student_id, started=moment.astimezone())
        for line, sentence in game.notes:
            click.echo(f"line {line}: {sentence}")
        tries = sum(event.event_type == "attempt" for event in game.events)
        turns = f", with {game.turns_found} turns of the stock filled in" if game.turns_found else ""
        if dry_run:
            click.echo(f"{tries} tries would be entered{turns}; nothing was changed.")
            return
        new = write(game, store)
    click.echo(f"{tries} tries entered{turns}." if new else "This sheet was entered before; nothing was added.")
