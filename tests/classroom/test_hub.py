"""A school: the documented JupyterHub configuration over one PostgreSQL log, run for real."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests
import websocket

from pyramid_lab.classroom.school import School, read_secret, url_for
from pyramid_lab.log.store import Store
from tests.classroom.class_server import free_port, wait_until
from tests.classroom.test_school_rights import CLASSES, event, owned_database
from tests.log.conftest import PostgresServer

pytestmark = [pytest.mark.postgres, pytest.mark.jupyterhub]

ROOT = Path(__file__).parent.parent.parent
CONFIG = ROOT / "docs" / "school" / "jupyterhub_config.py"
START_HUB = "from pyramid_lab.cli.jupyter import start_sooner; start_sooner(); from jupyterhub.app import main; main()"
"""The hub as ``jupyterhub`` starts it, without what only makes its imports long."""
PASSWORD = "for a trial only"
AT_A_SERVER = "s-two0"
"""The student who gets a server here; the others write with the rights that the hub would give them."""


def _proxy() -> str:
    found = os.environ.get("PYRAMID_LAB_PROXY") or shutil.which("configurable-http-proxy")
    missing = "" if find_spec("jupyterhub") else "JupyterHub is not installed (python -m pip install jupyterhub)"
    if not missing and not found:
        missing = "JupyterHub's proxy is not installed (Debian: apt-get install node-configurable-http-proxy)"
    if missing:
        if os.environ.get("PYRAMID_LAB_REQUIRE_JUPYTERHUB") == "1":
            pytest.fail(f"{missing} (and PYRAMID_LAB_REQUIRE_JUPYTERHUB=1 asks for it)")
        pytest.skip(missing)
    assert found
    return found


class Hub:
    """The hub with the documented configuration, in a folder of its own."""

    def __init__(self, folder: Path, owner_url: str, proxy: str) -> None:
        self.folder = folder
        self.owner_url = owner_url
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.log = folder / "hub.log"
        home = folder / "home"
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_STATE_HOME": str(home / "state"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "NODE_PATH": "/usr/share/nodejs",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
            "PYRAMID_LAB_SCHOOL": str(folder),
            "PYRAMID_LAB_AUTHENTICATOR": "dummy",
            "PYRAMID_LAB_TRIAL_PASSWORD": PASSWORD,
            "PYRAMID_LAB_SPAWNER": "simple",
            "PYRAMID_LAB_HUB_URL": self.address,
            "PYRAMID_LAB_HUB_PORT": str(free_port()),
            "PYRAMID_LAB_PROXY": proxy,
            "PYRAMID_LAB_PROXY_API": f"http://127.0.0.1:{free_port()}",
        }
        home.mkdir()
        (folder / "lessons").mkdir()
        (folder / "lessons" / "hello.txt").write_text("a lesson", encoding="utf-8")
        self.command("school", f"--store={owner_url}", "--tutor=t-kim=2b", "--tutor=t-lee=3a")
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-c", START_HUB, "-f", str(CONFIG)],
                cwd=folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until(self._answers)

    def command(self, *words: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "pyramid_lab", *words],
            cwd=self.folder,
            env=self.environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text(encoding="utf-8", errors="replace")[-3000:]
        try:
            return requests.get(f"{self.address}/hub/api", timeout=5).status_code == 200
        except requests.RequestException:
            return False

    def stop(self) -> None:
        """End the hub, its proxy and the servers it started, at once: nothing here is about how it ends by itself."""
        with contextlib.suppress(psutil.NoSuchProcess):
            hub = psutil.Process(self.process.pid)
            for one in [hub, *hub.children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
        self.process.wait()


class HubUser:
    """Somebody in a browser at the hub."""

    def __init__(self, hub: Hub, name: str, password: str = PASSWORD) -> None:
        self.hub, self.name = hub, name
        self.session = requests.Session()
        page = self.session.get(f"{hub.address}/hub/login", timeout=30)
        token = self.session.cookies.get("_xsrf", path="/hub/")
        self.answer = self.session.post(
            f"{hub.address}/hub/login",
            data={"username": name, "password": password, "_xsrf": token},
            timeout=30,
            allow_redirects=False,
        )
        assert page.status_code == 200

    @property
    def inside(self) -> bool:
        return self.answer.status_code == 302

    def start(self) -> None:
        """Start the user's server and wait until it answers."""
        self.session.get(f"{self.hub.address}/hub/spawn/{self.name}", timeout=60)
        # A page first: it goes by the hub, which then vouches for the user.
        wait_until(lambda: f"/user/{self.name}/lab" in self.get("/lab").url)
        assert self.get("/api/status").status_code == 200

    def get(self, path: str, of: str | None = None) -> requests.Response:
        where = f"{self.hub.address}/user/{of or self.name}{path}"
        return self.session.get(where, timeout=30, allow_redirects=True)

    def run(self, code: str) -> str:
        """Run code in a new kernel of the user's server; gives what it printed."""
        token = self.session.cookies.get("_xsrf", path=f"/user/{self.name}/")
        made = self.session.post(
            f"{self.hub.address}/user/{self.name}/api/kernels", headers={"X-XSRFToken": str(token)}, json={}, timeout=60
        )
        assert made.status_code == 201, made.text
        kernel = made.json()["id"]
        cookies = "; ".join(
            f"{cookie.name}={cookie.value}"
            for cookie in self.session.cookies
            if cookie.path in ("/", f"/user/{self.name}/")
        )
        line = websocket.create_connection(
            f"{self.hub.address.replace('http', 'ws')}/user/{self.name}/api/kernels/{kernel}/channels",
            cookie=cookies,
            timeout=60,
        )
        message_id = uuid.uuid4().hex
        header = {"msg_id": message_id, "msg_type": "execute_request", "session": "x", "username": "", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False}
        line.send(
            json.dumps({"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"})
        )
        printed = ""
        while True:
            answer: dict[str, Any] = json.loads(line.recv())
            if answer["parent_header"].get("msg_id") != message_id:
                continue
            if answer["msg_type"] == "stream":
                printed += answer["content"]["text"]
            if answer["msg_type"] == "error":
                raise AssertionError(answer["content"]["evalue"])
            # What was printed comes on another channel than the reply, but before 'idle' on its own.
            if answer["msg_type"] == "status" and answer["content"]["execution_state"] == "idle":
                line.close()
                return printed


@pytest.fixture(scope="module")
def hub(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    proxy = _proxy()
    folder = tmp_path_factory.mktemp("hub")
    owner_url = owned_database(postgres, "school_of_the_hub")
    with Store(owner_url, outbox=folder / "owner-outbox") as store:
        store.put_students({student: name for name, students in CLASSES.items() for student in students})
    running = Hub(folder, owner_url, proxy)
    yield running
    running.stop()


PLAY = """
from pyramid_lab.lesson import play
board = play("classic", 17)
board._handle_custom_msg({"kind": "draw", "page": "p", "n": 1, "number": board.view["number"], "times": {}}, [])
from pyramid_lab.lesson import shared_store
print(sorted({event.student_id for event in shared_store().events()}))
"""


def test_two_classes_and_ten_students_at_one_hub(hub: Hub, tmp_path: Path) -> None:
    students = [student for names in CLASSES.values() for student in names]
    everyone = {name: HubUser(hub, name) for name in (*students, "t-kim", "t-lee")}
    assert all(user.inside for user in everyone.values())
    assert not HubUser(hub, "s-nobody").inside
    assert not HubUser(hub, "s-two0", "wrong").inside

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: everyone[name].start(), (AT_A_SERVER, "t-kim")))
    assert everyone[AT_A_SERVER].run(PLAY) == f"['{AT_A_SERVER}']\n"
    assert "hello.txt" in everyone["s-two0"].get("/api/contents").text

    # The other nine, with what the hub's configuration gives their servers.
    school, secret = School.load(hub.folder / "school.json"), read_secret(hub.folder / "school.secret")
    for name in set(students) - {AT_A_SERVER}:
        with Store(url_for(school, secret, name), outbox=tmp_path / name) as store:
            store.append(event(name))
            assert store.state.saved

    # A tutor reviews their own class, on their own server, and no other.
    seen = everyone["t-kim"].run(
        "from pyramid_lab.lesson import shared_store\n"
        "print(sorted({event.student_id for event in shared_store().events()}))"
    )
    assert seen == f"{sorted(CLASSES['2b'])}\n"

    # Nobody opens another's server.
    assert everyone["s-two1"].get("/api/contents", of="s-two0").status_code in (403, 404)
    assert everyone["t-kim"].get("/api/contents", of="s-two0").status_code in (403, 404)
    assert everyone["s-two1"].get("/api/status", of="t-kim").status_code in (403, 404)
