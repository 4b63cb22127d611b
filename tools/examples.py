"""Configures and builds the examples: `python tools/examples.py [NAME ...]`, all of them without a name.

Environment variables: CUDA is auto, on (install a CUDA compiler where there is none) or off; CUDACXX names the
compiler, CUDAARCHS the architectures.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from book import EXAMPLES, ROOT, examples

BUILD = ROOT / "build" / "examples"
CXX = shlex.split(os.environ.get("CXX", "c++"))
HAS_CPP17 = "#include <optional>\nstatic_assert(__cplusplus >= 201703L);"
HAS_GOOGLETEST = "#if !__has_include(<gtest/gtest.h>)\n#error\n#endif"


def fail(message: str) -> None:
    sys.exit(f"make examples: {message}")


def program(name: str) -> str:
    """CMake and Ninja are packages of this Python's environment."""
    import cmake
    import ninja

    return str(
        Path({"cmake": cmake.CMAKE_BIN_DIR, "ninja": ninja.BIN_DIR}[name]) / name
    )


def compiles(source: str) -> bool:
    """Whether the C++ compiler takes a program."""
    command = [*CXX, "-std=c++17", "-fsyntax-only", "-x", "c++", "-"]
    return not subprocess.run(
        command, input=source, capture_output=True, text=True
    ).returncode


def check_compiler() -> None:
    """Exits unless there is a C++17 compiler."""
    try:
        if not compiles(HAS_CPP17):
            fail(
                f"{CXX[0]} cannot compile C++17: g++ 9 or newer can; choose it with CXX=g++"
            )
    except OSError:
        fail(
            f"no C++ compiler ({CXX[0]}): sudo apt-get install g++ (macOS: xcode-select --install)"
        )


def choice() -> str:
    """All that decides what CMake finds, as one line. Exits where CUDA has no meaning."""
    cuda = os.environ.get("CUDA") or "auto"
    if cuda not in ("auto", "on", "off"):
        fail(f"CUDA is auto, on or off, not {cuda}")
    names = [os.environ.get(name, "") for name in ("CUDACXX", "CUDAARCHS")]
    package = Path(sysconfig.get_path("purelib"), "nvidia", "cu13", "bin")
    places = [
        shutil.which("nvcc", path=path)
        for path in (None, "/usr/local/cuda/bin", package)
    ]
    return repr(
        [cuda, *(names + places if cuda != "off" else ()), compiles(HAS_GOOGLETEST)]
    )


def run_cmake(cuda: str) -> subprocess.CompletedProcess:
    """Configures; a fresh look at the compiler for CUDA, since another may have been chosen."""
    (BUILD / "CMakeCache.txt").unlink(missing_ok=True)
    for path in BUILD.glob("CMakeFiles/*/CMakeCUDACompiler.cmake"):
        path.unlink()
    options = [
        f"-DPython3_EXECUTABLE={sys.executable}",
        f"-DCMAKE_MAKE_PROGRAM={program('ninja')}",
        f"-DCUDA={cuda}",
        *shlex.split(os.environ.get("CMAKE_OPTIONS", "")),
    ]
    return subprocess.run(
        [program("cmake"), "-S", EXAMPLES, "-B", BUILD, "-G", "Ninja", *options],
        capture_output=True,
        text=True,
    )


def install_cuda() -> None:
    """The project's extra `cuda`, a whole nvcc, into this Python's environment."""
    print(
        "Installing a CUDA compiler, the package cuda-toolkit: about 100 MB", flush=True
    )
    pyproject = (ROOT / "pyproject.toml").read_text()
    requirement = re.search(r'^cuda = \["(.*)"\]$', pyproject, re.M)[1]
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check", "--constraint", ROOT / "constraints.txt"]
    run = subprocess.run([*pip, requirement], capture_output=True, text=True)
    if run.returncode:
        fail(f"pip cannot install {requirement}: {run.stderr.strip().splitlines()[-1]}")


def configure() -> None:
    """Runs CMake where it never ran to its end, or would find other things; Ninja sees to all other changes."""
    cache = BUILD / "CMakeCache.txt"
    python = f"Python3_EXECUTABLE:UNINITIALIZED={sys.executable}"
    chosen = BUILD / "choice.txt"
    if (
        (BUILD / "build.ninja").exists()
        and python in cache.read_text().splitlines()
        and chosen.exists()
        and chosen.read_text() == choice()
    ):
        return
    choice()
    cuda = os.environ.get("CUDA") or "auto"
    run = run_cmake(cuda)
    if run.returncode and "no CUDA compiler" in cmake_error(run.stdout + run.stderr):
        install_cuda()
        run = run_cmake(cuda)
    if run.returncode:
        (BUILD / "build.ninja").unlink(missing_ok=True)
        fail(cmake_error(run.stdout + run.stderr))
    chosen.write_text(choice())
    print(*re.findall(r"^-- ((?:CUDA|GoogleTest): .*)", run.stdout, re.M), sep="\n")


def cmake_error(output: str) -> str:
    """The text of CMake's first error on one line, or all that it printed where there is none."""
    error = re.search(
        r"CMake Error at [^\n]*:\n\s*(.*?)\n\s*(?:Call Stack|\n)", output, re.S
    )
    text = " ".join(error[1].split()) if error else output
    compiler = re.search(r"^-- CUDA compiler: (.*)", output, re.M)
    if error and compiler and not re.search(r"^-- CUDA: ", output, re.M):
        text = (
            f"{compiler[1]} does not work: {text} Name another CUDA compiler, CUDACXX=/path/to/nvcc, "
            "or build for the CPU alone, CUDA=off"
        )
    return text


def build(names: list[str]) -> None:
    """Builds the examples, a line for each one and each warning; exits with the compiler's output where it fails."""
    ninja = subprocess.Popen(
        [program("ninja"), "-C", BUILD, *(f"{name}/all" for name in names)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "NINJA_STATUS": "[%f/%t] "},
    )
    failure = []
    for line in ninja.stdout:
        if linked := re.search(r"Linking CXX .*?(\S+)$", line):
            print(
                f"  {Path(linked[1]).parent.name}: {Path(linked[1]).name}", flush=True
            )
        elif " warning: " in line:
            print(line, end="", flush=True)
        failure.append(line)
    if ninja.wait():
        output = "".join(failure)
        if "ninja: error: rebuilding 'build.ninja'" in output:
            fail(cmake_error(output))
        sys.stdout.write(output[output.find("FAILED:") :])
        fail("the build failed, see above")


def table(names: list[str]) -> str:
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
    return "\n".join(
        f"{library:{widths[0]}}  {devices:{widths[1]}}  {size:>{widths[2]}}"
        for library, devices, size in rows
    )


def main() -> None:
    known = examples()
    names = sys.argv[1:] or known
    if unknown := set(names) - set(known):
        fail(f"no example {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    check_compiler()
    configure()
    build(names)
    print(table(names))


if __name__ == "__main__":
    main()
