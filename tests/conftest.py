"""What the tests of the book share: scratch copies of it, the built site, forks and a browser."""

import gc
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

sys.modules.setdefault("rfc3987_syntax", None)  # see conf.py
gc.disable()  # until all modules of tests are imported, which stay
# See examples/conftest.py.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "build", "*.so", "__pycache__", ".*_cache"
)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NO_CHROMIUM = f"no Chromium ({', '.join(CHROMIUM)}): sudo apt-get install chromium"
# The fixtures that give a test its markers.
MARKERS = {"site": "docs", "browser": "browser", "scratch": "slow", "wheel": "slow"}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> object:
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for fixture in MARKERS.keys() & {*getattr(item, "fixturenames", ())}:
            item.add_marker(MARKERS[fixture])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """With `--dist loadgroup`, one worker runs all cases of a test of ops, and modules come one after the other.

    By itself, xdist would begin with the tests of most cases, and make the fixtures of a module again for each of them.
    """
    from xdist.scheduler import LoadGroupScheduling

    class ByTest(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            scope = super()._split_scope(nodeid)
            if scope != nodeid or nodeid.startswith("tests/"):
                return scope
            return scope.partition("[")[0]

    if config.getvalue("dist") == "loadgroup":
        config.option.loadscopereorder = False
        return ByTest(config, log)


def unavailable(reason: str) -> None:
    """Skips a test; where everything has to be there, it fails."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    folder = ROOT / "build" / "html"
    if not (folder / "index.html").exists():
        unavailable("there is no build/html: run make docs")
    return folder


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a copy of the book with some of its chapters: `scratch("zero_out")`.

    What is not `whole` has no library but the chapter's own, and is built sooner.
    """

    def make(*chapters: str, whole: bool = True) -> Path:
        root = tmp_path_factory.mktemp("scratch") / "book"
        shutil.copytree(ROOT, root, ignore=LEFT_OUT)
        for example in (root / "examples").glob("*/CMakeLists.txt"):
            if example.parent.name not in chapters:
                shutil.rmtree(example.parent)
            elif not whole:
                others = rf"op_by_op_librar(y\((?!{example.parent.name} )|ies\().*\n"
                example.write_text(re.sub(others, "", example.read_text()))
        for page in (root / "docs").glob("*.md"):
            if page.stem not in chapters:
                page.unlink()
        if "errors" not in chapters:  # each copy would provoke them all
            for mistakes in (root / "packages/opcheck/mistakes").glob("*/"):
                shutil.rmtree(mistakes)
        toctree = "\n".join(chapters)
        (root / "docs" / "index.md").write_text(
            f"# A scratch copy\n\n```{{toctree}}\n{toctree}\n```\n"
        )
        return root

    return make


@pytest.fixture
def make() -> Callable[..., subprocess.CompletedProcess]:
    """Runs a target of a scratch copy's Makefile in the environment of the tests."""

    def run(
        root: Path, *targets: str, **environment: str
    ) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["make", "-C", root, f"PYTHON={sys.executable}", *targets],
            capture_output=True,
            text=True,
            env={**os.environ, "MAKEFLAGS": "", **environment},
        )

    return run


@pytest.fixture(scope="session")
def in_fork() -> Callable:
    """Calls a function in a fork of a process that has imported TensorFlow and loaded no library of ops."""
    import forked

    def call(function: Callable, *arguments):
        with ProcessPoolExecutor(1, forked.forks()) as pool:
            return pool.submit(function, *arguments).result()

    return call


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        unavailable(NO_CHROMIUM)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=100_000)  # the machine may have much else to do
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=executable, args=arguments)
