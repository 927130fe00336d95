"""JupyterHub for a school: every student has a server of their own, tutors review their own classes.

    jupyterhub -f jupyterhub_config.py

Beside this file lie `school.json` and `school.secret`, which `pyramid-lab school` wrote, and `lessons`, a folder with
the lessons. Settings of your school go into environment variables (see docs/school.md); nothing here needs a change.
"""

import os
import shutil
import sys
from pathlib import Path

from pyramid_lab.classroom.school import School, read_secret, url_for

HERE = Path(os.environ.get("PYRAMID_LAB_SCHOOL", Path(__file__).parent)).resolve()
SCHOOL = School.load(HERE / "school.json")
SECRET = read_secret(HERE / "school.secret")

c = get_config()  # noqa: F821  # JupyterHub gives it

# Who comes in. 'pam' takes the accounts of this computer, which servers under accounts of their own need anyway;
# 'dummy' lets everybody on the list in with one password: for a trial on one computer, not for a school.
c.JupyterHub.authenticator_class = os.environ.get("PYRAMID_LAB_AUTHENTICATOR", "pam")
c.DummyAuthenticator.password = os.environ.get("PYRAMID_LAB_TRIAL_PASSWORD", "")
c.Authenticator.allowed_users = set(SCHOOL.users)
c.Authenticator.admin_users = set()

# Where servers run. With 'simple' all run under the account of the hub: for a trial on one computer, not for a school.
c.JupyterHub.spawner_class = os.environ.get("PYRAMID_LAB_SPAWNER", "localprocess")
c.Spawner.cmd = [sys.executable, "-m", "pyramid_lab.cli.hub_server"]
c.Spawner.default_url = "/lab"
c.Spawner.mem_limit = "512M"
c.Spawner.start_timeout = 120
c.Spawner.args = [
    "--LabApp.news_url=None",
    "--LabApp.extension_manager=readonly",
    "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
]
if os.environ.get("PYRAMID_LAB_SPAWNER") == "simple":
    c.SimpleLocalProcessSpawner.home_dir_template = str(HERE / "homes" / "{username}")
    if os.geteuid() == 0:
        c.Spawner.args += ["--allow-root"]


def prepare(spawner):
    """Give a user's server the log with that user's own rights, and fresh lessons where there are none yet."""
    user = spawner.user.name
    spawner.environment["PYRAMID_LAB_STORE"] = url_for(SCHOOL, SECRET, user)
    if user in SCHOOL.students:
        spawner.environment["PYRAMID_LAB_STUDENT"] = user
    folder = HERE / "homes" / user
    if not folder.is_dir():
        folder.mkdir(parents=True, mode=0o700)
        if (HERE / "lessons").is_dir():
            shutil.copytree(HERE / "lessons", folder, dirs_exist_ok=True)
        if os.environ.get("PYRAMID_LAB_SPAWNER") != "simple":
            for path in (folder, *folder.rglob("*")):
                shutil.chown(path, user)
    spawner.notebook_dir = str(folder)


c.Spawner.pre_spawn_hook = prepare

# A tutor reads the log of the classes that the database lets them read; nobody opens another user's server.
c.JupyterHub.load_roles = [{"name": "user", "scopes": ["self"]}]

c.JupyterHub.bind_url = os.environ.get("PYRAMID_LAB_HUB_URL", "http://127.0.0.1:8000")
c.JupyterHub.hub_port = int(os.environ.get("PYRAMID_LAB_HUB_PORT", "8081"))
c.JupyterHub.db_url = f"sqlite:///{HERE / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(HERE / "cookie.secret")
c.ConfigurableHTTPProxy.command = [os.environ.get("PYRAMID_LAB_PROXY", "configurable-http-proxy")]
c.ConfigurableHTTPProxy.api_url = os.environ.get("PYRAMID_LAB_PROXY_API", "http://127.0.0.1:8001")
c.ConfigurableHTTPProxy.pid_file = str(HERE / "proxy.pid")
c.JupyterHub.cleanup_servers = True

# An hour without anybody ends a server; its games are in the log. (pip install jupyterhub-idle-culler)
if os.environ.get("PYRAMID_LAB_CULL", "1") == "1" and shutil.which("jupyterhub-idle-culler"):
    c.JupyterHub.services = [{"name": "culler", "command": ["jupyterhub-idle-culler", "--timeout=3600"]}]
    c.JupyterHub.load_roles += [
        {
            "name": "culler",
            "services": ["culler"],
            "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        }
    ]
