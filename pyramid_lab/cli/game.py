"""``pyramid-lab deal`` and ``pyramid-lab replay``: a deal as text, and a game file played move by move."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from typing import Any, TypedDict

import click

from pyramid_lab.core import (
    RULE_SETS,
    Deal,
    Game,
    IllegalMoveError,
    InvalidDealError,
    InvalidMoveError,
    Move,
    NothingToUndoError,
    Rules,
    RulesError,
    deal_code,
    parse_deal_code,
    rule_set,
)
from pyramid_lab.core.deal import SEED_LIMIT

# Steps of a game file that are no moves of the rules but of the player.
_STEPS = ("undo", "redo", "restart", "done")
_COLUMNS = ("move", "legal", "reason", "score", "combo", "outcome")


class Row(TypedDict):
    """One move of a replay and how the game stands after it."""

    move: str
    legal: bool
    reason: str | None
    message: str | None
    score: int
    combo: int
    outcome: str


class _BrokenFile(click.ClickException):
    """A game file that cannot be read; shown without the usage lines, since the command itself was right."""

    exit_code = 2


def _seed(_ctx: click.Context, _param: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if not 0 <= seed < SEED_LIMIT:
        raise click.BadParameter(f"a seed is a whole number from 0 to {SEED_LIMIT - 1}, such as 17, not {text!r}")
    return seed


@click.command(short_help="Print a deal as one line of text.")
@click.argument("code", required=False)
@click.option("--seed", callback=_seed, metavar="NUMBER", help="The same seed always gives the same deal.")
@click.option(
    "--rules", "name", type=click.Choice(list(RULE_SETS)), default="classic", show_default=True, help="The rule set."
)
@click.option("--code", "as_code", is_flag=True, help="Print the deal's short code, such as table-17-X, instead.")
def deal(code: str | None, seed: int | None, name: str, as_code: bool) -> None:
    """Print a deal as one line of text: the apex first, row by row, then the stock in drawing order.

    CODE is the short code that stands on a printed sheet; without it, --seed names the deal. With neither, a seed is
    drawn and named on the error stream.
    """
    if code is not None:
        if seed is not None:
            raise click.UsageError("CODE names the seed already; leave --seed out.")
        try:
            name, seed = parse_deal_code(code)
            rules = rule_set(name)
        except (InvalidDealError, RulesError) as error:
            raise click.BadParameter(str(error), param_hint="CODE") from None
    else:
        rules = rule_set(name)
    if seed is None:
        seed = secrets.randbelow(1_000_000)
        click.echo(f"seed {seed}", err=True)
    click.echo(deal_code(name, seed) if as_code else Deal.from_seed(seed, rules.target).text)


@click.command(short_help="Play a game file move by move.")
@click.argument("path", metavar="GAME.json", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON instead of a table.")
@click.pass_context
def replay(ctx: click.Context, path: str, as_json: bool) -> None:
    """Play a game file and print, move by move, whether it is legal and how the game stands.

    The file holds {"rules": ..., "deal": ..., "moves": [...]}. The rules are a name or {"base": "classic",
    "redeals": 0, ...}; "seed" may stand for "deal". Moves are a pair such as 8c+5d, a card such as Kh, draw, redeal,
    undo, redo, restart and done. A - for the file reads from standard input.

    Stops at the first illegal move, names it and exits with 1; a file that cannot be read exits with 2.
    """
    game, moves = _read(path)
    rows: list[Row] = []
    if not as_json:
        width = max([len("move"), *(len(str(move)) for move in moves)])
        click.echo(_line(_COLUMNS, width))
    for row in _play(game, moves):
        rows.append(row)
        if not as_json:
            legal = "yes" if row["legal"] else "no"
            cells = (row["move"], legal, row["reason"] or "", row["score"], row["combo"], row["outcome"])
            click.echo(_line(cells, width))
    position = game.position
    final = {
        "score": position.score,
        "outcome": game.outcome.value,
        "pyramid_left": position.pyramid_left,
        "stock": position.stock_left,
        "waste": position.waste_left,
        "redeals_left": position.redeals_left,
    }
    if as_json:
        click.echo(json.dumps({"moves": rows, "final": final}, ensure_ascii=False))
    else:
        click.echo("final: " + ", ".join(f"{key} {value}" for key, value in final.items()))
    if rows and not rows[-1]["legal"]:
        click.echo(f"move {len(rows)}, {rows[-1]['move']}, is not legal: {rows[-1]['message']}", err=True)
        ctx.exit(1)


def _line(cells: tuple[object, ...], width: int) -> str:
    move, legal, reason, score, combo, outcome = map(str, cells)
    return f"{move:<{width}}  {legal:<5}  {reason:<15}  {score:>5}  {combo:>5}  {outcome}".rstrip()


def _play(game: Game, moves: list[Move | str]) -> Iterator[Row]:
    """Make the moves one by one, up to and with the first that is not legal."""
    for move in moves:
        reason = message = None
        try:
            if isinstance(move, Move):
                game.play(move)
            elif move == "done":
                game.finish()
            else:
                {"undo": game.undo, "redo": game.redo, "restart": game.restart}[move]()
        except IllegalMoveError as error:
            reason, message = error.reason.value, str(error)
        except NothingToUndoError as error:
            reason, message = f"nothing_to_{move}", str(error)
        yield {
            "move": str(move),
            "legal": reason is None,
            "reason": reason,
            "message": message,
            "score": game.position.score,
            "combo": game.position.combo,
            "outcome": game.outcome.value,
        }
        if reason is not None:
            return


def _read(path: str) -> tuple[Game, list[Move | str]]:
    """The game of a file at its start, and its moves.

    Raises:
        _BrokenFile: something cannot be read; the message names the file and the place.
    """
    name = "standard input" if path == "-" else path

    def broken(why: str) -> _BrokenFile:
        return _BrokenFile(f"{name}: {why}")

    try:
        with click.open_file(path, encoding="utf-8-sig") as file:
            values = json.load(file)
    except json.JSONDecodeError as error:
        raise broken(f"this is no JSON, at line {error.lineno}, column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise broken(f"this is no UTF-8 text, at byte {error.start + 1}") from None
    except OSError as error:
        raise broken(f"the file cannot be read: {error.strerror}") from None
    except RecursionError:
        raise broken("this is no game file: its JSON is nested too deeply") from None
    except ValueError:  # Python reads no number of thousands of digits
        raise broken("this is no game file: it holds a number of thousands of digits") from None
    if not isinstance(values, dict):
        raise broken('a game file is a JSON object: {"rules": ..., "deal": ..., "moves": [...]}')
    for key in ("rules", "moves"):
        if key not in values:
            raise broken(f"there is no {key!r} in the file")
    try:
        rules = rule_set(values["rules"])
    except (RulesError, TypeError) as error:
        raise broken(f"'rules': {error}") from None
    return Game(rules, _read_deal(values, rules, broken)), _read_moves(values["moves"], broken)


def _read_deal(values: dict[str, Any], rules: Rules, broken: Callable[[str], _BrokenFile]) -> Deal:
    text, seed = values.get("deal"), values.get("seed")
    if text is None and seed is None:
        raise broken("there is no 'deal' in the file, and no 'seed'")
    if text is not None and not isinstance(text, str):
        raise broken(f"'deal' is a text of cards such as \"6d 5h Ah ...\", not {text!r}")
    try:
        seeded = None if seed is None else Deal.from_seed(seed, rules.target)
    except InvalidDealError as error:
        raise broken(f"'seed': {error}") from None
    if text is None:
        assert seeded is not None
        return seeded
    try:
        deal = Deal.from_text(text, rules.target)
    except InvalidDealError as error:
        raise broken(f"'deal': {error}") from None
    if seeded is not None and seeded != deal:
        raise broken(f"'deal' is not the deal of 'seed' {seed}; leave one of them out")
    return deal


def _read_moves(texts: object, broken: Callable[[str], _BrokenFile]) -> list[Move | str]:
    if not isinstance(texts, list):
        raise broken(f'\'moves\' is a list such as ["8c+5d", "draw"], not {texts!r}')
    moves: list[Move | str] = []
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise broken(f'move {number} is a text such as "8c+5d", not {text!r}')
        word = text.strip().lower()
        try:
            moves.append(word if word in _STEPS else Move.parse(text))
        except InvalidMoveError as error:
            raise broken(f"move {number}: {error}, undo, redo, restart or done") from None
    return moves
