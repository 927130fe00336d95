"""A board on a bare page: the true Python side in the test's process, the true page side in the browser, and between
them a line that a test can slow down, cut, or make deliver twice. For what a notebook adds, see the real servers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page

from pyramid_lab.board import Board
from pyramid_lab.log.events import Event

SOURCE = Path(__file__).parents[2] / "pyramid_lab" / "board"

# A widget model as the notebook gives it to the page, as far as the board uses it.
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Board</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body { margin: 0; padding: 4px; background: BACKGROUND }
CSS</style></head><body><main id="here"></main><main id="there"></main>
<script type="module">
const source = new Blob([SOURCE], { type: "text/javascript" });
const { default: makeWidget } = await import(URL.createObjectURL(source));
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
  const { updates, messages } = await window.toPython(content);
  for (const [name, value] of updates) { state[name] = value; tell(`change:${name}`); }
  for (const message of messages) tell("msg:custom", message, []);
}
window.sent = [];
window.line = "open";
window.push = (name, value) => { state[name] = value; tell(`change:${name}`); };
window.tell = tell;
const widget = makeWidget();
await widget.initialize({ model });
window.show = (id) => widget.render({ model, el: document.getElementById(id) });
window.closeView = window.show("here");
window.ready = true;
</script></body></html>"""


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


class StaticBoard:
    """One board on a bare page. ``board`` and ``events`` are the Python side; ``page`` is Playwright's; ``faults`` are
    what the board said of exceptions in its Python."""

    def __init__(
        self,
        page: Page,
        *arguments: Any,
        background: str = "white",
        on_event: Callable[[Event], object] | None = None,
        **options: Any,
    ) -> None:
        self.page = page
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
        page.expose_function("toPython", self._hear)
        self._background = background
        self.load()

    def load(self) -> None:
        """Load the page (again)."""
        start = json.dumps({name: self.state(name) for name in ("view", "notice")})
        script = json.dumps((SOURCE / "board.js").read_text(encoding="utf-8")).replace("</", "<\\/")
        html = (
            PAGE.replace("CSS", (SOURCE / "board.css").read_text(encoding="utf-8"), 1)
            .replace("BACKGROUND", self._background, 1)
            .replace("[SOURCE]", f"[{script}]", 1)
            .replace("START", start.replace("</", "<\\/"), 1)
        )
        self.page.goto("about:blank")
        self.page.set_content(html)
        self.page.wait_for_function("window.ready === true")

    def state(self, name: str) -> Any:
        """A value as it goes to the page."""
        return self.board.get_state(name)[name]

    def _hear(self, content: Any) -> dict[str, Any]:
        self._messages.clear()
        self._updates.clear()
        self.board._receive(self.board, content, [])
        self.faults += [self.board.view["message"] for answer in self._messages if answer["result"] == "error"]
        return {"updates": list(self._updates), "messages": list(self._messages)}

    def card(self, name: str) -> Any:
        return self.page.locator(f'button[data-card="{name}"]')

    def action(self, name: str) -> Any:
        return self.page.locator(f'button[data-action="{name}"]')

    @property
    def message(self) -> Any:
        return self.page.locator(".pl-message")

    def wait_for_view(self, number: int) -> None:
        """Wait until a view of at least this number is drawn and its first frame painted."""
        self.page.wait_for_function(
            "number => Number(document.querySelector('.pl-board').dataset.view) >= number", arg=number
        )
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
