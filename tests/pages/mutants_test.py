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
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from book import EXAMPLES
from page_source import Block, Page, pages, report


def shown(page: Page) -> Iterator[tuple[int, Path, str]]:
    """The tests that a page shows, and functions that tests use: line, file and name."""
    for block in page.directives("literalinclude"):
        if block.argument.endswith("_test.py"):
            file = (page.path.parent / block.argument).resolve()
            for name in names_of(block, file.read_text()):
                yield block.line, file, name


def names_of(block: Block, source: str) -> list[str]:
    if name := block.options.get("pyobject"):
        return [name.rpartition(".")[2]]
    begin = source.index(block.options.get("start-at", ""))
    end = source.find(block.options.get("end-at", "\0"), begin)
    part = source[begin : end if end > 0 else None]
    return re.findall(r"^(?:    )?(?:def )?(test_\w+)(?: =|\()", part, re.M)


def functions(file: Path) -> dict[str, ast.FunctionDef]:
    """The functions and methods of a file, but for what op_test makes."""
    nodes = ast.walk(ast.parse(file.read_text()))
    return {x.name: x for x in nodes if isinstance(x, ast.FunctionDef)}


def assertions(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a test that can fail it: `assert`, calls of assert…, `with pytest.raises`."""

    def can_fail(x: ast.AST) -> bool:
        if isinstance(x, ast.With):
            return "raises" in ast.unparse(x.items[0])
        if isinstance(x, ast.Expr) and isinstance(x.value, ast.Call):
            return "assert" in ast.unparse(x.value.func).rpartition(".")[2]
        return isinstance(x, ast.Assert)

    return list(filter(can_fail, ast.walk(function)))


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
        self.error = "it passes"

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
    body = ast.parse(file.read_text()).body
    classes = (x for x in body if isinstance(x, ast.ClassDef))
    of_class = [f"{x.name}::" for x in classes if f"def {name}(" in ast.unparse(x)]
    options = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider")
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main([f"{file}::{''.join(of_class)}{name}", *options], [failures])
    return failures


def survived(in_fork: Callable, file: Path, shown: str) -> Iterator[str]:
    """What is wrong with the mutants of a test, or of the tests that use a function."""
    defined, names = functions(file), {shown}
    if not shown.startswith("test_"):
        names = {x for x in defined if f"{shown}(" in ast.unparse(defined[x].body)}
    if not beside(file).exists() or not names & mutants_of(file).keys():
        yield f"write a mutant for it in {beside(file).name}"
        return
    tripped = set()
    for name in sorted(names & mutants_of(file).keys()):
        for place, wrong in mutants_of(file)[name].items():
            for number, mutant in enumerate(wrong):
                failures = in_fork(run, file, name, place, number)
                tripped |= failures.lines
                if not failures.failed:
                    with_it = f"with {mutant.__name__} for {place}"
                    yield f"{with_it} {name} does not fail: {failures.error}"
    if shown in defined and shown.startswith("test_"):
        for one in assertions(defined[shown]):
            if not tripped & set(range(one.lineno, one.end_lineno + 1)):
                text = ast.unparse(one).splitlines()[0]
                yield f"no mutant of {beside(file).name} fails at `{text}`, line {one.lineno}"


@pytest.mark.slow
@pages
def test_the_shown_tests_of_a_page_fail_on_their_mutants(in_fork, monkeypatch, page):
    problems = []
    for line, file, name in shown(page):
        with monkeypatch.context() as patched:
            for folder in (file.parents[1], file.parent):
                patched.syspath_prepend(folder)
            found = list(survived(in_fork, file, name))
        problems += [f"{page.at(line)} shows {name}: {problem}" for problem in found]
    report(problems)


@pytest.mark.parametrize(
    "wrong, macro", [("shape", "INFER_OK"), ("error", "INFER_ERROR")]
)
def test_each_line_of_the_test_in_cpp_fails_on_wrong_shape_functions(wrong, macro):
    source = EXAMPLES / "shape_functions" / "shape_functions_test.cc"
    if not (program := source.with_suffix("")).exists():
        pytest.skip("built without GoogleTest")
    environment = {**os.environ, "WRONG": wrong}
    run = subprocess.run([program], capture_output=True, text=True, env=environment)
    failed = {int(x) for x in re.findall(r"_test\.cc:(\d+): Failure", run.stdout)}
    text = source.read_text()
    calls = list(re.finditer(rf"^ +{macro}\(.*?\);", text, re.M | re.S))
    assert calls
    report(
        f"{source.name}:{begin} does not fail on a wrong {wrong}: write a mutant for it"
        for call in calls
        for begin, end in [(text.count("\n", 0, x) + 1 for x in call.span())]
        if not failed & set(range(begin, end + 1))
    )
