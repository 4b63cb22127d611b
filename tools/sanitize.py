"""The examples under sanitizers: `python tools/sanitize.py asan`, or `tsan`.

asan finds bytes read or written that are not the op's own, and arithmetic without a defined result;
tsan finds memory that two threads use at once. In a copy of the book, build/asan or build/tsan, this
builds every example, runs the examples' tests and a fuzz round, and exits with 1 on any finding.
"""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[1]
COPIED = ("cmake", "examples", "tools", "pyproject.toml")
BUILT = shutil.ignore_patterns("*.so", "__pycache__", ".*_cache")


@dataclass(frozen=True)
class Sanitizer:
    """One of the two.

    Attributes:
      name: Of the target of the Makefile.
      checks: What goes behind `-fsanitize=`.
      runtimes: The libraries that a process must load before all others.
      options: Environment variables with the options of the runtimes, but for where they write.
      deliberate: Tests of ops that are wrong on purpose, and the source that must be reported.
    """

    name: str
    checks: str
    runtimes: tuple[str, ...]
    options: dict[str, str]
    deliberate: dict[str, str]

    @property
    def flags(self) -> list[str]:
        """What the compiler and the linker are called with."""
        return [f"-fsanitize={self.checks}", "-g1", "-O1", "-fno-omit-frame-pointer"]

    def fail(self, message: str) -> NoReturn:
        sys.exit(f"make {self.name}: {message}")


SANITIZERS = {
    sanitizer.name: sanitizer
    for sanitizer in (
        Sanitizer(
            "asan",
            # Of -fsanitize=undefined, what is about numbers: with the rest g++ refuses Abseil's headers.
            "address,signed-integer-overflow,shift,integer-divide-by-zero,bounds,float-cast-overflow",
            ("libasan", "libubsan", "libstdc++"),
            # Python frees little of what it allocates before it ends.
            {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"},
            {},
        ),
        Sanitizer(
            "tsan",
            "thread",
            ("libtsan", "libstdc++"),
            # TensorFlow and Python are not instrumented: what they lock is unknown, so only our code counts.
            {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1"},
            {
                "zero_out/zero_out_test.py::test_a_member_written_in_compute_is_a_race": "racy_zero_out.cc",
            },
        ),
    )
}


def runtimes(sanitizer: Sanitizer, folder: Path) -> list[str]:
    """The paths of the libraries to preload; exits where the compiler has none, or they cannot run."""
    source, program = folder / "probe.cc", folder / "probe"
    source.write_text("int main() {}\n")
    command = [*shlex.split(os.environ.get("CXX", "c++")), *sanitizer.flags]
    try:
        build = subprocess.run(
            [*command, source, "-o", program], capture_output=True, text=True
        )
    except OSError:
        sanitizer.fail(f"no C++ compiler ({command[0]}): sudo apt-get install g++")
    if build.returncode:
        sanitizer.fail(
            f"{command[0]} cannot build with {sanitizer.flags[0]}, which takes g++ and {sanitizer.runtimes[0]} "
            f"(dnf install {sanitizer.runtimes[0]}): {build.stderr.strip().splitlines()[-1]}"
        )
    run = subprocess.run([program], capture_output=True, text=True)
    if run.returncode:
        sanitizer.fail(
            f"a program built with {sanitizer.flags[0]} does not run: {(run.stderr.strip() or '?').splitlines()[0]} "
            "(where it is about memory mappings: sudo sysctl vm.mmap_rnd_bits=28)"
        )
    linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    found = []
    for name in sanitizer.runtimes:
        paths = [line.split()[2] for line in linked.splitlines() if f"{name}.so" in line]
        if not paths:
            sanitizer.fail(f"{command[0]} has no shared {name}: choose g++ with CXX=g++")
        found += paths
    return found


def environment(
    sanitizer: Sanitizer, preload: Sequence[str], reports: Path
) -> dict[str, str]:
    """The variables under which a program loads what `sanitizer` has built.

    Args:
      sanitizer: The one.
      preload: What `runtimes` returned.
      reports: An empty folder: each process that has a finding leaves a file there.
    """
    options = {
        name: f"{values}:log_path={reports / name[:4].lower()}"
        for name, values in sanitizer.options.items()
    }
    return {**os.environ, **options, "LD_PRELOAD": " ".join(preload)}


def copy_book(book: Path) -> None:
    """Brings the copy up to date; what was built in it stays, but for the libraries beside the sources."""
    book.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        if (ROOT / name).is_file():
            shutil.copy2(ROOT / name, book)
            continue
        shutil.rmtree(book / name, ignore_errors=True)
        shutil.copytree(ROOT / name, book / name, ignore=BUILT)


def build(sanitizer: Sanitizer, book: Path) -> None:
    """Builds the examples of the copy, for the CPU."""
    flags = shlex.join([*sanitizer.flags, f"-ffile-prefix-map={book}/="])
    options = shlex.join(
        ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS={flags}", "-DCUDA_COMPILER=OFF"]
    )
    stamp = book / "build" / "options"
    if not stamp.exists() or stamp.read_text() != options:
        shutil.rmtree(book / "build", ignore_errors=True)
        stamp.parent.mkdir()
        stamp.write_text(options)
    run = subprocess.run(
        [sys.executable, book / "tools" / "examples.py"],
        env={**os.environ, "CMAKE_OPTIONS": options},
    )
    if run.returncode:
        sys.exit(1)


def main() -> None:
    sanitizer = SANITIZERS[sys.argv[1]]
    book = ROOT / "build" / sanitizer.name
    copy_book(book)
    preload = runtimes(sanitizer, book)
    start = time.monotonic()
    build(sanitizer, book)
    print(f"built in {time.monotonic() - start:.0f} s", preload)


if __name__ == "__main__":
    main()
