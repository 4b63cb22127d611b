"""Times opcheck and the generated calls of `make asan`, against their goals: part of `make bench`.

Writes bench/checks.csv, whose first lines say when, where and with which versions.
"""

import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from measure import cores, heading, write

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "bench" / "checks.csv"
ROUNDS = 3
CHECK = """
import sys, time
sys.path[:0] = ["examples/common", "examples/zero_out"]
import numpy as np
import opcheck
from zero_out import zero_out
start = time.perf_counter()
opcheck.check(zero_out, np.float32([3, 4])).assert_ok()
print(time.perf_counter() - start)
"""


def run(*command: str) -> str:
    """What a program of the book prints; ends this one if it fails."""
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        print(done.stdout)
        sys.exit(f"make bench: {' '.join(command)[:60].strip()} failed, see above")
    return done.stdout


def measure() -> Iterator[tuple[str, float, float]]:
    """Yields what was done, the seconds and their goal."""
    seconds = statistics.median(float(run("-c", CHECK)) for _ in range(ROUNDS))
    yield "opcheck.check of zero_out, its processes included", seconds, 15
    start = time.perf_counter()
    options = ["-q", "-n", str(cores()), "--dist", "loadgroup"]
    run("-m", "pytest", *options, "examples", "-k", "keeps_its_promises")
    yield "opcheck of every op of the examples", time.perf_counter() - start, 180
    output = run("tools/sanitize.py", "asan", "--no-tests")
    calls = [int(one) for one in re.findall(r"^\S+: (\d+) calls in ", output, re.M)]
    (took,) = re.findall(r"^fuzz round: nothing reported, (\d+) s$", output, re.M)
    what = f"make asan: {min(calls)} generated calls × {len(calls)} ops"
    yield what, float(took), 300


def main() -> None:
    notes = [f"rounds: {ROUNDS} of opcheck.check, the median; 1 of the others"]
    packages = ["tensorflow-cpu", "numpy", "hypothesis"]
    first_lines = heading("make bench", packages, notes)
    rows = []
    for what, measured, goal in measure():
        row = {"what": what, "measured": f"{measured:.1f}", "goal": goal, "unit": "s"}
        rows.append(row)
        print(f"{what:56} {measured:7.1f} s  goal {goal}", flush=True)
    write(RESULT, first_lines, rows)


if __name__ == "__main__":
    main()
