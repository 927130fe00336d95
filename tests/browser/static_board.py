"""A board on a bare page: the true Python side in the test's process, the true page side in the browser, and between
them a line that a test can slow down, cut, or make deliver twice. For what a notebook adds, see the real servers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import BrowserContext, Page

from pyramid_lab.board import Board
from pyramid_lab.log.events import Event

SOURCE = Path(__file__).parents[2] / "pyramid_lab" / "board"

# A widget model as the notebook gives it to the page, as far as the board uses it.
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Board</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body { margin: 0; padding: 4px; background: white }
CSS</style></head><body><main id="here"></main><main id="there"></main>
<script type="module">
const state = START;
const listeners = {};
const model = {
  get: (name) => state[name],
  on: (name, call) => (listeners[name] ??= []).push(call),
  off: (name, call) => { listeners[name] = (listeners[name] ?? []).filter((one) => one !== call); },
  send: (content) => {
    if (window.line === "closed") throw new Error("Cannot send");
    window.sent.push(content);
    if (window.line === "cut") return;
    void deliver(content);
    if (window.line === "double") void deliver(content);
  },
};
const tell = (name, ...values) => (listeners[name] ?? []).slice().forEach((call) => call(...values));
async function deliver(content) {
  const { updates, messages } = await window.toPython(NUMBER, content);
  for (const [name, value] of updates) { state[name] = value; tell(`change:${name}`); }
  for (const message of messages) tell("msg:custom", message, []);
}
async function start() {
  const source = new Blob([SOURCE], { type: "text/javascript" });
  const { default: makeWidget } = await import(URL.createObjectURL(source));
  const widget = makeWidget();
  await widget.initialize({ model });
  window.show = (id) => widget.render({ model, el: document.getElementById(id) });
  window.closeView = window.show("here");
}
window.sent = [];
window.line = "open";
window.push = (name, value) => { state[name] = value; tell(`change:${name}`); };
window.tell = tell;
window.ready = start();
</script></body></html>"""

# Until a view of at least this number is drawn and its first frame painted.
SHOWN = """number => new Promise((done, fail) => {
    const end = performance.now() + 15_000;
    const look = () => {
        const shown = document.querySelector('.pl-board')?.dataset.view;
        if (Number(shown) >= number) requestAnimationFrame(done);
        else if (performance.now() < end) requestAnimationFrame(look);
        else fail(new Error(`no view ${number} in 15 s, but ${shown}`));
    };
    requestAnimationFrame(look);
})"""


def save_picture(page: Page, name: str, folder: Path | None) -> None:
    """Save the page's board as a picture for the docs; nothing without a folder."""
    if folder is None:
        return
    page.mouse.move(0, 0)
    page.add_style_tag(content=".Toastify { display: none }")  # JupyterLab's own messages lie over the board
    page.evaluate("() => Promise.all(document.getAnimations().map(one => one.finished))")
    shot = page.locator(".pl-board").screenshot()
    # A palette of 128 colours is enough for flat drawings and a third of the size.
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(128).save(folder / f"{name}.png", optimize=True)


class BarePage:
    """One browser page for board after board: a page of its own would cost most tests more than all they do."""

    def __init__(self, context: BrowserContext) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(15_000)
        self._size = self.page.viewport_size
        self._boards: dict[int, StaticBoard] = {}
        self._count = 0
        self._blank = True
        self.page.expose_function("toPython", self._hear)

    def load(self, html: str) -> None:
        """Put a document in place of the one before it, of which nothing stays."""
        if not self._blank:
            self.page.goto("about:blank")
        self._blank = False
        self.page.set_content(html)
        self.page.evaluate("() => window.ready")

    def number(self, board: StaticBoard) -> int:
        """A number by which the document says for which board it speaks."""
        self._count += 1
        self._boards[self._count] = board
        return self._count

    def clear(self) -> None:
        """Make the page as good as new: empty, of its first size, and with no wishes for colours and motion."""
        self._boards.clear()
        self.page.goto("about:blank")
        self._blank = True
        self.page.mouse.move(0, 0)
        if self._size is not None and self.page.viewport_size != self._size:
            self.page.set_viewport_size(self._size)
        self.page.emulate_media(media="null", color_scheme="null", reduced_motion="null", forced_colors="null")

    def close(self) -> None:
        self.page.context.close()

    def _hear(self, number: int, content: Any) -> dict[str, Any]:
        board = self._boards.get(number)
        # What a document says while it is left is for nobody.
        return {"updates": [], "messages": []} if board is None else board.hear(content)


class StaticBoard:
    """One board on a bare page. ``board`` and ``events`` are the Python side; ``page`` is Playwright's; ``faults`` are
    what the board said of exceptions in its Python."""

    def __init__(
        self,
        bare: BarePage,
        *arguments: Any,
        on_event: Callable[[Event], object] | None = None,
        **options: Any,
    ) -> None:
        self.page: Page = bare.page
        self.events: list[Event] = []
        self.faults: list[str] = []
        self._messages: list[Any] = []
        self._updates: list[tuple[str, Any]] = []

        def keep(event: Event) -> None:
            if on_event is not None:
                on_event(event)
            self.events.append(event)

        self.board = options.pop("board", None) or Board(*arguments, on_event=keep, **options)
        self.board.send = lambda content, buffers=None: self._messages.append(content)
        self.board.observe(
            lambda change: self._updates.append((change["name"], self.state(change["name"]))), ["view", "notice"]
        )
        self._bare = bare
        self._number = bare.number(self)
        self.load()

    def load(self) -> None:
        """Load the page (again)."""
        start = json.dumps({name: self.state(name) for name in ("view", "notice")})
        script = json.dumps((SOURCE / "board.js").read_text(encoding="utf-8")).replace("</", "<\\/")
        self._bare.load(
            PAGE.replace("CSS", (SOURCE / "board.css").read_text(encoding="utf-8"), 1)
            .replace("NUMBER", str(self._number), 1)
            .replace("[SOURCE]", f"[{script}]", 1)
            .replace("START", start.replace("</", "<\\/"), 1)
        )

    def state(self, name: str) -> Any:
        """A value as it goes to the page."""
        return self.board.get_state(name)[name]

    def hear(self, content: Any) -> dict[str, Any]:
        """What the board has to say to a message of its page."""
        self._messages.clear()
        self._updates.clear()
        self.board._receive(self.board, content, [])
        self.faults += [self.board.view["message"] for answer in self._messages if answer["result"] == "error"]
        return {"updates": list(self._updates), "messages": list(self._messages)}

    def set(self, **settings: Any) -> None:
        """Change settings from Python's side."""
        for name, value in settings.items():
            self.board._set(name, value)
        self.page.evaluate("view => window.push('view', view)", self.state("view"))

    def card(self, name: str) -> Any:
        return self.page.locator(f'button[data-card="{name}"]')

    def action(self, name: str) -> Any:
        return self.page.locator(f'button[data-action="{name}"]')

    @property
    def message(self) -> Any:
        return self.page.locator(".pl-message")

    @contextmanager
    def next_view(self) -> Iterator[None]:
        """Wait, after what is done inside, until the view after the present one is shown."""
        number = self.board.view["number"]
        yield
        self.wait_for_view(number + 1)

    def wait_for_view(self, number: int) -> None:
        """Wait until a view of at least this number is drawn and its first frame painted."""
        self.page.evaluate(SHOWN, number)
