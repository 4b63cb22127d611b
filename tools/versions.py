"""Every example on every TensorFlow from 2.16 on: `python tools/versions.py [--versions 2.18,2.20] [--examples attrs]`.

For each minor version this makes an environment, compiles a copy of the examples for it, and runs their tests. Then
it loads there what was compiled for the newest version, and where that works runs the tests again. What comes out of a
version goes into bench/versions.csv, where it takes the place of older rows of the same version and examples.
Environment variables: BASE_PYTHON is the Python to make environments from. Exits with 1 where an example has become
worse than the table says.
"""

import argparse
import datetime
import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import NamedTuple, NoReturn
from xml.etree import ElementTree

import ninja
from book import ROOT, copy_parts, examples, tensorflow

from examples import CMAKE

sys.path.append(str(ROOT))
from bench import measure  # noqa: E402

TABLE = ROOT / "bench" / "versions.csv"
PLACE = ROOT / "build" / "versions"
COPIED = ("cmake", "examples", "packages/opcheck", "pyproject.toml", "LICENSE")
OLDEST = 16
SINCE = {"old_names": 21}  # the minor version whose names an example uses
ALWAYS = ("cc_gradients",)  # by which the tests of others look at gradients
PACKAGES = ("setuptools<81", "protobuf<7")  # see tools/env.sh
TOOLS = (
    "pytest",
    "pytest-timeout",
    "pytest-xdist",
    "hypothesis",
    "matplotlib",
    "cmake",
    "ninja",
)
CMAKE_OPTIONS = ("-DCUDA=off", "-DTensorFlow_ANY_VERSION=ON", "--log-level=ERROR")
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "2", "TF_ENABLE_ONEDNN_OPTS": "0"}


class Row(NamedTuple):
    """What became of an example under a TensorFlow: errors count as failed, `says` has the first of them."""

    tensorflow: str
    python: str
    numpy: str
    example: str
    compiled_for: str
    passed: int
    failed: int
    skipped: int
    says: str
    date: str

    @property
    def key(self) -> tuple[str, str, bool]:
        """Which row of the table it is: version, example, and whether it was compiled for this version."""
        here = minor(self.tensorflow) == minor(self.compiled_for)
        return minor(self.tensorflow), self.example, here

    @property
    def fine(self) -> bool:
        return int(self.passed) > 0 and int(self.failed) == 0 and not self.says


def fail(message: str) -> NoReturn:
    sys.exit(f"make versions: {message}")


def minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def versions() -> list[str]:
    """All minor versions, the oldest first: up to the newest that pyproject.toml allows, and the one after it.

    Of the last there may be a release candidate; it is tried where it is named.
    """
    text = (ROOT / "pyproject.toml").read_text()
    below = int(re.search(r'"tensorflow-cpu>=2\.\d+,<2\.(\d+);', text)[1])
    return [f"2.{number}" for number in range(OLDEST, below + 1)]


def first_error(text: str) -> str:
    """The line of an output that says what is wrong, without this machine's folders."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = r"(?i)error|undefined symbol|fatal"
    chosen = next((line for line in lines if re.search(wrong, line)), *lines[-1:])
    return re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+", "", chosen)[:300]


def first_failure(suite: ElementTree.Element) -> str:
    """The first test of a JUnit report that failed, with the first line of what it says."""
    for case in suite:
        for each in case:
            if each.tag in ("failure", "error"):
                return first_error(
                    f"{case.get('name')}: {each.get('message')}".splitlines()[0]
                )
    return ""


class Version:
    """A TensorFlow: its environment, and a copy of the book that is built for it."""

    def __init__(self, name: str) -> None:
        self.name, self.copy = name, PLACE / name / "book"
        self.environment = PLACE / name / "environment"
        self.python = self.environment / "bin" / "python"
        if tensorflow().startswith(f"{name}."):
            self.python = Path(sys.executable)

    def prepare(self) -> None:
        """Makes the environment, if there is none, and the copy."""
        if self.python != Path(sys.executable):
            self._make_environment()
        copy_parts(COPIED, self.copy)
        code = "import numpy as n, platform as p, tensorflow as t\n"
        code += "print(t.__version__, n.__version__, p.python_version())"
        self.tensorflow, self.numpy, self.python_version = self._run(
            self.python, "-c", code
        ).stdout.split()[-3:]

    def _make_environment(self) -> None:
        if (self.environment / "complete").exists():
            return
        base = os.environ.get("BASE_PYTHON") or sys._base_executable
        asked = "import sys; print(sys.version_info[1])"
        found = int(self._run(base, "-c", asked, cwd=ROOT).stdout)
        if int(self.name[2:]) < 20 and found > 12:
            fail(
                f"TensorFlow {self.name} needs Python 3.12 or older, {base} is 3.{found}: set BASE_PYTHON"
            )
        print(f"Making an environment with TensorFlow {self.name}", flush=True)
        shutil.rmtree(self.environment, ignore_errors=True)
        package = "tensorflow-cpu" if sys.platform == "linux" else "tensorflow"
        for command in (
            (base, "-m", "venv", self.environment),
            (self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            + (f"{package}~={self.name}.0rc0", *PACKAGES, *TOOLS),
        ):  # fmt: skip
            run = self._run(*command, cwd=ROOT)
            if run.returncode:
                fail(f"no environment for {self.name}: {first_error(run.stderr)}")
        (self.environment / "complete").touch()

    def _run(
        self, *command: str | Path, cwd: Path | None = None
    ) -> subprocess.CompletedProcess:
        paths = [self.copy / "packages/opcheck", self.copy / "examples/common"]
        variables = {"PYTHONPATH": os.pathsep.join(map(str, paths)), **QUIET}
        return subprocess.run(
            [*map(str, command)],
            cwd=cwd or self.copy,
            env=os.environ | variables,
            capture_output=True,
            text=True,
        )

    def folder(self, example: str) -> Path:
        return self.copy / "examples" / example

    def lacks(self, example: str) -> str:
        """Which version an example needs that uses newer names, or nothing."""
        since = SINCE.get(example, OLDEST)
        return f"needs 2.{since}" if int(self.name[2:]) < since else ""

    def build(self, names: Sequence[str]) -> dict[str, str]:
        """Compiles examples; returns the errors of those that do not compile."""
        build = self.copy / "build"
        options = [f"-DPython3_EXECUTABLE={self.python}", *CMAKE_OPTIONS]
        options.append(f"-DCMAKE_MAKE_PROGRAM={Path(ninja.BIN_DIR, 'ninja')}")
        configure = CMAKE, "-S", self.copy / "examples", "-B", build, "-G", "Ninja"
        run = self._run(*configure, *options)
        if run.returncode:
            return dict.fromkeys(names, first_error(run.stdout + run.stderr))
        targets = [f"{name}/all" for name in dict.fromkeys([*names, *ALWAYS])]
        command = CMAKE, "--build", build, "--target"
        errors = {}
        if self._run(*command, *targets, "--", "-k", "0").returncode:
            for name in names:
                run = self._run(*command, f"{name}/all")
                if run.returncode:
                    errors[name] = first_error(run.stdout + run.stderr)
        return errors

    def carry(self, names: Sequence[str], newest: "Version") -> dict[str, str]:
        """Puts the libraries of another version into examples; returns the loader's errors."""
        errors = {}
        for name in names:
            for library in self.folder(name).glob("lib*.so"):
                library.unlink()
            for library in newest.folder(name).glob("lib*.so"):
                shutil.copy2(library, self.folder(name))
            libraries = sorted(self.folder(name).glob("lib*.so"))
            named = [path for path in libraries if path.stem == f"lib{name}"]
            main = [*named, *libraries][0]
            code = f"import tensorflow as tf; tf.load_op_library({str(main)!r})"
            run = self._run(self.python, "-c", code)
            if run.returncode:
                errors[name] = first_error(run.stderr)
            elif b"built for TensorFlow" in main.read_bytes():
                errors[name] = "loads, and op_library.py refuses it"
        return errors

    def _pytest(self, example: str, again: bool = False) -> tuple[int, int, int, str]:
        """How many tests passed, failed and were skipped, and the first error. Again: of those that failed, or all."""
        report = self.copy / "build" / "tests" / f"{example}.xml"
        report.unlink(missing_ok=True)
        # The book's settings: two examples are projects of their own.
        settings = self.copy / "pyproject.toml"
        command = (self.python, "-m", "pytest", "-q", "-c", settings)
        command += (
            "--last-failed" if again else "--cache-clear",
            f"--junitxml={report}",
        )
        command += ("-o", f"cache_dir={report.with_suffix('')}")
        run = self._run(*command, f"examples/{example}")
        if not report.exists():  # a test has ended the process
            return 0, 1, 0, first_error(run.stdout + run.stderr)
        suite = ElementTree.parse(report).find("testsuite")
        names = ("tests", "failures", "errors", "skipped")
        tests, failures, errors, skipped = (int(suite.get(name)) for name in names)
        failed = failures + errors
        return tests - failed - skipped, failed, skipped, first_failure(suite)

    def test(
        self, names: Sequence[str], compiled_for: str, errors: dict[str, str]
    ) -> list[Row]:
        """Runs the tests of examples, several at a time, except where it is known already what is wrong."""
        found = {name: (0, 0, 0, error) for name, error in errors.items()}
        tested = [name for name in names if name not in errors]
        with ThreadPool(min(2 * os.cpu_count(), 8)) as pool:
            found |= zip(tested, pool.imap(self._pytest, tested))
        for name in tested:
            passed, failed, skipped, _ = found[name]
            if failed:  # once more, alone: on a busy machine, some come too late
                *more, says = self._pytest(name, again=True)
                found[name] = passed + more[0], more[1], skipped + more[2], says
        about = self.tensorflow, self.python_version, self.numpy
        today = str(datetime.date.today())
        return [Row(*about, name, compiled_for, *found[name], today) for name in names]


def rows_of(path: Path) -> list[Row]:
    """The rows of a table."""
    return [Row(**row) for row in measure.read(path)[1]]


def write(path: Path, rows: Sequence[Row], command: str) -> None:
    """Writes a table, ordered by example and version."""
    heading = [
        f"command: {command}",
        f"machine: {measure.processor()}, {measure.cores()} cores, no GPU used",
        "versions: in each row, and the compiler of that machine",
        f"date: {datetime.date.today()}",
        "row dates: when each row was run, the older ones perhaps on another machine",
        "compiled_for: the version that the libraries were compiled for; the sources are the same",
        "failed: errors included; what is not in the table was not run",
    ]
    order = {name: number for number, name in enumerate(versions())}
    rows = sorted(
        rows, key=lambda row: (row.example, not row.key[2], order[row.key[0]])
    )
    first_lines = [f"# {line}" for line in heading]
    measure.write(path, first_lines, [row._asdict() for row in rows])


def chosen(text: str, of: Sequence[str], kind: str) -> list[str]:
    """The names in a list with commas or spaces, or all."""
    names = text.replace(",", " ").split() or [*of]
    if unknown := ", ".join(sorted({*names} - {*of})):
        fail(f"no {kind} {unknown}; there are {', '.join(of)}")
    return [name for name in of if name in names]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--versions", default="", help="2.18,2.20; default: all")
    parser.add_argument("--examples", default="", help="attrs,state; default: all")
    parser.add_argument(
        "--own",
        action="store_true",
        help="only what was compiled for the version itself, which takes half the time",
    )
    arguments = parser.parse_args()
    names = chosen(arguments.examples, examples(), "example")
    *released, candidate = versions()
    wanted = chosen(arguments.versions, [*released, candidate], "version")
    if not arguments.versions:
        wanted.remove(candidate)
    newest = Version(released[-1])
    if not arguments.own or newest.name in wanted:
        newest.prepare()

    before = {row.key: row for row in rows_of(TABLE)}
    command = "make versions"
    if wanted != released:
        command += f" VERSIONS={','.join(wanted)}"
    if names != examples():
        command += f" EXAMPLES={','.join(names)}"
    if arguments.own:
        command += " OWN=1"
    worse = []
    errors_of_newest = functools.cache(lambda: newest.build(names))

    def note(rows: Sequence[Row]) -> None:
        """Prints what came out, and writes the table, so that an interrupted run is not lost."""
        for row in rows:
            old = before.get(row.key)
            if old and old.fine and not row.fine:
                worse.append(f"{row.example} on {row.tensorflow}")
            how = f"{row.passed} passed, {row.failed} failed {row.says}".strip()
            print(f"{row.tensorflow} {row.example} of {row.compiled_for}: {how}")
        sys.stdout.flush()
        known = {row.key: row for row in [*rows_of(TABLE), *rows]}
        write(TABLE, [*known.values()], command)

    for version in wanted:
        here = newest
        if version != newest.name:
            here = Version(version)
            here.prepare()
        lacking = {name: needs for name in names if (needs := here.lacks(name))}
        enough = [name for name in names if name not in lacking]
        errors = errors_of_newest() if here is newest else here.build(enough)
        note(here.test(names, here.tensorflow, errors | lacking))
        if here is not newest and not arguments.own:
            built = [name for name in enough if name not in errors_of_newest()]
            errors = here.carry(built, newest)
            note(here.test(built, newest.tensorflow, errors))
    if worse:
        fail(f"worse than before: {', '.join(worse)}")


if __name__ == "__main__":
    main()
