"""``pyramid-lab class``, ``merge`` and ``school``: a class at once, many logs into one, a school's rights."""

from __future__ import annotations

import contextlib
import logging
import secrets
import ssl
import sys
import tempfile
import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pyramid_lab.cli.options import known_class
from pyramid_lab.cli.place import kept

if TYPE_CHECKING:
    from pyramid_lab.classroom.app import ClassApp
    from pyramid_lab.classroom.register import Pupil
    from pyramid_lab.log.names import Names
    from pyramid_lab.log.store import Store

PORT = 8900
GUESTS = "guests"


@click.command("class")
@click.argument("lessons", nargs=-1, metavar="[LESSON]...")
@click.option("--lan", is_flag=True, help="Let the tablets in your own network in. Without it only this computer.")
@click.option("--address", metavar="IP", help="With --lan: which of this computer's addresses the tablets use.")
@click.option("--port", type=click.IntRange(1, 65535), default=PORT, show_default=True, help="Port to listen on.")
@click.option("--group", metavar="CLASS", help="Only the students of this class. Needed if you have several.")
@click.option("--guests", type=click.IntRange(1, 60), metavar="NUMBER", help="Children without names: pictures only.")
@click.option("--pictures", is_flag=True, help="Large pictures to choose from, for children who do not read.")
@click.option("--store", metavar="PLACE", callback=kept, help="Path or URL of the log. Without it: yours.")
@click.option(
    "--away",
    type=click.IntRange(1, 86400),
    default=120,
    show_default=True,
    metavar="SECONDS",
    help="How long a child's board stays ready after its page was closed. The game itself is kept in any case.",
)
@click.option("--no-browser", is_flag=True, help="Do not open your own page.")
@click.option(
    "--certificate", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Certificate file, for HTTPS."
)
@click.option("--key", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Key file, for HTTPS.")
def class_(
    lessons: tuple[str, ...],
    lan: bool,
    address: str | None,
    port: int,
    group: str | None,
    guests: int | None,
    pictures: bool,
    store: str | None,
    away: int,
    no_browser: bool,
    certificate: Path | None,
    key: Path | None,
) -> None:
    """Let a whole class play, each child on a tablet, and watch how it goes.

    Shows an address and a number to join with. LESSON is a lesson's name, its first digits, or the path of a
    notebook; several are taken in this order. Without any, children simply play.

    Ctrl+C ends the class. Every try is in your log.
    """
    if address and not lan:
        raise click.UsageError("--address goes with --lan.")
    if bool(certificate) != bool(key):
        raise click.UsageError("--certificate and --key go together.")
    tls = _tls(certificate, key) if certificate and key else None
    from pyramid_lab.cli.jupyter import start_sooner

    start_sooner()
    from pyramid_lab.classroom.app import ClassSettings, class_app
    from pyramid_lab.classroom.feed import Feed
    from pyramid_lab.classroom.lesson_files import LessonError, gather
    from pyramid_lab.classroom.network import NoNetworkError, lan_names
    from pyramid_lab.classroom.register import Register, State
    from pyramid_lab.log.errors import StoreError
    from pyramid_lab.log.names import Names
    from pyramid_lab.log.store import Store

    logging.basicConfig(level=logging.ERROR, format="%(levelname)s: %(message)s")
    with contextlib.ExitStack() as stack:
        try:
            log = stack.enter_context(Store(store))
            pupils = _pupils(log, Names.of(log), group, guests)
            names = lan_names(address) if lan else None
            root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pyramid-lab-lessons-")))
            chosen = gather(lessons, _lesson_folders(), root)
        except (StoreError, LessonError, NoNetworkError) as error:
            raise click.ClickException(str(error)) from None
        scheme = "https" if tls else "http"
        settings = ClassSettings(
            store_url=log.url.render_as_string(hide_password=False),
            host="0.0.0.0" if lan else "127.0.0.1",
            port=port,
            names=[*(names or ()), "127.0.0.1", "localhost"],
            address=f"{scheme}://{names[0]}:{port}" if names else None,
            away_seconds=away,
            children=min(len(pupils), 36),
            pictures=pictures or guests is not None,
            tls=tls,
        )
        register = Register(pupils, chosen, now=time.monotonic)
        app = class_app(register, settings, Feed(log), root)
        try:
            app.open()
        except OSError as error:
            raise click.ClickException(
                f"Port {port} cannot be used ({error.strerror}). Name another with --port."
            ) from None
        _welcome(app, others=names[1:-2] if names else None, pupils=len(pupils))
        if not no_browser:
            webbrowser.open(app.tutor_address)
        _say_when_over(app)
        app.run()
        ended = register.state is State.ENDED
        click.echo("The class is closed." if ended else "The class is over. Everything is in your log.")


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="LOG...", callback=kept)
@click.option(
    "--into", metavar="PLACE", callback=kept, help="Path or URL of the log that takes them in. Without it: yours."
)
@click.option("--same-names", is_flag=True, help="Students of one name in one class are one child.")
def merge(sources: tuple[str, ...], into: str | None, same_names: bool) -> None:
    """Bring the logs of many computers into one.

    LOG is the file of a log (log.sqlite3) or a database's URL; the file of names beside it comes along. Nothing is
    written twice, nothing is overwritten, and the same LOG may be merged again and again. What does not agree is
    named, and then the command ends with 1.
    """
    from pyramid_lab.classroom.merge import merge as merge_logs
    from pyramid_lab.log.errors import StoreError
    from pyramid_lab.log.names import Names
    from pyramid_lab.log.store import Store

    agreed = True
    try:
        with Store(into) as target:
            with target.reading():
                pass  # says clearly, before anything is read, if the log to fill is away
            for place in sources:
                if "://" not in place and not Path(place).is_file():
                    raise click.ClickException(f"There is no file {place}. Name a log, such as laptop-3/log.sqlite3.")
                with Store(place) as source:
                    if source.url == target.url:
                        raise click.ClickException(f"{place} is the log that the others go into.")
                    with source.reading():
                        pass
                    done = merge_logs(source, target, names=(Names.of(source), Names.of(target)), same_names=same_names)
                click.echo(
                    f"{place}: {done.events} new events ({done.known} were there already), {done.sessions} new "
                    f"sittings, {done.students} new students, {done.names} new names."
                )
                for sentence in (*done.twins, *done.conflicts):
                    click.echo(f"  {sentence}", err=True)
                if done.more_conflicts:
                    click.echo(f"  ... and {done.more_conflicts} more that do not agree.", err=True)
                agreed = agreed and not done.conflicts
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    if not agreed:
        raise click.exceptions.Exit(1)


@click.command()
@click.option("--store", required=True, metavar="URL", help="The school's PostgreSQL log, as its owner.")
@click.option(
    "--tutor", "tutors", multiple=True, metavar="USER=CLASS[,CLASS]...", help="A tutor's user name and classes."
)
@click.option(
    "--secret-file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("school.secret"),
    show_default=True,
    help="The secret that passwords are derived from; made if it is not there.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("school.json"),
    show_default=True,
    help="The file that the hub reads: who may log in.",
)
def school(store: str, tutors: tuple[str, ...], secret_file: Path, out: Path) -> None:
    """Give a school's log its rights: students write their own rows, tutors read their own classes.

    Import the rosters first ('pyramid-lab student import'), then run this after every change of the class lists.
    """
    from pyramid_lab.classroom.school import SchoolError, read_secret, set_up
    from pyramid_lab.log.errors import StoreError
    from pyramid_lab.log.store import Store, store_url

    classes: dict[str, list[str]] = {}
    for text in tutors:
        user, sign, listed = text.partition("=")
        if not sign or not listed:
            raise click.BadParameter(
                f"{text!r} is not USER=CLASS, such as t-kim=2b or t-kim=2b,3a", param_hint="--tutor"
            )
        classes.setdefault(user.strip(), []).extend(name.strip() for name in listed.split(","))
    try:
        if store_url(store).get_backend_name() != "postgresql":
            raise SchoolError(f"{store} is not a PostgreSQL database, such as postgresql://server/pyramid_lab")
        with Store(store) as log:
            with log.reading():
                pass  # nothing is made before the database answers
            if not secret_file.exists():
                secret_file.touch(mode=0o600)
                secret_file.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
                click.echo(f"Made a secret in {secret_file}. The hub needs it; keep it from everybody else.")
            made = set_up(log, classes, read_secret(secret_file))
    except (SchoolError, StoreError) as error:
        raise click.ClickException(str(error)) from None
    made.save(out)
    click.echo(f"{len(made.students)} students and {len(made.tutors)} tutors have their rights; the hub reads {out}.")


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:
        raise click.ClickException(
            f"{certificate} and {key} cannot be used as a certificate and its key ({error.strerror or error})."
        ) from None
    return context


def _welcome(app: ClassApp, *, others: list[str] | None, pupils: int) -> None:
    """Say how to join. ``others``: more addresses of this computer that tablets may need; ``None`` without --lan."""
    code: str = app.register.code
    click.echo(f"{pupils} names on the class list. Children open this address and type this number:\n")
    click.secho(f"    {app.address}    {code[:3]} {code[3:]}\n", bold=True)
    if others is not None:
        app.write_qr(sys.stdout)
        if others:
            click.echo(f"If tablets do not reach it, start again with --address and another one: {', '.join(others)}.")
    else:
        click.echo("Only this computer can open it. For tablets, start with --lan.")
    click.echo(f"Your own page, for you alone: {app.tutor_address}")
    click.echo("Ctrl+C ends the class; where you have ended it on your page, it closes it.")


def _say_when_over(app: ClassApp) -> None:
    """Say once in the window that the tutor has ended the class on their page, and what is left to do."""
    from pyramid_lab.classroom.register import State

    def heard() -> None:
        if app.register.state is State.ENDED:
            unlisten()
            with contextlib.suppress(OSError):  # the window may be gone; the class's end must not fail with it
                click.echo(
                    "The class is over: nobody plays any more, and tablets that wake up are told so. "
                    "Press Ctrl+C to close it; the report is: pyramid-lab review"
                )

    unlisten = app.register.listen(heard)


def _lesson_folders() -> list[Path]:
    from pyramid_lab.cli.lessons import default_folder, shipped_lessons

    return [folder for folder in (default_folder(), shipped_lessons()) if folder.is_dir()]


def _pupils(store: Store, names: Names, group: str | None, guests: int | None) -> list[Pupil]:
    """The class list. The picture of a student is their place in the list of all, so it stays the same."""
    from pyramid_lab.classroom.pictures import picture_name
    from pyramid_lab.classroom.register import Pupil

    if guests is not None:
        known = [person for person in names.people() if person.class_name == GUESTS]
        for number in range(len(known), guests):
            known.append(names.add(store, picture_name(number), class_name=GUESTS))
        return [Pupil(person.student_id, person.label, number) for number, person in enumerate(known[:guests])]
    people = [person for person in names.people() if person.class_name != GUESTS]
    classes = sorted({person.class_name for person in people if person.class_name})
    known_class(group, classes)
    if group is None and len(classes) > 1:
        raise click.ClickException(f"Say which class plays, with --group: {', '.join(classes)}.")
    chosen = [person for person in people if group is None or person.class_name == group]
    if not chosen:
        raise click.ClickException(
            "Your class list is empty. Bring in a roster with 'pyramid-lab student import FILE', "
            "or let children play without names: --guests 12."
        )
    return [Pupil(person.student_id, person.label, number) for number, person in enumerate(chosen)]
