"""What the compiler makes of the loops of the exercise on a fast kernel."""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def compiled(source: str, output: str | Path, *flags: str) -> str:
    """Compiles C++ with the optimization of the ops, unless a flag says otherwise, and returns what is printed."""
    command = ["c++", "-std=c++17", "-O3", *flags, "-x", "c++", "-", "-o", output]
    run = subprocess.run(
        command, input=source, stdout=subprocess.PIPE, check=True, text=True
    )
    return run.stdout


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
