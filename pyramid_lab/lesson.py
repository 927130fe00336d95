"""The one-line calls of a lesson: a board that writes to the log, and the review of what was tried."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from pyramid_lab.board import Board
from pyramid_lab.board.modes import MODE_NAMES
from pyramid_lab.board.replay import ResumeError
from pyramid_lab.core import Deal, Move, Position, Rules, rule_set
from pyramid_lab.core.rules import RulesError
from pyramid_lab.log.errors import StoreError
from pyramid_lab.log.events import Event, new_id, rules_text
from pyramid_lab.log.store import Store, StoreState

STUDENT_VARIABLE: Final = "PYRAMID_LAB_STUDENT"
SESSION_VARIABLE: Final = "PYRAMID_LAB_SESSION"
GUEST: Final = "guest"
"""The student of a board when nobody is named."""

GOES_ON_FOR: Final = timedelta(hours=24)
"""An unfinished game goes on when its cell is run again within this time."""

_NAMELESS: Final = (
    "No name is chosen: this game is kept as a guest's. To keep it as yours, choose your name at the top of the page, "
    "then Run, Run All Cells."
)
_HINT_SECONDS: Final = 0.3
_DEAD_SECONDS: Final = 3.0

_RULE_NAMES: Final = tuple(item.name for item in dataclasses.fields(Rules))

_lock = threading.Lock()
_stores: dict[str, Store] = {}
_sessions: dict[tuple[str, str, str | None], str] = {}
_boards: dict[str, list[Board]] = {}


def play(
    rules: str | Mapping[str, Any] | Rules | None = None,
    deal: Deal | int | str | None = None,
    *,
    student: str | None = None,
    place: str | Path | None = None,
    resume: str | Literal["auto"] | None = "auto",
    lesson: str | None = None,
    **choices: Any,
) -> Board:
    """A board for a student, whose every try is written to the log before it is answered.

    A cell that is run again, also after the kernel was restarted, goes on with the unfinished game of the same rules
    and deal.

    Args:
        rules: name of a rule set, or rules; default ``classic``, or what the deal's code says.
        deal: a seed, a code (``table-17-U``), a deal or its text; default: a random one.
        student: the student's pseudonym; default ``$PYRAMID_LAB_STUDENT``, else ``guest``.
        place: path or URL of the log, as for :class:`~pyramid_lab.log.store.Store`.
        resume: ``"auto"``, the id of a game to take up, or ``None`` for a new game whatever there is.
        lesson: name of the lesson, for the log.
        choices: modes of the board (see :class:`~pyramid_lab.board.Modes`), such as ``ask="type"``, and single rules,
            such as ``rows=4`` or ``redeals=0``.

    Raises:
        ModeError, RulesError, InvalidDealError: an argument that cannot be, by name.
        ResumeError: the game named by ``resume`` is not in the log.
    """
    modes, changes = parted(choices)
    student_id = student_named(student)
    store = shared_store(place)
    options: dict[str, Any] = {
        "on_event": lambda event: store.append(event, in_turn=True),
        "history": lambda types: _history(store, student_id, types),
        "elsewhere": lambda game_id, number: _elsewhere(store, game_id, number),
        "hint": _hint,
        "dead": _dead,
        "keeps_picture": not os.environ.get(SESSION_VARIABLE),  # nobody saves a page of a class
        **modes,
    }
    if resume not in (None, "auto"):
        events = store.events(game_id=resume)
        if events:
            options["session_id"] = session_of(store, events[0].student_id, lesson)
        return _shown(store, Board.resume(str(resume), events, **options))
    session_id = session_of(store, student_id, lesson)
    board = Board(_rules(rules, deal, changes), deal, student_id=student_id, session_id=session_id, **options)
    unfinished = _unfinished(store, student_id, board, deal) if resume == "auto" else None
    if unfinished is not None:
        events = store.events(game_id=unfinished)
        try:
            resumed = Board.resume(unfinished, events, student_id=student_id, session_id=session_id, **options)
        except ResumeError as error:
            board.inform(f"Here is the deal from its start: your last game of it cannot be taken up ({error}).")
        else:
            board.close()
            board = resumed
    return _shown(store, board)


def _hint(position: Position) -> Move | None:
    """The next move of a way to win, if one is found while a child waits."""
    from pyramid_lab.solver import Winnable, solve  # only where it is asked for: a child's page stays small

    answer = solve(position, max_seconds=_HINT_SECONDS)
    return answer.line[0] if isinstance(answer, Winnable) and answer.line else None


def _dead(position: Position) -> bool | None:
    """Whether it is proved that the position has no way to win; ``None`` if that takes too long."""
    from pyramid_lab.solver import Unknown, Unwinnable, solve

    answer = solve(position, max_seconds=_DEAD_SECONDS)
    return None if isinstance(answer, Unknown) else isinstance(answer, Unwinnable)


def review(student: str | None = None, *, place: str | Path | None = None, target: int | Sequence[int] = 13) -> None:
    """Show the table and picture of a student's tries, with a button for the newest.

    On a page of a class (``$PYRAMID_LAB_SESSION`` is set) it shows nothing: there the tutor has the report, and thirty
    children's kernels are better off without pandas.

    Args:
        student: the student's pseudonym; default ``$PYRAMID_LAB_STUDENT``, else ``guest``.
        place: path or URL of the log.
        target: what pairs total, 10 to 13, or several of these, each with its table. What was tried at other totals is
            folded below.
    """
    if os.environ.get(SESSION_VARIABLE):
        return
    from pyramid_lab.lesson_review import show_review  # brings pandas, which a child's page does without

    show_review(student_named(student), place=place, target=target)


def student_named(student: str | None = None) -> str:
    """The pseudonym of who plays: the one given, else ``$PYRAMID_LAB_STUDENT``, else ``guest``."""
    return student or os.environ.get(STUDENT_VARIABLE) or GUEST


def shared_store(place: str | Path | None = None) -> Store:
    """The process's one open log of a place, shared by all its boards."""
    key = f"{os.environ.get('PYRAMID_LAB_STORE')} {place}"
    with _lock:
        store = _stores.get(key)
        if store is None:
            store = _stores[key] = Store(place)
            store.on_state = lambda state: _tell(key, state)
        return store


def _tell(key: str, state: StoreState) -> None:
    """Say on every board of a log whether it can be written."""
    for board in _boards.get(key, ()):
        board.inform("" if state.saved else state.message)


def _shown(store: Store, board: Board) -> Board:
    key = next(name for name, one in _stores.items() if one is store)
    with _lock:
        _boards[key] = [one for one in _boards.get(key, ()) if one.comm is not None] + [board]
    if not store.state.saved:
        board.inform(store.state.message)
    elif board.student_id == GUEST and _has_names(store):
        board.inform(_NAMELESS)
    return board


def _has_names(store: Store) -> bool:
    from pyramid_lab.log.names import Names  # a child's page, on which somebody has been chosen, does without

    try:
        return bool(Names.of(store).people())
    except StoreError:
        return False


def parted(choices: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Modes and single rules, told apart by name; a name that is neither is left to the board, which says so."""
    rules = {name: value for name, value in choices.items() if name in _RULE_NAMES and name not in MODE_NAMES}
    return {name: value for name, value in choices.items() if name not in rules}, rules


def _rules(
    rules: str | Mapping[str, Any] | Rules | None, deal: Deal | int | str | None, changes: Mapping[str, Any]
) -> str | Mapping[str, Any] | Rules | None:
    if not changes:
        return rules
    if rules is None and isinstance(deal, str) and "-" in deal:
        raise RulesError(f"name the rule set when you change {', '.join(changes)}: the deal's code alone names one")
    return rule_set("classic" if rules is None else rules).replace(**changes)


def session_of(store: Store, student_id: str, lesson: str | None = None) -> str:
    """The id of the sitting, noted in the log when its first board is made: one for each process and student, or what
    the class says (``$PYRAMID_LAB_SESSION``)."""
    given = os.environ.get(SESSION_VARIABLE)
    key = (str(store.url), student_id, given)
    with _lock:
        if key not in _sessions:
            _sessions[key] = given or new_id()
            store.open_session(student_id, lesson=lesson or _this_lesson(), session_id=_sessions[key])
        return _sessions[key]


def _this_lesson() -> str | None:
    """The name of the notebook that this kernel belongs to, as Jupyter's server tells it."""
    notebook = PurePosixPath(os.environ.get("JPY_SESSION_NAME", ""))
    return notebook.stem if notebook.suffix == ".ipynb" else None


def _history(store: Store, student_id: str, types: tuple[str, ...] | None) -> Iterable[Event]:
    """The student's events; none while the log cannot be read, since the game matters more than its records."""
    try:
        return store.events(student_id=student_id, event_types=types)
    except StoreError:
        return ()


def _elsewhere(store: Store, game_id: str, number: int) -> Iterable[Event]:
    """The events of a game from a number on; none while the log cannot be written: then each game goes on alone."""
    try:
        return store.events(game_id=game_id, first_index=number) if store.state.saved else ()
    except StoreError:
        return ()


def _unfinished(store: Store, student_id: str, board: Board, deal: Deal | int | str | None) -> str | None:
    """The student's newest unfinished game of the same rules and, if one was named, the same deal."""
    wanted = rules_text(board.game.rules)
    events = list(_history(store, student_id, ("deal", "undo", "end")))
    # An undo after the end opens a game again.
    last = {event.game_id: event.event_type for event in events}
    since = datetime.now(UTC) - GOES_ON_FOR
    sitting = os.environ.get(SESSION_VARIABLE)  # in a class the game goes on whatever the clock says
    for event in reversed(events):
        if (
            event.event_type == "deal"
            and last[event.game_id] != "end"
            and event.rule_set == wanted
            and (deal is None or event.deal == board.game.deal.text)
            and (event.t_utc >= since or event.session_id == sitting)
        ):
            return event.game_id
    return None
