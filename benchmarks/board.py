"""How fast the board answers, in headless Chromium: on a page of Voila, as children play, and in a real JupyterLab.

Run from the checkout's root: ``python -m benchmarks.board``. Prints milliseconds from a click until the frame with
the answer is painted, and each as a ratio to a plain ipywidgets button that changes its label, measured in the same
run and page, since the machine's speed is not ours. A choice of a card answers on the page alone.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import CHROMIUM_OPTIONS
from tests.browser.servers import Server

ROUNDS = 60
CELLS = [
    "from pyramid_lab.lesson import play\nplay('one-pass', 17, place='{log}', resume=None)",
    "import ipywidgets\ncount = 0\nplain = ipywidgets.Button(description='0')\n"
    "def more(_):\n    global count\n    count += 1\n    plain.description = str(count)\n"
    "plain.on_click(more)\nplain",
]

# Click, wait for a change under `watched`, then until it is painted: what the child sees.
PRESS = """async ([button, watched, attribute]) => {
    const frame = () => new Promise(requestAnimationFrame);
    // Longer than the time within which a second tap on a card is taken for a bounce of the finger.
    await new Promise(done => setTimeout(done, 170));
    await frame(); await frame();
    const root = document.querySelector(watched);
    const changed = new Promise(done => new MutationObserver((_, all) => { all.disconnect(); done(); })
        .observe(root, attribute ? {attributes: true, attributeFilter: [attribute]}
            : {childList: true, characterData: true, subtree: true}));
    const start = performance.now();
    document.querySelector(button).click();
    await changed;
    // A message posted inside a frame is heard once that frame has been painted.
    await frame();
    await new Promise(done => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = done;
        port2.postMessage(0);
    });
    return performance.now() - start;
}"""


def measure(page: Page, *what: Any) -> list[float]:
    return [page.evaluate(PRESS, list(what)) for _ in range(ROUNDS)]


def board_moves(page: Page) -> list[float]:
    """Draws and undos in turn, so that the board looks the same all the while."""
    found = []
    for at in range(ROUNDS):
        action = "draw" if at % 2 == 0 else "undo"
        found.append(page.evaluate(PRESS, [f'button[data-action="{action}"]', ".pl-board", "data-view"]))
    return found


def line(name: str, times: list[float], reference: list[float]) -> str:
    p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    ratio = p50 / statistics.median(reference)
    return f"{name:<34} p50 {p50:6.1f} ms   p95 {p95:6.1f} ms   x{ratio:.2f} of a plain button"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder))
        try:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_OPTIONS)
            for kind in ("voila", "lab"):
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                print("\nJupyterLab" if kind == "lab" else "Voila")
                show(server.showing(kind), page)
                page.close()
            browser.close()
        finally:
            server.stop()


def show(server: Server, page: Page) -> None:
    log, name = server.root / f"{server.kind}.sqlite3", f"{server.kind}.ipynb"
    server.write(name, [CELLS[0].format(log=log), CELLS[1]])
    notebook = server.open(page, name)
    first = None
    if server.kind != "voila":
        notebook.run_cell(1)
        page.wait_for_selector(".jupyter-button")
        start = time.perf_counter()
        notebook.run_cell(0, wait=False)
        page.wait_for_selector(".pl-board [data-card]")
        first = time.perf_counter() - start
    page.wait_for_selector(".pl-board [data-card]")
    page.wait_for_selector(".jupyter-button")
    board_moves(page)  # a page that has just been opened has other things to do
    plain = measure(page, ".jupyter-button", ".jupyter-button", None)
    moves = board_moves(page)
    choices = measure(page, '[data-card="9s"]', '[data-card="9s"]', "data-state")
    print(line("plain ipywidgets button", plain, plain))
    print(line("a move, logged and shown", moves, plain))
    print(line("a card chosen", choices, plain))
    if first is not None:
        print(f"first board on screen {first:.2f} s after its cell starts (imports included)")


if __name__ == "__main__":
    main()
