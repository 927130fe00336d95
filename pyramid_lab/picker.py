"""Who is playing: a list of names at the start of a lesson."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from html import escape
from typing import Any, Final

import anywidget
import ipywidgets
import traitlets

from pyramid_lab.lesson import STUDENT_VARIABLE, shared_store
from pyramid_lab.log.errors import StoreError
from pyramid_lab.log.names import Names, Person, labels_of

_NOBODY: Final = "Choose your name"
_EVERYBODY: Final = "All classes"
_NONE: Final = ""  # a list whose value is None shows an empty line instead of its first option
_NO_NAMES: Final = (
    "There are no names yet. The tutor adds them with <code>pyramid-lab student import</code>. "
    "You can play without a name."
)


class SaidLine(anywidget.AnyWidget):
    """A line that a screen reader reads out when it changes, for which its element has to stay the same.

    It also keeps JupyterLab's shortcuts off the lists beside it: arrows would walk through the cells, Z take back, and
    D D delete one.
    """

    _esm = traitlets.Unicode("""
        function render({ model, el }) {
            const line = document.createElement("p");
            line.setAttribute("role", "status");
            line.style.fontSize = "1.4em";
            const say = () => { line.innerHTML = model.get("value"); };
            model.on("change:value", say);
            say();
            el.append(line);
            // At the window, before the page: Notebook 7 takes its shortcuts on the way down.
            const keep = (event) => {
                const combined = event.ctrlKey || event.metaKey || event.altKey || event.key === "Enter";
                if (!combined && el.closest(".pl-picker")?.contains(event.target)) event.stopPropagation();
            };
            window.addEventListener("keydown", keep, true);
            return () => window.removeEventListener("keydown", keep, true);
        }
        export default { render };
    """).tag(sync=True)
    # The arrow of a list is black in every theme of JupyterLab.
    _css = traitlets.Unicode("""
        [data-jp-theme-light="false"] .pl-picker select {
            background-image: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 18 18'%3E\
%3Cpath fill='none' stroke='%23eee' stroke-width='2' d='M4 7l5 5 5-5'/%3E%3C/svg%3E");
        }
    """).tag(sync=True)
    value = traitlets.Unicode().tag(sync=True)


class LessonStart(anywidget.AnyWidget):
    """The place where a lesson begins, with a note or without: after Run All, JupyterLab leaves the page at its last
    cell, and this brings it back here, once, when its cell has just run and is out of sight.

    Where its cell was run by itself it is in sight, so that nothing moves; nor does anything on a page without cells.
    """

    _esm = traitlets.Unicode("""
        const RUN_JUST_NOW_S = 60;
        const shown = new WeakSet();
        function render({ model, el }) {
            el.innerHTML = model.get("value");
            // A page that is opened or scrolled draws it again, long after its cell ran or for a second time.
            const late = shown.has(model) || Math.abs(Date.now() / 1000 - model.get("made")) > RUN_JUST_NOW_S;
            shown.add(model);
            if (late) return;
            requestAnimationFrame(() => requestAnimationFrame(() => {
                const page = el.closest(".jp-WindowedPanel-outer")?.getBoundingClientRect();
                const box = el.getBoundingClientRect();
                if (page && (box.bottom <= page.top || box.top >= page.bottom)) el.scrollIntoView({ block: "center" });
            }));
        }
        export default { render };
    """).tag(sync=True)
    value = traitlets.Unicode().tag(sync=True)
    made = traitlets.Float().tag(sync=True)

    def __init__(self, value: str = "") -> None:
        super().__init__(value=value, made=time.time())


class StudentPicker(ipywidgets.VBox):  # type: ignore[misc]
    """A class and a name to choose from, in the browser's own lists, so that keys and screen readers work as anywhere.

    When a name is chosen, the boards made after it belong to that student.

    Args:
        people: the students; by default those of the log's names.
        place: path or URL of the log whose names are shown.
        class_name: show this class only.
        on_choice: called with the chosen :class:`~pyramid_lab.log.names.Person`, or ``None`` when nobody is chosen.

    Attributes:
        person: the chosen student, or ``None``.
    """

    def __init__(
        self,
        people: list[Person] | None = None,
        *,
        place: str | None = None,
        class_name: str | None = None,
        on_choice: Callable[[Person | None], object] | None = None,
    ) -> None:
        self.person: Person | None = None
        self._on_choice = on_choice
        problem = ""
        if people is None:
            try:
                people = Names.of(shared_store(place)).people()
            except StoreError as error:
                people, problem = [], escape(str(error))
        self._people = [person for person in people if class_name in (None, person.class_name)]
        style, layout = {"description_width": "6em"}, ipywidgets.Layout(width="24em", min_height="2.75em")
        classes = sorted({person.class_name for person in self._people if person.class_name})
        self.classes = ipywidgets.Dropdown(
            options=[(_EVERYBODY, _NONE), *((name, name) for name in classes)],
            description="Class",
            style=style,
            layout=layout,
        )
        self.names = ipywidgets.Dropdown(description="Your name", style=style, layout=layout)
        self.said = SaidLine()
        self._list_names()
        self._say(problem or ("" if self._people else _NO_NAMES))
        self.classes.observe(self._list_names, "value")
        self.names.observe(self._choose, "value")
        super().__init__([*([self.classes] if len(classes) > 1 else []), self.names, self.said])
        self.add_class("pl-picker")

    def _list_names(self, _change: Any = None) -> None:
        shown = [person for person in self._people if self.classes.value in (_NONE, person.class_name)]
        self.names.options = [(_NOBODY, _NONE), *labels_of(shown, with_class=self.classes.value == _NONE)]
        self.names.value = _NONE

    def _choose(self, _change: Any) -> None:
        chosen = self.names.value
        self.person = next((person for person in self._people if person.student_id == chosen), None)
        if self.person is None:
            os.environ.pop(STUDENT_VARIABLE, None)
            self._say("")
        else:
            os.environ[STUDENT_VARIABLE] = self.person.student_id
            self._say(f"Hello, {escape(self.person.label)}! Now choose <b>Run</b>, <b>Run All Cells</b> once more.")
        if self._on_choice is not None:
            self._on_choice(self.person)

    def keep(self, student_id: str | None) -> None:
        """Choose who was chosen before this cell was run again: the cells below are then run for that student."""
        if any(student_id == person.student_id for person in self._people):
            self.names.value = student_id
            label = escape(self.person.label) if self.person else ""
            self._say(f"Hello, {label}! What you play below is kept for you.")

    def _say(self, html: str) -> None:
        self.said.value = html


def pick_student(place: str | None = None, *, class_name: str | None = None) -> StudentPicker:
    """Ask who is playing; show it as the last line of a lesson's cell."""
    return StudentPicker(place=place, class_name=class_name)
