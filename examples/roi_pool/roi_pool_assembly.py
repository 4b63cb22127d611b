"""What the compiler makes of loops: of the kernels on the way to RoiPool's, and of the exercise on a fast kernel."""

import ctypes
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
KERNELS = {"plain": "PoolPlain", "channels": "PoolChannels"}
BEFORE = """
#include <algorithm>
#include <cstdint>
#include <limits>
struct Span { int32_t begin, end; };
"""
AFTER = "(const float*, int64_t, int64_t, Span, Span, float*, int32_t*);\n"


def compiled(source: str, output: str | Path, *flags: str) -> str:
    """Compiles C++ with the optimization of the ops, unless a flag says otherwise, and returns what is printed."""
    command = ["c++", "-std=c++17", "-O3", *flags, "-x", "c++", "-", "-o", output]
    run = subprocess.run(
        command, input=source, stdout=subprocess.PIPE, check=True, text=True
    )
    return run.stdout


def kernel(name: str) -> str:
    """A program with one of the `KERNELS` from `roi_pool_variants.cc`, for `float`."""
    source = (HERE / "roi_pool_variants.cc").read_text()
    section = re.search(rf"^// \[{name}\].*?^}}$", source, re.MULTILINE | re.DOTALL)[0]
    return f"{BEFORE}{section}\ntemplate void {KERNELS[name]}{AFTER}"


def comparisons(source: str, *flags: str) -> list[str]:
    """The instructions of x86-64 that compare floats in what the compiler makes of a program."""
    code = compiled(source, "-", "-S", *flags)
    return sorted(
        set(re.findall(r"^\t(v?u?comiss|v?max[sp]s|v?cmp\w*[sp]s)\t", code, re.M))
    )


def assembly(name: str) -> str:
    """The instructions of a compiled file of the example."""
    return compiled((HERE / f"{name}.cc").read_text(), "-", "-S")


def largest(name: str, numbers: np.ndarray) -> np.ndarray:
    """What `Largest` of a file of the example finds in numbers, `[rows, columns]`: `[columns]`."""
    found = np.empty(numbers.shape[1], np.float32)
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "x.so")
        compiled((HERE / f"{name}.cc").read_text(), library, "-shared", "-fPIC")
        pointer, size = ctypes.c_void_p, ctypes.c_int64
        function = ctypes.CDLL(str(library)).Largest
        function.argtypes = [pointer, size, size, pointer]
        function(numbers.ctypes.data, *numbers.shape, found.ctypes.data)
    return found
