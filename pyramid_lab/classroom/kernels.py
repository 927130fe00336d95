"""One kernel for each child, started before the bell."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from jupyter_core.utils import ensure_async
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyter_server.utils import ApiPath
from tornado import web
from traitlets import Integer, Unicode

STARTED_AT_ONCE: Final = 2
READY_SECONDS: Final = 120
GOODBYE_SECONDS: Final = 5
EMPTY_SECONDS: Final = 10
"""So long a kernel has to forget a lesson, with thirty at it at once on a slow laptop; one that hangs is replaced."""

_EMPTY: Final = "import ipywidgets; ipywidgets.Widget.close_all(); get_ipython().run_line_magic('reset', '-f')"


class ClassKernels(AsyncMappingKernelManager):
    """Jupyter's kernel manager with a pool of kernels that have already imported what a lesson needs.

    Starting thirty kernels takes two cores the better part of a minute; running a lesson's few cells in a kernel that
    waits takes a moment. A kernel of the pool learns whose it is only when a child sits down.
    """

    expected = Integer(0, help="Children who may come: so many kernels are started before anybody does.").tag(
        config=True
    )
    spare = Integer(2, help="Kernels that wait even when everybody is there, for pages loaded again.").tag(config=True)
    most = Integer(64, help="Kernels there may be in all, waiting ones included.").tag(config=True)
    first_code = Unicode("", help="Code that a kernel runs while it waits: imports.").tag(config=True)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        self._waiting: deque[str] = deque()
        self._preparing: set[str] = set()
        self._loading: dict[str, float] = {}
        self._filling: set[asyncio.Task[None]] = set()
        self._open = True

    @property
    def waiting(self) -> int:
        """Kernels that wait for a child."""
        return len(self._waiting)

    def in_use(self) -> list[str]:
        """Kernels that were given to a child."""
        return [one for one in self.list_kernel_ids() if one not in self._waiting and one not in self._preparing]

    def fill(self) -> None:
        """Bring the pool up to what is expected, a few at a time, in the background."""
        wanted = max(self.spare, self.expected - len(self.in_use()))
        while (
            self._open
            and len(self._filling) < STARTED_AT_ONCE
            and len(self._waiting) + len(self._filling) < wanted
            and len(self.list_kernel_ids()) + len(self._filling) < self.most
        ):
            task = asyncio.ensure_future(self._add_one())
            self._filling.add(task)
            task.add_done_callback(self._filled)

    def _filled(self, task: asyncio.Task[None]) -> None:
        self._filling.discard(task)
        # A kernel that did not start is no reason to stop the class: the next child tries again.
        if task.cancelled() or task.exception() is None:
            self.fill()
        else:
            self.log.error("A kernel for the class could not be started", exc_info=task.exception())

    async def take(self, environment: Mapping[str, str], folder: str, kept: str | None = None) -> str:
        """A kernel with this environment and working folder: the kept one, one that waits, or a new one.

        Args:
            environment: variables set before any cell runs.
            folder: working folder, inside the root.
            kept: the kernel of the same child's lesson before. It forgets that lesson's names and boards and goes on,
                unless it is gone or busy: when a class goes on to the next lesson, thirty new kernels would start at
                once.
        """
        ready = (
            f"import json, os; os.environ.update(json.loads({json.dumps(dict(environment))!r})); "
            f"os.chdir({os.fspath(self.cwd_for_path(folder))!r}); del json, os"  # type: ignore[no-untyped-call]
        )
        if kept is not None and await self._emptied(kept, ready):
            return kept
        kernel_id = ""
        while self._waiting and kernel_id not in self:
            kernel_id = self._waiting.popleft()
        if kernel_id not in self:
            if not self._open or len(self.list_kernel_ids()) >= self.most:
                raise web.HTTPError(503)
            kernel_id = str(uuid.uuid4())
        self._preparing.add(kernel_id)
        self._loads(kernel_id)
        try:
            if kernel_id not in self:
                await super().start_kernel(kernel_id=kernel_id, kernel_name="python3", path=ApiPath(folder))
            await self._run(kernel_id, ready)
        except BaseException:
            await self.shut(kernel_id)
            raise
        finally:
            self._preparing.discard(kernel_id)
            self.fill()
        return kernel_id

    async def lives(self, kernel_id: str) -> bool:
        """Whether a kernel is there and its process runs."""
        return kernel_id in self and await ensure_async(self.get_kernel(kernel_id).is_alive())

    async def shut(self, kernel_id: str | None) -> None:
        """End a kernel if it is still there; ask it first, so that it can write what it holds."""
        self._loading.pop(kernel_id or "", None)
        if kernel_id is None or kernel_id not in self:
            return
        try:
            await asyncio.wait_for(self.shutdown_kernel(kernel_id), GOODBYE_SECONDS)  # type: ignore[no-untyped-call]
        except (TimeoutError, KeyError):
            if kernel_id in self:
                await self.shutdown_kernel(kernel_id, now=True)  # type: ignore[no-untyped-call]

    async def close(self) -> None:
        """End every kernel and start no more."""
        self._open = False
        await asyncio.gather(*self._filling, return_exceptions=True)
        await asyncio.gather(*(self.shut(kernel_id) for kernel_id in self.list_kernel_ids()), return_exceptions=True)

    def notify_connect(self, kernel_id: str) -> None:
        """A page is there: from now on its kernel goes some time after it."""
        self._loading.pop(kernel_id, None)
        super().notify_connect(kernel_id)  # type: ignore[no-untyped-call]

    async def cull_kernel_if_idle(self, kernel_id: str) -> None:
        if kernel_id in self._waiting or kernel_id in self._preparing:
            return
        # Between the taking and the first word of its page: thirty pages at once, on slow tablets, take their time.
        taken = self._loading.get(kernel_id)
        if taken is not None and asyncio.get_running_loop().time() - taken < READY_SECONDS:
            return
        self._loading.pop(kernel_id, None)
        await super().cull_kernel_if_idle(kernel_id)  # type: ignore[no-untyped-call]

    async def _add_one(self) -> None:
        kernel_id = str(uuid.uuid4())
        self._preparing.add(kernel_id)
        try:
            await super().start_kernel(kernel_id=kernel_id, kernel_name="python3", path=ApiPath(""))
            if self.first_code:
                await self._run(kernel_id, self.first_code)
            self._waiting.append(kernel_id)
        except BaseException:
            await self.shut(kernel_id)
            raise
        finally:
            self._preparing.discard(kernel_id)

    async def _emptied(self, kernel_id: str, ready: str) -> bool:
        """Whether a kernel has forgotten its lesson and is ready for another."""
        if not await self.lives(kernel_id):
            return False
        self._loads(kernel_id)
        try:
            await asyncio.wait_for(self._run(kernel_id, f"{_EMPTY}\n{ready}"), EMPTY_SECONDS)
        except (TimeoutError, RuntimeError):
            return False
        return kernel_id in self

    def _loads(self, kernel_id: str) -> None:
        self._loading[kernel_id] = asyncio.get_running_loop().time()

    async def _run(self, kernel_id: str, code: str) -> None:
        client: Any = self.get_kernel(kernel_id).client()
        client.start_channels()
        try:
            await client.wait_for_ready(timeout=READY_SECONDS)
            reply = await client.execute_interactive(
                code, silent=True, store_history=False, timeout=READY_SECONDS, output_hook=lambda message: None
            )
            if reply["content"]["status"] != "ok":
                raise RuntimeError(f"a kernel could not be made ready: {reply['content'].get('evalue')}")
        finally:
            client.stop_channels()
