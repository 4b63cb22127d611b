"""Times the builds in a copy of the book, against their goals: `make bench BENCH=build`.

Writes bench/build.csv, whose first lines say when, where and with which versions.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measure import heading, write
from page_weight import page_files, page_weight

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "bench" / "build.csv"


def measure(book: Path) -> Iterator[tuple[str, float, float, str]]:
    """Yields what was done, the measured value, its goal and the unit."""

    def seconds(*targets: str, root: Path = book) -> float:
        start = time.perf_counter()
        run = subprocess.run(
            ["make", "-C", root, f"PYTHON={sys.executable}", *targets],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "CCACHE_DISABLE": "1"},
        )
        if run.returncode:
            sys.exit(
                f"make bench BENCH=build: make {' '.join(targets)} failed, see above"
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
    weight = page_weight(page_files(book / "build" / "html" / "zero_out.html")) / 1000
    yield "zero_out.html with all that it loads, gzip", weight, 700, "kB"


def main() -> None:
    left_out = shutil.ignore_patterns(
        ".git", ".venv", "build", "*.so", "__pycache__", ".*_cache"
    )
    first_lines = heading(
        "make bench BENCH=build", ["tensorflow-cpu", "sphinx", "cmake"]
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder) / "book"
        shutil.copytree(ROOT, book, ignore=left_out)
        for what, measured, goal, unit in measure(book):
            row = {"what": what, "measured": f"{measured:.1f}"}
            rows.append({**row, "goal": goal, "unit": unit})
            print(f"{what:46} {measured:7.1f} {unit:2}  goal {goal}", flush=True)
    write(RESULT, first_lines, rows)


if __name__ == "__main__":
    main()
