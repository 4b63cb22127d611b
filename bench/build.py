"""Times the builds in a copy of the book, against their goals: `make bench-build`.

Writes bench/build.csv, whose first lines say when, where and with which versions.
"""

import datetime
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from page_weight import page_weight

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "bench" / "build.csv"


def processor() -> str:
    """The name of the processor, where Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.split(": ")[1] for line in lines if line.startswith("model name")),
        platform.machine(),
    )


def measure(book: Path) -> Iterator[tuple[str, float, float, str]]:
    """Yields what was done, the measured value, its goal and the unit."""

    def seconds(*targets: str, root: Path = book) -> float:
        start = time.perf_counter()
        subprocess.run(
            ["make", "-C", root, f"PYTHON={sys.executable}", *targets],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "CCACHE_DISABLE": "1"},
        )
        return time.perf_counter() - start

    def after(touched: str, *targets: str) -> float:
        (book / touched).touch()
        return seconds(*targets)

    alone = book.with_name("alone")
    shutil.copytree(book, alone)
    for example in (alone / "examples").glob("*/CMakeLists.txt"):
        if example.parent.name != "zero_out":
            shutil.rmtree(example.parent)
    source = "examples/zero_out/zero_out.cc"
    yield (
        "make examples, only zero_out, from clean",
        seconds("examples", root=alone),
        20,
        "s",
    )
    yield "make examples, from clean", seconds("examples"), 60, "s"
    yield "make examples, nothing to do", seconds("examples"), 1.5, "s"
    yield "make examples, one .cc touched", after(source, "examples"), 6, "s"
    yield "make docs, examples built", seconds("docs"), 240, "s"
    yield "make docs, nothing changed", seconds("docs"), 8, "s"
    yield "make docs, zero_out.md edited", after("docs/zero_out.md", "docs"), 30, "s"
    yield "make docs, attrs.md edited", after("docs/attrs.md", "docs"), 30, "s"
    weight = page_weight(book / "build" / "html" / "zero_out.html") / 1000
    yield "zero_out.html with all that it loads, gzip", weight, 700, "kB"


def main() -> None:
    left_out = shutil.ignore_patterns(
        ".git", ".venv", "build", "*.so", "__pycache__", ".*_cache"
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        RESULT.with_suffix(".new").open("w") as file,
    ):
        book = Path(folder) / "book"
        shutil.copytree(ROOT, book, ignore=left_out)
        versions = ", ".join(
            f"{name} {version(name)}" for name in ("tensorflow-cpu", "sphinx", "cmake")
        )
        print("# make bench-build", file=file)
        print(
            f"# {datetime.date.today()}, {processor()}, {os.cpu_count()} cores",
            file=file,
        )
        print(f"# Python {platform.python_version()}, {versions}", file=file)
        print("what,measured,goal,unit", file=file)
        for what, measured, goal, unit in measure(book):
            print(f'"{what}",{measured:.1f},{goal},{unit}', file=file)
            print(f"{what:46} {measured:7.1f} {unit:2}  goal {goal}", flush=True)
    RESULT.with_suffix(".new").replace(RESULT)


if __name__ == "__main__":
    main()
