"""What a page may send to its kernel."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramid_lab.classroom.gate import NotAllowedError, widget_message


def message(kind: str, content: dict[str, Any] | None = None, channel: str | None = "shell") -> dict[str, Any]:
    return {
        "channel": channel,
        "header": {"msg_type": kind, "msg_id": "1"},
        "parent_header": {},
        "metadata": {},
        "content": content or {},
    }


@pytest.mark.parametrize(
    "allowed",
    [
        message("kernel_info_request"),
        message("comm_info_request", {"target_name": "jupyter.widget"}),
        message("comm_open", {"comm_id": "a", "target_name": "jupyter.widget.control", "data": {}}),
        message("comm_msg", {"comm_id": "a", "data": {"method": "custom", "content": {"kind": "draw"}}}),
        message("comm_msg", {"comm_id": "a", "data": {"method": "request_states"}}),
        message("comm_msg", {"comm_id": "a", "data": {"method": "update", "state": {}}}, None),
        message("comm_close", {"comm_id": "a"}),
    ],
    ids=lambda one: one["header"]["msg_type"],
)
def test_widget_messages_pass(allowed: dict[str, Any]) -> None:
    passed = widget_message(allowed)
    assert {name: passed[name] for name in ("header", "content")} == {
        name: allowed[name] for name in ("header", "content")
    }
    assert set(passed) == {"header", "parent_header", "metadata", "content", "buffers"}


CODE = {"code": "open('x', 'w')", "silent": False}


@pytest.mark.parametrize(
    "refused",
    [
        message("execute_request", CODE),
        message("complete_request", {"code": "a", "cursor_pos": 1}),
        message("inspect_request", {"code": "a", "cursor_pos": 1}),
        message("history_request"),
        message("is_complete_request", CODE),
        message("shutdown_request", {"restart": False}),
        message("interrupt_request", channel="control"),
        message("debug_request", channel="control"),
        message("create_subshell_request", channel="control"),
        message("kernel_info_request", channel="control"),
        message("input_reply", {"value": "x"}, "stdin"),
        message("usage_request", channel="control"),
        message("comm_open", {"comm_id": "a", "target_name": "jupyter.widget", "data": {"state": {}}}),
        message("comm_open", {"comm_id": "a", "target_name": "anything"}),
        message("comm_msg", {"comm_id": "a", "data": {"method": "run"}}),
        message("comm_msg", {"comm_id": "a", "data": []}),
        message("execute_reply"),
        message("apply_request"),
        {**message("comm_close"), "content": "text"},
        {**message("comm_close"), "header": None},
        {**message("comm_close"), "header": {"msg_type": ["comm_close"]}},
        {},
    ],
    ids=str,
)
def test_everything_else_is_refused(refused: dict[str, Any]) -> None:
    with pytest.raises(NotAllowedError):
        widget_message(refused)


@given(st.text(max_size=30), st.sampled_from(["shell", "control", "stdin", "iopub", "", "SHELL"]))
def test_no_type_of_message_gets_through_that_is_not_on_the_list(kind: str, channel: str) -> None:
    known = {"kernel_info_request", "comm_info_request", "comm_open", "comm_msg", "comm_close"}
    try:
        widget_message(message(kind, {"target_name": "jupyter.widget.control", "data": {"method": "custom"}}, channel))
    except NotAllowedError:
        return
    assert kind in known and channel in ("shell", "")
