"""``pyramid-lab review``: the tutor's report as a file."""

from __future__ import annotations

import gc
import os
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from pyramid_lab.cli.options import BEFORE_DAY, DAY, FROM_DAY, ThereIs, ends_in, known_class, plainly
from pyramid_lab.cli.place import kept

if TYPE_CHECKING:
    from pyramid_lab.log.names import Names
    from pyramid_lab.log.store import Store

_LONG: Final = 50_000  # events
_ROOMS: Final = ("reading", "report", "next_deal")


@click.command()
@click.option(
    "--store",
    "place",
    metavar="PLACE",
    callback=kept,
    help="The log: a file or a database URL. Without it: $PYRAMID_LAB_STORE, else the log of this computer.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    callback=ends_in(".html", ".pdf", also=(".htm",)),
    default=Path("report.html"),
    show_default=True,
    help="The file to write: .html (opens anywhere, also offline) or .pdf (to print, or to hand to a parent); one that "
    "is there is replaced.",
)
@click.option("--class", "class_name", metavar="CLASS", help="Only this class.")
@click.option(
    "--student",
    "students",
    multiple=True,
    metavar="NAME",
    help="Only this student, by name or pseudonym; can be given again. One student gives one page, without the class.",
)
@click.option("--since", type=DAY, metavar="DATE", help=FROM_DAY)
@click.option("--until", type=DAY, metavar="DATE", help=BEFORE_DAY)
@click.option("--pseudonyms", is_flag=True, help="Show pseudonyms instead of names.")
@click.option(
    "--thresholds",
    "file",
    type=ThereIs(),
    metavar="FILE",
    help="Your own thresholds, a TOML file such as '[bands]' and 'fast_s = 1.5'.",
)
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True, help="Paper of a PDF.")
@click.option("--title", default=None, help="Title of the report.")
@plainly
def review(
    place: str | None,
    out: Path,
    class_name: str | None,
    students: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    pseudonyms: bool,
    file: Path | None,
    paper: str,
    title: str | None,
) -> None:
    """Write the tutor's report: a page for the class and one for each student.

    Who is fluent, who counts, which wrong sums come back, and one next step for each, with how sure it all is.
    """
    from pyramid_lab.sheets.sheet import writable

    writable(out)
    click.echo("Reading the log", err=True)  # at once: the first bar comes when everything is loaded
    _write(place, out, class_name, students, since, until, pseudonyms, file, paper, title)
    click.echo(f"Wrote {out.absolute()}")


def _write(
    place: str | None,
    out: Path,
    class_name: str | None,
    students: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    pseudonyms: bool,
    file: Path | None,
    paper: str,
    title: str | None,
) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import ExitStack

    from pyramid_lab.insight.pictures import second_process
    from pyramid_lab.log.names import Names
    from pyramid_lab.log.store import Store
    from pyramid_lab.sheets.sheet import write_whole

    with ExitStack() as until_drawn:
        with Store(place, create=False) as store, ThreadPoolExecutor(1) as beside:
            from tqdm import tqdm

            from pyramid_lab.insight.cleaning import COLUMNS
            from pyramid_lab.log import frames
            from pyramid_lab.log.progress import PLAIN

            # The statistics and the pictures take longer to load than the log, and the log is not read by Python.
            beside_this = not students and _is_long(store)
            needed = _ROOMS if beside_this else (*_ROOMS, "plots")
            rooms = [beside.submit(import_module, f"pyramid_lab.insight.{name}") for name in needed]
            names = Names.of(store)
            if class_name is not None:
                known_class(class_name, [*store.class_names(), *(person.class_name for person in names.people())])
            chosen = [_pseudonym(names, word, class_name) for word in students]
            events = frames.events(
                store,
                student=chosen or None,
                class_name=class_name,
                since=None if since is None else since.date(),
                until=None if until is None else until.date(),
                columns=COLUMNS,
                compact=True,
            )
            # Not before: to read the log takes both cores.
            drawing = until_drawn.enter_context(second_process()) if beside_this else None
            for room in rooms:
                room.result()
            gc.freeze()  # what has been loaded stays: no need to look through it again and again
            people = {
                person.student_id: person.name
                for person in names.people()
                if class_name in (None, person.class_name) or person.student_id in chosen
            }
        played = set(events["student_id"].unique())
        for word, student in zip(students, chosen, strict=True):
            if student not in played and student not in people:
                raise click.ClickException(f"nobody is called {word}; see: pyramid-lab student list")

        from pyramid_lab.insight.next_deal import solver_judge
        from pyramid_lab.insight.reading import review as read
        from pyramid_lab.insight.report import TITLE, report_html, report_pdf
        from pyramid_lab.insight.thresholds import Thresholds

        thresholds = None if file is None else Thresholds.from_toml(file)
        shown = dict.fromkeys(people, "") if pseudonyms else people  # without a name the pseudonym is shown
        with tqdm(desc="Reading the log", bar_format=PLAIN, delay=1, leave=False) as bar:

            def tell(done: int, total: int, what: str) -> None:
                bar.total = total
                bar.set_description_str(f"{what[0].upper()}{what[1:]}:")
                bar.update(done - bar.n)

            found = read(
                events,
                names=shown,
                thresholds=thresholds,
                judge=solver_judge(),
                students=chosen or None,
                some_days=since is not None or until is not None,
                progress=tell,
                beside=drawing,
            )
    name = title or TITLE
    if out.suffix.lower() == ".pdf":
        made = report_pdf(found, title=name, paper="a4" if paper == "a4" else "us-letter")
    else:
        made = report_html(found, title=name).encode()
    write_whole(out, made)


def _is_long(store: Store) -> bool:
    """Whether it pays to draw the pictures in a second process, which takes two seconds to come up."""
    return store.n_events_at_most() > _LONG and (os.cpu_count() or 1) > 1


def _pseudonym(names: Names, word: str, class_name: str | None) -> str:
    found = names.find(word, class_name)
    if len(found) > 1:
        listed = ", ".join(person.student_id for person in found)
        raise click.ClickException(f"{len(found)} students are called {word}; name one by the pseudonym: {listed}")
    return found[0].student_id if found else word
