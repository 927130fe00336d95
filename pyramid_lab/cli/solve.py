"""``pyramid-lab solve`` and ``pyramid-lab odds``."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

import click

if TYPE_CHECKING:
    from pyramid_lab.core import Rules
    from pyramid_lab.solver.odds import Count

_COLUMNS = ("deal", "deck")
_CHUNK = 8


class _Task(NamedTuple):
    rules: Rules
    text: str
    shortest: bool
    max_seconds: float | None


def rules_from(name: str, overrides: tuple[str, ...]) -> Rules:
    """A rule set by name, with ``field=value`` overrides.

    Raises:
        click.BadParameter: no such rule set or field, or a value that cannot be.
    """
    from pyramid_lab.core import RulesError, rule_set

    changes: dict[str, object] = {}
    for text in overrides:
        field, sign, value = text.partition("=")
        if not sign or not field.strip() or not value.strip():
            raise click.BadParameter(f"{text!r}: write field=value, such as redeals=1 or win=all", param_hint="'--set'")
        changes[field.strip().replace("-", "_")] = _value(value.strip())
    try:
        rules = rule_set(name)
    except RulesError as error:
        raise click.BadParameter(str(error), param_hint="'--rules'") from None
    try:
        return rules.replace(**changes) if changes else rules
    except (RulesError, TypeError) as error:
        raise click.BadParameter(str(error), param_hint="'--set'") from None


def _value(text: str) -> object:
    if text.lower() in ("true", "false", "yes", "no"):
        return text.lower() in ("true", "yes")
    try:
        return int(text)
    except ValueError:
        return text


def read_deals(stream: TextIO, rules: Rules) -> Iterator[str]:
    """The deals of a file, each checked: one a line, or a CSV with a column ``deal`` (or ``deck``).

    Yields:
        The text of each deal as it stands in the file.

    Raises:
        click.ClickException: a line holds no deal of the rule set's pack; the message names the line and the card.
    """
    from pyramid_lab.core import Deal, InvalidDealError

    lines = iter(stream)
    head = next(lines, "").lstrip("\ufeff")
    names = [name.strip().lower() for name in next(csv.reader([head]), [])]
    column = next((names.index(name) for name in _COLUMNS if name in names), None)
    if column is None:
        numbered: Iterable[tuple[int, str]] = enumerate(chain([head], lines), start=1)
    else:
        numbered = _cells(lines, column)
    for number, text in numbered:
        text = text.strip()
        if not text:
            continue
        try:
            Deal.from_text(text, rules.target)
        except InvalidDealError as error:
            hint = "" if column is not None or number > 1 else " (a CSV needs a column named deal)"
            raise click.ClickException(f"line {number}: {error}{hint}") from None
        yield text


def _cells(lines: Iterator[str], column: int) -> Iterator[tuple[int, str]]:
    reader = csv.reader(lines)
    for row in reader:
        if not row:
            continue
        number = reader.line_num + 1
        if column >= len(row):
            raise click.ClickException(
                f"line {number}: it has {len(row)} columns, the deal should be in column {column + 1}"
            )
        yield number, row[column]


def _solve_one(task: _Task) -> tuple[str, str, str, str]:
    from pyramid_lab.core import Deal, Position
    from pyramid_lab.solver import Unwinnable, Winnable, solve

    deal = Deal.from_text(task.text, task.rules.target)
    answer = solve(Position.start(task.rules, deal), shortest=task.shortest, max_seconds=task.max_seconds)
    if isinstance(answer, Winnable):
        return task.text, "1", str(len(answer.line)), " ".join(map(str, answer.line))
    return task.text, "0" if isinstance(answer, Unwinnable) else "", "", ""


@click.command()
@click.option("--rules", "name", required=True, metavar="NAME", help="The rule set: classic, one-pass, cardems ...")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Change one rule, such as redeals=1 or win=all; may be given again.",
)
@click.option(
    "--deals",
    required=True,
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="One deal a line, or a CSV with a column deal; - is standard input.",
)
@click.option("--shortest", is_flag=True, help="Find lines of the fewest steps.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Cores to use.")
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up on a deal after so long; its winnable cell stays empty. Without it: never.",
)
def solve(
    name: str, overrides: tuple[str, ...], deals: TextIO, shortest: bool, jobs: int, max_seconds: float | None
) -> None:
    """Say of each deal whether it can be won, and how.

    Writes CSV with the columns deal, winnable, steps, line, in the order of the file: winnable is 1, 0, or empty where
    the search gave up; steps is the length of the line (the fewest there is with --shortest; a discard, a draw and a
    redeal are one step each); line is the moves, such as 8c+5d draw Kh.
    """
    rules = rules_from(name, overrides)
    tasks = (_Task(rules, text, shortest, max_seconds) for text in read_deals(deals, rules))
    output = csv.writer(click.open_file("-", "w", encoding="utf-8"), lineterminator="\n")
    output.writerow(["deal", "winnable", "steps", "line"])
    # Threads are enough: the interpreter lock is free while the compiled search runs.
    with ThreadPool(jobs) as pool:
        for row in pool.imap(_solve_one, tasks, chunksize=_CHUNK):
            output.writerow(row)


_FIELDS = ("rules", "first", "last", "won", "lost", "unknown")


def _earlier(path: Path, mark: str) -> list[Count]:
    """The counts in a file of an earlier run under the same rules; a last line cut short by a crash is left out."""
    from pyramid_lab.solver.odds import Count

    if not path.exists():
        return []
    found = []
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is not None and tuple(reader.fieldnames) != _FIELDS:
            raise click.ClickException(f"{path} is no file of odds: its columns are not {', '.join(_FIELDS)}")
        for row in reader:
            if row["unknown"] in (None, ""):
                continue
            if row["rules"] != mark:
                raise click.ClickException(
                    f"{path}, line {reader.line_num}: counted under other rules ({row['rules']}); name another file"
                )
            found.append(Count(*(int(row[name]) for name in _FIELDS[1:])))
    return found


@click.command()
@click.option("--rules", "name", required=True, metavar="NAME", help="The rule set: classic, one-pass, cardems ...")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Change one rule, such as redeals=1 or win=all; may be given again.",
)
@click.option("--deals", type=click.IntRange(min=1), default=1000, show_default=True, help="How many deals.")
@click.option("--start", type=click.IntRange(min=0), default=0, show_default=True, help="The first seed.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes to use. Without it: all cores.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep the counts in this CSV file, and go on from what it holds.",
)
def odds(name: str, overrides: tuple[str, ...], deals: int, start: int, jobs: int | None, out: Path | None) -> None:
    """Estimate which share of all deals can be won, with a 95 % interval.

    Counts the deals of so many seeds. Writes CSV with the columns rules, deals, winnable, unknown, share, low, high.
    With --out the counts are kept as they come: after Ctrl-C the same command goes on where it stopped.
    """
    from tqdm import tqdm

    from pyramid_lab.log.progress import PLAIN
    from pyramid_lab.solver import odds as counting

    rules = rules_from(name, overrides)
    mark = _mark(rules)
    done = _earlier(out, mark) if out else []
    wanted = set(counting.chunks(start, deals))
    done = [one for one in done if (one.first, one.last) in wanted]
    stretches = counting.chunks(start, deals, done)
    finished = sum(one.last + 1 - one.first for one in done)
    file = None
    if out:
        before = out.read_bytes() if out.exists() else b""
        file = out.open("a", encoding="utf-8", newline="")
        writer = csv.writer(file, lineterminator="\n")
        if not before:
            writer.writerow(_FIELDS)
        elif not before.endswith(b"\n"):
            file.write("\n")  # a crash has cut the last line short
    try:
        with tqdm(total=deals, initial=finished, desc="Deals counted:", bar_format=PLAIN, disable=None) as bar:
            for one in counting.counts(rules, stretches, jobs=jobs):
                done.append(one)
                if file:
                    writer.writerow([mark, one.first, one.last, one.won, one.lost, one.unknown])
                    file.flush()
                bar.update(one.last + 1 - one.first)
    except KeyboardInterrupt:
        kept = f"; {out} holds what is counted, the same command goes on" if out else "; with --out it could go on"
        raise click.ClickException(f"stopped after {sum(o.last + 1 - o.first for o in done)} deals{kept}") from None
    finally:
        if file:
            file.close()
    found = counting.odds(done)
    output = csv.writer(click.open_file("-", "w", encoding="utf-8"), lineterminator="\n")
    output.writerow(["rules", "deals", "winnable", "unknown", "share", "low", "high"])
    shares = [f"{value:.5f}" for value in (found.share, found.low, found.high)]
    output.writerow([mark, found.deals, found.won, found.unknown, *shares])


def _mark(rules: Rules) -> str:
    """The fields that decide which deals can be won, in one line."""
    fields = (
        "rows target draw piles redeals stock_top_in_play stock_waste_pair piles_pair coverer_pairs win useful_redeal"
    )
    values = rules.to_dict()
    return " ".join(f"{field}={values[field]}" for field in fields.split())
