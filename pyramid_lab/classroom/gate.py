"""What a child's page may ask of the server: its own kernel, and of that nothing but widget messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from jupyter_server.auth.authorizer import Authorizer
from jupyter_server.auth.identity import IdentityProvider, User
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.services.kernels.connection.base import deserialize_msg_from_ws_v1
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from tornado import web

from pyramid_lab.classroom.register import Register, Seat, SeatState

SEAT_COOKIE: Final = "pyramid-lab-seat"
TUTOR_COOKIE: Final = "pyramid-lab-tutor"
LARGEST_MESSAGE: Final = 256 * 1024
"""Bytes of one message from a page; a board's are under 2 kB."""

_MOST_PARTS: Final = 64
_CONTROL_TARGET: Final = "jupyter.widget.control"
_METHODS: Final = frozenset({"update", "custom", "request_state", "request_states"})


class NotAllowedError(ValueError):
    """A message that a child's page has no business sending."""


def widget_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a page's message that may go on to its kernel.

    A page may ask what kernel and which widgets there are, and talk to widgets that the lesson has made. It may not
    run, complete or inspect code, use the control or stdin channel, or make new Python widgets: the one comm it may
    open is ipywidgets' own, by which a page reads the state of the widgets.

    Args:
        message: of the Jupyter messaging protocol: ``channel``, ``header``, ``parent_header``, ``metadata``,
            ``content`` and perhaps ``buffers``.

    Raises:
        NotAllowedError: the message is something else; the text says what.
    """
    channel = message.get("channel") or "shell"
    header, content = message.get("header"), message.get("content")
    if not isinstance(header, Mapping) or not isinstance(content, Mapping):
        raise NotAllowedError("a message without header or content")
    kind = header.get("msg_type")
    if not isinstance(kind, str):
        raise NotAllowedError("a message without a type")
    if channel != "shell":
        raise NotAllowedError(f"{kind[:40]!r} on the channel {str(channel)[:20]!r}")
    if kind in ("kernel_info_request", "comm_info_request"):
        allowed = True
    elif kind == "comm_open":
        allowed = content.get("target_name") == _CONTROL_TARGET
    elif kind == "comm_msg":
        data = content.get("data")
        allowed = isinstance(data, Mapping) and data.get("method") in _METHODS
    else:
        allowed = kind == "comm_close"
    if not allowed:
        raise NotAllowedError(repr(kind[:40]))
    parts = {name: message.get(name) or {} for name in ("header", "parent_header", "metadata", "content")}
    return {**parts, "buffers": message.get("buffers") or []}


class WidgetConnection(ZMQChannelsWebsocketConnection):
    """Jupyter's connection of a page to its kernel, with :func:`widget_message` in between.

    What passes is written anew from its parsed parts, so that no second reading of the bytes can find another message.
    """

    def handle_incoming_message(self, incoming_msg: Any) -> None:
        if not self.channels:
            return
        try:
            allowed = widget_message(self._parsed(incoming_msg))
        except (NotAllowedError, ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
            reason = str(error) if isinstance(error, NotAllowedError) else "something unreadable"
            self.websocket_handler.refuse_message(reason)  # type: ignore[attr-defined]
            return
        self.session.send(self.channels["shell"], allowed, buffers=allowed["buffers"])

    def _parsed(self, raw: Any) -> dict[str, Any]:
        if self.subprotocol == "v1.kernel.websocket.jupyter.org":
            # The message says how many parts it has; a number made up would keep the server counting for ever.
            if not isinstance(raw, bytes) or int.from_bytes(raw[:8], "little") > _MOST_PARTS:
                raise NotAllowedError("something unreadable")
            channel, parts = deserialize_msg_from_ws_v1(raw)
            names = ("header", "parent_header", "metadata", "content")
            message: dict[str, Any] = {name: json.loads(part) for name, part in zip(names, parts[:4], strict=True)}
            return {**message, "channel": channel, "buffers": list(parts[4:])}
        parsed = json.loads(raw) if isinstance(raw, str) else None
        if not isinstance(parsed, dict):
            raise NotAllowedError("a message that is no object")
        return {**parsed, "buffers": []}


class DoorKeeping(IdentityProvider):
    """Who a request comes from: a child by the cookie of its seat, the tutor by the tutor's."""

    def get_user(self, handler: web.RequestHandler) -> User | None:
        if getattr(handler, "for_tutor", False):
            return User(username="tutor") if is_tutor(handler) else None
        seat = seat_of(handler)
        if seat is None or seat.state is not SeatState.SEATED or seat.pupil is None:
            return None
        return User(username=seat.pupil.student_id)

    @property
    def auth_enabled(self) -> bool:
        return True

    def should_check_origin(self, handler: web.RequestHandler) -> bool:
        return True

    def is_token_authenticated(self, handler: web.RequestHandler) -> bool:
        return False

    def get_handlers(self) -> list[tuple[str, object]]:
        # No login page of Jupyter's own.
        return []


class OwnKernelOnly(Authorizer):
    """A child may read and use its own kernel; nothing else, and never delete."""

    def is_authorized(self, handler: JupyterHandler, user: User, action: str, resource: str) -> bool:
        if resource != "kernels":
            return False
        seat = seat_of(handler)
        asked = handler.path_kwargs.get("kernel_id")
        return seat is not None and asked is not None and seat.kernel_id == asked and handler.request.method == "GET"


def seat_of(handler: web.RequestHandler) -> Seat | None:
    """The seat whose cookie the request carries."""
    register: Register = handler.settings["register"]
    return register.seat_of(handler.get_cookie(SEAT_COOKIE))


def is_tutor(handler: web.RequestHandler) -> bool:
    """Whether the request carries the tutor's cookie."""
    known: bool = handler.settings["tutor"].knows(handler.get_cookie(TUTOR_COOKIE))
    return known
