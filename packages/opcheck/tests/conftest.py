"""What the tests of opcheck share with those of the book."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no Chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=executable, args=arguments)
