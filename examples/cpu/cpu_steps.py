"""The steps on the way to ManhattanDistances' kernel, compiled with any options, and what the compiler says of them."""

import ctypes
import platform
import re
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_suffix(".cc")
POINTER, SIZE = ctypes.c_void_p, ctypes.c_int64
# From a step to the function that lays out its centers.
STEPS = {
    "Plain": None,
    "FourSums": None,
    "SideBySide": "Transpose",
    "SideBySideClones": "Transpose",
    "NotPacked": "Transpose",
    "Panels": "Pack",
    "PanelsClones": "Pack",
}
if platform.machine() == "x86_64":
    STEPS["PanelsAvx2"] = "Pack"


def compiler(*arguments: str) -> str:
    """Runs the compiler with the options of the ops, unless an argument says otherwise, and returns what it prints."""
    command = ["c++", "-std=c++17", "-O3", *arguments]
    run = subprocess.run(command, capture_output=True, check=True, text=True)
    return run.stdout + run.stderr


@cache
def library(options: str = "") -> ctypes.CDLL:
    """The steps, compiled with more options."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "steps.so")
        compiler(*options.split(), "-shared", "-fPIC", str(SOURCE), "-o", str(made))
        loaded = ctypes.CDLL(str(made))
    loaded.PackedSize.restype = SIZE
    loaded.PackedSize.argtypes = [SIZE, SIZE]
    return loaded


def aligned(size: int, offset: int = 0) -> np.ndarray:
    """Floats of which the first is so many bytes after the begin of a cache line."""
    memory = np.zeros(size + 64, np.float32)
    begin = (offset - memory.ctypes.data) % 64 // 4
    return memory[begin : begin + size]


def step(name: str, options: str = "", offset: int = 0) -> Callable:
    """A step as a function of points, centers and, optionally, memory for the distances.

    Args:
      name: One of `STEPS`.
      options: Of the compiler, beside those of the ops.
      offset: Of the centers' copy from the begin of a cache line, in bytes.
    """
    steps = library(options)
    kernel = getattr(steps, name)
    kernel.argtypes = [POINTER, POINTER, SIZE, SIZE, SIZE, POINTER]
    kernel.restype = None
    laid_out, scratch = STEPS[name], {}

    def run(points, centers, distances=None):
        n, (count, size) = len(points), centers.shape
        if distances is None:
            distances = np.empty((n, count), np.float32)
        if laid_out:
            if centers.shape not in scratch:
                scratch[centers.shape] = aligned(steps.PackedSize(count, size), offset)
            layout = getattr(steps, laid_out)
            layout.argtypes = [POINTER, SIZE, SIZE, POINTER]
            used = scratch[centers.shape]
            layout(centers.ctypes.data, count, size, used.ctypes.data)
        else:
            used = centers
        kernel(
            points.ctypes.data, used.ctypes.data, n, count, size, distances.ctypes.data
        )
        return distances

    return run


def vectorized(*options: str) -> dict[str, list[str]]:
    """Of each step, what `-fopt-info-vec` says of its loops."""
    said = compiler(*options, "-fopt-info-vec", "-c", str(SOURCE), "-o", "/dev/null")
    starts = {
        m[1]: SOURCE.read_text()[: m.start()].count("\n") + 1
        for m in re.finditer(
            r"^(?:OP_BY_OP_CLONES )?void (\w+)\(", SOURCE.read_text(), re.M
        )
    }
    found = {name: [] for name in starts}
    for number, message in re.findall(r"cpu_steps\.cc:(\d+):\d+: \w+: (.*)", said):
        name = max((at, name) for name, at in starts.items() if at <= int(number))[1]
        found[name].append(message)
    return found
