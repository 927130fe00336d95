"""One playing of a deal: the moves made, undo and redo, hints, and the game as a file. The one thing that changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pyramid_lab.core.deal import Deal, InvalidDealError
from pyramid_lab.core.position import (
    DRAW,
    REDEAL,
    IllegalMoveError,
    InvalidMoveError,
    Move,
    MoveKind,
    Outcome,
    Position,
    Reason,
)
from pyramid_lab.core.rules import Rules, RulesError, rule_set

FORMAT: Final = 1


class GameFileError(ValueError):
    """A saved game that cannot be read; the message names the part and what is wrong with it."""


class NothingToUndoError(ValueError):
    """Undo at the start of a game, or redo with nothing undone."""


def _read_steps(key: str, steps: object) -> list[tuple[Move, ...]]:
    """The moves of a saved game, grouped as undo takes them back."""
    if not isinstance(steps, list) or not all(
        isinstance(step, list) and all(isinstance(text, str) for text in step) for step in steps
    ):
        raise GameFileError(f"{key!r} of the saved game is a list of steps, each a list of moves, not {steps!r}")
    read = []
    for number, step in enumerate(steps, start=1):
        try:
            read.append(tuple(Move.parse(text) for text in step))
        except InvalidMoveError as error:
            raise GameFileError(f"step {number} in {key!r} of the saved game: {error}") from error
    return read


class Game:
    """One playing of a deal from its first position on.

    Args:
        rules: the rule set, or its name.
        deal: the deal.
        auto_kings: discard an exposed king of the pyramid by itself after each move; it scores as by hand, and one
            undo takes back the move together with the kings that followed it.

    Attributes:
        rules: the rule set.
        deal: the deal.
        auto_kings: as given.
        finished: whether the player has said that the game is done.
    """

    def __init__(self, rules: Rules | str, deal: Deal, *, auto_kings: bool = False) -> None:
        self.rules = rule_set(rules)
        self.deal = deal
        self.auto_kings = auto_kings
        self.finished = False
        # One entry a step that undo takes back: the position before it and the moves it is made of.
        self._done: list[tuple[Position, tuple[Move, ...]]] = []
        self._undone: list[tuple[Move, ...]] = []
        self._position = Position.start(self.rules, deal)

    @property
    def position(self) -> Position:
        """The position now."""
        return self._position

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves that led here, undone ones left out."""
        return tuple(move for _, step in self._done for move in step)

    @property
    def outcome(self) -> Outcome:
        """How the game stands; a game that the player has called done is lost unless it is won."""
        outcome = self._position.outcome
        if self.finished and outcome is Outcome.PLAYING:
            return Outcome.LOST
        return outcome

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        return bool(self._done) or self.finished

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone step to play again."""
        return bool(self._undone) and not self.finished

    def play(self, move: Move) -> Position:
        """Make a move; what was undone before can then no longer be redone.

        Raises:
            IllegalMoveError: the rules do not allow it now; the game is unchanged.
        """
        if self.finished:
            raise IllegalMoveError(
                Reason.GAME_OVER,
                move,
                (),
                "the game is over: you said that you are done; undo or take a new deal",
            )
        before = self._position
        after = before.play(move)
        step = [move]
        if self.auto_kings:
            after = self._take_kings(after, step)
        self._done.append((before, tuple(step)))
        self._undone.clear()
        self._position = after
        return after

    def _take_kings(self, position: Position, step: list[Move]) -> Position:
        n_pyramid = self.rules.n_pyramid
        while True:
            kings = [
                move
                for move in position.legal_discards()
                if len(move.cards) == 1 and self.deal.index(move.cards[0]) < n_pyramid
            ]
            if not kings:
                return position
            position = position.play(kings[0])
            step.append(kings[0])

    @property
    def undo_position(self) -> Position:
        """The position that :meth:`undo` would give.

        Raises:
            NothingToUndoError: this is the start of the game.
        """
        if self.finished:
            return self._position
        if not self._done:
            raise NothingToUndoError("nothing to undo: this is the start of the game")
        return self._done[-1][0]

    @property
    def redo_position(self) -> Position:
        """The position that :meth:`redo` would give.

        Raises:
            NothingToUndoError: nothing has been undone.
        """
        if not self.can_redo:
            raise NothingToUndoError("nothing to redo: no move has been undone")
        position = self._position
        for move in self._undone[-1]:
            position = position.play(move)
        return position

    def undo(self) -> Position:
        """Take back the last step: the complete earlier position, score, combo and passes included.

        Raises:
            NothingToUndoError: this is the start of the game.
        """
        before = self.undo_position
        if self.finished:
            self.finished = False
        else:
            _, step = self._done.pop()
            self._undone.append(step)
        self._position = before
        return before

    def redo(self) -> Position:
        """Play the step again that was undone last.

        Raises:
            NothingToUndoError: nothing has been undone.
        """
        after = self.redo_position
        self._done.append((self._position, self._undone.pop()))
        self._position = after
        return after

    def restart(self) -> Position:
        """Begin the same deal again, with no moves made and none to redo."""
        self._done.clear()
        self._undone.clear()
        self.finished = False
        self._position = Position.start(self.rules, self.deal)
        return self._position

    def new_game(self, deal: Deal) -> Position:
        """Take another deal under the same rules; nothing of the game before stays.

        Raises:
            InvalidPositionError: the deal's pack is not the rule set's; the game before goes on.
        """
        Position.start(self.rules, deal)
        self.deal = deal
        return self.restart()

    def finish(self) -> Outcome:
        """The player says that the game is done; an undo opens it again."""
        self.finished = True
        return self.outcome

    def hint(self) -> Move | None:
        """A legal move to point at: the first discard in board order, else the draw, else a redeal that may help.

        It is a legal move and not always the best one. A whole pass without a discard changes nothing, so a second
        one is never pointed at; ``None`` means that there is no move to point at.
        """
        position = self._position
        if self.outcome is not Outcome.PLAYING:
            return None
        discards = position.legal_discards()
        if discards:
            return discards[0]
        if position.stock_left:
            return DRAW
        if (
            position.redeal_allowed
            and position.waste_left >= self.rules.useful_redeal
            and not self._last_pass_changed_nothing()
        ):
            return REDEAL
        return None

    def _last_pass_changed_nothing(self) -> bool:
        """Whether the last pass began with a redeal and no card has been discarded since."""
        for _, step in reversed(self._done):
            for move in reversed(step):
                if move.kind is MoveKind.DISCARD:
                    return False
                if move.kind is MoveKind.REDEAL:
                    return True
        return False

    # The game as a file

    def to_dict(self) -> dict[str, Any]:
        """The game as plain JSON values: rules, deal, moves made, and the undone moves that can be redone.

        ``steps`` groups the moves as undo takes them back; ``redo`` lists undone steps, the next to redo first.
        """
        return {
            "format": FORMAT,
            "rules": self.rules.to_dict(),
            "deal": self.deal.text,
            "seed": self.deal.seed,
            "auto_kings": self.auto_kings,
            "steps": [[move.text for move in step] for _, step in self._done],
            "redo": [[move.text for move in step] for step in reversed(self._undone)],
            "finished": self.finished,
        }

    def to_json(self) -> str:
        """:meth:`to_dict` as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Game:
        """A saved game, at the position where it was saved.

        Raises:
            GameFileError: a part is missing or cannot be read, or a move is not legal; named by its number.
        """
        version = values.get("format", FORMAT)
        if not isinstance(version, int) or version > FORMAT:
            raise GameFileError(f"this game was saved in format {version!r}; this version reads up to {FORMAT}")
        for key in ("rules", "deal"):
            if key not in values:
                raise GameFileError(f"the saved game has no {key!r}")
        if not isinstance(values["deal"], str):
            raise GameFileError(f"'deal' of the saved game is a text of cards, not {values['deal']!r}")
        seed = values.get("seed")
        try:
            rules = rule_set(values["rules"])
            deal = Deal.from_text(values["deal"], rules.target)
            seeded = deal if seed is None else Deal.from_seed(seed, rules.target)
        except (RulesError, InvalidDealError) as error:
            raise GameFileError(f"the saved game cannot be read: {error}") from error
        if seeded != deal:
            raise GameFileError(f"the saved game's deal is not that of its seed {seed}")
        game = cls(rules, seeded, auto_kings=bool(values.get("auto_kings", False)))
        steps, redo = (_read_steps(key, values.get(key, [])) for key in ("steps", "redo"))
        number = 0
        for step in steps + redo:
            before = game._position
            for move in step:
                number += 1
                try:
                    game._position = game._position.play(move)
                except IllegalMoveError as error:
                    raise GameFileError(f"move {number} of the saved game, {move}, is not legal: {error}") from error
            game._done.append((before, step))
        for _ in redo:
            game.undo()
        game.finished = bool(values.get("finished", False))
        return game

    @classmethod
    def from_json(cls, text: str) -> Game:
        """Read :meth:`to_json`.

        Raises:
            GameFileError: the text is no JSON object, or as :meth:`from_dict`.
        """
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise GameFileError(f"the saved game is no JSON: {error}") from None
        except (ValueError, RecursionError):  # a number of thousands of digits, brackets in brackets without end
            raise GameFileError("the saved game is no game: a number is too long, or it is nested too deeply") from None
        if not isinstance(values, dict):
            raise GameFileError("the saved game is no JSON object")
        return cls.from_dict(values)

    def __repr__(self) -> str:
        return f"<Game {self.rules.name}: {len(self.moves)} moves, score {self._position.score}, {self.outcome}>"

    def __str__(self) -> str:
        from pyramid_lab.core.picture import game_text

        return game_text(self)

    def _repr_html_(self) -> str:
        from pyramid_lab.core.picture import game_html

        return game_html(self)
