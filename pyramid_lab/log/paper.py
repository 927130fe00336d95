"""From paper back into the log: the rows of a recording sheet become the attempts of a game.

A child writes down pairs, not turns of the stock, and often ranks without suits. The deal is known, so the turns can be
found: before each pair, the stock is turned as seldom as makes the pair possible. A pair that no turning makes
possible stays in the log as a blocked attempt, and is named.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid5

from pyramid_lab.core.cards import Card, InvalidCardError, rank_label
from pyramid_lab.core.deal import Deal
from pyramid_lab.core.position import DRAW, REDEAL, IllegalMoveError, Move, Outcome, Position
from pyramid_lab.core.rules import Rules
from pyramid_lab.log.events import Context, Event, event_id_of, record, rules_text
from pyramid_lab.log.store import Store

COLUMNS: Final = ("first", "second", "total", "tick", "seconds")
"""The columns of the CSV. Only ``first`` must be there."""

LONGEST_SECONDS: Final = 3600.0

_OTHER_NAMES: Final = {
    "first card": "first", "second card": "second", "sum": "total", "13?": "tick", "ok": "tick",
    "time": "seconds", "time_s": "seconds", "time (s)": "seconds",
}  # fmt: skip
_TICKS: Final = {
    "": None, "x": True, "✓": True, "✔": True, "☑": True, "yes": True, "y": True, "1": True, "true": True,
    "no": False, "n": False, "0": False, "false": False, "-": False, "✗": False,
}  # fmt: skip
_VALUES: Final = {rank_label(value): value for value in range(1, 14)} | {
    "T": 10, **{str(value): value for value in range(1, 14)},
}  # fmt: skip
_TURNS: Final = {"draw": DRAW, "turn": DRAW, "redeal": REDEAL}
# The namespace of the ids of games on paper; itself a random UUID, fixed for ever.
_PAPER_GAMES: Final = UUID("a3f0c9a4-5a35-4be5-9b0e-3f9f6f1d2c77")
# How many ways of reading ranks without suits are tried, about.
_READINGS: Final = 3_000


class PaperError(ValueError):
    """Rows that cannot be read; nothing was entered.

    Attributes:
        problems: ``(line, sentence)`` for each; line 0 stands for the file as a whole.
    """

    def __init__(self, problems: Sequence[tuple[int, str]]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(f"line {line}: {sentence}" if line else sentence for line, sentence in self.problems)


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One row of a recording sheet.

    Attributes:
        line: its line in the file, the header being 1.
        cards: what was written for each card: a card, or a value where no suit was given; empty for a turn.
        turn: a turn of the stock or waste that was written down, or ``None``.
        total: the total the child wrote, or ``None``.
        ticked: whether the child ticked it as right, or ``None``.
        seconds: the time it took, in s, or ``None``.
    """

    line: int
    cards: tuple[Card | int, ...] = ()
    turn: Move | None = None
    total: int | None = None
    ticked: bool | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class PaperGame:
    """A game read from paper.

    Attributes:
        events: for the store, in order: the deal, the turns found, every attempt, the end.
        notes: ``(line, sentence)`` for each row a tutor should look at: impossible pairs, written totals that are not
            the cards' total, ticks that do not fit, suits that had to be guessed.
        doubtful: the lines of ``notes`` that may have been typed or played otherwise; a guessed suit alone is no doubt.
        position: where the game ended.
        turns_found: how many turns of stock or waste stand in the events though nobody wrote them down.
    """

    events: tuple[Event, ...]
    notes: tuple[tuple[int, str], ...]
    doubtful: frozenset[int]
    position: Position
    turns_found: int


def read_recording(text: str, target: int = 13) -> tuple[PaperRow, ...]:
    """Read the rows of a recording sheet from CSV.

    The first line names the columns, of :data:`COLUMNS`; commas, semicolons or tabs part them. A card is written
    ``5h``, ``10♦`` or, without its suit, ``5``; a card alone leaves ``second`` empty; ``draw`` or ``redeal`` as
    ``first`` is a turn; rows without a first card are passed over. ``seconds`` may have a decimal point or comma.

    Args:
        text: of the file.
        target: what pairs make, 10 to 13; the pack is cut to fit.

    Raises:
        PaperError: every row that cannot be read, with its line and the reason.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines:
        raise PaperError([(0, f"the file is empty; its first line names the columns: {','.join(COLUMNS)}")])
    parted = max(",;\t", key=lines[0].count)
    reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=parted)
    names = [_OTHER_NAMES.get(name.strip().lower(), name.strip().lower()) for name in next(reader)]
    unknown = [name for name in names if name and name not in COLUMNS]
    if unknown or "first" not in names:
        wrong = f"no column is called {unknown[0]!r}" if unknown else "there is no column 'first'"
        raise PaperError([(1, f"{wrong}; the columns are {', '.join(COLUMNS)}")])
    rows: list[PaperRow] = []
    problems: list[tuple[int, str]] = []
    for cells in reader:
        line = reader.line_num
        if len(cells) > len(names) and any(cell.strip() for cell in cells[len(names) :]):
            problems.append((line, f"{len(cells)} cells, but only {len(names)} columns"))
            continue
        given = {name: cell.strip() for name, cell in zip(names, cells, strict=False)}
        try:
            row = _row(line, given, target)
        except ValueError as error:
            problems.append((line, str(error)))
        else:
            if row is not None:
                rows.append(row)
    if problems:
        raise PaperError(problems)
    if not rows:
        raise PaperError([(0, "there is no row with a card in the column 'first'")])
    return tuple(rows)


def _row(line: int, given: dict[str, str], target: int) -> PaperRow | None:
    first, second = given.get("first", ""), given.get("second", "")
    if not first:
        filled = [name for name in COLUMNS if given.get(name)]
        if filled:
            raise ValueError(f"{filled[0]} is {given[filled[0]]!r}, but the first card is missing")
        return None
    turn = _TURNS.get(first.lower())
    if turn is not None:
        if second:
            raise ValueError(f"{first!r} is a turn of the stock and has no second card, not {second!r}")
        return PaperRow(line, turn=turn)
    cards = tuple(_card(text, target) for text in (first, second) if text)
    total = given.get("total", "")
    if total and not total.isdecimal():
        raise ValueError(f"total is a whole number, not {total!r}")
    tick = given.get("tick", "").lower()
    if tick not in _TICKS:
        raise ValueError(f"tick is x or empty, not {given['tick']!r}")
    return PaperRow(line, cards, None, int(total) if total else None, _TICKS[tick], _seconds(given.get("seconds", "")))


def _card(text: str, target: int) -> Card | int:
    value = _VALUES.get(text.upper())
    if value is None:
        try:
            card = Card.parse(text)
        except InvalidCardError as error:
            raise ValueError(f"{error}; a rank alone, such as 8 or J, will do too") from None
        if card.value <= target:
            return card
        value = card.value
    if value > target:
        raise ValueError(f"{text} is not in a pack for pairs to {target}")
    return value


def _seconds(text: str) -> float | None:
    if not text:
        return None
    try:
        seconds = float(text.replace(",", "."))
    except ValueError:
        raise ValueError(f"seconds is a number such as 4 or 3.5, not {text!r}") from None
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ValueError(f"seconds is over 0 and at most {LONGEST_SECONDS:g}, not {text}")
    return seconds


def paper_game(
    rows: Sequence[PaperRow],
    rules: Rules,
    deal: Deal,
    *,
    student_id: str,
    started: datetime,
    session_id: str | None = None,
    game_id: str | None = None,
    tz: str | None = None,
    assistance: str = "none",
) -> PaperGame:
    """Turn the rows of a recording sheet into the events of a game.

    Each pair is checked against the deal at its point in the game. The same rows for the same student and deal give
    the same ids, so a sheet that is entered twice stands in the log once.

    Args:
        rows: as :func:`read_recording` gives them.
        rules: the rule set that was played.
        deal: the deal that lay on the table.
        student_id: pseudonym of the student.
        started: when the game began, with a time zone.
        session_id: the sitting; ``None`` for one of the game's own.
        game_id: ``None`` for one made from the student, the deal, the start and the rows.
        tz: IANA name of the time zone.
        assistance: help that was given, or ``none``.

    Raises:
        InvalidEventError: an id or time cannot be.
        InvalidPositionError: the deal's pack is not the rule set's.
    """
    start = Position.start(rules, deal)
    written = [(row.line, str(row.turn), [str(card) for card in row.cards], row.total, row.seconds) for row in rows]
    game = game_id or str(
        uuid5(_PAPER_GAMES, repr((student_id, deal.text, rules_text(rules), started.astimezone(UTC), written)))
    )
    steps = _read(start, rows)
    events: list[Event] = []
    notes: list[tuple[int, str]] = []
    doubtful: set[int] = set()
    moment = started
    position = start

    def context() -> Context:
        number = len(events)
        return {
            "event_id": event_id_of(game, number, "paper"),
            "student_id": student_id,
            "session_id": session_id or game,
            "game_id": game,
            "event_index": number,
            "t_utc": moment,
            "tz": tz,
            "input": "tutor",
            "assistance": assistance,
            "source": "table",
        }

    events.append(record("deal", start, **context()))
    for row, step in zip(rows, steps, strict=True):
        if row.seconds is not None:
            moment += timedelta(seconds=row.seconds)
        for move in step.turns:
            events.append(record(move.kind.value, position, **context()))
            position = position.play(move)
        if row.turn is not None:
            try:
                position.check(row.turn)
            except IllegalMoveError as error:
                notes.append((row.line, f"not possible here: {error}"))
                doubtful.add(row.line)
            else:
                events.append(record(row.turn.kind.value, position, **context()))
                position = position.play(row.turn)
            continue
        timed = context()
        if row.seconds is None:
            timed["reason"] = "not_timed"
        else:
            timed["rt_ms"] = round(row.seconds * 1000)
            timed["clock"] = "tutor"
        event = record("attempt", position, step.cards, **timed)
        events.append(event)
        if step.choices:
            notes.append((row.line, f"could be {' or '.join(step.choices)}; taken as {_pair(step)}"))
        doubts = list(_remarks(row, step, event, position))
        notes += [(row.line, sentence) for sentence in doubts]
        doubtful.update([row.line] if doubts else [])
        if event.outcome == "correct":
            position = position.play(Move.discard(*step.cards))
    last = context()
    last["outcome"] = {Outcome.WON: "won", Outcome.LOST: "lost"}.get(position.outcome, "stopped")
    events.append(record("end", position, **last))
    turns_found = sum(len(step.turns) for step in steps)
    return PaperGame(tuple(events), tuple(notes), frozenset(doubtful), position, turns_found)


def enter(game: PaperGame, store: Store) -> bool:
    """Write a game into the log, once.

    Returns:
        True, or False if the whole game stood there already.

    Raises:
        StoreError: the store is closed.
    """
    first = game.events[0]
    store.open_session(first.student_id, lesson="table", session_id=first.session_id)
    return sum(store.append(event) for event in game.events) > 0


@dataclass(frozen=True, slots=True)
class _Step:
    cards: tuple[Card, ...] = ()
    turns: tuple[Move, ...] = ()
    possible: bool = True
    choices: tuple[str, ...] = field(default=())  # readings of a rank without a suit, if there was more than one


def _read(start: Position, rows: Sequence[PaperRow]) -> list[_Step]:
    """Decide for each row which cards it means and which turns came before it.

    Ranks without suits are read so that as few rows as can be are impossible. Readings with none are tried first, the
    longest ones first; then those that go on after one impossible row, and so on. What is tried is limited: with many
    rows without suits another reading might have one impossible row less.
    """
    begun: list[tuple[tuple[_Step, ...], Position]] = [((), start)]
    left = _READINGS
    while True:
        steps, _ = begun[0]
        if len(steps) == len(rows):
            return list(steps)
        stack = [(steps, _options(position, rows[len(steps)])) for steps, position in reversed(begun)]
        stuck: list[tuple[tuple[_Step, ...], Position]] = []
        seen: set[tuple[int, Position]] = set()
        allowed = max(left // 2, len(rows))  # enough to go on once to the end, or to an impossible row
        while stack and allowed:
            steps, options = stack[-1]
            option = next(options, None)
            if option is None:
                stack.pop()
                continue
            allowed -= 1
            left -= 1
            step, after = option
            longer = (*steps, step)
            if (len(longer), after) in seen:
                continue
            seen.add((len(longer), after))
            if not step.possible:
                stuck.append((longer, after))
            elif len(longer) == len(rows):
                return list(longer)
            else:
                stack.append((longer, _options(after, rows[len(longer)])))
        begun = sorted(stuck, key=lambda reading: -len(reading[0]))


def _options(position: Position, row: PaperRow) -> Iterator[tuple[_Step, Position]]:
    """The ways to read a row, those with the fewest turns first; one that is not possible comes alone."""
    if row.turn is not None:
        try:
            yield _Step(), position.play(row.turn)
        except IllegalMoveError:
            yield _Step(possible=False), position
        return
    found = False
    for turns, reached in _turned(position):
        fits = [cards for cards in _readings(reached, row) if _fits(reached, cards)]
        found = found or bool(fits)
        names = tuple(dict.fromkeys(" + ".join(card.label for card in cards) for cards in fits))
        for cards in fits:
            move = Move.discard(*cards)
            try:
                after = reached.play(move)
            except IllegalMoveError:
                after = reached
            yield _Step(cards, turns, True, names if len(names) > 1 else ()), after
    if not found:
        yield _Step(_likeliest(position, row), possible=False), position


def _turned(position: Position) -> Iterator[tuple[tuple[Move, ...], Position]]:
    """The position as it is, then after one turn of stock or waste, after two ... until nothing new comes."""
    turns: tuple[Move, ...] = ()
    seen = set()
    while True:
        yield turns, position
        # Redeals are counted in a position; what can be taken depends on the next stock card alone.
        seen.add(position.next)
        move = DRAW if position.stock_left else REDEAL
        try:
            position = position.play(move)
        except IllegalMoveError:
            return
        turns = (*turns, move)
        if position.next in seen and position.stock_left and move is DRAW:
            return


def _readings(position: Position, row: PaperRow) -> Iterator[tuple[Card, ...]]:
    """The cards a row can mean among those in play."""
    exposed = position.exposed
    choices = [
        [card for card in exposed if card.value == written] if isinstance(written, int) else [written]
        for written in row.cards
    ]
    if len(choices) == 1:
        yield from ((card,) for card in choices[0])
    else:
        yield from ((one, two) for one in choices[0] for two in choices[1] if one != two)


def _fits(position: Position, cards: tuple[Card, ...]) -> bool:
    """Whether the try was possible: a right pair must be legal, for a wrong one its cards must have been in play."""
    if sum(card.value for card in cards) != position.rules.target:
        return all(position.is_exposed(card) for card in cards) and len(set(cards)) == len(cards)
    try:
        position.check(Move.discard(*cards))
    except IllegalMoveError:
        return False
    return True


def _likeliest(position: Position, row: PaperRow) -> tuple[Card, ...]:
    """Cards for a row that is not possible: one in play if there is one, else one that still lies there."""
    chosen: list[Card] = []
    for written in row.cards:
        if isinstance(written, Card):
            chosen.append(written)
            continue
        same = [card for card in position.deal if card.value == written and card not in chosen]
        same.sort(key=lambda card: (not position.is_exposed(card), position.place(card).kind == "discard"))
        chosen.append(same[0])
    return tuple(chosen)


def _pair(step: _Step) -> str:
    return " + ".join(card.label for card in step.cards)


def _remarks(row: PaperRow, step: _Step, event: Event, position: Position) -> Iterator[str]:
    pair = _pair(step)
    if event.outcome == "blocked":
        try:
            position.check(Move.discard(*step.cards))
        except IllegalMoveError as error:
            yield f"{pair} was not possible here: {error}; kept as a blocked try"
    elif len(step.cards) == 1 and event.outcome == "incorrect":
        yield f"{pair} alone makes {event.total}; perhaps the second card is missing"
    if row.total is not None and row.total != event.total:
        yield f"the child wrote {row.total}; {pair} makes {event.total}"
    if row.ticked and event.outcome != "correct":
        yield f"ticked, but {pair} was no right pair here"
    if row.ticked is False and event.outcome == "correct":
        yield f"marked as wrong, but {pair} was right here"
