"""When the kernel of a child's page is ended."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from jupyter_server.services.kernels import kernelmanager

from pyramid_lab.classroom import kernels
from pyramid_lab.classroom.kernels import READY_SECONDS, ClassKernels
from tests.classroom.test_codes import Clock

AWAY = 5


class Room:
    """The class's kernels on a clock of the test, without their processes; and the one that was taken for a page."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.kernels = ClassKernels(expected=0, spare=0, cull_idle_timeout=AWAY)
        self.loop = asyncio.new_event_loop()
        self.loop.time = clock  # type: ignore[method-assign]
        self.thread = ThreadPoolExecutor(1)  # a browser's tests leave a loop running in the first one
        self.kernel = self.done(self.kernels.take({}, ""))

    def done(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.thread.submit(self.loop.run_until_complete, work).result()

    def later(self, seconds: float) -> None:
        """Time passes, and the manager looks for kernels that nobody needs."""
        self.clock.now += seconds
        if self.kernel in self.kernels:
            self.done(self.kernels.cull_kernel_if_idle(self.kernel))

    @property
    def lives(self) -> bool:
        return self.kernel in self.kernels


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    clock = Clock()

    def now() -> datetime:
        return datetime(2026, 11, 30, tzinfo=UTC) + timedelta(seconds=clock())

    async def start(self: ClassKernels, *, kernel_id: str, **_: Any) -> str:
        self._kernels[kernel_id] = SimpleNamespace(
            execution_state="idle",
            last_activity=now(),
            kernel_name="python3",
            kernel_id=kernel_id,
            kernel_spec=SimpleNamespace(metadata={}),
            is_alive=lambda: True,
        )
        self._kernel_connections[kernel_id] = 0
        return kernel_id

    async def end(self: ClassKernels, kernel_id: str, **_: Any) -> None:
        del self._kernels[kernel_id]

    async def run(self: ClassKernels, kernel_id: str, code: str) -> None:
        pass

    monkeypatch.setattr(kernelmanager, "utcnow", now)
    monkeypatch.setattr(kernelmanager.AsyncMappingKernelManager, "start_kernel", start)
    monkeypatch.setattr(ClassKernels, "shutdown_kernel", end)
    monkeypatch.setattr(ClassKernels, "_run", run)
    found = Room(clock)
    yield found
    found.thread.shutdown()
    found.loop.close()


def test_a_page_that_is_slow_to_come_keeps_its_kernel(room: Room) -> None:
    room.later(READY_SECONDS - 1)
    assert room.lives
    room.kernels.notify_connect(room.kernel)
    room.later(READY_SECONDS)
    assert room.lives


def test_a_page_that_came_and_went_loses_its_kernel_in_its_time(room: Room) -> None:
    room.kernels.notify_connect(room.kernel)
    room.kernels.notify_disconnect(room.kernel)
    room.later(AWAY - 1)
    assert room.lives
    room.later(2)
    assert not room.lives


def test_a_page_that_never_comes_loses_its_kernel_at_last(room: Room) -> None:
    room.later(READY_SECONDS + 1)
    assert not room.lives


def test_the_next_lesson_goes_on_with_the_kernel_unless_it_is_busy_dead_or_gone(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take(kept: str) -> str:
        return str(room.done(room.kernels.take({}, "", kept)))

    assert take(room.kernel) == room.kernel

    at_work = room.kernel

    async def run(self: ClassKernels, kernel_id: str, code: str) -> None:
        if kernel_id == at_work:
            await asyncio.Event().wait()

    monkeypatch.setattr(ClassKernels, "_run", run)
    monkeypatch.setattr(kernels, "EMPTY_SECONDS", 0)
    another = take(at_work)
    assert another != at_work
    assert take("gone") not in (at_work, another, "gone")
    room.kernels.get_kernel(another).is_alive = lambda: False
    assert take(another) != another
