"""A real server of JupyterLab, Notebook 7 and Voila for the browser tests, and a notebook page to drive.

The server gets a home of its own: nobody's settings, kernels, documents or log are read or written.
"""

from __future__ import annotations

import copy
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import nbformat
from playwright.sync_api import Page, expect

Kind = Literal["lab", "notebook", "voila"]
ADDRESS = {"lab": "/lab/tree/{}?reset", "notebook": "/notebooks/{}?", "voila": "/voila/render/{}?"}

START_SECONDS = 90
PAGE_MS = 60_000
AS_NEW = """%reset -f
import os
for name in [name for name in os.environ if name.startswith('PYRAMID_LAB_')]:
    del os.environ[name]
%reset -f"""
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


class Server:
    """JupyterLab as `pyramid-lab` opens it: its address, its folder of notebooks and its own home folder. The same
    server has the pages of Notebook 7 and Voila, which are installed beside it; `kind` says which a notebook opens in.
    """

    def __init__(self, home: Path) -> None:
        self.kind: Kind = "lab"
        self.home = home
        self.root = home / "notebooks"
        self.root.mkdir(parents=True, exist_ok=True)
        self.port = _free_port()
        self.token = secrets.token_hex(16)
        self.log = home / "server.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def showing(self, kind: Kind) -> Server:
        """The same server, whose notebooks open in another kind of page."""
        other = copy.copy(self)
        other.kind = kind
        return other

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The server's environment: no folder outside its home."""
        source = str(Path(__file__).parents[2])  # the package under test, whatever folder a program runs in
        return {**os.environ, **home_environment(self.home), "PYTHONPATH": source}

    def start(self) -> None:
        """Start and wait until it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                cwd=self.root,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        for _ in range(START_SECONDS * 10):
            if self._answers():
                return
            try:
                code = self._process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            raise RuntimeError(f"the server ended with {code}:\n{self._log_end()}")
        self.stop()
        raise RuntimeError(f"the server gave no answer in {START_SECONDS} s:\n{self._log_end()}")

    def stop(self) -> None:
        """End the server and its kernels."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            _signal_group(process, signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(15)
        if sys.platform != "win32":
            _signal_group(process, signal.SIGKILL)  # kernels that outlived their server

    def write(self, name: str, cells: Sequence[str]) -> Path:
        """Write a notebook of code cells into the root; a cell that starts with '%%markdown' is text."""
        # Without a named kernel JupyterLab asks for one.
        notebook = nbformat.v4.new_notebook(metadata={"kernelspec": KERNEL})
        for cell in cells:
            if cell.startswith("%%markdown\n"):
                notebook.cells.append(nbformat.v4.new_markdown_cell(cell.removeprefix("%%markdown\n")))
            else:
                notebook.cells.append(nbformat.v4.new_code_cell(cell))
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)
        return path

    def open(self, page: Page, name: str) -> NotebookPage:
        """Open a notebook of the root folder; for Voila this also runs it."""
        notebook = NotebookPage(self, page, name)
        notebook.load()
        return notebook

    def _command(self) -> list[str]:
        app = {"expose_app_in_browser": True}
        settings = {"LabApp": app, "JupyterNotebookApp": app, "IdentityProvider": {"token": self.token}}
        config = self.home / "jupyter-config"
        config.mkdir(exist_ok=True)
        for name in ("jupyter_server", "jupyter_lab", "jupyter_notebook"):
            (config / f"{name}_config.json").write_text(json.dumps(settings), encoding="utf-8")
        start = [sys.executable, "-m", "pyramid_lab", "--no-browser", "--port", str(self.port)]
        return [*start, "--folder", str(self.root)]

    def _answers(self) -> bool:
        request = urllib.request.Request(f"{self.url}/api/status?token={self.token}")
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _log_end(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-3000:]


class NotebookPage:
    """A notebook in the browser. `page` is Playwright's page, for everything not wrapped here."""

    def __init__(self, server: Server, page: Page, name: str) -> None:
        self.server = server
        self.page = page
        self.name = name
        page.set_default_timeout(PAGE_MS)

    @property
    def address(self) -> str:
        return f"{self.server.url}{ADDRESS[self.server.kind].format(self.name)}&token={self.server.token}"

    def load(self) -> None:
        """Go to the notebook (also: reload it) and wait until its kernel can take work."""
        self.page.goto(self.address, wait_until="domcontentloaded", timeout=PAGE_MS)
        if self.server.kind != "voila":
            self.wait_for_kernel()

    def switch(self, name: str, *, keep_kernel: bool = False) -> None:
        """Open another notebook in place of this one; JupyterLab itself is not loaded again.

        Args:
            keep_kernel: the other notebook goes on with the kernel of this one, which forgets its names, its child and
                its log (not in Voila).
        """
        self.name = name
        if self.server.kind == "voila":
            self.load()
            return
        # A question that a test left open, such as one about its killed kernel, lets nothing else be done.
        answers = self.page.locator(".jp-Dialog .jp-mod-accept")
        while answers.count():
            answers.last.click()
        self.page.evaluate(
            """async ([name, keep]) => {
                const {commands, shell} = window.jupyterapp;
                const id = keep ? shell.currentWidget.sessionContext.session.kernel.id : null;
                for (const widget of [...shell.widgets('main')]) {
                    const own = widget.sessionContext;
                    if (own && own.session?.kernel?.id !== id) await own.shutdown();
                    widget.dispose();
                }
                const opened = await commands.execute('docmanager:open', {path: name, ...(id && {kernel: {id}})});
                await opened.context.ready;
                shell.activateById(opened.id);
            }""",
            [name, keep_kernel],
        )
        self.wait_for_kernel()
        if keep_kernel:
            self.execute(AS_NEW)

    def wait_for_kernel(self) -> None:
        """Wait for a connected, idle kernel: 'Idle' alone is shown before its socket exists."""
        self.page.wait_for_function(
            """() => {
                const widget = window.jupyterapp?.shell?.currentWidget;
                const kernel = widget?.sessionContext?.session?.kernel;
                return widget?.content?.model && kernel?.connectionStatus === 'connected'
                    && kernel.status === 'idle';
            }""",
            timeout=PAGE_MS,
        )

    def run_all(self, *, wait: bool = True) -> None:
        """Run every cell; with wait, until the last is done, and raise what a cell raised."""
        self._command("notebook:run-all-cells", wait=wait)
        if wait:
            self._raise_errors()

    def run_cell(self, index: int, *, wait: bool = True) -> None:
        """Run one cell, counted from 0 (text cells count)."""
        self.page.evaluate("index => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }", index)
        self._command("notebook:run-cell", wait=wait)
        if wait:
            self._raise_errors()

    def save(self) -> None:
        self._command("docmanager:save", wait=True)

    def restart_kernel(self) -> None:
        """Restart the kernel from the menu and say yes to its question; the page stays."""
        self.page.evaluate("() => { window.plRestarted = window.jupyterapp.commands.execute('kernelmenu:restart'); }")
        self.page.locator(".jp-Dialog .jp-mod-accept").click()
        self.page.evaluate("() => window.plRestarted")
        self.wait_for_kernel()

    def execute(self, code: str, *, wait: bool = True) -> str:
        """Run code in the kernel without a cell; give back what it printed, raise what it raised."""
        printed: str | None = self.page.evaluate(
            """async ([code, wait]) => {
                const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
                const future = kernel.requestExecute({code});
                let text = '';
                future.onIOPub = message => {
                    if (message.header.msg_type === 'stream') text += message.content.text;
                };
                if (!wait) return null;
                const reply = await future.done;
                const {status, ename, evalue} = reply.content;
                if (status !== 'ok') throw new Error(`${ename}: ${evalue}`);
                return text;
            }""",
            [code, wait],
        )
        return printed or ""

    def outputs(self) -> list[list[dict[str, Any]]]:
        """The outputs of every cell, as the notebook file would hold them (text cells: none)."""
        found: list[list[dict[str, Any]]] = self.page.evaluate(
            """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
                .map(cell => cell.toJSON().outputs ?? [])"""
        )
        return found

    def _command(self, name: str, *, wait: bool) -> None:
        self.page.evaluate(
            """async ([name, wait]) => {
                const done = window.jupyterapp.commands.execute(name);
                if (wait) await done;
            }""",
            [name, wait],
        )

    def _raise_errors(self) -> None:
        for number, outputs in enumerate(self.outputs()):
            for output in outputs:
                if output["output_type"] == "error":
                    raise AssertionError(f"cell {number}: {output['ename']}: {output['evalue']}")


def home_environment(home: Path) -> Mapping[str, str]:
    """Variables that keep every folder a program may write to inside `home`."""
    places = {
        "HOME": home,
        "USERPROFILE": home,
        "XDG_DATA_HOME": home / "data",
        "XDG_CONFIG_HOME": home / "config",
        "XDG_CACHE_HOME": home / "cache",
        "XDG_DOCUMENTS_DIR": home / "Documents",
        "IPYTHONDIR": home / "ipython",
        "JUPYTER_CONFIG_DIR": home / "jupyter-config",
        "JUPYTER_DATA_DIR": home / "jupyter-data",
        "JUPYTER_RUNTIME_DIR": home / "jupyter-runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "lab-settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "lab-workspaces",
    }
    return {name: str(path) for name, path in places.items()}


def no_request_leaves(page: Page) -> list[str]:
    """Watch the page; the list fills with the address of every request to anywhere but this machine."""
    strangers: list[str] = []

    def note(request: Any) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:", "about:")):
            strangers.append(request.url)

    page.on("request", note)
    return strangers


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    if sys.platform == "win32":
        process.terminate()
        return
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


__all__ = ["Kind", "NotebookPage", "Server", "expect", "home_environment", "no_request_leaves"]
