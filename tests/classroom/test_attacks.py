"""Nobody where they do not belong: a child's tablet in the hands of somebody who tries everything."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import websocket

from pyramid_lab.log.store import Store
from tests.classroom.class_server import ClassServer, wait_until
from tests.classroom.conftest import NAMES
from tests.classroom.tablet import Tablet


@pytest.fixture(scope="module")
def two(school_class: ClassServer) -> Iterator[tuple[Tablet, Tablet]]:
    """Two children at play: the attacker and the one attacked."""
    tablets = school_class.tablet("Émile <b>bold</b>"), school_class.tablet("=1+1", old_protocol=True)
    for tablet in tablets:
        tablet.play()
        tablet.act("draw")
    yield tablets
    for tablet in tablets:
        tablet.leave()


def stranger(server: ClassServer) -> Tablet:
    return Tablet(server.address)


LESSON_PATHS = ["/play", "/class/me", "/tutor", "/tutor/live", "/tutor/show"]


@pytest.mark.parametrize("path", LESSON_PATHS)
def test_without_a_seat_every_page_leads_to_a_door(school_class: ClassServer, path: str) -> None:
    answer = stranger(school_class).get(path, allow_redirects=False)
    assert answer.status_code == 302
    assert re.fullmatch(r"(/|/tutor/door)(\?next=.*)?", answer.headers["Location"])


NOT_THERE = [
    "/api/contents",
    "/api/contents/1/lesson.ipynb",
    "/api/kernels",
    "/api/kernelspecs",
    "/api/sessions",
    "/api/status",
    "/api/terminals",
    "/api/me",
    "/api/shutdown",
    "/api/config/notebook",
    "/terminals/websocket/1",
    "/files/1/lesson.ipynb",
    "/notebooks/1/lesson.ipynb",
    "/lab",
    "/tree",
    "/nbconvert/html/1/lesson.ipynb",
    "/metrics",
    "/login",
    "/view/1/lesson.ipynb",
    "/voila/files/1/lesson.ipynb",
    "/voila/files/log.sqlite3",
    "/voila/render/1/lesson.ipynb",
    "/voila/tree",
    "/voila/api/contents/",
    "/voila/api/shutdown/00000000-0000-0000-0000-000000000000",
    "/voila/execution/00000000-0000-0000-0000-000000000000",
    "/voila/query/00000000-0000-0000-0000-000000000000",
    "/play/../1/lesson.ipynb",
    "/class/static/../app.py",
    "/class/static/%2e%2e/app.py",
    "/class/static/..%2fapp.py",
    "/class/static//etc/passwd",
    "/voila/static/..%2f..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/voila/static//etc/passwd",
    "/voila/templates/pyramid-class/static/..%2f..%2f..%2f..%2fapp.py",
    "/voila/templates/..%2f..%2fstatic/x",
    "/voila/labextensions/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/voila/labextensions//etc/passwd",
    "/voila/api/themes/..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
]


@pytest.mark.parametrize("path", NOT_THERE)
def test_no_files_contents_terminals_or_other_addresses(
    school_class: ClassServer, two: tuple[Tablet, Tablet], path: str
) -> None:
    attacker, _ = two
    # Prepared by hand, because the library would tidy the dots away.
    request = requests.Request("GET", school_class.address, cookies=attacker.session.cookies).prepare()
    request.url = school_class.address + path
    answer = attacker.session.send(request, timeout=30, allow_redirects=False)
    assert answer.status_code in (400, 403, 404, 405)
    assert "root:" not in answer.text and "import" not in answer.text and "nbformat" not in answer.text


def test_another_childs_kernel_is_out_of_reach(two: tuple[Tablet, Tablet]) -> None:
    attacker, other = two
    assert attacker.get(f"/api/kernels/{attacker.kernel_id}").status_code == 200
    assert attacker.get(f"/api/kernels/{other.kernel_id}").status_code == 403
    with pytest.raises(websocket.WebSocketBadStatusException) as caught:
        attacker.connect(other.kernel_id)
    assert caught.value.status_code == 403
    other.act("draw")


@pytest.mark.parametrize("method", ["DELETE", "POST", "PUT", "PATCH"])
def test_not_even_its_own_kernel_can_be_ended_or_restarted(two: tuple[Tablet, Tablet], method: str) -> None:
    attacker, _ = two
    token = {"X-XSRFToken": attacker.session.cookies["_xsrf"]}
    for path in ("", "/restart", "/interrupt", "/channels"):
        where = f"{attacker.address}/api/kernels/{attacker.kernel_id}{path}"
        assert attacker.session.request(method, where, headers=token, timeout=30).status_code in (403, 404, 405)
    attacker.act("draw")


def test_without_a_seat_no_kernel_opens(school_class: ClassServer, two: tuple[Tablet, Tablet]) -> None:
    attacker, _ = two
    nobody = stranger(school_class)
    assert nobody.get(f"/api/kernels/{attacker.kernel_id}", allow_redirects=False).status_code in (302, 403)
    with pytest.raises(websocket.WebSocketBadStatusException) as caught:
        nobody.connect(attacker.kernel_id)
    assert caught.value.status_code == 403


def test_a_page_from_elsewhere_cannot_use_the_childs_cookie(two: tuple[Tablet, Tablet]) -> None:
    attacker, _ = two
    with pytest.raises(websocket.WebSocketBadStatusException) as caught:
        cookies = "; ".join(f"{name}={value}" for name, value in attacker.session.cookies.items())
        websocket.create_connection(
            f"{attacker.address.replace('http', 'ws')}/api/kernels/{attacker.kernel_id}/channels?session_id=x",
            cookie=cookies,
            origin="http://evil.example",
        )
    assert caught.value.status_code == 403
    elsewhere = {"Origin": "http://evil.example"}
    assert attacker.post("/leave", {}, headers=elsewhere).status_code in (403, 404)
    assert attacker.session.post(f"{attacker.address}/leave", {}, timeout=30).status_code == 403  # no token
    assert attacker.get("/play", headers={"Host": "evil.example"}, allow_redirects=False).status_code == 404
    attacker.act("draw")


def code(path: Path) -> dict[str, object]:
    return {"code": f"open({str(path)!r}, 'w')", "silent": False, "store_history": False, "allow_stdin": False}


@pytest.mark.parametrize("place", [0, 1], ids=["protocol of today", "old protocol"])
def test_no_code_runs_in_the_childs_own_kernel(two: tuple[Tablet, Tablet], tmp_path: Path, place: int) -> None:
    attacker = two[place]
    proof = tmp_path / "proof"
    attacker.send("execute_request", code(proof))
    attacker.send("execute_request", code(proof), channel="control")
    attacker.send("execute_request", code(proof), channel="iopub")
    attacker.send("complete_request", {"code": "import os; os.", "cursor_pos": 14})
    attacker.send("inspect_request", {"code": "open", "cursor_pos": 4, "detail_level": 1})
    attacker.send("history_request", {"hist_access_type": "tail", "n": 100, "output": True, "raw": True})
    attacker.send("shutdown_request", {"restart": False})
    attacker.send("shutdown_request", {"restart": False}, channel="control")
    attacker.send("debug_request", {"type": "request", "command": "evaluate", "arguments": {}}, channel="control")
    attacker.send("input_reply", {"value": "x"}, channel="stdin")
    attacker.send(
        "comm_open",
        {
            "comm_id": "made-by-the-page",
            "target_name": "jupyter.widget",
            "data": {"state": {"_model_module": "@jupyter-widgets/output", "_model_name": "OutputModel"}},
        },
    )
    for raw in ("", "{", "[]", "null", '{"header": 1}', '{"header": {"msg_type": {}}, "content": {}}'):
        attacker.send_raw(raw)
    heard, before = set(), attacker.results
    attacker.act("draw", wait=False)
    while attacker.results == before:
        heard.add(attacker.read().get("msg_type"))
    assert attacker.results == (*before, "done")
    assert heard & {"execute_reply", "complete_reply", "inspect_reply", "history_reply", "execute_input"} == set()
    assert not proof.exists()


def test_messages_made_to_choke_the_server_do_not(school_class: ClassServer) -> None:
    attacker = school_class.tablet("Eve")
    attacker.play()
    shown = attacker.view["number"]
    cookies = "; ".join(f"{name}={value}" for name, value in attacker.session.cookies.items())
    address = attacker.address.replace("http", "ws")
    line = websocket.create_connection(
        f"{address}/api/kernels/{attacker.kernel_id}/channels?session_id=choke",
        cookie=cookies,
        subprotocols=["v1.kernel.websocket.jupyter.org"],
    )
    line.send_binary(b"\xff" * 8)  # 2**64 - 1 parts
    line.send_binary(b"\x08" + b"\x00" * 7 + b"\xff" * 64)
    line.send_binary(b"")
    line.send("text where bytes should be")
    with contextlib.suppress(websocket.WebSocketException, OSError):
        line.send("x" * 1_000_000)  # larger than any message of ours
    line.close()
    attacker.act("draw")
    attacker.wait(lambda: attacker.view["number"] > shown)
    assert attacker.view["number"] == shown + 1  # the board plays on
    attacker.leave()


def test_who_goes_on_trying_loses_the_line_and_the_tutor_sees_it(school_class: ClassServer) -> None:
    attacker = school_class.tablet("Eve")
    attacker.play()
    with pytest.raises((websocket.WebSocketException, OSError, ConnectionError)):
        for _ in range(40):
            attacker.send("execute_request", {"code": "1"})
        while True:
            attacker.read()
    tutor = school_class.tutor()
    wait_until(lambda: "not let through" in str(school_class.view(tutor)["door"]))
    attacker.leave()


def test_a_childs_tablet_never_reaches_the_tutors_page(school_class: ClassServer, two: tuple[Tablet, Tablet]) -> None:
    attacker, _ = two
    tutor = school_class.tutor()
    for path in ("/tutor", "/tutor/live", "/tutor/show"):
        assert attacker.get(path, allow_redirects=False).headers["Location"].startswith("/tutor/door")
    for order in ("end", "pause", "new-code"):
        answer = attacker.post("/tutor/do", {"do": order}, allow_redirects=False)
        assert answer.status_code == 403
    for guess in ("", school_class.code):  # a third wrong one would make the next test wait
        answer = attacker.post("/tutor/door", {"secret": guess}, allow_redirects=False)
        assert answer.status_code in (403, 429)
    forged = Tablet(school_class.address)
    forged.session.cookies.set("pyramid-lab-tutor", "x" * 43)
    assert forged.get("/tutor", allow_redirects=False).status_code == 302
    assert school_class.view(tutor)["state"] == "playing"


def test_a_made_up_seat_is_no_seat(school_class: ClassServer) -> None:
    forged = stranger(school_class)
    forged.session.cookies.set("pyramid-lab-seat", "A" * 43)
    assert forged.get("/play", allow_redirects=False).status_code == 302
    assert forged.get("/names", allow_redirects=False).headers["Location"] == "/"


def test_a_seat_cannot_sit_on_a_name_that_is_not_on_the_list(school_class: ClassServer) -> None:
    tablet = stranger(school_class)
    tablet.join(school_class.code)
    for student in ("", "s-nobody", "../log", "guest", "x" * 500):
        assert tablet.take(student).status_code == 404
    assert tablet.get("/play", allow_redirects=False).status_code == 302


@pytest.mark.parametrize("query", ["template=lab", "theme=dark", "voila-template=reveal", "x=1"])
def test_the_address_chooses_no_template(two: tuple[Tablet, Tablet], query: str) -> None:
    attacker, _ = two
    assert attacker.get(f"/play?{query}").status_code == 404


GUARDED = ["/", "/nowhere", "/class/static/class.css", "/voila/static/voila.js", "/tutor/door", "/over", "/api/kernels"]


@pytest.mark.parametrize("path", GUARDED)
def test_every_answer_carries_the_headers_that_guard_it(school_class: ClassServer, path: str) -> None:
    headers = stranger(school_class).get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Server" not in headers


def test_the_lessons_page_may_load_nothing_from_elsewhere(two: tuple[Tablet, Tablet]) -> None:
    attacker, _ = two
    policy = attacker.get("/class/me").headers["Content-Security-Policy"]
    assert "connect-src 'self'" in policy and "http" not in policy


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(school_class: ClassServer) -> None:
    tablet = stranger(school_class)
    tablet.get("/")
    answer = tablet.post("/", {"code": school_class.code}, allow_redirects=False)
    cookie = answer.headers["Set-Cookie"]
    # A tablet whose clock is wrong would throw away a cookie with a date.
    assert "Max-Age=86400" in cookie and "expires" not in cookie.lower()
    assert "expires" not in str(tablet.get("/").headers.get("Set-Cookie", "")).lower()
    assert "pyramid-lab-seat=" in cookie and "HttpOnly" in cookie and "SameSite=Strict" in cookie


def test_names_are_in_no_address_and_no_log_and_html_in_a_name_is_text(
    school_class: ClassServer, two: tuple[Tablet, Tablet]
) -> None:
    tablet, _ = two
    assert "mile" not in tablet.page and "<b>bold" not in tablet.page
    assert tablet.get("/class/me").json()["name"] == "Émile <b>bold</b>"
    other = stranger(school_class)
    other.join(school_class.code)
    names = other.get("/names").text
    assert "<b>bold</b>" not in names and "Émile &lt;b&gt;bold&lt;/b&gt;" in names
    said = school_class.said()
    assert not [name for name in NAMES if name in said]
    with Store(school_class.place, outbox=school_class.outbox) as log:
        rows = [event.to_json() for event in log.events()]
    assert rows and not [row for row in rows for name in NAMES if f'"{name}"' in row]


def test_wrong_codes_are_slowed_and_counted(school_class: ClassServer) -> None:
    # Last in this file: from here on this address has to wait.
    tablet, tutor = stranger(school_class), school_class.tutor()
    wrong = "000000" if school_class.code != "000000" else "111111"

    def counted() -> int:
        found = re.search(r"Wrong numbers typed: (\d+)\.", str(school_class.view(tutor)["door"]))
        return int(found[1]) if found else 0

    before = counted()
    said = [tablet.join(wrong) for _ in range(4)]
    assert [answer.status_code for answer in said] == [403, 403, 403, 429]
    assert int(said[-1].headers["Retry-After"]) >= 1
    assert tablet.join(school_class.code).status_code == 429
    assert counted() == before + 3
    wait_until(lambda: tablet.join(school_class.code).status_code == 200)
