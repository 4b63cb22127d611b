"""The pictures that a graph writes, as TensorBoard shows them, and the screenshot of the page.

`python tests/site/tensorboard_test.py` makes the screenshot again: it needs the extra `tensorboard` and a Chromium.
"""

import base64
import importlib.util
import io
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image, PngImagePlugin
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
SCREENSHOT = ROOT / "docs" / "_static" / "tensorboard.png"


def pictures() -> ModuleType:
    """docs/pictures/summary_images.py, which imports TensorFlow."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    folders = ("docs", "docs/support", "examples/prototype")
    sys.path[:0] = [str(ROOT / folder) for folder in folders]
    from pictures import summary_images

    return summary_images


def logged(folder: Path) -> list[bytes]:
    """The pictures of the page, from a log that this writes."""
    import tensorflow as tf

    pictures().written(folder)
    found = []
    for path in Path(folder).glob("events*"):
        for record in tf.data.TFRecordDataset(str(path)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                assert value.tag == "digits" and event.step == 0
                found += value.tensor.string_val[2:]
    return found


@contextmanager
def tensorboard(folder: Path) -> Iterator[str]:
    """TensorBoard on a free port of its own choice: its address. The process ends whatever happens."""
    options = [f"--logdir={folder.name}", "--port=0", "--load_fast=false"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", *options],
        cwd=folder.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            if address := re.search(r"http://\S+:\d+/", line):
                yield address[0]
                return
        raise RuntimeError(f"TensorBoard ends: {''.join(said[-3:])}")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def shown(browser: Browser, address: str) -> Page:
    """The images of TensorBoard."""
    page = browser.new_page(viewport={"width": 900, "height": 420})
    page.set_default_timeout(300_000)
    page.goto(f"{address}#images", wait_until="domcontentloaded")
    page.locator("img[src*=individualImage]").first.wait_for()
    return page


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), np.float32)


def test_the_log_has_what_matplotlib_drew(tmp_path):
    pngs = logged(tmp_path)
    from labeled_images import drawn

    labels = [label.encode() for label in pictures().LABELS]
    expected = drawn(pictures().digits(), np.array(labels))
    np.testing.assert_array_equal([pixels(png) for png in pngs], expected)


def test_the_screenshot_is_of_the_data_that_the_page_writes(tmp_path):
    """The file has in it what it was made of. Another matplotlib may set the letters a little differently."""
    png = logged(tmp_path)[0]
    kept = base64.b64decode(Image.open(SCREENSHOT).text["picture"])
    difference = np.abs(pixels(png) - pixels(kept))
    assert difference.mean() < 3, f"make it again: {__doc__}"


@pytest.mark.skipif(
    importlib.util.find_spec("tensorboard") is None, reason="the extra tensorboard"
)
def test_tensorboard_shows_the_picture(tmp_path, browser):
    png = logged(tmp_path)[0]
    with tensorboard(tmp_path) as address, shown(browser, address) as page:
        source = page.locator("img[src*=individualImage]").first.get_attribute("src")
        assert page.request.get(f"{address}{source}").body() == png


def main(folder: Path) -> None:
    png = logged(folder)[0]
    about = PngImagePlugin.PngInfo()
    about.add_text("picture", base64.b64encode(png).decode())
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright, tensorboard(folder) as address:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=arguments
        )
        page = shown(browser, address)
        page.set_viewport_size({"width": 1550, "height": 720})
        page.wait_for_timeout(1000)
        taken = Image.open(io.BytesIO(page.screenshot()))
    taken.convert("P", palette=Image.Palette.ADAPTIVE).save(
        SCREENSHOT, pnginfo=about, optimize=True
    )


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder) / "logs")
