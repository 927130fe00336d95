"""What becomes of a lesson's page that never comes to its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pyramid_lab.classroom.register import ClassLesson, Register
from tests.classroom.test_codes import Clock


async def endless(self: Any, path: str | None = None) -> AsyncIterator[str]:
    """As Voila does when what makes the page was lost: a heartbeat now and then, for ever."""
    yield "<p>began</p>"
    while True:
        yield "<script>window.voila_heartbeat()</script>"


def test_a_page_that_never_ends_is_given_an_end_and_the_tutor_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    # Not above: Voila takes a second to load, which only one worker need spend.
    from voila.tornado.handler import TornadoVoilaHandler

    from pyramid_lab.classroom import handlers

    clock, shut = Clock(), []

    async def end(kernel_id: str) -> None:
        shut.append(kernel_id)

    lesson = ClassLesson(Path("1.ipynb"), "One", "01_one")
    register = Register([], [lesson], now=clock, code="123456")
    seat = register.seat_of(register.join("10.0.0.1", "123456"))
    assert seat is not None
    app: Any = SimpleNamespace(
        register=register, page=lambda template: f"the end: {template}", kernel_manager=SimpleNamespace(shut=end)
    )
    monkeypatch.setattr(TornadoVoilaHandler, "get_generator", endless)
    monkeypatch.setattr(handlers, "time", SimpleNamespace(monotonic=clock))
    page: Any = handlers.LessonHandler.__new__(handlers.LessonHandler)
    page.application = SimpleNamespace(settings={"class_app": app})
    page.kernels = handlers._KernelsOfSeat(app, seat, lesson)
    page.kernels.kernel_id = seat.kernel_id = "hers"

    async def load() -> list[str]:
        parts = []
        async for part in page.get_generator():
            parts.append(part)
            clock.now += handlers.LONGEST_LOAD_SECONDS / 2
        return parts

    with ThreadPoolExecutor(1) as thread:  # a browser's tests leave a loop running in this one
        began, *heartbeats, last = thread.submit(asyncio.run, load()).result()
    assert began == "<p>began</p>" and heartbeats and {"heartbeat" in part for part in heartbeats} == {True}
    assert last == "the end: failed.html"
    assert seat.failed and shut == ["hers"]
