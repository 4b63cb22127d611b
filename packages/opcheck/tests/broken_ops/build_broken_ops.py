"""Builds the broken ops into build/broken_ops: `python packages/opcheck/tests/broken_ops/build_broken_ops.py`.

Two environment variables serve sanitizers: BROKEN_OPS names another folder, CMAKE_OPTIONS holds
options that count when a folder is first configured.
"""

import fcntl
import os
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
# TensorFlow's headers, as `make examples` has compiled them; where other flags hold, the compiler reads them again.
PRECOMPILED = ROOT / "build/examples/CMakeFiles/tensorflow_headers.dir/cmake_pch.hxx"
BUILD = Path(os.environ.get("BROKEN_OPS") or ROOT / "build" / "broken_ops").resolve()


def build(sources: Path = HERE, into: Path = BUILD) -> Path:
    """Builds what has changed, one process at a time.

    Args:
      sources: The folder with CMakeLists.txt.
      into: The folder of the libraries.

    Returns:
      The folder of the libraries.

    Raises:
      RuntimeError: With the output of CMake or of the compiler, which failed or warned.
    """
    import cmake  # not in each worker that loads the ops: it looks for its files
    import ninja

    into.mkdir(parents=True, exist_ok=True)
    with (into / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        program = Path(ninja.BIN_DIR) / "ninja"
        cache = into / "CMakeCache.txt"
        python = f"Python3_EXECUTABLE:UNINITIALIZED={sys.executable}"
        if not (into / "build.ninja").exists() or python not in cache.read_text():
            cache.unlink(missing_ok=True)
            _run(
                *(Path(cmake.CMAKE_BIN_DIR) / "cmake", "-S", sources, "-B", into),
                *("-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={program}"),
                f"-DPython3_EXECUTABLE={sys.executable}",
                f"-DPRECOMPILED={PRECOMPILED if PRECOMPILED.exists() else ''}",
                *shlex.split(os.environ.get("CMAKE_OPTIONS", "")),
            )
        if "warning:" in (output := _run(program, "-C", into)):
            raise RuntimeError(output)
    return into


def functions(*libraries: str) -> dict:
    """From the names of the ops of some libraries to the functions that TensorFlow makes of them."""
    import tensorflow as tf

    from opcheck import function_of, library

    found = {}
    for name in libraries:
        file = str(BUILD / f"lib{name}.so")
        loaded = tf.load_op_library(file)
        found |= {op: getattr(loaded, function_of(op)) for op in library.ops_of(file)}
    return found


def _run(*command) -> str:
    run = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if run.returncode:
        raise RuntimeError(run.stdout)
    return run.stdout


if __name__ == "__main__":
    print(build())
