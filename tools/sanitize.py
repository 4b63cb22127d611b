"""The examples under sanitizers: `python tools/sanitize.py asan [NAME ...]`, or `tsan`.

asan finds bytes read or written that are not the op's own, and arithmetic without a defined result;
tsan finds memory that two threads use at once. In a copy of the book, build/asan or build/tsan, this
builds every example, runs the examples' tests and a fuzz round, and exits with 1 on any finding.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from book import copy_parts, examples

TOOLS = Path(__file__).parent
ROOT = TOOLS.parent
COPIED = ("cmake", "examples", "tools", "pyproject.toml")


@dataclass(frozen=True)
class Sanitizer:
    """One of the two.

    Attributes:
      name: Of the target of the Makefile.
      checks: The compiler's options that switch it on.
      runtimes: The libraries that a process must load before all others.
      options: Of the runtime, but for where it writes.
      variables: Environment variables beside them.
      left_out: Tests that are not run, with the reason.
      fuzz: Options of `python -m opcheck fuzz`.
    """

    name: str
    checks: tuple[str, ...]
    runtimes: tuple[str, ...]
    options: str
    variables: dict[str, str]
    left_out: dict[str, str]
    fuzz: tuple[str, ...]

    @property
    def flags(self) -> list[str]:
        """What the compiler and the linker are called with.

        The headers must not learn of it: protocol buffers and Abseil's containers would then have other
        members than in TensorFlow's libraries.
        """
        hidden = ["-U__SANITIZE_ADDRESS__", "-U__SANITIZE_THREAD__"]
        return [*self.checks, *hidden, "-g1", "-O1", "-fno-omit-frame-pointer"]

    def fail(self, message: str) -> NoReturn:
        sys.exit(f"make {self.name}: {message}")


LEFT_OUT = {
    "opcheck/wrong_masked_mean_test.py::TestWrongOnPurpose": "ops that write where they must not",
    "dataset/dataset_test.py::test_memory_of_ten_epochs": "a sanitizer keeps what is freed",
    "dataset/dataset_test.py::test_memory_of_large_rows": "a sanitizer keeps what is freed",
}
REFUSED = "Sanitizer failed to allocate"
TRAP = "AddressSanitizer: ILL"
MEANS = "arithmetic without a defined result in the first line of the stack,"
SANITIZERS = {
    sanitizer.name: sanitizer
    for sanitizer in (
        Sanitizer(
            "asan",
            # Of -fsanitize=undefined, what is about numbers: with the rest g++ refuses Abseil's headers. It traps,
            # which libasan reports: beside libasan, libubsan writes its reports to the standard error only, where
            # a test that captures it hides them.
            (
                "-fsanitize=address,signed-integer-overflow,shift,integer-divide-by-zero,bounds,float-cast-overflow",
                "-fsanitize-undefined-trap-on-error",
            ),
            ("libasan", "libstdc++"),
            # Python frees little of what it allocates before it ends.
            # No allocation may fill the machine: a huge one fails, as it does where memory is short.
            "detect_leaks=0:handle_sigill=1:allocator_may_return_null=1:max_allocation_size_mb=1024",
            {},
            LEFT_OUT,
            ("--shrink=100",),
        ),
        Sanitizer(
            "tsan",
            ("-fsanitize=thread",),
            ("libtsan", "libstdc++"),
            # TensorFlow and Python are not instrumented: only our code counts. Of their locks the sanitizer knows
            # what tools/tsan_handover.cc and the suppressions tell; operations of one graph follow each other.
            "ignore_noninstrumented_modules=1:allocator_may_return_null=1:max_allocation_size_mb=1024",
            {"TF_NUM_INTEROP_THREADS": "1"},
            {
                **LEFT_OUT,
                "count_runs/count_runs_test.py::test_a_member_written_in_compute_is_a_race": "4000 calls that race",
            },
            # opcheck forks, and a fork of a process with threads is beyond this sanitizer.
            ("--shrink=0", "--threads=4"),
        ),
    )
}


def runtimes(sanitizer: Sanitizer, folder: Path) -> list[str]:
    """The paths of the libraries to preload, some built in `folder`; exits where there are none that run."""
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
        paths = re.findall(rf"{re.escape(name)}\.so\S* => (\S+)", linked)
        found += paths or sanitizer.fail(
            f"{command[0]} has no shared {name}: choose g++ with CXX=g++"
        )
    if (source := TOOLS / f"{sanitizer.name}_handover.cc").exists():
        library = folder / f"{source.stem}.so"
        command = [*command[: -len(sanitizer.flags)], "-std=c++17", "-O1", "-fPIC"]
        subprocess.run([*command, "-shared", source, "-o", library], check=True)
        found.append(str(library))
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
    options = f"{sanitizer.options}:log_path={reports / sanitizer.name}"
    if (suppressions := TOOLS / f"{sanitizer.name}_suppressions.txt").exists():
        options += f":suppressions={suppressions}"
    variables = {f"{sanitizer.name.upper()}_OPTIONS": options, **sanitizer.variables}
    return {**os.environ, **variables, "LD_PRELOAD": " ".join(map(str, preload))}


def build(sanitizer: Sanitizer, book: Path, names: Sequence[str]) -> None:
    """Builds examples of the copy, for the CPU."""
    flags = shlex.join([*sanitizer.flags, f"-ffile-prefix-map={book}/="])
    options = shlex.join(
        ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS={flags}", "-DCUDA=off"]
    )
    stamp = book / "build" / "options"
    if not stamp.exists() or stamp.read_text() != options:
        shutil.rmtree(book / "build", ignore_errors=True)
        stamp.parent.mkdir()
        stamp.write_text(options)
    run = subprocess.run(
        [sys.executable, book / "tools" / "examples.py", *names],
        env={**os.environ, "CMAKE_OPTIONS": options},
    )
    if run.returncode:
        sys.exit(1)


def findings(reports: Path) -> list[str]:
    """What the processes have reported, but for the refusals of huge allocations that a test asked for."""
    texts = []
    for file in sorted(reports.iterdir()):
        lines = file.read_text(errors="replace").splitlines(keepends=True)
        text = "".join(line for line in lines if REFUSED not in line)
        if text.strip():
            texts.append(text.replace(TRAP, f"{TRAP}, {MEANS}"))
    return texts


class Round:
    """Runs programs of the copy under a sanitizer, and judges them.

    Attributes:
      failed: Whether there was a finding or a failure.
    """

    def __init__(self, sanitizer: Sanitizer, book: Path, preload: Sequence[str]):
        self.sanitizer = sanitizer
        self.book = book
        self.preload = preload
        self.reports = book / "build" / "reports"
        self.failed = False

    def start(self, *command, output=None) -> subprocess.Popen:
        """Starts Python with the arguments in the copy of the book."""
        folders = "common", "packaging", "sliding_max"
        paths = [self.book / "examples" / name for name in folders]
        path = os.pathsep.join(map(str, [*paths, ROOT / "packages" / "opcheck"]))
        return subprocess.Popen(
            [sys.executable, *map(str, command)],
            cwd=self.book,
            stdout=output,
            stderr=output and subprocess.STDOUT,
            text=True,
            env={
                **environment(self.sanitizer, self.preload, self.reports),
                "PYTHONPATH": path,
                "PYTHONDONTWRITEBYTECODE": "1",
            },
        )

    def step(self, title: str, work: Callable[[], bool]) -> None:
        """Does work, which tells whether all went well, and prints how long it took and what was found."""
        shutil.rmtree(self.reports, ignore_errors=True)
        self.reports.mkdir()
        start = time.monotonic()
        fine = work()
        found = findings(self.reports)
        verdict = f"{len(found)} reports" if found else "nothing reported"
        print(*found, sep="\n", end="")
        fine &= not found
        took = time.monotonic() - start
        print(
            f"{title}: {verdict}, {'' if fine else 'FAILED, '}{took:.0f} s", flush=True
        )
        self.failed |= not fine

    def fuzz(self, files: Sequence[Path], *options: str) -> bool:
        """Fuzzes what each file lists, as many files at a time as there are processors, the largest first."""

        def one(file: Path) -> tuple[str, int, Path]:
            state = self.book / "build" / f"{file.stem}.state"
            program = ("-m", "opcheck", "fuzz", file, "--state", state)
            run = self.start(*program, *options, output=subprocess.PIPE)
            return run.communicate()[0], run.returncode, state

        fine = True
        by_size = sorted(files, key=lambda file: file.stat().st_size, reverse=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for text, status, state in pool.map(one, by_size):
                print(text, end="")
                if status not in (0, 1):
                    from opcheck.rounds import last_call  # and with it TensorFlow

                    print(f"ended with {status} at the call {last_call(state)}")
                fine &= status == 0
        return fine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sanitizer", choices=SANITIZERS)
    parser.add_argument("examples", nargs="*", help="only these")
    options = parser.parse_args()
    sanitizer = SANITIZERS[options.sanitizer]
    if unknown := ", ".join(sorted({*options.examples} - {*examples()})):
        sanitizer.fail(f"no example {unknown}; there are {', '.join(examples())}")
    book = ROOT / "build" / sanitizer.name
    copy_parts(COPIED, book)
    preload = runtimes(sanitizer, book)
    folders = [book / "examples" / name for name in options.examples or examples()]
    fuzz = [file for folder in folders for file in folder.rglob("*_fuzz.py")]
    start = time.monotonic()
    build(sanitizer, book, [folder.name for folder in folders])
    print(f"build: {time.monotonic() - start:.0f} s", flush=True)
    work = Round(sanitizer, book, preload)
    tests = [file for folder in folders for file in folder.rglob("*_test.py")]
    for test, reason in sanitizer.left_out.items():
        print(f"left out: {test}, {reason}")
    deselected = [f"--deselect=examples/{test}" for test in sanitizer.left_out]
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header"]
    pytest += ["-n", os.cpu_count(), *deselected, *tests]
    work.step("tests", lambda: work.start(*pytest).wait() == 0)
    work.step("fuzz round", lambda: work.fuzz(fuzz, "--calls=10000", *sanitizer.fuzz))
    sys.exit(work.failed)


if __name__ == "__main__":
    main()
