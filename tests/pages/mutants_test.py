"""Each test that a page shows fails on wrong variants of its op, each of its assertions on one of them.

The variants are kept beside the test: `examples/x/x_mutants.py` holds `MUTANTS`, from the name of a test to
what takes the place of what while it runs: from the full name of a function to wrong ones.
"""

import ast
import contextlib
import importlib
import io
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import book
import pytest


class Shown(NamedTuple):
    """A test that a page shows, or a function that tests use."""

    page: Path
    line: int
    file: Path
    name: str


def shown() -> list[Shown]:
    """All tests that pages show by literalinclude; what such a block shows beside tests needs no mutant."""
    found = []
    for page in book.chapters().values():
        text = page.read_text()
        blocks = re.finditer(
            r"^[`:]{3,}\{literalinclude\} (\S+_test\.py)\n((?::[\w-]+:.*\n)*)",
            text,
            re.M,
        )
        for block in blocks:
            line = text[: block.start()].count("\n") + 1
            file = (page.parent / block[1]).resolve()
            options = dict(re.findall(r"^:([\w-]+): *(.*)$", block[2], re.M))
            if "pyobject" in options:
                names = [options["pyobject"].rpartition(".")[2]]
            else:
                source = file.read_text()
                begin = source.index(options.get("start-at", ""))
                end = source.find(options.get("end-at", "\0"), begin)
                part = source[begin : end if end > 0 else None]
                names = re.findall(
                    r"^(?:    )?(?:def )?(test_\w+)(?: =|\()", part, re.M
                )
            found += [Shown(page, line, file, name) for name in names]
    return found


def function_of(file: Path, name: str) -> ast.FunctionDef | None:
    """The definition of a function or method; None for what op_test makes."""
    functions = (x for x in ast.walk(ast.parse(file.read_text())))
    return next(
        (x for x in functions if isinstance(x, ast.FunctionDef) and x.name == name),
        None,
    )


def assertions(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a test that can fail it: `assert`, calls of assert…, `with pytest.raises`."""
    found = []
    for x in ast.walk(function):
        called = ast.unparse(x.value.func) if is_call(x) else ""
        raises = isinstance(x, ast.With) and "raises" in ast.unparse(x.items[0])
        if isinstance(x, ast.Assert) or raises or "assert" in called.rpartition(".")[2]:
            found.append(x)
    return found


def is_call(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def beside(file: Path) -> Path:
    """Where the mutants of a test's op are."""
    return file.with_name(f"{file.stem.removesuffix('_test')}_mutants.py")


def mutants_of(file: Path) -> dict[str, dict[str, list[Callable]]]:
    """For each test of a file, the full name of a function, and what takes its place."""
    return importlib.import_module(beside(file).stem).MUTANTS


class Failures:
    """A plugin of pytest that keeps where a test failed, and what else went wrong."""

    def __init__(self, file: Path):
        self.file = file
        self.lines: set[int] = set()
        self.failed = False
        self.error = ""

    def pytest_collectreport(self, report) -> None:
        if report.failed:
            self.error = str(report.longrepr).splitlines()[-1]

    def pytest_runtest_makereport(self, item, call) -> None:
        if call.excinfo is None:
            return
        if not call.excinfo.errisinstance((AssertionError, pytest.fail.Exception)):
            self.error = call.excinfo.exconly()
            return
        self.failed = True
        self.lines |= {
            entry.lineno + 1
            for entry in call.excinfo.traceback
            if Path(entry.path) == self.file
        }


def run(file: Path, name: str, place: str, number: int) -> Failures:
    """Runs a test with a mutant in the place of a function, in a process that has not imported the test."""
    os.environ.pop("PYTEST_ADDOPTS", None)
    mutant = mutants_of(file)[name][place][number]
    module, _, function = place.rpartition(".")
    setattr(importlib.import_module(module), function, mutant)
    failures = Failures(file)
    classes = (
        x for x in ast.parse(file.read_text()).body if isinstance(x, ast.ClassDef)
    )
    of_class = [f"{x.name}::" for x in classes if f"def {name}(" in ast.unparse(x)]
    options = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider")
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main([f"{file}::{''.join(of_class)}{name}", *options], [failures])
    return failures


TESTS = shown()


@pytest.mark.parametrize(
    "test", TESTS, ids=lambda test: f"{test.page.stem}-{test.name}"
)
def test_a_shown_test_fails_on_its_mutants(in_fork, monkeypatch, test):
    file = test.file
    where = f"{test.page.relative_to(book.ROOT)}:{test.line} shows {test.name}"
    if not beside(file).exists():
        pytest.fail(f"{where}, and there is no {beside(file).name}", pytrace=False)
    for folder in (file.parents[1], file.parent):
        monkeypatch.syspath_prepend(folder)
    mutants = mutants_of(file)
    function = function_of(file, test.name)
    names = {test.name}
    if not test.name.startswith("test_"):
        everything = ast.walk(ast.parse(file.read_text()))
        users = (x for x in everything if isinstance(x, ast.FunctionDef))
        names = {x.name for x in users if f"{test.name}(" in ast.unparse(x.body)}
    if not names & mutants.keys():
        pytest.fail(
            f"{where}, and {beside(file).name} has no mutant for it", pytrace=False
        )
    tripped = set()
    for name in sorted(names & mutants.keys()):
        for place, wrong in mutants[name].items():
            for number, mutant in enumerate(wrong):
                failures = in_fork(run, file, name, place, number)
                if not failures.failed:
                    seen = failures.error or "it passes"
                    said = f"{where}: with {mutant.__name__} for {place} {name} does not fail: {seen}"
                    pytest.fail(said, pytrace=False)
                tripped |= failures.lines
    if function is None or not test.name.startswith("test_"):
        return
    for one in assertions(function):
        if not tripped & set(range(one.lineno, one.end_lineno + 1)):
            text = ast.unparse(one).splitlines()[0]
            said = f"{file.name}:{one.lineno}: no mutant of {beside(file).name} fails at `{text}`"
            pytest.fail(said, pytrace=False)


@pytest.mark.parametrize(
    "wrong, macro", [("shape", "INFER_OK"), ("error", "INFER_ERROR")]
)
def test_each_line_of_the_test_in_cpp_fails_on_wrong_shape_functions(wrong, macro):
    source = book.EXAMPLES / "shape_functions" / "shape_functions_test.cc"
    if not (program := source.with_suffix("")).exists():
        pytest.skip("built without GoogleTest")
    run = subprocess.run(
        [program], capture_output=True, text=True, env={**os.environ, "WRONG": wrong}
    )
    failed = {int(x) for x in re.findall(r"_test\.cc:(\d+): Failure", run.stdout)}
    text = source.read_text()
    calls = list(re.finditer(rf"^ +{macro}\(.*?\);", text, re.M | re.S))
    assert calls
    for call in calls:
        begin, end = (text.count("\n", 0, x) + 1 for x in call.span())
        if not failed & set(range(begin, end + 1)):
            said = f"{source.name}:{begin} does not fail on a wrong {wrong}: {call[0]}"
            pytest.fail(" ".join(said.split()), pytrace=False)


def test_no_test_is_typed_into_a_page():
    """It would need a mutant, too: `make test` runs what stands in a file."""
    typed = [
        f"{page.name}:{number}: show the test from a file: {line}"
        for page in book.chapters().values()
        for number, line in enumerate(page.read_text().splitlines(), 1)
        if re.match(r"\s*def test_", line)
    ]
    assert not typed, typed[0]
