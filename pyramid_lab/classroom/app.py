"""The server of a class: Voila with a door in front."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
import secrets
import shutil
import ssl
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TextIO
from weakref import WeakKeyDictionary

import jinja2
import segno
import tornado.ioloop
import tornado.web
from markupsafe import Markup
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from traitlets import Instance
from traitlets.config import Config
from voila.app import Voila
from voila.utils import get_voila_labextensions_path

from pyramid_lab.classroom import handlers
from pyramid_lab.classroom.codes import Doorkeeper
from pyramid_lab.classroom.feed import Feed
from pyramid_lab.classroom.gate import LARGEST_MESSAGE, DoorKeeping, OwnKernelOnly, WidgetConnection
from pyramid_lab.classroom.kernels import ClassKernels
from pyramid_lab.classroom.pictures import picture_name
from pyramid_lab.classroom.register import ClassLesson, Pupil, Register, Seat, SeatState, State
from pyramid_lab.classroom.watch import Progress, Watch

HERE: Final = Path(__file__).parent
TIDY_SECONDS: Final = 2
_KERNEL: Final = r"(?P<kernel_id>\w+-\w+-\w+-\w+-\w+)"
# A child's kernel needs these while it waits, so that sitting down costs no import.
_WARM_UP: Final = "import pyramid_lab.lesson, pyramid_lab.log.store as store; store.write_sooner({url!r}); del store"


@dataclass(frozen=True, slots=True)
class ClassSettings:
    """What the tutor chose.

    Attributes:
        host: address to listen on.
        port: 0 for any free one.
        names: host names and addresses under which pages may be asked for; others are refused, so that no page from
            elsewhere can pass itself off as ours.
        address: what children type, such as ``http://192.168.1.5:8900``; without it from ``host`` and the port.
        store_url: of the store that every child's rows go to.
        children: how many may come; so many kernels are started before anybody does.
        kernels: kernels there may be in all.
        away_seconds: how long a kernel outlives its closed page.
        pictures: show pictures first, for children who do not read.
        tls: certificate and key, for HTTPS.
    """

    store_url: str
    host: str = "127.0.0.1"
    port: int = 0
    names: Sequence[str] = ("127.0.0.1", "localhost", "[::1]")
    address: str | None = None
    children: int = 0
    kernels: int = 64
    away_seconds: int = 120
    pictures: bool = False
    tls: ssl.SSLContext | None = None


class TutorKeys:
    """The tutor's secret and the browsers that have shown it."""

    def __init__(self, now: Callable[[], float], secret: str | None = None) -> None:
        self.secret = secret or secrets.token_hex(12)
        self.doorkeeper = Doorkeeper(now)
        self._keys: set[bytes] = set()

    def enter(self, address: str, typed: str) -> str:
        """A key for the cookie of a browser that shows the secret.

        Raises:
            TooSoonError, WrongCodeError: see :class:`~pyramid_lab.classroom.codes.Doorkeeper`.
        """
        self.doorkeeper.check(address, typed, self.secret)
        key = secrets.token_urlsafe(32)
        self._keys.add(_digest(key))
        return key

    def knows(self, key: str | None) -> bool:
        """Whether a cookie holds a key that was given out."""
        return bool(key) and _digest(key or "") in self._keys


class ClassApp(Voila):  # type: ignore[misc]  # Voila has no types
    """Voila for one class. Make it with :func:`class_app`, then :meth:`run`."""

    name = "pyramid-lab-class"
    kernel_manager: ClassKernels

    register = Instance(Register)
    choices = Instance(ClassSettings)
    watch = Instance(Watch)
    feed = Instance(Feed)
    tutor = Instance(TutorKeys)

    _ticking = False
    _mending: asyncio.Future[None] | None = None
    refused_messages = 0
    """Messages from children's pages that were not let through to a kernel."""

    # --- what Voila asks

    def init_settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = super().init_settings()
        self._locks: WeakKeyDictionary[Seat, asyncio.Lock] = WeakKeyDictionary()
        self._listeners: list[Callable[[], None]] = []
        self._pages = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "pages"), autoescape=True, undefined=jinja2.StrictUndefined
        )
        return {
            **settings,
            "class_app": self,
            "register": self.register,
            "tutor": self.tutor,
            "login_url": "/",
            "xsrf_cookies": True,
            # Without a date, since the clock of a tablet may be wrong by years.
            "xsrf_cookie_kwargs": {"samesite": "Strict", "expires_days": None, "secure": self.secure},
            "websocket_max_message_size": LARGEST_MESSAGE,
            "log_function": _log_request,
            "default_handler_class": handlers.NothingHandler,
        }

    def init_handlers(self) -> list[Any]:
        lesson = {
            "template_paths": self.template_paths,
            "config": self.config,
            "voila_configuration": self.voila_configuration,
        }
        themes = {
            "themes_url": "/voila/api/themes",
            "path": self.themes_dir,
            "labextensions_path": get_voila_labextensions_path([]),
            "no_cache_paths": ["/"],
        }
        static = {"paths": self.static_paths, "default_filename": "index.html"}
        return [
            (r"/", handlers.JoinHandler),
            (r"/names", handlers.NamesHandler),
            (r"/wait", handlers.WaitHandler),
            (r"/play", handlers.LessonHandler, lesson),
            (r"/over", handlers.OverHandler),
            (r"/leave", handlers.LeaveHandler),
            (r"/class/me", handlers.MeHandler),
            (r"/class/live", handlers.ChildLiveHandler),
            (r"/class/static/(.*)", handlers.ClassStatic, {"path": str(HERE / "static")}),
            (r"/tutor", handlers.TutorHandler),
            (r"/tutor/door", handlers.TutorDoorHandler),
            (r"/tutor/live", handlers.TutorLiveHandler),
            (r"/tutor/do", handlers.TutorDoHandler),
            (r"/tutor/show", handlers.ShowHandler),
            (rf"/api/kernels/{_KERNEL}", handlers.OwnKernelHandler),
            (rf"/api/kernels/{_KERNEL}/channels", handlers.OwnKernelSocket),
            (r"/voila/templates/([\w-]+/static/(?!.*\.\.)[\w.@/-]+)", handlers.TemplateFiles),
            (r"/voila/static/(.*)", handlers.VoilaFiles, static),
            (r"/voila/api/themes/(.*)", handlers.ThemeFiles, themes),
            (
                r"/voila/labextensions/(.*)",
                handlers.ExtensionFiles,
                {"path": self.labextensions_path, "no_cache_paths": ["/"]},
            ),
        ]

    def _handle_signal_stop(self, sig: int, frame: object) -> None:
        self.ioloop.add_callback_from_signal(self.ioloop.stop)

    # --- running

    def open(self) -> None:
        """Take the port and make everything ready, without serving yet.

        Raises:
            OSError: the port is taken, or the address is not this computer's.
        """
        choices = self.choices
        sockets = bind_sockets(choices.port, choices.host)
        self.port = sockets[0].getsockname()[1]
        self.connection_dir = tempfile.mkdtemp(prefix="pyramid-lab-class-")
        settings = self.init_settings()
        self.app = tornado.web.Application(**settings)
        hosts = "|".join(re.escape(name) for name in choices.names)
        self.app.add_handlers(rf"^({hosts})$", self.init_handlers())
        self.server = HTTPServer(
            self.app, ssl_options=choices.tls, max_body_size=64 * 1024, max_buffer_size=8 * 1024 * 1024
        )
        self.server.add_sockets(sockets)

    @property
    def secure(self) -> bool:
        """Whether the pages come by HTTPS."""
        return self.choices.tls is not None

    @property
    def address(self) -> str:
        """What children type into the browser."""
        if self.choices.address:
            return self.choices.address
        scheme = "https" if self.secure else "http"
        return f"{scheme}://{self.choices.host}:{self.port}"

    @property
    def join_address(self) -> str:
        """The address with the code, for the QR code. The code is behind a #, which no browser sends to a server."""
        return f"{self.address}/#{self.register.code}"

    @property
    def tutor_address(self) -> str:
        """Opens the tutor's page; the secret is behind a #."""
        scheme = "https" if self.secure else "http"
        host = "127.0.0.1" if self.choices.host in ("0.0.0.0", "127.0.0.1") else self.choices.host
        return f"{scheme}://{host}:{self.port}/tutor/door#{self.tutor.secret}"

    def run(self) -> None:
        """Serve until the tutor ends it with Ctrl+C or the process is asked to stop; then end every kernel."""
        self.ioloop = tornado.ioloop.IOLoop.current()
        self.register.listen(self._tell)
        tidying = tornado.ioloop.PeriodicCallback(self._tick, TIDY_SECONDS * 1000)
        self.ioloop.add_callback(self.kernel_manager.fill)
        tidying.start()
        try:
            self.ioloop.start()
        except KeyboardInterrupt:
            pass
        finally:
            tidying.stop()
            self.server.stop()
            self.ioloop.run_sync(self.kernel_manager.close)
            shutil.rmtree(self.connection_dir, ignore_errors=True)

    # --- pages

    @property
    def pictures(self) -> bool:
        """Whether children find themselves by pictures."""
        return self.choices.pictures

    def page(self, template: str, **values: Any) -> str:
        """One of the class's pages as HTML; every value is text unless it is one of our own drawings."""
        return self._pages.get_template(template).render(app=self, register=self.register, **values)

    def next_page(self, seat: Seat) -> str:
        """Where a tablet belongs now."""
        if seat.state is SeatState.OUT:
            return "/"
        if self.register.state is State.ENDED:
            return "/over"
        if seat.state is SeatState.CHOOSING:
            return "/names"
        return "/play" if seat.state is SeatState.SEATED else "/wait"

    def notebook_of(self, lesson: ClassLesson) -> str:
        """A lesson's file as Voila names it: relative to the root, with slashes."""
        return lesson.path.resolve().relative_to(Path(self.root_dir).resolve()).as_posix()

    def qr(self) -> Markup:
        """The QR code of the join address, as a drawing."""
        code = segno.make(self.join_address, error="m")
        return Markup(code.svg_inline(scale=8, border=2, svgclass="qr", lineclass=None, omitsize=True))

    def write_qr(self, out: TextIO) -> None:
        """Draw the QR code of the join address with block letters."""
        segno.make(self.join_address, error="l").terminal(out=out, compact=True)

    # --- kernels

    async def kernel_for(self, seat: Seat, lesson: ClassLesson, folder: str, given: Mapping[str, str]) -> str:
        """The one kernel of a seat. At the next lesson it is the one of the lesson before, emptied. A lesson that is
        loaded again, perhaps since something went wrong, gets a new one, and so does one whose page before still loads:
        its cells would go on in the kernel. The one before a new one ends."""
        assert seat.pupil is not None
        environment = {name: value for name, value in given.items() if os.environ.get(name) != value}
        environment |= {
            "PYRAMID_LAB_STORE": self.choices.store_url,
            "PYRAMID_LAB_STUDENT": seat.pupil.student_id,
            "PYRAMID_LAB_SESSION": self.register.session_of(seat, lesson),
            "JPY_SESSION_NAME": f"{lesson.name}.ipynb",  # as in Jupyter: so the log names the lesson
        }
        async with self._locks.setdefault(seat, asyncio.Lock()):
            # The id changes in one step: a page that sees none has lost its kernel and starts again.
            kept = seat.kernel_id if seat.kernel_lesson not in (None, lesson) else None
            kernel_id = await self.kernel_manager.take(environment, folder, kept)
            before = self.register.give_kernel(seat, kernel_id)
            if before != kernel_id:
                await self.kernel_manager.shut(before)
        if seat.state is not SeatState.SEATED or self.register.state is State.ENDED:
            await self.close_kernel(seat)
            raise tornado.web.HTTPError(403)
        return kernel_id

    async def close_kernel(self, seat: Seat) -> None:
        """End a seat's kernel, if it has one."""
        if seat.kernel_id is not None:
            await self.kernel_manager.shut(self.register.give_kernel(seat, None))

    async def tidy(self) -> None:
        """End kernels that no seat has a right to: of tablets that left, were replaced, or when the class is over."""
        seats = self.register.seats
        for seat in seats:
            entitled = seat.state is SeatState.SEATED and self.register.state is not State.ENDED
            if seat.kernel_id and not (entitled and await self.kernel_manager.lives(seat.kernel_id)):
                await self.close_kernel(seat)
        for kernel_id in self.kernel_manager.in_use():
            if kernel_id not in {seat.kernel_id for seat in self.register.seats}:
                await self.kernel_manager.shut(kernel_id)
        if self.register.state is State.ENDED:
            await self.kernel_manager.close()
        else:
            self.kernel_manager.fill()

    # --- the tutor's view

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` when the tutor's view may have changed; the answer takes it away again."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tutor_view(self) -> Mapping[str, Any]:
        """Everything the tutor's page shows. Children stand in the order of their names; ``twin`` are those who share
        theirs."""
        register, now = self.register, time.monotonic()
        names = Counter(pupil.name.casefold() for pupil in register.pupils.values())

        def who(pupil: Pupil) -> dict[str, Any]:
            twin = names[pupil.name.casefold()] > 1
            return {"id": pupil.student_id, "name": pupil.name, "picture": picture_name(pupil.picture), "twin": twin}

        children = []
        for pupil in sorted(register.pupils.values(), key=lambda pupil: pupil.name.casefold()):
            seat = register.seated(pupil.student_id)
            progress = self.watch.progress_of(pupil.student_id)
            here = seat is not None and bool(seat.pages)
            children.append(
                {
                    **who(pupil),
                    "now": "not here" if seat is None else "here" if here else "page closed or asleep",
                    "hand": self._hand(seat, progress, now),
                    "correct": progress.correct,
                    "wrong": progress.wrong,
                    "games": progress.games,
                }
            )
        asking = [
            who(pupil)
            for pupil in register.pupils.values()
            if register.state is not State.ENDED and register.waiting(pupil.student_id)
        ]
        return {
            "state": register.state.value,
            "code": register.code,
            "lesson": register.lesson_number,
            "children": children,
            "here": sum(child["now"] == "here" for child in children),
            "asking": asking,
            "needs": [asdict(fact) for fact in self.watch.needed()],
            "facts": [asdict(fact) for fact in self.watch.facts()],
            "store": self.feed.message,
            "saved": self.feed.saved,
            "door": self._door(),
        }

    def _hand(self, seat: Seat | None, progress: Progress, now: float) -> str:
        """Why a child may need a hand now; empty when nothing says so."""
        if seat is None or self.register.state is State.ENDED:
            return ""
        if seat.failed:
            return "The lesson failed on this tablet; the window of the command line says why."
        return progress.trouble(now) if seat.pages and self.register.state is State.PLAYING else ""

    def _door(self) -> str:
        wrong, refused = self.register.doorkeeper.wrong_codes, self.refused_messages
        said = [f"Wrong numbers typed: {wrong}."] if wrong else []
        wrong = self.tutor.doorkeeper.wrong_codes
        said += [f"Wrong tries at your secret: {wrong}."] if wrong else []
        said += [f"Messages from children's pages that were not let through: {refused}."] if refused else []
        return " ".join(said)

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    async def _tick(self) -> None:
        if self._ticking:
            return
        self._ticking = True
        try:
            await self.tidy()
            self.watch.hear(await asyncio.to_thread(self.feed.news), time.monotonic())
            if self.feed.waiting and (self._mending is None or self._mending.done()):
                self._mending = asyncio.ensure_future(asyncio.to_thread(self.feed.mend))
            self._tell()
        except Exception:
            self.log.exception("Looking after the class failed; it is tried again in a moment")
        finally:
            self._ticking = False


def class_app(register: Register, choices: ClassSettings, feed: Feed, root: Path) -> ClassApp:
    """A server for a class, ready to :meth:`~ClassApp.open`.

    Args:
        root: folder that all lessons lie in.
    """
    share = str(HERE / "share")
    paths = os.environ.get("JUPYTER_PATH", "").split(os.pathsep)
    if share not in paths:
        # Voila looks for templates where Jupyter keeps what it shares.
        os.environ["JUPYTER_PATH"] = os.pathsep.join([share, *filter(None, paths)])
    config = Config()
    config.VoilaConfiguration.template = "pyramid-class"
    config.VoilaConfiguration.allow_template_override = "NO"
    config.VoilaConfiguration.allow_theme_override = "NO"
    config.VoilaConfiguration.multi_kernel_manager_class = ClassKernels
    config.VoilaConfiguration.file_allowlist = []
    config.VoilaConfiguration.extension_allowlist = [
        "anywidget",
        "@jupyter-widgets/jupyterlab-manager",
        "@voila-dashboards/widgets-manager8",
    ]
    config.ClassKernels.expected = choices.children
    config.ClassKernels.most = choices.kernels
    config.ClassKernels.first_code = _WARM_UP.format(url=choices.store_url)
    config.ClassKernels.transport_encryption = "auto"
    config.ClassKernels.cull_idle_timeout = choices.away_seconds
    config.ClassKernels.cull_interval = max(1, min(30, choices.away_seconds // 2))
    # A kernel that died has forgotten its board; the page starts again instead and takes the game from the store.
    config.KernelManager.autorestart = False
    config.Voila.log_level = logging.ERROR
    app = ClassApp(
        register=register,
        choices=choices,
        watch=Watch(),
        feed=feed,
        tutor=TutorKeys(time.monotonic),
        config=config,
        root_dir=str(root),
        config_file_paths=[],
        identity_provider_class=DoorKeeping,
        authorizer_class=OwnKernelOnly,
        kernel_websocket_connection_class=WidgetConnection,
    )
    app.initialize([])
    logging.getLogger("tornado.general").setLevel(logging.ERROR)
    return app


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()


def _log_request(handler: tornado.web.RequestHandler) -> None:
    """Log only what went wrong on our side, and of the address only the path: no addresses, no names."""
    if handler.get_status() >= 500:
        logging.getLogger("tornado.access").error("%s %s", handler.get_status(), handler.request.path)
