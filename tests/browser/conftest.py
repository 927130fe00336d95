"""A real browser and real servers. Skips, saying why, where no browser is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

HERE = Path(__file__).parent

# Of two such lists Chromium takes the last, so Playwright's own is here too. The address bar's two hidden pages, loaded
# with every window, cost more than the window.
FEATURES_OFF = (
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup,AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,"
    "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,"
    "AvoidCorsURLLoaderRestartOnRedirect,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch"
)

# What a browser in a container needs, what keeps it off the network, and no throttling of timers.
CHROMIUM_OPTIONS = [
    f"--disable-features={FEATURES_OFF}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
]


# A slow or busy computer takes longer to show a thing than Playwright's 5 s; what never comes still fails.
expect.set_options(timeout=30_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


def _absent(reason: str) -> None:
    if os.environ.get("PYRAMID_LAB_REQUIRE_BROWSER") == "1":
        pytest.fail(f"{reason} (and PYRAMID_LAB_REQUIRE_BROWSER=1 asks for one)", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any], playwright: Any) -> dict[str, Any]:
    named = os.environ.get("PYRAMID_LAB_CHROMIUM")
    own = playwright.chromium.executable_path
    system = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    found = named or system or (own if Path(own).exists() else None)
    if not found:
        _absent("no Chromium here: install Debian's chromium, or name one in PYRAMID_LAB_CHROMIUM")
    elif not Path(found).exists():
        _absent(f"PYRAMID_LAB_CHROMIUM names {found}, which does not exist")
    return {**browser_type_launch_args, "executable_path": found, "args": CHROMIUM_OPTIONS}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_context_args, "viewport": {"width": 1280, "height": 900}, "locale": "en-GB"}


@pytest.fixture(scope="session")
def pictures() -> Path | None:
    """The folder for the pictures of the docs, if the run is asked to make them (PYRAMID_LAB_PICTURES=1)."""
    if os.environ.get("PYRAMID_LAB_PICTURES") != "1":
        return None
    folder = HERE.parents[1] / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Any]:
    """JupyterLab, shared by the whole run: give each notebook and store a name of its own."""
    # `browser` comes first, so that no server starts where no browser is.
    from tests.browser.servers import Server

    server = Server(tmp_path_factory.mktemp("home"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def voila(lab: Any) -> Any:
    """The same server: a notebook opens as a page of Voila."""
    return lab.showing("voila")


@pytest.fixture(scope="session")
def opened(lab: Any, browser: Any, browser_context_args: dict[str, Any]) -> Iterator[Callable[..., Any]]:
    """opened(kind, name, keep_kernel=False): a notebook in JupyterLab ("lab") or as a page of Voila ("voila"), each in
    place of the one before it in one tab, since loading JupyterLab takes longer than most tests; so does a new kernel,
    which not every test needs. Nothing moves on these pages: motion is the subject of the board's own tests."""
    from tests.browser.servers import NotebookPage, no_request_leaves

    pages: dict[str, NotebookPage] = {}
    strangers: list[list[str]] = []
    context = browser.new_context(**browser_context_args, reduced_motion="reduce")

    def open_notebook(kind: Any, name: str, *, keep_kernel: bool = False) -> NotebookPage:
        notebook = pages.get(kind)
        if notebook is None or notebook.page.is_closed():
            page = context.new_page()
            if kind != "voila":  # its own stock template names style sheets elsewhere
                strangers.append(no_request_leaves(page))
            pages[kind] = lab.showing(kind).open(page, name)
        else:
            notebook.page.bring_to_front()  # a tab behind another draws nothing and takes no times
            notebook.switch(name, keep_kernel=keep_kernel)
        return pages[kind]

    yield open_notebook
    context.close()
    assert not any(strangers), strangers
