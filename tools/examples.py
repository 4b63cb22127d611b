"""Compiles examples with CMake and Ninja: `python tools/examples.py [NAME ...]`, all of them without a name.

Environment variables: CUDA is auto, on (install a CUDA compiler where there is none) or off; CUDACXX names the
compiler, CUDAARCHS the architectures; CXX names the C++ compiler; CMAKE_OPTIONS holds more options for CMake.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import cmake
import ninja
from book import EXAMPLES, ROOT, examples

BUILD = ROOT / "build" / "examples"
CMAKE = Path(cmake.CMAKE_BIN_DIR, "cmake")
NINJA = Path(ninja.BIN_DIR, "ninja")


def fail(message: str) -> NoReturn:
    sys.exit(f"make examples: {message}")


def configure() -> str:
    """Runs CMake, without its cache where it was asked for something else the last time; returns what it notes."""
    variables = [os.environ.get(name) for name in ("CXX", "CUDACXX", "CUDAARCHS")]
    compiler = shlex.split(variables[0] or "c++")[0]
    if not shutil.which(compiler):
        fail(
            f"no C++ compiler ({compiler}): sudo apt-get install g++ (macOS: xcode-select --install)"
        )
    cuda = os.environ.get("CUDA") or "auto"
    options = [f"-DPython3_EXECUTABLE={sys.executable}", f"-DCUDA={cuda}"]
    options += [f"-DCMAKE_MAKE_PROGRAM={NINJA}", "--log-level=NOTICE"]
    options += shlex.split(os.environ.get("CMAKE_OPTIONS", ""))
    asked, last = repr([options, *variables, shutil.which("nvcc")]), BUILD / "asked.txt"
    cache = BUILD / "CMakeCache.txt"
    if not last.exists() or last.read_text() != asked:
        for path in [last, cache, *BUILD.glob("CMakeFiles/*/CMake*Compiler.cmake")]:
            path.unlink(missing_ok=True)
    command = [CMAKE, "-S", EXAMPLES, "-B", BUILD, "-G", "Ninja", *options]
    run = subprocess.run(command, capture_output=True, text=True)
    lacks = run.returncode and "CUDA_COMPILER-NOTFOUND" in cache.read_text()
    if cuda == "on" and lacks:
        install_cuda()
        run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.stderr.write(run.stderr)
        fail("CMake cannot configure them, see above")
    last.write_text(asked)
    return run.stderr


def install_cuda() -> None:
    """The project's extra `cuda`, a whole nvcc, into this Python's environment."""
    print("Installing a CUDA compiler, the package cuda-toolkit: 100 MB", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check", "--constraint", ROOT / "constraints.txt"]
    if subprocess.run([*pip, "--editable", f"{ROOT}[cuda]"]).returncode:
        fail("pip cannot install a CUDA compiler, see above")


def build(names: Sequence[str]) -> str:
    """Compiles examples and returns what CMake notes; exits with the compiler's output where it fails."""
    notes = configure()
    quiet = [] if sys.stdout.isatty() else ["--", "--quiet"]
    targets = ["--target", *(f"{name}/all" for name in names)]
    if subprocess.run([CMAKE, "--build", BUILD, *targets, *quiet]).returncode:
        fail("the build failed, see above")
    return notes


def table(names: Sequence[str]) -> str:
    """Library, devices and size of each built library."""
    rows = []
    for name in names:
        for library in sorted((EXAMPLES / name).glob("lib*.so")):
            cuda = b"__cudaRegisterFatBinary" in library.read_bytes()
            size = f"{library.stat().st_size / 1024:.0f} KiB"
            rows.append(
                (f"{name}/{library.name}", "CPU, CUDA" if cuda else "CPU", size)
            )
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "".join(
        f"{library:{widths[0]}}  {devices:{widths[1]}}  {size:>{widths[2]}}\n"
        for library, devices, size in rows
    )


if __name__ == "__main__":
    names = sys.argv[1:] or examples()
    if unknown := ", ".join(sorted({*names} - {*examples()})):
        fail(f"no example {unknown}; there are {', '.join(examples())}")
    notes = build(names)
    print(f"{table(names)}{notes}", end="")
