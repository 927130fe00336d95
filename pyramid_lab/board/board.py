"""The board: a widget that plays one game with a child, and hands every event to a callable before it answers."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from typing import Any, Final, Literal
from weakref import WeakValueDictionary

import anywidget
import traitlets

from pyramid_lab.board.modes import PANEL, Modes
from pyramid_lab.board.replay import (
    AUTO_KINGS,
    REPLAY,
    SEED,
    Resumed,
    active_ms,
    best_of,
    changes_game,
    resume_game,
    was_played,
)
from pyramid_lab.board.times import ResponseTimes, response_times
from pyramid_lab.board.view import (
    Frame,
    Scene,
    drawn_text,
    game_code,
    judged,
    make_view,
    move_text,
    sentence,
    spoken,
    welcome,
)
from pyramid_lab.core import (
    DRAW,
    REDEAL,
    Card,
    Deal,
    Game,
    IllegalMoveError,
    Move,
    MoveKind,
    Outcome,
    Position,
    Record,
    addend,
    parse_deal_code,
    rule_set,
)
from pyramid_lab.core.picture import position_svg, position_text
from pyramid_lab.core.rules import Rules
from pyramid_lab.log.events import ASKED, WRONG_TAP, Event, event_id_of, new_id, record, rules_text

SLIP_MS: Final = 1500
"""A wrong pair taken back within this time was a slip of the finger, not an error."""

BOUNCE_MS: Final = 200
"""A second message for the same cards on the same view within this time is one bounce of the finger."""

_PICTURE_AFTER_S: Final = 1.5
_SEED_BELOW: Final = 1_000_000
_ESM: Final = files("pyramid_lab.board").joinpath("board.js").read_text(encoding="utf-8")
_CSS: Final = files("pyramid_lab.board").joinpath("board.css").read_text(encoding="utf-8")
_GOES_ON: Final = "This game goes on in a newer board. Use that one; this one is only a picture now."
_WENT_ON: Final = (
    "This game has been played on somewhere else, and this board is only a picture now. To go on here, run this cell "
    "again (in a lesson page: load the page again)."
)

_NO_WIDGETS: Final = (
    "No board to be seen after that? Then this page shows no widgets: type python -m pip install jupyterlab_widgets "
    "where JupyterLab itself is installed, and start it again."
)

History = Callable[[tuple[str, ...] | None], Iterable[Event]]
Elsewhere = Callable[[str, int], Iterable[Event]]

# The board that plays a game in this process: a cell that is run again takes the game over.
_PLAYING: Final[WeakValueDictionary[str, Board]] = WeakValueDictionary()


class Board(anywidget.AnyWidget):
    """One game on the page.

    Args:
        rules: a rule set's name, a mapping over a base, or :class:`~pyramid_lab.core.Rules`; default ``classic``, or
            what the deal's code says.
        deal: a :class:`~pyramid_lab.core.Deal`, a seed, a deal's code (``table-17-U``) or its text; default: a deal
            from a random seed.
        on_event: called with every :class:`~pyramid_lab.log.events.Event` before the next view is sent. If it raises,
            the move is not made and the child is told so. If it gives ``False``, it is not this event's turn: another
            process has written to the game (see ``elsewhere``).
        student_id: the student's pseudonym.
        session_id: one sitting; default: a new one.
        hint: the next move of a way to win from a position, ``None`` if none is known in good time; then, and by
            default, the first legal move in board order is pointed at.
        dead: whether a position is proved to have no way to win: ``True``, ``False``, or ``None`` if not known in good
            time. Called in a thread of its own after a lost game.
        history: gives the events logged so far, of the types named or of all (``None``), for records and to mark a
            replay of the same deal.
        elsewhere: gives the events of a game, by its id, that the log holds from a number on; asked when ``on_event``
            gives ``False``. If another process has played the game on, this board plays and writes no more of it and
            says so.
        keeps_picture: keep a picture of the position beside the board, for a saved notebook. A page that nobody saves
            does without.
        next_deal: gives the deal of a new game; default: a random seed.
        now: gives the present time, aware.
        modes: any of :class:`~pyramid_lab.board.modes.Modes` by name, such as ``clock=True`` or ``ask="type"``.

    Raises:
        ModeError, RulesError, InvalidDealError, InvalidPositionError: an argument that cannot be, by name.
    """

    _esm = traitlets.Unicode(_ESM).tag(sync=True)
    _css = traitlets.Unicode(_CSS).tag(sync=True)
    _game_id = ""
    # As one text: the machinery of widgets walks through every value of a mapping, here and on the page.
    view = traitlets.Dict().tag(sync=True, to_json=lambda view, _board: json.dumps(view, ensure_ascii=False))
    notice = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        rules: str | Mapping[str, Any] | Rules | None = None,
        deal: Deal | int | str | None = None,
        *,
        on_event: Callable[[Event], object] | None = None,
        student_id: str = "guest",
        session_id: str | None = None,
        hint: Callable[[Position], Move | None] | None = None,
        dead: Callable[[Position], bool | None] | None = None,
        history: History | None = None,
        elsewhere: Elsewhere | None = None,
        keeps_picture: bool = True,
        next_deal: Callable[[], Deal] | None = None,
        now: Callable[[], datetime] | None = None,
        resumed: Resumed | None = None,
        **modes: Any,
    ) -> None:
        self._lock = threading.RLock()
        self.modes = Modes().changed(**modes)
        self.student_id = student_id
        self.session_id = session_id or new_id()
        self._on_event = on_event
        self._hint_of = hint
        self._dead = dead
        self._history = history
        self._elsewhere = elsewhere
        self._keeps_picture = keeps_picture
        self._now = now or (lambda: datetime.now(UTC))
        self._number = 0
        self._heard: dict[str, set[int]] = {}
        self._displays: list[str] = []
        self._drawing: asyncio.TimerHandle | None = None
        self._picture = ""
        self._paused = False
        if resumed is None:
            chosen, first = _deal(rules, deal)
            game = Game(chosen, first, auto_kings=self.modes.kings == "auto")
            self._next_deal = next_deal or (lambda: _random_deal(game.rules))
            self._begin(game, new_id())
            self._scene = Scene(message=welcome(game, self.modes))
        else:
            game = resumed.game
            self._next_deal = next_deal or (lambda: _random_deal(game.rules))
            self._begin(game, resumed.last.game_id, resumed)
            self._scene = Scene(message="Here is your game, where you left it.")
            if game.outcome is not Outcome.PLAYING:
                self._scene = replace(self._scene, end=self._end_lines())
        super().__init__(view=self._made(), notice={})
        self.on_msg(self._receive)
        self._claim()

    @classmethod
    def resume(cls, game_id: str, events: Iterable[Event], **options: Any) -> Board:
        """A board that takes up a logged game: position, score, undo, redo and redeals as they were.

        Args:
            game_id: which game.
            events: events that hold this game, in any order.
            options: as for :class:`Board`, without rules and deal; student and session are those of the log unless
                given.

        Raises:
            ResumeError: the log has no such game, or cannot be played.
        """
        found = resume_game(game_id, events)
        options.setdefault("student_id", found.last.student_id)
        options.setdefault("session_id", found.last.session_id)
        if found.game.auto_kings:
            options.setdefault("kings", "auto")
        return cls(resumed=found, **options)

    @property
    def game(self) -> Game:
        """The game being played; a new deal is another game."""
        return self._game

    @property
    def game_id(self) -> str:
        """The id of the game being played, by which the log and :meth:`resume` know it."""
        return self._game_id

    def close(self) -> None:
        """Take the board off the page and forget it; the game can be resumed from the log."""
        with self._lock:
            if _PLAYING.get(self._game_id) is self:
                del _PLAYING[self._game_id]
            self._on_event = self._history = self._elsewhere = self._dead = self._hint_of = None
        # Its layout is a widget of its own, which nobody else would close.
        layout = self._trait_values.get("layout")
        super().close()
        if layout is not None:
            layout.close()

    def inform(self, text: str) -> None:
        """Show a line under the board until another takes its place; ``""`` takes it away."""
        with self._lock:
            self.notice = {"number": None, "text": text}

    # Beginning a game

    def _begin(self, game: Game, game_id: str, resumed: Resumed | None = None) -> None:
        self._game = game
        self._game_id = game_id
        self._index = resumed.events if resumed else 0
        self._deal_id = new_id()
        self._opened = self._now()
        self._firsts: list[Card | None] = list(resumed.firsts) if resumed else []
        self._undone_firsts: list[Card | None] = []
        self._owed: list[Event] = []
        self._assistance = "none"
        self._way = (0, 0)
        self._try: tuple[str, int, float, tuple[Card, ...], int] | None = None
        self._away = False
        self._paused = False
        self._closed = ""
        self._active_before = resumed.active_ms if resumed else 0
        self._active_events: list[Event] = []
        self._replay = self._history is not None and was_played(
            self._history(("deal",)), self.student_id, game.deal, rules_text(game.rules)
        )

    def _claim(self) -> None:
        """Take the game over from an older board of the same game, which stays as a picture."""
        older = _PLAYING.get(self._game_id)
        _PLAYING[self._game_id] = self
        if older is not None and older is not self:
            older._retire(_GOES_ON)

    def _retire(self, why: str) -> None:
        with self._lock:
            self._closed = why
            self._show(Scene())

    # Showing

    def _frame(self) -> Frame:
        return Frame(
            number=self._number,
            board=self._deal_id,
            started=self._index > 0,
            paused=self._paused,
            clock_ms=self._active_ms() if self.modes.clock else 0,
            closed=self._closed,
            modes=self.modes,
        )

    def _made(self) -> dict[str, Any]:
        return make_view(self._game, self._frame(), self._scene)

    def _show(self, scene: Scene) -> None:
        """Send the next view."""
        self._number += 1
        self._scene = scene
        self.view = self._made()

    def _active_ms(self) -> int:
        return self._active_before + active_ms(self._active_events)

    # Hearing the page

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        with self._lock:
            if not isinstance(content, Mapping) or not isinstance(content.get("n"), int):
                return
            page, n = str(content.get("page")), int(content["n"])
            heard = self._heard.setdefault(page, set())
            if n in heard:
                result = "duplicate"
            else:
                heard.add(n)
                result = self._answered(page, n, content)
            self.send({"kind": "ack", "page": page, "n": n, "result": result, "number": self._number})
            self._refresh_displays()

    def _answered(self, page: str, n: int, content: Mapping[str, Any]) -> str:
        try:
            try:
                return self._answer(page, n, content)
            except _PlayedOnError:
                raise
            except Exception as error:  # the page must hear of any fault, whatever it is
                self._trouble(error, page, n)
                return "error"
        except _PlayedOnError:
            self._retire(_WENT_ON)
            return "closed"

    def _answer(self, page: str, n: int, content: Mapping[str, Any]) -> str:
        kind = str(content.get("kind"))
        if self._closed:
            return "closed"
        message = _Message(page, n, content)
        if kind == "away":
            return self._heard_away(message, bool(content.get("gone")))
        if kind == "slip":
            return self._slip(message, content.get("of"))
        if content.get("number") != self._number:
            return self._stale(message, kind)
        if self._paused and kind not in ("resume", "set", "restart", "new"):
            return self._ignored(message)
        if kind == "try":
            return self._attempt(message)
        if kind == "answer":
            return self._check_answer(message, content.get("answer"))
        if kind == "set":
            return self._set(str(content.get("name")), content.get("value"))
        act = {
            "draw": self._draw,
            "redeal": self._redeal,
            "undo": self._undo,
            "redo": self._redo,
            "back": self._back,
            "hint": self._hint,
            "restart": self._restart,
            "new": self._new,
            "finish": self._finish,
            "pause": self._pause,
            "resume": self._go_on,
        }.get(kind)
        if act is None:
            raise ValueError(f"the page sent {kind!r}, which the board does not know")
        return act(message)

    def _trouble(self, error: Exception, page: str, n: int) -> None:
        """Tell child and log of a fault of ours; the move was not made."""
        kept = isinstance(error, _NotSavedError)
        if kept:
            text = (
                "Your move could not be saved, so it was not made. Ask your tutor (the disk may be full), "
                "then try it again."
            )
        else:
            text = "Something went wrong, and your move was not counted. Try it again, or take another."
            cause = f"{type(error).__name__}: {error}"
            try:
                self._write(self._event("error", _Message(page, n, {}), reason=cause))
            except _NotSavedError:
                text += " The fault could not be written down either."
        self._show(Scene(message=f"{text} ({error})", tone="trouble", announce=text, timing="select"))

    # Writing

    def _event(
        self,
        event_type: str,
        message: _Message | None,
        cards: Sequence[Card] = (),
        *,
        after: Position | None = None,
        outcome: str | None = None,
        reason: str | None = None,
        assistance: str | None = None,
        at: datetime | None = None,
        timed: bool = False,
    ) -> Event:
        """An event of this game in the present position; another index may be given when it is written."""
        times = message.times if message and timed else ResponseTimes()
        table = self.modes.table
        heard = message.input if message else None
        return record(
            event_type,
            self._game.position,
            cards,
            after=after,
            event_id=event_id_of(message.page, message.n, event_type) if message else new_id(),
            student_id=self.student_id,
            session_id=self.session_id,
            game_id=self._game_id,
            event_index=self._index,
            t_utc=at or self._now(),
            tz=message.zone if message else None,
            rt_ms=times.rt_ms,
            rt_first_ms=times.rt_first_ms,
            rt_second_ms=times.rt_second_ms,
            clock=("tutor" if table else "browser") if timed else "kernel",
            outcome=outcome,
            reason=reason or (times.reason if timed else None),
            input=("tutor" if table else heard) if heard or timed else None,
            assistance=self._assistance if assistance is None else assistance,
            source="table" if table else "board",
        )

    def _write(self, *events: Event) -> None:
        """Hand events on, the deal before the first of a game; those that could not be handed on go first next time."""
        if self._index == 0 and not self._owed:
            helps = [AUTO_KINGS] if self._game.auto_kings else []
            seed = self._game.deal.seed
            about = [] if seed is None else [f"{SEED}{seed}"]
            first = replace(
                self._event("deal", None, assistance=" ".join(helps) or "none", at=self._opened),
                event_id=self._deal_id,
                reason=" ".join(about + [REPLAY] * self._replay) or None,
                tz=events[0].tz if events else None,
            )
            events = (first, *events)
        for at, event in enumerate((*self._owed, *events)):
            waiting = (*self._owed, *events)[at:]
            try:
                while self._on_event is not None and self._on_event(_numbered(event, self._index)) is False:
                    if not self._caught_up():
                        break
            except _PlayedOnError:
                raise
            except Exception as error:
                self._owed = [one for one in waiting if one.event_type == "end"]
                raise _NotSavedError(str(error)) from error
            self._index += 1
            self._active_events.append(event)
        self._owed = []

    def _caught_up(self) -> bool:
        """Take the next free number after what another process has written of this game; whether there was any.

        A look away only takes numbers; a move takes the game.
        """
        others = list(self._elsewhere(self._game_id, self._index)) if self._elsewhere is not None else []
        if any(changes_game(event) for event in others):
            raise _PlayedOnError
        before = self._index
        self._index = max((before, *(event.event_index + 1 for event in others)))
        return self._index > before

    def _write_end(self, message: _Message, outcome: str, reason: str | None = None) -> None:
        """The game has ended. The move that ended it is saved; if this cannot be, it waits for the next event."""
        event = self._event("end", message, outcome=outcome, reason=reason, after=self._game.position)
        try:
            self._write(event)
        except _NotSavedError:
            self._owed = [event]

    # What the child does

    def _attempt(self, message: _Message) -> str:
        cards = message.cards
        position = self._game.position
        if self._game.outcome is not Outcome.PLAYING:
            return self._ignored(message)
        event = self._event("attempt", message, cards, timed=True)
        self._write(event)
        self._try = (message.page, message.n, message.t_second, cards, self._number)
        if event.outcome == "correct":
            self._play(Move.discard(*cards), message, cards[0], judged(position, cards, None, self.modes))
            return "done"
        try:
            position.check(Move.discard(*cards))
            raise RuntimeError(f"{event.outcome} for a legal move")
        except IllegalMoveError as error:
            wrong = event.outcome == "incorrect" and len(cards) == 2
            # A question that has been answered is not asked again: the answer would be logged a second time.
            keep = (self.modes.retry or self._scene.answered == cards[0]) and not self.modes.table
            still = (
                keep and len(cards) == 2 and position.is_exposed(cards[0]) and cards[0].rank != position.rules.target
            )
            self._show(
                Scene(
                    message=judged(position, cards, error, self.modes, kept=still),
                    tone="try",
                    selected=cards[:1] if still else (),
                    answered=self._scene.answered if still else None,
                    wrong=cards if wrong else (),
                    slip=wrong,
                    timing="select",
                )
            )
        return "done"

    def _play(self, move: Move, message: _Message, first: Card | None, text: str, announce: str = "") -> None:
        """Make a move that is legal and saved, and show what came of it."""
        kings = len(self._game.moves)
        position = self._game.play(move)
        taken = self._game.moves[kings + 1 :]
        self._firsts.append(first)
        self._undone_firsts.clear()
        self._assistance = "none"
        if taken:
            extra = " ".join(f"{king.cards[0].label} went by itself." for king in taken)
            text, announce = f"{text} {extra}", f"{announce or text} {extra}"
        self._after_change(message, text, "good" if move.kind is MoveKind.DISCARD else "calm", announce, position)

    def _after_change(
        self, message: _Message, text: str, tone: Literal["good", "calm"], announce: str, position: Position
    ) -> None:
        outcome = self._game.outcome
        if outcome is Outcome.PLAYING:
            self._show(Scene(message=text, tone=tone, announce=announce))
            return
        self._write_end(message, outcome.value)
        won = outcome is Outcome.WON
        said = "The pyramid is clear." if won else f"No move is left. {position.pyramid_left} in the pyramid."
        way = "Press New for another deal." if won else self._other_way()
        self._show(Scene(message=f"{text} {way}", tone="end", announce=f"{text} {said} {way}", end=self._end_lines()))
        if not won:
            self._look_back()

    def _other_way(self) -> str:
        """What may be done where no way is left; at a table, where nothing is undone, only a new deal."""
        if self.modes.table:
            return "Press New for another deal."
        undo = "Undo to go back, or " if self.modes.undo else ""
        return f"Press {undo}Restart to try this deal again."

    def _end_lines(self) -> tuple[str, ...]:
        lines = []
        game = self._game
        moves = len(game.moves)
        won = game.outcome is Outcome.WON
        status = {line["name"]: line["value"] for line in make_view(game, self._frame(), self._scene)["status"]}
        if "score" in status:
            lines.append(f"Score {status['score']} in {moves} moves.")
        elif won:
            lines.append(f"{moves} moves.")
        best = self.record()
        if self._replay:
            lines.append("You have played this deal before.")
        if best is not None and won and best.fewest_moves is not None:
            lines.append(f"Your fewest moves in a win: {best.fewest_moves}.")
        if best is not None and best.fastest_win_ms is not None and won and self.modes.clock:
            lines.append(f"Fastest win: {_minutes(best.fastest_win_ms)}.")
        if best is not None and best.best_score is not None and "score" in status:
            lines.append(f"Your best score: {best.best_score}.")
        return tuple(lines)

    def record(self) -> Record | None:
        """The student's record for this rule set and redeal setting; ``None`` without a history."""
        if self._history is None:
            return None
        return best_of(self._history(None), self.student_id, self._game.rules)

    def _ignored(self, message: _Message) -> str:
        if message.names_cards:
            self._write(self._event("ignored", message, message.cards, timed=True))
        over = "The game has ended: undo, restart or take a new deal."
        rest = "The game is paused. Press Go on first."
        self._show(replace(self._scene, message=rest if self._paused else over, announce="", timing="keep"))
        return "ignored"

    def _stale(self, message: _Message, kind: str) -> str:
        """A click on a view that is no longer shown: nothing is played. A try is logged, unless it is a bounce."""
        if kind != "try":
            return "stale"
        if self._try is not None:
            page, _, second, cards, number = self._try
            bounced = page == message.page and number == message.number and set(cards) == set(message.cards)
            if bounced and abs(message.t_second - second) < BOUNCE_MS:
                return "duplicate"
        if self._index:
            self._write(self._event("stale", message, message.cards, timed=True))
        return "stale"

    def _slip(self, message: _Message, of: object) -> str:
        """The child takes a wrong pair back at once: the finger slipped."""
        if self._try is None or not self._scene.slip:
            return "stale"
        page, n, second, cards, _ = self._try
        if (page, n) != (message.page, of) or not 0 <= message.t_second - second <= SLIP_MS:
            return "stale"
        self._write(self._event("slip", message, cards))
        self._try = None
        self._show(Scene(message="Slips happen. It is not counted.", timing="select"))
        return "done"

    def _check_answer(self, message: _Message, given: object) -> str:
        card = message.cards[0]
        position = self._game.position
        if isinstance(given, bool) or not isinstance(given, int):
            raise ValueError(f"the answer is a whole number, not {given!r}")
        target = position.rules.target
        total = card.rank + given
        right = total == target
        self._write(
            replace(
                self._event("attempt", message, (card,), assistance=f"{ASKED}{self.modes.ask}", timed=True),
                value_b=max(given, 0),
                total=max(total, 0),
                outcome="correct" if right else "incorrect",
                reason=None if right else "wrong_total",
                error_class=None,
                newly_exposed=None,
            )
        )
        sum_text = f"{addend(card.rank)} + {given} is {total}"
        if self.modes.table:
            text = f"Noted: {sum_text}" + (". Tap the card the player takes." if right else f", not {target}.")
        elif right:
            text = f"{sum_text}. Now take a card that is worth {given}."
        else:
            text = f"{sum_text}, not {target}. Try again: {addend(card.rank)} and how many make {target}?"
        self._show(
            replace(
                self._scene,
                message=text,
                tone="good" if right else "try",
                announce="",
                selected=(card,),
                answered=card if right else None,
                wrong=(),
                slip=False,
                timing="keep",
            )
        )
        return "done"

    def _draw(self, message: _Message) -> str:
        return self._turn(message, DRAW)

    def _redeal(self, message: _Message) -> str:
        return self._turn(message, REDEAL)

    def _turn(self, message: _Message, move: Move) -> str:
        try:
            after = self._game.position.play(move)
        except IllegalMoveError as error:
            self._show(replace(self._scene, message=sentence(str(error)), tone="try", announce="", timing="keep"))
            return "ignored"
        self._write(self._event(move.kind.value, message, timed=True))
        if move.kind is MoveKind.DRAW:
            self._play(move, message, None, drawn_text(after), drawn_text(after, heard=True))
        else:
            self._play(move, message, None, f"The waste is turned over. Pass {after.pass_number} begins.")
        return "done"

    def _undo(self, message: _Message) -> str:
        table = self.modes.table
        if table and self._scene.slip and self._try is not None:
            self._write(self._event("slip", message, self._try[3]))
            self._try = None
            self._show(Scene(message="Taken back: that try is not counted."))
            return "done"
        if not self._game.can_undo:
            return self._say("There is nothing to undo yet.")
        if self._game.finished:
            self._take_back(message)
            self._show(Scene(message="The game goes on."))
            return "done"
        first = self._take_back(message)
        back = self._game.rules.name == "cardems" and first is not None
        text = "Taken back: a wrong tap." if table else "Taken back."
        self._show(Scene(message=text, selected=(first,) if back and first else ()))
        return "done"

    def _back(self, message: _Message) -> str:
        """Undo to where there was still a way to win, as the notice said."""
        number, steps = self._way
        if number != self._number or not steps:
            return "stale"
        for step in range(steps):
            self._take_back(message, timed=step == 0)
        self._show(Scene(message="From here there is a way. Look for another move."))
        return "done"

    def _take_back(self, message: _Message, *, timed: bool = True) -> Card | None:
        """Undo one step; gives the card of it that was tapped first."""
        reason = WRONG_TAP if self.modes.table else None
        self._write(self._event("undo", message, after=self._game.undo_position, reason=reason, timed=timed))
        if self._game.finished:
            self._game.undo()
            return None
        self._game.undo()
        first = self._firsts.pop() if self._firsts else None
        self._undone_firsts.append(first)
        self._assistance = "none"
        return first

    def _redo(self, message: _Message) -> str:
        if not self._game.can_redo:
            return self._say("There is nothing to redo.")
        self._write(self._event("redo", message, after=self._game.redo_position, timed=True))
        position = self._game.redo()
        self._firsts.append(self._undone_firsts.pop() if self._undone_firsts else None)
        self._assistance = "none"
        self._after_change(message, "Played again.", "calm", "", position)
        return "done"

    def _hint(self, message: _Message) -> str:
        if not self.modes.hints or self._game.outcome is not Outcome.PLAYING:
            return self._say("A hint is not to be had now.")
        position = self._game.position
        move = self._hint_of(position) if self._hint_of else None
        on_a_way = move is not None and move in position.legal_moves()
        if not on_a_way:
            move = self._game.hint()
        self._write(self._event("hint", message, move.cards if move else (), timed=True))
        if move is None:
            self._show(Scene(message=f"There is no move to point at. {self._other_way()}"))
            self._look_back()
            return "done"
        self._assistance = "hint"
        aim = " That way the pyramid can be cleared." if on_a_way else ""
        heard = " and ".join(spoken(card) for card in move.cards)
        announced = f"Hint: {heard}." if heard else f"Hint: {move_text(move)}"
        self._show(Scene(message=move_text(move) + aim, hint=move, announce=announced + aim))
        self._look_back(only_proof=True)
        return "done"

    def _restart(self, message: _Message) -> str:
        return self._another(message, self._game.deal, "Again from the start.")

    def _new(self, message: _Message) -> str:
        return self._another(message, self._next_deal(), "")

    def _another(self, message: _Message, deal: Deal, text: str) -> str:
        if self._index and self._game.outcome is Outcome.PLAYING:
            self._write(self._event("end", message, outcome="stopped", reason="another_game"))
        old = self._game
        if _PLAYING.get(self._game_id) is self:
            del _PLAYING[self._game_id]
        again = deal == old.deal and self._index > 0
        self._begin(Game(old.rules, deal, auto_kings=self.modes.kings == "auto"), new_id())
        self._replay = self._replay or again
        self._claim()
        words = welcome(self._game, self.modes)
        self._show(Scene(message=f"{text} {words}".strip(), announce=f"{text or 'New deal.'} {words}"))
        return "done"

    def _finish(self, message: _Message) -> str:
        if self._game.outcome is not Outcome.PLAYING:
            return self._say("The game has ended.")
        self._write(self._event("end", message, outcome="stopped", reason="done"))
        self._game.finish()
        back = "Mend" if self.modes.table else "Undo"
        self._show(Scene(message=f"{back} goes on with this game.", tone="end", end=self._end_lines()))
        return "done"

    def _pause(self, message: _Message) -> str:
        if self._game.outcome is not Outcome.PLAYING:
            return self._say("There is nothing to pause.")
        self._write(self._event("pause", message))
        self._paused = True
        self._show(replace(self._scene, message="Paused.", tone="calm", announce="", timing="keep"))
        return "done"

    def _go_on(self, message: _Message) -> str:
        if not self._paused:
            return self._say("The game is not paused.")
        self._write(self._event("resume", message))
        self._paused = False
        self._show(replace(self._scene, message="On we go.", tone="calm", announce="", timing="keep"))
        return "done"

    def _heard_away(self, message: _Message, gone: bool) -> str:
        if self._index == 0 or gone == self._away:
            return "ignored"
        self._away = gone
        self._write(self._event("focus_lost" if gone else "focus_back", message))
        return "done"

    def _say(self, text: str) -> str:
        self._show(replace(self._scene, message=text, tone="calm", announce="", timing="keep"))
        return "ignored"

    def _set(self, name: str, value: object) -> str:
        if name not in PANEL or not self.modes.settings:
            raise ValueError(f"{name!r} cannot be changed on the board")
        self.modes = self.modes.changed(**{name: value})
        self._show(replace(self._scene, announce="Setting changed", timing="keep"))
        return "done"

    # Looking back from a lost game

    def _look_back(self, *, only_proof: bool = False) -> None:
        """Ask, without holding up the board, whether a way to win is left, and if not, how many steps back one was.

        Args:
            only_proof: say nothing unless it is proved that no way is left from here.
        """
        if self._dead is None:
            return
        number, dead = self._number, self._dead
        trial = Game.from_dict(self._game.to_dict())
        trial.finished = False
        threading.Thread(target=self._find_way, args=(trial, dead, number, only_proof), daemon=True).start()

    def _find_way(self, trial: Game, dead: Callable[[Position], bool | None], number: int, only_proof: bool) -> None:
        back = steps = 0
        text = ""
        while True:
            answer = dead(trial.position)
            if answer is None:
                if back:
                    text = f"No way is left from here: every one was tried. {self._other_way()}"
                elif not only_proof:
                    text = "No way is found from here in good time."
                break
            if not answer:
                if back:
                    steps = back if self.modes.undo and not self.modes.table else 0
                    text = f"There was still a way {'1 step' if back == 1 else f'{back} steps'} ago."
                break
            if not trial.can_undo:
                text = "This deal cannot be cleared by anyone: every way has been tried. Press New for another."
                break
            trial.undo()
            back += 1
        with self._lock:
            if text and self._number == number and self.comm is not None:
                self._way = (number, steps)
                self.notice = {"number": number, "text": text, "back": steps}

    # Without a widget: in a saved notebook, on a page that shows no widgets

    def _fallback_text(self) -> str:
        return "\n".join((position_text(self._game.position), self._way_on(), self._no_widgets())).rstrip()

    def _way_on(self) -> str:
        made = len(self._game.moves)
        moves = "1 move" if made == 1 else f"{made} moves"
        state = f"{game_code(self._game)}, {moves} made, score {self._game.position.score}"
        if not self._keeps_picture:
            return f"{state}. To go on, load this page again."
        start = f"{state}. To go on, run this cell again"
        if self._index == 0:
            return f"{start}."
        return f'{start}, or in any notebook: play(resume="{self._game_id}").'

    def _no_widgets(self) -> str:
        """For whoever runs cells; a page without cells is a child's, who has nothing to install."""
        return _NO_WIDGETS if self._keeps_picture else ""

    def _fallback_html(self) -> str:
        return (
            f'<figure class="pl-fallback" data-board="{self._deal_id}" style="margin:0">'
            f"{position_svg(self._game.position)}<figcaption>{escape(self._way_on())}"
            f"<br><small>{escape(self._no_widgets())}</small></figcaption></figure>"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        with self._lock:
            return {**data, "text/plain": self._fallback_text(), "text/html": self._fallback_html()}, metadata

    def _ipython_display_(self) -> None:
        """Show the board and, beside it, the picture that a saved notebook keeps; the page hides it under a board."""
        from IPython.display import HTML, display

        bundle = self._repr_mimebundle_()
        if bundle is None:
            return
        data, metadata = bundle
        display(data, metadata=metadata, raw=True)
        if not self._keeps_picture:
            return
        name = f"{self._deal_id}-{len(self._displays)}"
        self._displays.append(name)
        display(HTML(self._fallback_html()), display_id=name)

    def _refresh_displays(self) -> None:
        """Renew the kept pictures, once the child rests: the page draws them in the time in which it would answer."""
        if not self._displays:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._draw_displays()
            return
        if self._drawing is not None:
            self._drawing.cancel()
        self._drawing = loop.call_later(_PICTURE_AFTER_S, self._draw_displays)

    def _draw_displays(self) -> None:
        from IPython.display import HTML, update_display

        with self._lock:
            picture = self._fallback_html()
            if picture == self._picture:
                return
            self._picture = picture
            for name in self._displays:
                update_display(HTML(picture), display_id=name)


class _NotSavedError(RuntimeError):
    """The callable that writes events raised."""


class _PlayedOnError(RuntimeError):
    """Another process has played this game on."""


class _Message:
    """One message of a page, its parts read with care: a page is outside our walls."""

    def __init__(self, page: str, n: int, content: Mapping[str, Any]) -> None:
        self.page = page
        self.n = n
        self.number = content.get("number")
        readings = content.get("times")
        self._readings = readings if isinstance(readings, Mapping) else {}
        self._content = content

    @property
    def cards(self) -> tuple[Card, ...]:
        named = self._content.get("cards")
        if not isinstance(named, (list, tuple)) or not 1 <= len(named) <= 2:
            raise ValueError(f"a try names one card or two, not {named!r}")
        return tuple(Card.parse(str(name)) for name in named)

    @property
    def names_cards(self) -> bool:
        return self._content.get("cards") is not None

    @property
    def times(self) -> ResponseTimes:
        return response_times(self._readings)

    @property
    def t_second(self) -> float:
        value = self._readings.get("t_second")
        return float(value) if isinstance(value, (int, float)) else float("nan")

    @property
    def input(self) -> str | None:
        value = self._content.get("input")
        return value if value in ("mouse", "touch", "keyboard") else None

    @property
    def zone(self) -> str | None:
        value = self._content.get("tz")
        return value if isinstance(value, str) and 0 < len(value) <= 64 else None


def _numbered(event: Event, index: int) -> Event:
    return event if event.event_index == index else replace(event, event_index=index)


def _minutes(ms: int) -> str:
    return f"{ms // 60_000} min {ms // 1000 % 60} s"


def _random_deal(rules: Rules) -> Deal:
    return Deal.from_seed(secrets.randbelow(_SEED_BELOW), rules.target)


def _deal(rules: str | Mapping[str, Any] | Rules | None, deal: Deal | int | str | None) -> tuple[Rules, Deal]:
    """The rules and the deal from what a caller gives."""
    if isinstance(deal, str) and len(deal.split()) <= 2 and "-" in deal:
        name, seed = parse_deal_code(deal)
        chosen = rule_set(name if rules is None else rules)
        return chosen, Deal.from_seed(seed, chosen.target)
    chosen = rule_set("classic" if rules is None else rules)
    if deal is None:
        return chosen, _random_deal(chosen)
    if isinstance(deal, str):
        return chosen, Deal.from_text(deal, chosen.target)
    if isinstance(deal, Deal):
        return chosen, deal
    return chosen, Deal.from_seed(deal, chosen.target)
