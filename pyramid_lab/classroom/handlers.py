"""The pages and addresses of a class. Everything that is not here does not exist: no files, contents or terminals."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, ClassVar, Final

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import FileFindHandler, JupyterHandler
from jupyter_server.services.kernels.handlers import KernelHandler
from jupyterlab_server.themes_handler import ThemesHandler
from markupsafe import Markup
from tornado import web
from tornado.iostream import StreamClosedError
from voila.static_file_handler import MultiStaticFileHandler, TemplateStaticFileHandler
from voila.tornado.handler import TornadoVoilaHandler
from voila.tornado.kernel_websocket_handler import VoilaKernelWebsocketHandler

from pyramid_lab.classroom.codes import TooSoonError, WrongCodeError
from pyramid_lab.classroom.gate import SEAT_COOKIE, TUTOR_COOKIE, is_tutor, seat_of
from pyramid_lab.classroom.pictures import picture_name, picture_svg
from pyramid_lab.classroom.register import (
    ClassFullError,
    ClassLesson,
    ClassOverError,
    Register,
    Seat,
    SeatState,
    State,
    UnknownPupilError,
)

if TYPE_CHECKING:
    from pyramid_lab.classroom.app import ClassApp

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# A lesson page is Voila's: its scripts and styles are inside the page, a widget's module is a blob. Nothing may come
# from, or go to, anywhere else.
LESSON_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline' blob:; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' blob: data:; media-src 'self' data: blob:; "
    "worker-src 'self' blob:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'"
)
HEARTBEAT_SECONDS: Final = 4
SEAT_SECONDS: Final = 24 * 3600
"""How long a tablet keeps its seat, also when its browser is closed meanwhile."""
MOST_PAGES: Final = 5
"""Pages one tablet may have open at once."""
REFUSED_BEFORE_CLOSING: Final = 20
LONGEST_LOAD_SECONDS: Final = 120
"""A lesson's page that is not there after so long is given up."""
TROUBLE: Final = 'class="pl-trouble"'
"""What the template of a lesson writes where something failed."""
HEARTBEAT: Final = "voila_heartbeat()"


class Guarded(web.RequestHandler):
    """Headers that every answer carries, and error pages in plain words."""

    policy: ClassVar[str] = PAGE_POLICY
    keep: ClassVar[bool] = False

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.set_header("Content-Security-Policy", self.policy)
        self.clear_header("Server")
        if not self.keep:
            self.set_header("Cache-Control", "no-store")

    def compute_etag(self) -> str | None:
        return super().compute_etag() if self.keep else None

    def write_error(self, status_code: int, **_: Any) -> None:
        sentence = {
            403: "This page is not for you. Start again with the number from the board.",
            404: "There is nothing here. Start again with the number from the board.",
            429: "That was too fast. Wait a moment and try again.",
        }.get(status_code, "Something went wrong. Load the page again; your game is kept.")
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(self.app.page("error.html", sentence=sentence))

    @property
    def app(self) -> ClassApp:
        app: ClassApp = self.settings["class_app"]
        return app


class ClassHandler(Guarded, JupyterHandler):
    """What the class's own pages share."""

    @property
    def register(self) -> Register:
        return self.app.register

    @property
    def seat(self) -> Seat | None:
        return seat_of(self)

    @property
    def content_security_policy(self) -> str:
        return self.policy

    def set_own_cookie(self, name: str, secret: str, max_age: int | None = None) -> None:
        """Set a cookie that no script and no other site can use; without ``max_age`` (s) it ends with the browser."""
        self.set_cookie(
            name, secret, httponly=True, secure=self.app.secure, samesite="Strict", path="/", max_age=max_age
        )

    def page(self, template: str, **values: Any) -> None:
        """Answer with one of the class's pages."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(self.app.page(template, xsrf=self.xsrf_token.decode(), **values))


class JoinHandler(ClassHandler):
    """The code, as the first thing a child sees."""

    @allow_unauthenticated
    def get(self) -> None:
        seat = self.seat
        if seat is not None:
            self.redirect(self.app.next_page(seat))
            return
        over = self.register.state is State.ENDED
        self.page("join.html", problem=str(ClassOverError()) if over else "", wait=0)

    @allow_unauthenticated
    def post(self) -> None:
        typed = self.get_body_argument("code", "")[:40]
        try:
            token = self.register.join(self.request.remote_ip or "", typed)
        except (WrongCodeError, TooSoonError) as error:
            self.set_status(429 if isinstance(error, TooSoonError) else 403)
            self.set_header("Retry-After", str(int(error.wait) + 1))
            self.page("join.html", problem=str(error), wait=int(error.wait) + 1 if error.wait else 0)
        except (ClassOverError, ClassFullError) as error:
            self.set_status(410 if isinstance(error, ClassOverError) else 503)
            self.page("join.html", problem=str(error), wait=0)
        else:
            # Seconds, not a date: the clock of a tablet may be wrong by years.
            self.set_own_cookie(SEAT_COOKIE, token, max_age=SEAT_SECONDS)
            self.redirect("/names")


class NamesHandler(ClassHandler):
    """Who are you? A name, or a picture."""

    @allow_unauthenticated
    def get(self) -> None:
        seat = self.seat
        if seat is None:
            self.redirect("/")
            return
        if seat.state is SeatState.SEATED:
            self.redirect("/play")
            return
        self._show(seat)

    @allow_unauthenticated
    def post(self) -> None:
        seat = self.seat
        if seat is None:
            self.redirect("/")
            return
        try:
            self.register.take(seat, self.get_body_argument("student", "")[:80])
        except UnknownPupilError as error:
            self.set_status(404)
            self._show(seat, problem=str(error))
        except ClassOverError as error:
            self.set_status(410)
            self._show(seat, problem=str(error))
        else:
            self.redirect(self.app.next_page(seat))

    def _show(self, seat: Seat, problem: str = "") -> None:
        playing = {other.pupil.student_id for other in self.register.seats if other.pupil and other.pages}
        pupils = [
            {
                "id": pupil.student_id,
                "name": pupil.name,
                "picture": Markup(picture_svg(pupil.picture)),
                "here": pupil.student_id in playing,
            }
            for pupil in sorted(self.register.pupils.values(), key=lambda pupil: pupil.name.casefold())
        ]
        self.page("names.html", pupils=pupils, problem=problem, pictures=self.app.pictures)


class WaitHandler(ClassHandler):
    """Two tablets want one name; the tutor decides."""

    @allow_unauthenticated
    def get(self) -> None:
        seat = self.seat
        page = "/" if seat is None else self.app.next_page(seat)
        if seat is None or page != "/wait":
            self.redirect(page)
            return
        assert seat.pupil is not None
        self.page("wait.html", pupil=seat.pupil.name, moved=seat.state is SeatState.MOVED)


class LeaveHandler(ClassHandler):
    """Done, or 'this is not me'."""

    @allow_unauthenticated
    async def post(self) -> None:
        seat = self.seat
        self.clear_cookie(SEAT_COOKIE, path="/", samesite="Strict", httponly=True)
        if seat is not None:
            self.register.leave(seat)
            await self.app.close_kernel(seat)
        self.redirect("/")


class MeHandler(ClassHandler):
    """The child's own name and picture, for the page's heading: text, never part of an address."""

    def get(self) -> None:
        seat = self.seat
        assert seat is not None and seat.pupil is not None
        self.finish({"name": seat.pupil.name, "picture": picture_name(seat.pupil.picture)})


class LiveHandler(ClassHandler):
    """What the class is doing, as a stream that lasts as long as the page: server-sent events."""

    _closed = False
    _changed: asyncio.Event | None = None

    async def stream(self, listen: Any, message: Any) -> None:
        """Send ``message()`` now, after every change, and after :data:`HEARTBEAT_SECONDS` of quiet."""
        self.set_header("Content-Type", "text/event-stream")
        self.set_header("X-Accel-Buffering", "no")
        changed = self._changed = asyncio.Event()
        unlisten = listen(changed.set)
        try:
            while not self._closed:
                changed.clear()
                text = json.dumps(message(), ensure_ascii=False, separators=(",", ":"))
                self.write(f"data: {text}\n\n")
                await self.flush()
                try:
                    await asyncio.wait_for(changed.wait(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    continue
        except StreamClosedError:
            pass
        finally:
            unlisten()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._closed = True
        if self._changed is not None:
            self._changed.set()


class ChildLiveHandler(LiveHandler):
    """To a child's page: play, pause, next lesson, end; and whether its kernel is still there."""

    @allow_unauthenticated
    async def get(self) -> None:
        seat = self.seat
        if seat is None:
            # Not an error page: the browser would try for ever.
            self.set_header("Content-Type", "text/event-stream")
            self.finish('data: {"page":"/"}\n\n')
            return
        if seat.pages >= MOST_PAGES:
            raise web.HTTPError(429)
        self.register.page_opened(seat)
        try:
            await self.stream(self.register.listen, lambda: self._news(seat))
        finally:
            self.register.page_closed(seat)

    def _news(self, seat: Seat) -> Mapping[str, Any]:
        return {
            "page": self.app.next_page(seat),
            "state": self.register.state.value,
            "lesson": self.register.lesson_number,
            "kernel": seat.kernel_id,
        }


class _KernelsOfSeat:
    """The kernel manager as Voila's page sees it: it starts a kernel for one seat, which then has no other."""

    notebook_data: ClassVar[dict[str, Any]] = {}

    def __init__(self, app: ClassApp, seat: Seat, lesson: ClassLesson) -> None:
        self.app = app
        self.seat = seat
        self.lesson = lesson
        self.kernel_id = ""

    def get_pool_size(self, notebook: str) -> int:
        return 0

    async def start_kernel(self, *, kernel_name: str, path: str, env: Mapping[str, str]) -> str:
        self.kernel_id = await self.app.kernel_for(self.seat, self.lesson, path, env)
        return self.kernel_id

    def get_kernel(self, kernel_id: str) -> Any:
        return self.app.kernel_manager.get_kernel(kernel_id)


class LessonHandler(Guarded, TornadoVoilaHandler):  # type: ignore[misc]  # Voila has no types
    """The lesson, as Voila shows it."""

    policy = LESSON_POLICY
    kernels: _KernelsOfSeat | None = None

    @property
    def content_security_policy(self) -> str:
        return self.policy

    @property
    def kernel_manager(self) -> Any:
        return self.kernels

    async def get(self, path: str | None = None) -> None:
        seat = seat_of(self)
        if seat is None or self.request.arguments:
            # Voila reads a template and a theme from the address; a class has one of each.
            raise web.HTTPError(404)
        if self.app.next_page(seat) != "/play":
            self.redirect(self.app.next_page(seat))
            return
        lesson = self.app.register.lesson  # of this page, also if the class moves on while it loads
        self.kernels = _KernelsOfSeat(self.app, seat, lesson)
        self.notebook_path = self.app.notebook_of(lesson)
        await super().get(path="")  # type: ignore[misc]

    async def get_generator(self, path: str | None = None) -> AsyncIterator[str]:
        """The page in parts. What failed in it is noted for the tutor; a page that never ends is given an end."""
        failed, start = False, time.monotonic()
        async with aclosing(super().get_generator(path=path)) as parts:
            async for part in parts:
                failed = failed or TROUBLE in part
                # Voila goes on for ever when what makes the page was lost or never ends.
                if HEARTBEAT in part and time.monotonic() - start > LONGEST_LOAD_SECONDS:
                    failed = True
                    yield self.app.page("failed.html")
                    await self.app.kernel_manager.shut(self.kernels.kernel_id if self.kernels else None)
                    break
                yield part
        self._came(failed)

    def write_error(self, status_code: int, **more: Any) -> None:
        if status_code >= 500:
            self._came(failed=True)
        super().write_error(status_code, **more)

    def _came(self, failed: bool) -> None:
        # A page that another one took over from fails for want of its kernel.
        if self.kernels and (
            self.kernels.kernel_id == "" or self.kernels.seat.kernel_id in (None, self.kernels.kernel_id)
        ):
            self.app.register.lesson_came(self.kernels.seat, self.kernels.lesson, failed=failed)


class OverHandler(ClassHandler):
    """After the tutor has ended the class."""

    @allow_unauthenticated
    def get(self) -> None:
        self.page("over.html")


class OwnKernelHandler(Guarded, KernelHandler):
    """Whether the child's kernel is there; nothing can be done to it."""

    SUPPORTED_METHODS = ("GET",)


class OwnKernelSocket(Guarded, VoilaKernelWebsocketHandler):  # type: ignore[misc]  # Voila has no types
    """The page's line to its kernel."""

    refused = 0

    async def open(self, kernel_id: str) -> None:
        # Otherwise an answer waits until the tablet has acknowledged the small message before it: 40 ms and more.
        self.set_nodelay(True)
        await super().open(kernel_id)

    def refuse_message(self, reason: str) -> None:
        """Count a message that was not let through; close the line on somebody who goes on trying."""
        self.refused += 1
        self.settings["class_app"].refused_messages += 1
        self.log.warning("A page's message was not let through: %s", reason)
        if self.refused >= REFUSED_BEFORE_CLOSING:
            self.close(1008, "not allowed")


class TutorPage(ClassHandler):
    """Pages behind the tutor's own secret."""

    for_tutor = True

    def get_login_url(self) -> str:
        return "/tutor/door"


class TutorDoorHandler(ClassHandler):
    """The tutor shows the secret that the command line gave."""

    @allow_unauthenticated
    def get(self) -> None:
        if is_tutor(self):
            self.redirect("/tutor")
            return
        self.page("door.html", problem="")

    @allow_unauthenticated
    def post(self) -> None:
        try:
            key = self.app.tutor.enter(self.request.remote_ip or "", self.get_body_argument("secret", "")[:200])
        except (WrongCodeError, TooSoonError) as error:
            self.set_status(429 if isinstance(error, TooSoonError) else 403)
            self.set_header("Retry-After", str(int(error.wait) + 1))
            self.page("door.html", problem="This is not the tutor's secret; the window of the command line shows it.")
        else:
            self.set_own_cookie(TUTOR_COOKIE, key)
            self.redirect("/tutor")


class TutorHandler(TutorPage):
    """Who is playing, who is stuck, what the class needs."""

    def get(self) -> None:
        drawings = {key: Markup(picture_svg(pupil.picture)) for key, pupil in self.register.pupils.items()}
        self.page("tutor.html", lessons=[lesson.title for lesson in self.register.lessons], drawings=drawings)


class ShowHandler(TutorPage):
    """Address, code and QR code, large, for the projector."""

    def get(self) -> None:
        self.page("show.html")


class TutorLiveHandler(LiveHandler, TutorPage):
    """The tutor's page, kept up to date."""

    async def get(self) -> None:
        await self.stream(self.app.listen, self.app.tutor_view)


class TutorDoHandler(TutorPage):
    """What the tutor tells the class to do."""

    async def post(self) -> None:
        order = self.get_body_argument("do")
        about = self.get_body_argument("about", "")
        register = self.register
        if order == "pause":
            register.pause()
        elif order == "resume":
            register.resume()
        elif order == "lesson":
            try:
                register.go_to(int(about))
            except (ValueError, IndexError):
                raise web.HTTPError(400) from None
        elif order == "let-in":
            register.let_in(about)
        elif order == "refuse":
            register.refuse(about)
        elif order == "send-out":
            register.send_out(about)
        elif order == "new-code":
            register.change_code()
        elif order == "end":
            register.end()
        else:
            raise web.HTTPError(400)
        await self.app.tidy()
        self.set_status(204)


class ClassStatic(Guarded, web.StaticFileHandler):
    keep = True


class TemplateFiles(Guarded, TemplateStaticFileHandler):  # type: ignore[misc]  # Voila has no types
    keep = True


class VoilaFiles(Guarded, MultiStaticFileHandler):  # type: ignore[misc]  # Voila has no types
    keep = True


class ThemeFiles(Guarded, ThemesHandler):
    keep = True


class ExtensionFiles(Guarded, FileFindHandler):
    keep = True


class NothingHandler(Guarded):
    """Every other address."""

    def prepare(self) -> None:
        raise web.HTTPError(404)
