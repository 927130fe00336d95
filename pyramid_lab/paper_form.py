"""A recording sheet, typed in again: a small form for a notebook or a page, checked against the deal row by row."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from html import escape
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Final

import ipywidgets

from pyramid_lab.core.deal import Deal, InvalidDealError
from pyramid_lab.core.position import InvalidPositionError
from pyramid_lab.core.rules import RULE_SETS, Rules, RulesError
from pyramid_lab.lesson import GUEST, SESSION_VARIABLE, shared_store, student_named
from pyramid_lab.log.errors import StoreError
from pyramid_lab.log.names import Names, labels_of
from pyramid_lab.log.paper import COLUMNS, PaperError, PaperGame, enter, paper_game, read_recording
from pyramid_lab.picker import SaidLine
from pyramid_lab.sheets.deals import deal_for
from pyramid_lab.sheets.errors import SheetError

ROWS: Final = 5
"""So many rows are there at first; a new one comes when something is typed into the last."""

_HELP: Final = (
    "<p>One row for each pair, as it stands on the sheet, also the wrong ones. A card is <b>8</b> or, with its suit, "
    "<b>8h</b>; a King stands alone. For the sheet's ✓ type <b>x</b>, for a wrong one <b>-</b>. "
    "Only the first card must be there. Turns of the stock are filled in, as few as make the pairs possible.</p>"
)
# What is easily typed, and the sign of the sheet that it becomes.
_SIGNS: Final = {"x": "✓", "-": "✗"}


class PaperRowFields:
    """The fields of one row, and the place below them where something is said about it.

    Args:
        number: of the row; every field has it in its name.

    Attributes:
        fields: by the name of their column, see :data:`pyramid_lab.log.paper.COLUMNS`.
        remove: the button that takes the row out; the rows below it move up.
        note: what a tutor should look at, or nothing.
        box: all of it.
    """

    def __init__(self, number: int) -> None:
        def text(head: str, width: str) -> ipywidgets.Text:
            return ipywidgets.Text(
                description=f"{number}. {head}",
                continuous_update=False,
                style={"description_width": "initial"},
                layout=ipywidgets.Layout(width=width, min_height="2.5em"),
            )

        self.fields = {
            "first": text("first card", "11em"),
            "second": text("second card", "12em"),
            "total": text("total said", "11em"),
            "tick": text("right? ✓", "10em"),
            "seconds": text("seconds", "10em"),
        }
        self.remove = ipywidgets.Button(
            description=f"Remove row {number}", layout=ipywidgets.Layout(width="9em", min_height="2.5em")
        )
        self.note = ipywidgets.HTML(layout=ipywidgets.Layout(margin="0 0 0.5em 0.5em"))
        line = ipywidgets.HBox([*self.fields.values(), self.remove], layout=ipywidgets.Layout(flex_flow="row wrap"))
        self.box = ipywidgets.VBox([line, self.note])

    @property
    def cells(self) -> list[str]:
        """What stands in the fields, in the order of the columns."""
        return [self.fields[name].value.strip() for name in COLUMNS]


class PaperForm(ipywidgets.VBox):  # type: ignore[misc]
    """The rows of a recording sheet, typed in and checked against the deal; *Save* writes them to the log once.

    What a tutor should look at is named below its row. With a doubtful row, such as an impossible pair, *Save* only
    asks, and *Save all the same*, a button of its own that no double click meets, keeps the row as it stands. After
    that the fields are shut, so that a second press or a later change cannot double the game.

    Args:
        deal: what stands in the deal field at first: a code such as ``table-17-U``, a seed, or the cards.
        rules: a rule set's name, where the code does not say it.
        student: pseudonym of the student; default ``$PYRAMID_LAB_STUDENT``, if that is one of the log's names.
        place: path or URL of the log.

    Attributes:
        game: the game as typed so far, or ``None`` while there is no row or one cannot be read.
        saved: whether it was written to the log.
    """

    def __init__(
        self,
        deal: Deal | int | str = "",
        rules: str | None = None,
        *,
        student: str | None = None,
        place: str | Path | None = None,
    ) -> None:
        self.game: PaperGame | None = None
        self.saved = False
        self._filling = False
        self._store = shared_store(place)
        self._found: tuple[Deal, Rules] | None = None
        style = {"description_width": "7em"}
        layout = ipywidgets.Layout(width="26em", min_height="2.5em")
        # Fields to type in, with a list to choose from: in a closed list JupyterLab takes letters for its own commands.
        self._students = self._known(student)
        self.student = ipywidgets.Combobox(
            value=next((label for label, known in self._students.items() if known == student_named(student)), ""),
            options=list(self._students),
            placeholder="name",
            description="Whose sheet",
            continuous_update=False,
            style=style,
            layout=layout,
        )
        self.deal = ipywidgets.Text(
            value=deal.text if isinstance(deal, Deal) else str(deal),
            description="Deal code",
            continuous_update=False,
            style=style,
            layout=layout,
        )
        self.rules = ipywidgets.Combobox(
            value=rules or "",
            options=list(RULE_SETS),
            placeholder="as the deal code says",
            description="Rules",
            continuous_update=False,
            style=style,
            layout=layout,
        )
        self.played = ipywidgets.DatePicker(
            value=_today(), max=_today(), description="Played on", style=style, layout=layout
        )
        self.rows: list[PaperRowFields] = []
        self._rows_box = ipywidgets.VBox()
        self.add = ipywidgets.Button(description="Add row")
        self.save = ipywidgets.Button(description="Save", button_style="primary")
        self.save_anyway = ipywidgets.Button(description="Save all the same")
        self.another = ipywidgets.Button(description="Another sheet")
        self.said = SaidLine()
        for field in (self.student, self.deal, self.rules, self.played):
            field.observe(self._check, "value")
        self.add.on_click(lambda _: self._add_row().fields["first"].focus())
        self.save.on_click(self._save)
        self.save_anyway.on_click(lambda _: self._save(doubtful=True))
        self.another.on_click(self._start)
        buttons = [self.add, self.save, self.save_anyway, self.another]
        for button in buttons:
            button.layout = ipywidgets.Layout(width="11em", min_height="2.75em")
        top = [self.student, self.deal, self.rules, self.played]
        super().__init__(
            [
                ipywidgets.HTML(_HELP),
                *top,
                self._rows_box,
                ipywidgets.HBox(buttons, layout=ipywidgets.Layout(flex_flow="row wrap")),
                self.said,
            ]
        )
        self.add_class("pl-paper-form")
        for _number in range(ROWS):
            self._add_row()
        self._check()

    def _known(self, student: str | None) -> dict[str, str]:
        """The pseudonyms that can be chosen, by label. A page of a class knows its child and reads no other name."""
        people = [] if os.environ.get(SESSION_VARIABLE) else Names.of(self._store).people()
        return dict(labels_of(people)) or {student_named(student): student_named(student)}

    def _start(self, _: Any = None) -> None:
        """Empty rows, open for a sheet."""
        self.saved = False
        self._shut(False)
        self._fill([])

    def _add_row(self) -> PaperRowFields:
        row = PaperRowFields(len(self.rows) + 1)
        for field in row.fields.values():
            field.observe(self._check, "value")
        row.remove.on_click(lambda _: self._remove(row))
        self.rows.append(row)
        self._rows_box.children = [row.box for row in self.rows]
        return row

    def _remove(self, row: PaperRowFields) -> None:
        """Take the row's words out and close up. No field goes, so the keyboard's place is kept."""
        if self.saved:
            return
        left = [other.cells for other in self.rows if other is not row]
        self._fill(left)

    def _fill(self, lines: Sequence[Sequence[str]]) -> None:
        self._filling = True
        for row, cells in zip(self.rows, chain(lines, repeat([""] * len(COLUMNS))), strict=False):
            for field, cell in zip(row.fields.values(), cells, strict=True):
                field.value = cell
        self._filling = False
        self._check()

    def _check(self, _: Any = None) -> None:
        """Read the deal and every row, and say below each row what a tutor should look at."""
        if self.saved or self._filling:
            return
        if any(self.rows[-1].cells):
            self._add_row()
        self._show_signs()
        self.save_anyway.layout.display = "none"
        self.game = None
        notes: Sequence[tuple[int, str]] = ()
        try:
            self._found = self._deal()
            self.game = self._game(*self._found)
            notes = self.game.notes
        except (InvalidDealError, InvalidPositionError, RulesError, SheetError) as error:
            self._found = None
            self._say(f"The deal: {error}" if self.deal.value.strip() else "Type the code of the deal.")
        except PaperError as error:
            notes = error.problems
        self._note(notes)
        if self._found is not None:
            self._say(self._in_words(notes))

    @property
    def _student_id(self) -> str | None:
        typed = self.student.value.strip().casefold()
        named = (known for label, known in self._students.items() if typed in (label.casefold(), known.casefold()))
        return next(named, None)

    def _deal(self) -> tuple[Deal, Rules]:
        text = self.deal.value.strip()
        return deal_for(int(text) if text.isdecimal() else text, self.rules.value.strip() or None)

    def _game(self, deal: Deal, rules: Rules) -> PaperGame:
        out = io.StringIO()
        csv.writer(out).writerows([COLUMNS, *(row.cells for row in self.rows)])
        rows = read_recording(out.getvalue(), rules.target)
        # The day alone: a sheet that is typed in again is the same game, and stands in the log once.
        started = datetime.combine(self.played.value or _today(), time()).astimezone()
        return paper_game(rows, rules, deal, student_id=self._student_id or GUEST, started=started)

    def _show_signs(self) -> None:
        self._filling = True
        for row in self.rows:
            tick = row.fields["tick"]
            tick.value = _SIGNS.get(tick.value.strip().lower(), tick.value)
        self._filling = False

    def _note(self, notes: Sequence[tuple[int, str]]) -> None:
        for line, row in enumerate(self.rows, start=2):  # line 1 names the columns
            sentences = [escape(sentence, quote=False) for noted, sentence in notes if noted == line]
            row.note.value = f"<b>Look:</b> {'; '.join(sentences)}." if sentences else ""

    def _in_words(self, notes: Sequence[tuple[int, str]]) -> str:
        if not any(any(row.cells) for row in self.rows):
            return "Type the first row."
        begin = "Cannot be saved yet"
        if self.game is not None:
            begin = f"{_counted(_tries(self.game), 'try', 'tries')}{_turns(self.game)}"
        look = "; ".join(f"row {line - 1}: {sentence}" for line, sentence in notes)
        return f"{begin}. Look at {look}." if look else f"{begin}; nothing to look at."

    def _save(self, _: Any = None, *, doubtful: bool = False) -> None:
        if self.saved:
            return
        self._check()
        if self.game is None:
            return
        if self._student_id is None:
            typed = self.student.value.strip()
            self._say(f"No student is called {typed}." if typed else "Choose whose sheet it is.")
            self.student.focus()
            return
        if self.game.doubtful and not doubtful:
            self.save_anyway.layout.display = ""
            notes = [note for note in self.game.notes if note[0] in self.game.doubtful]
            self._say(f"Not saved yet. {self._in_words(notes)} If the sheet says so: Save all the same.")
            return
        self.save_anyway.layout.display = "none"
        try:
            new = enter(self.game, self._store)
        except StoreError as error:
            self._say(f"Not saved: {error}")
            return
        self.saved = True
        self._shut(True)
        if not new:
            self._say("This sheet was entered before; nothing was added.")
            return
        state = self._store.state
        done = f"{_counted(_tries(self.game), 'try', 'tries')} saved{_turns(self.game)}."
        self._say(done if state.saved else f"{done} {state.message}")
        self.another.focus()

    def _shut(self, shut: bool) -> None:
        for row in self.rows:
            for field in (*row.fields.values(), row.remove):
                field.disabled = shut
        for field in (self.student, self.deal, self.rules, self.played, self.add, self.save, self.save_anyway):
            field.disabled = shut

    def _say(self, sentence: str) -> None:
        self.said.value = escape(sentence, quote=False)


def _today() -> date:
    return datetime.now(UTC).astimezone().date()


def _tries(game: PaperGame) -> int:
    return sum(event.event_type == "attempt" for event in game.events)


def _turns(game: PaperGame) -> str:
    turns = _counted(game.turns_found, "turn", "turns")
    return f", with {turns} of the stock filled in" if game.turns_found else ""


def _counted(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def enter_sheet(
    deal: Deal | int | str = "",
    rules: str | None = None,
    *,
    student: str | None = None,
    place: str | Path | None = None,
) -> PaperForm:
    """A form for the rows of a recording sheet; show it as the last line of a lesson's cell.

    Args:
        deal: the code on the deal sheet, such as ``table-17-U``; it can be typed into the form too.
        rules: a rule set's name, where the code does not say it.
        student: the student's pseudonym; by default whoever was chosen at the start of the lesson.
        place: path or URL of the log.
    """
    return PaperForm(deal, rules, student=student, place=place)
