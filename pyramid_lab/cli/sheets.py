"""``pyramid-lab print``: sheets as PDF files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import click

from pyramid_lab.cli.deal_words import DEAL, OfADeal
from pyramid_lab.cli.group import NearGroup
from pyramid_lab.cli.options import ThereIs, ends_in, plainly
from pyramid_lab.core.deal import SEED_LIMIT
from pyramid_lab.core.rules import RULE_SETS

if TYPE_CHECKING:
    from pyramid_lab.sheets import Sheet
    from pyramid_lab.solver import Level

_P = ParamSpec("_P")
_R = TypeVar("_R")

SEED: Final = click.IntRange(0, SEED_LIMIT - 1)
SEED.name = "seed"


def _paper(*names: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    return click.option(
        "--paper", type=click.Choice(names, case_sensitive=False), default=names[0], show_default=True, help="Paper."
    )


_desk_paper = _paper("a4", "letter")
_rules = click.option("--rules", metavar="NAME", help=f"Rule set: {', '.join(RULE_SETS)}.")
_letters = click.option("--letters", is_flag=True, help="Print C, D, H or S beside every suit sign.")
_fonts = click.option(
    "--fonts",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with more fonts, for letters that the sheets' own type lacks.",
)
_name = click.option("--name", default="", help="Whose sheet it is.")
_size = click.option(
    "--size",
    type=click.Choice(["normal", "large"]),
    default="normal",
    show_default=True,
    help="large: landscape, cards over 30 mm wide.",
)


def _out(default: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        callback=ends_in(".pdf"),
        default=default,
        show_default=True,
        help="The PDF to write; one that is there is replaced.",
    )


def _save(sheet: Sheet, out: Path) -> None:
    click.echo(f"{sheet.save(out).absolute()} is ready. Print it at 100 %.")


@click.group(name="print", cls=NearGroup)
def print_group() -> None:
    """Print deals, answer keys, cards, mats, recording sheets, practice and rules.

    Every sheet is a PDF. Print it at 100 % (not "fit to page") and lay a ruler on the 50 mm bar to check.
    """


@print_group.command(cls=OfADeal)
@click.argument("deal", metavar="DEAL", type=DEAL)
@_rules
@_desk_paper
@_size
@_letters
@_name
@_fonts
@_out("deal.pdf")
@plainly
def deal(deal: int | str, out: Path, **options: Any) -> None:
    """The deal to lay out: the pyramid, the stock, and the order of the pack.

    DEAL is a seed (17), a code (table-17-U), or the cards in order ("6d 5h ...").
    """
    from pyramid_lab.sheets import deal_sheet
    from pyramid_lab.sheets.sheet import writable

    _save(deal_sheet(deal, **options), writable(out))


@print_group.command(cls=OfADeal)
@click.argument("deal", metavar="DEAL", type=DEAL)
@_rules
@click.option(
    "--line", metavar="MOVES", help='A line of your own, such as "8c+5d draw Kh"; without it the solver finds one.'
)
@click.option(
    "--seconds", type=click.FloatRange(0), default=20, show_default=True, help="How long the solver may look."
)
@_desk_paper
@_fonts
@_out("key.pdf")
@plainly
def key(
    deal: int | str, rules: str | None, line: str | None, seconds: float, paper: str, fonts: tuple[Path, ...], out: Path
) -> None:
    """The answer key of a deal: a shortest way to clear the pyramid.

    DEAL is a seed (17), a code (table-17-U), or the cards in order ("6d 5h ...").
    """
    from pyramid_lab.core.position import Move
    from pyramid_lab.sheets import answer_key
    from pyramid_lab.sheets.sheet import writable

    place = writable(out)
    moves = None if line is None else [Move.parse(move) for move in line.split()]
    _save(answer_key(deal, rules, moves, max_seconds=seconds, paper=paper, fonts=fonts), place)


@print_group.command()
@_desk_paper
@click.option(
    "--style",
    type=click.Choice(["plain", "large", "words"]),
    default="plain",
    show_default=True,
    help="large: one great index; words: the value in words too (J 11, Q 12, K 13).",
)
@click.option("--width", type=float, default=63.5, show_default=True, help="Width of a card in mm, 30 to 63.5.")
@click.option("--target", type=click.IntRange(10, 13), default=13, show_default=True, help="What pairs make.")
@_letters
@click.option("--backs/--no-backs", default=True, show_default=True, help="A page of backs after each page of cards.")
@click.option(
    "--duplex",
    type=click.Choice(["long-edge", "short-edge"]),
    default="long-edge",
    show_default=True,
    help="The edge over which the printer turns the sheet.",
)
@click.option(
    "--offset",
    type=(float, float),
    default=(0.0, 0.0),
    show_default=True,
    metavar="RIGHT DOWN",
    help="Move the backs by so many mm.",
)
@click.option("--test-sheet", is_flag=True, help="One numbered sheet, to find --duplex and --offset of a printer.")
@_out("cards.pdf")
@plainly
def cards(test_sheet: bool, out: Path, **options: Any) -> None:
    """Cards to cut out, 63.5 x 88.9 mm, with backs."""
    from pyramid_lab import sheets
    from pyramid_lab.sheets.sheet import writable

    if test_sheet:
        made = sheets.duplex_test(options["paper"], duplex=options["duplex"], offset=options["offset"])
    else:
        made = sheets.cards(**options)
    _save(made, writable(out))


@print_group.command()
@_paper("a3", "a4", "letter", "tabloid")
@_rules
@click.option(
    "--card-width",
    type=float,
    metavar="MM",
    help="Width of the cards you play with, 30 to 63.5; the mat comes in parts if one sheet is too small.",
)
@_out("mat.pdf")
@plainly
def mat(paper: str, rules: str | None, card_width: float | None, out: Path) -> None:
    """A mat to play on, for one waste pile or three (--rules three-pile)."""
    from pyramid_lab import sheets
    from pyramid_lab.sheets.sheet import writable

    _save(sheets.mat(paper, rules or "table", card_width=card_width), writable(out))


@print_group.command()
@_desk_paper
@click.option("--time", is_flag=True, help="A column for the seconds.")
@click.option("--rows", type=int, default=30, show_default=True, help="1 to 60.")
@click.option("--deal", metavar="DEAL", type=DEAL, help="Seed, code or cards of the deal that is played.")
@_rules
@_name
@_fonts
@_out("recording.pdf")
@plainly
def recording(deal: int | str | None, out: Path, **options: Any) -> None:
    """Rows for the pairs of a table game; they can be typed in again later."""
    from pyramid_lab.sheets import recording_sheet
    from pyramid_lab.sheets.sheet import writable

    _save(recording_sheet(deal=deal, **options), writable(out))


@print_group.command()
@click.argument("kind", type=click.Choice(["missing", "total", "family"]), default="missing")
@click.option("--seed", type=SEED, default=1, show_default=True, help="The same seed gives the same sheet.")
@click.option("--count", type=int, help="How many problems, 1 to 240. Without it: as many as fill a page.")
@click.option("--target", type=click.IntRange(10, 13), default=13, show_default=True, help="What pairs make.")
@click.option("--fact", "facts", multiple=True, metavar="FACT", help="Only this fact, such as 5+8; may be repeated.")
@click.option("--ranks", is_flag=True, help="Write A, J, Q, K for 1, 11, 12, 13.")
@_desk_paper
@_name
@_fonts
@_out("practice.pdf")
@plainly
def practice(kind: str, out: Path, **options: Any) -> None:
    """Fact practice with its key.

    KIND is missing (5 + _ = 13), total (add, and tick what makes 13) or family (three numbers, four sums).
    """
    from pyramid_lab import sheets
    from pyramid_lab.sheets.sheet import writable

    _save(sheets.practice(kind, **options), writable(out))


@print_group.command(name="rules-card")
@_rules
@_desk_paper
@_out("rules-card.pdf")
@plainly
def rules_card(rules: str | None, paper: str, out: Path) -> None:
    """The rules for the child, in a few words and pictures."""
    from pyramid_lab import sheets
    from pyramid_lab.sheets.sheet import writable

    _save(sheets.rules_card(rules or "table", paper), writable(out))


@print_group.command()
@click.option("--rules", metavar="NAME", default="table", show_default=True, help=f"Rule set: {', '.join(RULE_SETS)}.")
@click.option(
    "--count", type=int, help="How many deals, 1 to 10,000. Without it: one for each name, or 30 without names."
)
@click.option("--start-seed", type=SEED, default=1, show_default=True, help="Look for deals from this seed on.")
@click.option(
    "--rich-in",
    multiple=True,
    metavar="FACT",
    help="Only deals whose way to win makes this fact all four times, such as 5+8; may be repeated.",
)
@click.option(
    "--difficulty",
    type=click.Choice(("easy", "medium", "hard")),
    help="Only deals of this level, by how often a careful player who does not look ahead wins them.",
)
@click.option("--any", "any_deal", is_flag=True, help="Take every seed, also deals that cannot be won; no keys.")
@click.option("--keys/--no-keys", default=True, show_default=True, help="Answer keys at the end.")
@click.option(
    "--names",
    type=ThereIs(),
    help="A text file with one name a line, for the sheets in turn.",
)
@_desk_paper
@_size
@_letters
@_fonts
@_out("pack.pdf")
@plainly
def pack(
    rules: str,
    count: int | None,
    start_seed: int,
    rich_in: tuple[str, ...],
    difficulty: Level | None,
    any_deal: bool,
    keys: bool,
    names: Path | None,
    out: Path,
    **options: Any,
) -> None:
    """A class pack: certified deals, each with its code, and their answer keys.

    Every deal can be won, and its key is a shortest way. More than 1,000 deals come as several files.
    """
    from itertools import islice

    from tqdm import tqdm

    from pyramid_lab.core.rules import rule_set
    from pyramid_lab.log.progress import PLAIN
    from pyramid_lab.sheets import class_pack
    from pyramid_lab.sheets.deals import FILE_LIMIT, certified, check_count, every_deal, named
    from pyramid_lab.sheets.facts import read_fact
    from pyramid_lab.sheets.sheet import writable

    children = _names(names)
    count = (len(children) or 30) if count is None else count
    check_count(count)
    if len(children) > count:
        raise click.ClickException(f"{names} has {len(children)} names, but only {count} deals are asked for")
    chosen = rule_set(rules)
    for fact in rich_in:
        read_fact(fact, chosen.target)
    if (rich_in or difficulty) and any_deal:
        raise click.UsageError("--any takes every deal; it does not go with --rich-in or --difficulty")
    parts = -(-count // FILE_LIMIT)
    places = [out if parts == 1 else out.with_stem(f"{out.stem}-{part}") for part in range(1, parts + 1)]
    for place in places:
        writable(place)
    stream = every_deal(chosen, start_seed) if any_deal else certified(chosen, start_seed, rich_in, difficulty)
    for part, place in enumerate(places):
        wanted = min(FILE_LIMIT, count - part * FILE_LIMIT)
        found = []
        with tqdm(total=wanted, desc="Deals found:", bar_format=PLAIN, disable=None) as bar:
            for item in islice(stream, wanted):
                found.append(item)
                bar.update()
        if not found:
            raise click.ClickException(f"no seed from {start_seed} on gives such a deal")
        sheet = class_pack(
            named(found, children[part * FILE_LIMIT :]),
            chosen,
            keys=keys,
            first_number=part * FILE_LIMIT + 1,
            **options,
        )
        with tqdm(total=len(sheet.data["pages"]), desc="Pages:", bar_format=PLAIN, disable=None) as bar:
            sheet.save(place, lambda done, _, bar=bar: bar.update(done - bar.n))  # type: ignore[misc]
        click.echo(f"{place.absolute()} is ready: {len(found)} deal{'s' if len(found) > 1 else ''}. Print it at 100 %.")


def _names(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise click.ClickException(f"{path} is no UTF-8 text: save it again as UTF-8") from None
    names = [line.strip() for line in lines if line.strip()]
    if not names:
        raise click.ClickException(f"{path} has no name in it: write one name a line")
    return names


@print_group.command(name="list")
@click.argument("file", metavar="FILE.toml", type=ThereIs())
@click.option(
    "--into",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder for the PDFs. Without it: the one FILE.toml is in.",
)
@plainly
def list_(file: Path, into: Path | None) -> None:
    """Every sheet that a list describes, each as a PDF of its own.

    worksheets/worksheets.toml is such a list, and an example.
    """
    from tqdm import tqdm

    from pyramid_lab.log.progress import PLAIN
    from pyramid_lab.sheets.errors import SheetError
    from pyramid_lab.sheets.lists import read_list
    from pyramid_lab.sheets.sheet import writable, write_whole

    folder = into or file.parent
    made = read_list(file)
    places = {name: writable(folder / f"{name}.pdf") for name in made}
    printed = {}
    for name, sheet in tqdm(made.items(), desc="Sheets:", bar_format=PLAIN, disable=None):
        try:
            printed[places[name]] = sheet.pdf()
        except SheetError as error:
            raise SheetError(f"[{name}]: {error}") from None
    for place, content in printed.items():  # only now: a list with a wrong sheet leaves none
        write_whole(place, content)
    ready = "1 sheet is" if len(made) == 1 else f"{len(made)} sheets are"
    click.echo(f"{ready} ready in {folder.resolve()}. Print at 100 %.")
