"""The built site as files, over HTTP and in a browser."""

import contextlib
import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bs4 import BeautifulSoup

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@functools.cache
def parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(), "html.parser")


@pytest.fixture(scope="session")
def document(site: Path) -> Callable[[str], BeautifulSoup]:
    """Reads a page of the site by its name."""
    return lambda name: parsed(site / f"{name}.html")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    """The site over HTTP: its address."""
    handler = functools.partial(QuietHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(params=["http", "file"])
def address(request: pytest.FixtureRequest, site: Path) -> str:
    """The site over HTTP and as files on the disk: a test that takes it runs twice."""
    if request.param == "file":
        return site.as_uri() + "/"
    return request.getfixturevalue("server")


@pytest.fixture(scope="module")
def window(browser: "Browser") -> Iterator["Page"]:
    """One that stays open: of the next page in it, a browser knows the scripts, styles and fonts."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def visit(browser: "Browser") -> Iterator[Callable[..., "Page"]]:
    """Opens a page, in a window of its own unless it gets one.

    The test fails for whatever goes wrong in there until its end: an error or a warning on the
    console, a failed request, or one that leaves the site.
    """
    problems = []

    def open_page(
        address: str,
        page: str,
        mode: str = "light",
        width: int = 1280,
        wait_until: str = "load",
        window: "Page | None" = None,
    ) -> "Page":
        if window is None:
            context = browser.new_context()
            ending.callback(context.close)
            window = context.new_page()
        context = window.context
        context.set_default_timeout(100_000)

        def on_console(message) -> None:
            if message.type in ("error", "warning"):
                problems.append(f"console: {message.text}")

        def on_request(request) -> None:
            if not request.url.startswith((address, "data:")):
                problems.append(f"request to elsewhere: {request.url}")

        def on_response(response) -> None:
            if response.status >= 400:
                problems.append(f"{response.status}: {response.url}")

        def on_failure(request) -> None:
            if request.failure != "net::ERR_ABORTED":  # the page was left before
                problems.append(f"failed, {request.failure}: {request.url}")

        def on_error(error) -> None:
            problems.append(f"error: {error.error}")

        for event, listener in {
            "console": on_console,
            "request": on_request,
            "response": on_response,
            "requestfailed": on_failure,
            "weberror": on_error,
        }.items():
            context.on(event, listener)
            ending.callback(context.remove_listener, event, listener)
        window.set_viewport_size({"width": width, "height": 900})
        window.emulate_media(color_scheme=mode)
        window.goto(address + page, wait_until=wait_until)
        if wait_until == "networkidle":  # a busy machine may read the page yet
            window.wait_for_load_state("load")
        return window

    with contextlib.ExitStack() as ending:
        yield open_page
    assert not problems
