"""Who is in the class now: seats, names, pauses, the lesson everyone is at. No clock, socket or file of its own."""

from __future__ import annotations

import enum
import hashlib
import secrets
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyramid_lab.classroom.codes import CHANGE_CODE_AFTER, Doorkeeper, WrongCodeError, new_code

AWAY_AFTER = 20.0
"""Seconds without an open page after which another tablet may take the name without asking the tutor."""
MOST_SEATS = 60
"""Tablets that may be in the class at once; more are asked to wait. A laptop cannot carry more kernels."""
UNNAMED_FOR = 900.0
"""Seconds a tablet that typed the code may wait before it picks a name; then it types the code again."""


@dataclass(frozen=True, slots=True)
class Pupil:
    """A name on the class list: the pseudonym that the log knows, and what the child looks for."""

    student_id: str
    name: str
    picture: int


@dataclass(frozen=True, slots=True)
class ClassLesson:
    """A lesson that is shown as a page: its file, the title that children and tutor read, and its name in the log."""

    path: Path
    title: str
    name: str


class State(enum.StrEnum):
    """What the class as a whole is doing."""

    PLAYING = "playing"
    PAUSED = "paused"
    ENDED = "ended"


class SeatState(enum.StrEnum):
    """Where one tablet is on its way into the lesson."""

    CHOOSING = "choosing"
    """The code was right; no name yet."""
    WAITING = "waiting"
    """Picked a name that another tablet is using; the tutor decides."""
    SEATED = "seated"
    MOVED = "moved"
    """Its name went to another tablet."""
    OUT = "out"
    """Left, or was sent out by the tutor."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class Seat:
    """One tablet that typed the right code.

    Attributes:
        session_ids: of this child's sitting at each lesson, for the log; see :meth:`Register.session_of`.
        pages: pages that are open now.
        seen: when a page was last open, on the register's clock.
        kernel_id: of the kernel that plays for this child, if one does.
        kernel_lesson: whose page that kernel has run to its end, nothing having failed.
        failed: whether the newest lesson page came with something that failed, or not at all.
    """

    key: bytes
    seen: float
    state: SeatState = SeatState.CHOOSING
    pupil: Pupil | None = None
    session_ids: dict[ClassLesson, str] = field(default_factory=dict)
    pages: int = 0
    kernel_id: str | None = None
    kernel_lesson: ClassLesson | None = None
    failed: bool = False


class ClassOverError(ValueError):
    """The tutor has ended the class."""

    def __init__(self) -> None:
        super().__init__("The class is over for now. Your games are kept.")


class ClassFullError(ValueError):
    """No seat is free."""

    def __init__(self) -> None:
        super().__init__("All seats are taken. Ask your tutor.")


class UnknownPupilError(ValueError):
    """No such name on the class list."""

    def __init__(self) -> None:
        super().__init__("This name is not on the class list. Pick another.")


class Register:
    """The class list and who has come.

    Args:
        pupils: the class list.
        lessons: at least one, in the order of the class.
        now: a monotonic clock in seconds.
        code: the join code; by default a random one.
    """

    def __init__(
        self,
        pupils: Iterable[Pupil],
        lessons: Sequence[ClassLesson],
        *,
        now: Callable[[], float],
        code: str | None = None,
    ) -> None:
        if not lessons:
            raise ValueError("a class needs at least one lesson")
        self.pupils = {pupil.student_id: pupil for pupil in pupils}
        self.lessons = tuple(lessons)
        self.code = code or new_code()
        self.doorkeeper = Doorkeeper(now)
        self.state = State.PLAYING
        self.lesson_number = 0
        self._next_change_of_code = CHANGE_CODE_AFTER
        self._now = now
        self._seats: dict[bytes, Seat] = {}
        self._listeners: list[Callable[[], None]] = []

    # --- the door

    def join(self, address: str, typed: str) -> str:
        """Give a tablet that types the right code a seat; the answer is the secret for its cookie.

        Raises:
            ClassOverError: the class has ended.
            TooSoonError, WrongCodeError: see :class:`~pyramid_lab.classroom.codes.Doorkeeper`.
            ClassFullError: no seat is left.
        """
        if self.state is State.ENDED:
            raise ClassOverError
        try:
            self.doorkeeper.check(address, typed, self.code)
        except WrongCodeError:
            if self.doorkeeper.wrong_codes >= self._next_change_of_code:
                self._next_change_of_code += CHANGE_CODE_AFTER
                self.change_code()
            self._changed()
            raise
        self._forget_unused()
        if len(self._seats) >= MOST_SEATS:
            raise ClassFullError
        token = secrets.token_urlsafe(32)
        key = _key(token)
        self._seats[key] = Seat(key, self._now())
        self._changed()
        return token

    def seat_of(self, token: str | None) -> Seat | None:
        """The seat of a cookie's secret; ``None`` for a secret that is unknown. Only digests are kept and compared."""
        return self._seats.get(_key(token)) if token else None

    def change_code(self) -> None:
        """Draw a new join code; who is in stays in."""
        self.code = new_code()
        self._changed()

    # --- names

    def take(self, seat: Seat, student_id: str) -> SeatState:
        """Sit down as one of the class list.

        If another tablet is playing under this name, the seat waits for the tutor's word; if that tablet has had no
        page open for :data:`AWAY_AFTER` seconds, the name simply moves here.

        Raises:
            ClassOverError: the class has ended.
            UnknownPupilError: not on the list.
        """
        if self.state is State.ENDED:
            raise ClassOverError
        pupil = self.pupils.get(student_id)
        if pupil is None or seat.state in (SeatState.MOVED, SeatState.OUT):
            raise UnknownPupilError
        if seat.state is SeatState.SEATED and seat.pupil == pupil:
            return seat.state
        self._stand_up(seat)
        seat.pupil = pupil
        other = self.seated(student_id)
        if other is not None and (other.pages or self._now() - other.seen < AWAY_AFTER):
            seat.state = SeatState.WAITING
        else:
            if other is not None:
                self._move(other)
            seat.state = SeatState.SEATED
        self._changed()
        return seat.state

    def let_in(self, student_id: str) -> None:
        """The tutor lets the newest waiting tablet take its name; the one that had it is closed."""
        waiting = self.waiting(student_id)
        if not waiting:
            return
        other = self.seated(student_id)
        if other is not None:
            self._move(other)
        newest = waiting[-1]
        newest.state = SeatState.SEATED
        for seat in waiting[:-1]:
            self._back_to_names(seat)
        self._changed()

    def refuse(self, student_id: str) -> None:
        """The tutor sends the waiting tablets back to the names."""
        for seat in self.waiting(student_id):
            self._back_to_names(seat)
        self._changed()

    def leave(self, seat: Seat) -> None:
        """A tablet is done, or was sent out: its secret is worth nothing any more."""
        self._stand_up(seat)
        seat.state = SeatState.OUT
        self._seats.pop(seat.key, None)
        self._changed()

    def send_out(self, student_id: str) -> None:
        """The tutor frees a name: whoever sits there must join again."""
        for seat in [self.seated(student_id), *self.waiting(student_id)]:
            if seat is not None:
                self.leave(seat)

    def seated(self, student_id: str) -> Seat | None:
        """The seat that plays under a name."""
        for seat in self._seats.values():
            if seat.state is SeatState.SEATED and seat.pupil and seat.pupil.student_id == student_id:
                return seat
        return None

    def waiting(self, student_id: str) -> list[Seat]:
        """The seats that want a name another tablet has, the oldest first."""
        return [
            seat
            for seat in self._seats.values()
            if seat.state is SeatState.WAITING and seat.pupil and seat.pupil.student_id == student_id
        ]

    @property
    def seats(self) -> tuple[Seat, ...]:
        """Every tablet that typed the code and has not left."""
        return tuple(self._seats.values())

    # --- pages

    def page_opened(self, seat: Seat) -> None:
        """A page of this seat is there."""
        seat.pages += 1
        seat.seen = self._now()
        self._changed()

    def page_closed(self, seat: Seat) -> None:
        """A page of this seat has gone: closed, asleep, or out of reach."""
        seat.pages = max(0, seat.pages - 1)
        seat.seen = self._now()
        if seat.state is SeatState.MOVED and not seat.pages:
            self._seats.pop(seat.key, None)
        self._changed()

    def give_kernel(self, seat: Seat, kernel_id: str | None) -> str | None:
        """Note which kernel plays for a seat; the answer is the one before it."""
        before, seat.kernel_id, seat.kernel_lesson = seat.kernel_id, kernel_id, None
        self._changed()
        return before

    def session_of(self, seat: Seat, lesson: ClassLesson) -> str:
        """The id of a child's sitting at a lesson: the same however often the page is loaded, also when the class was
        at another lesson meanwhile."""
        return seat.session_ids.setdefault(lesson, str(uuid.uuid4()))

    def lesson_came(self, seat: Seat, lesson: ClassLesson, *, failed: bool) -> None:
        """Note how the lesson's page came out."""
        seat.failed, seat.kernel_lesson = failed, None if failed else lesson
        self._changed()

    # --- the whole class

    @property
    def lesson(self) -> ClassLesson:
        """The lesson everyone is at."""
        return self.lessons[self.lesson_number]

    def go_to(self, lesson_number: int) -> None:
        """Take everyone to a lesson, counted from 0.

        Raises:
            IndexError: there is no such lesson.
        """
        if not 0 <= lesson_number < len(self.lessons):
            raise IndexError(f"there is no lesson {lesson_number + 1}; this class has {len(self.lessons)}")
        self.lesson_number = lesson_number
        self._changed()

    def pause(self) -> None:
        """Everyone's board rests."""
        self._set(State.PAUSED)

    def resume(self) -> None:
        """Everyone goes on."""
        self._set(State.PLAYING)

    def end(self) -> None:
        """The class is over: nobody joins or plays any more."""
        self._set(State.ENDED)

    def _set(self, state: State) -> None:
        if self.state is not State.ENDED:
            self.state = state
            self._changed()

    # --- listeners

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` after every change; the answer takes it away again."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    # --- inside

    def _stand_up(self, seat: Seat) -> None:
        """Free the seat's name. New sittings begin with the next name, so one child's rows never get another's id."""
        seat.pupil = None
        seat.state = SeatState.CHOOSING
        seat.session_ids = {}
        seat.failed = False

    def _back_to_names(self, seat: Seat) -> None:
        seat.pupil = None
        seat.state = SeatState.CHOOSING

    def _move(self, seat: Seat) -> None:
        seat.state = SeatState.MOVED
        if not seat.pages:
            self._seats.pop(seat.key, None)

    def _forget_unused(self) -> None:
        """Seats that never got a name and have no page open."""
        now = self._now()
        for key, seat in list(self._seats.items()):
            if seat.pupil is None and not seat.pages and now - seat.seen > UNNAMED_FOR:
                del self._seats[key]


def _key(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()
