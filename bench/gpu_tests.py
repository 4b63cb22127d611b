"""The tests of what runs on a GPU, there, alone and under compute-sanitizer: `make test-gpu`.

Needs a GPU, TensorFlow for it, examples built by `make examples CUDA=on`, and compute-sanitizer, which CUDA has. The
table, bench/gpu_tests.csv, says how many tests passed and how many errors each tool found; the command fails where
there is any.

memcheck looks for reads and writes outside of an allocation or at an address that is not aligned, initcheck for reads
of memory that nobody has written, racecheck for races in the shared memory of a block, and synccheck for threads that
wait for each other wrongly. TensorFlow's allocator puts tensors beside each other into one large allocation, in which
memcheck sees little, so under a tool TensorFlow takes CUDA's own, with an allocation for each tensor. The tools run
beside each other, for a test waits for the processor most of the time.
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

from measure import cores, gpu_and_driver, heading, write

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "bench" / "gpu_tests.csv"
ALONE = [
    "examples/gpu",
    "examples/roi_pool",
    "examples/ps_roi_align",
    "examples/sliding_max/sliding_max_gpu_test.py",
    "examples/stochastic_rounding/stochastic_rounding_test.py::test_gpu_equals_the_cpu",
    "examples/sketch/sketch_test.py::test_a_sketch_goes_to_a_gpu_and_back",
    "examples/prototype/snake_test.py::test_a_composition_and_its_gradients_run_on_the_gpu",
    *("-n", "4", "--dist", "loadgroup"),
]
ON_A_GPU = [
    "examples/gpu/softsign_test.py",
    "examples/gpu/rms_norm_test.py",
    "examples/roi_pool/roi_pool_gpu_test.py",
    "examples/ps_roi_align/ps_roi_align_test.py",
    "examples/sliding_max/sliding_max_gpu_test.py",
]
TOOLS = ["memcheck", "initcheck", "racecheck", "synccheck"]
SUMMARY = re.compile(r"SUMMARY: (\d+) (?:error|hazard)")


def fail(message: str) -> None:
    sys.exit(f"make test-gpu: {message}")


def run_tests(selection: list[str], tool: str = "") -> dict:
    """A row of the table: what became of the selected tests, under a tool of compute-sanitizer or alone."""
    environment = os.environ | {"GPUS_OF_TESTS": "0"}
    with tempfile.TemporaryDirectory() as folder:
        report, log = Path(folder, "report.xml"), Path(folder, "log")
        command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "-q"]
        command.append(f"--junitxml={report}")
        if tool:
            command = ["compute-sanitizer", "--tool", tool, "--log-file", log, *command]
            environment["TF_GPU_ALLOCATOR"] = "cuda_malloc_async"
        subprocess.run([*command, *selection], cwd=ROOT, env=environment)
        if not report.exists():
            fail(f"pytest did not finish{f' under {tool}' if tool else ''}")
        suite = ElementTree.parse(report).getroot().find("testsuite").attrib
        found = SUMMARY.findall(log.read_text()) if tool else []
    if tool and not found:
        fail(f"compute-sanitizer --tool {tool} gave no summary")
    tests, skipped = int(suite["tests"]), int(suite["skipped"])
    failed = int(suite["failures"]) + int(suite["errors"])
    return {
        "tests": " ".join(selection),
        "under": tool or "nothing",
        "passed": tests - skipped - failed,
        "skipped": skipped,
        "failed": failed,
        "errors": sum(map(int, found)) if tool else "",
        "seconds": f"{float(suite['time']):.0f}",
    }


def main() -> None:
    gpu = gpu_and_driver("test-gpu", "compute-sanitizer")
    lines = heading(
        "make test-gpu",
        ["tensorflow"],
        ["errors: found by compute-sanitizer; empty: the tests ran without it"],
        gpu,
    )
    rows = [run_tests(ALONE)]
    selections = [[path, "-k", "real"] for path in ON_A_GPU]
    with ThreadPoolExecutor(max(1, cores() // 2)) as pool:
        for row in pool.map(lambda job: run_tests(*job), product(selections, TOOLS)):
            rows.append(row)
            write(RESULT, lines, rows)  # each, for a run may be stopped
    if bad := [row["under"] for row in rows if row["failed"] or row["errors"]]:
        fail(f"tests failed or errors were found, under: {', '.join(bad)}")


if __name__ == "__main__":
    main()
