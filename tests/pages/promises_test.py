"""The tests of the examples keep all promises of opcheck, for each op and each dtype."""

import ast
import re
from collections.abc import Iterator

import pytest
from book import EXAMPLES, ROOT
from page_source import pages, project_files, report

from opcheck import function_of

TESTS = sorted(EXAMPLES.rglob("*_test.py"))
LISTS = {
    file: re.findall(r"^DTYPES = \[(.*)\]$", file.read_text(), re.M) for file in TESTS
}
TYPES = {"float": "float32", "double": "float64", "half": "float16"}


def interfaces(file) -> str:
    """The C++ of an example, but for what is wrong in it or a solution."""
    sources = sorted(file.parent.glob("*.cc"))
    names = ("wrong_", "solution_")
    return "".join(x.read_text() for x in sources if not x.name.startswith(names))


def left_out(text: str) -> Iterator[str]:
    """What an op is not held to, and ops that are their own reference."""
    for call in ast.walk(ast.parse(text)):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "op_test":
            op = ast.unparse(call.args[0])
            for option in call.keywords:
                value = ast.unparse(option.value)
                if option.arg in ("skip", "checks", "tolerances", "special_values"):
                    yield f"op_test({op}, …) with {option.arg}={value}: leave it out, and mend the op"
                if option.arg == "reference" and re.search(rf"\b{op}\b", value):
                    yield f"{op} is its own reference: compute it with NumPy"


@pytest.mark.parametrize("file", TESTS, ids=lambda path: path.stem)
def test_an_example_is_held_to_all_promises(file):
    report(f"{file.relative_to(ROOT)}: {x}" for x in left_out(file.read_text()))


@pages
def test_the_ops_of_a_page_are_tested(page):
    """Each op of its front matter has an op_test, but for those of solutions."""
    solutions = "".join(path.read_text() for path in EXAMPLES.glob("*/solution_*.cc"))
    tested = "".join(path.read_text() for path in TESTS)
    report(
        f"{page.at(1)}: {op} has no op_test: add `test_… = op_test({function_of(op)}, …)`"
        for op in page.front.get("ops", [])
        if not re.search(rf"\bop_test\(\s*(?:\w+\.)?{function_of(op)}\b", tested)
        if f'REGISTER_OP("{op}")' not in solutions
    )


@pytest.mark.parametrize(
    "file", [file for file in TESTS if LISTS[file]], ids=lambda path: path.stem
)
def test_all_dtypes_of_the_interface_are_tested(file):
    """A list named DTYPES has each type of the sets `T: {…}`."""
    sets = re.findall(r'"T: \{([a-z0-9, ]+)\}', interfaces(file))
    declared = {TYPES.get(x, x) for one in sets for x in one.split(", ")}
    for listed in LISTS[file]:
        tested = {TYPES.get(x, x) for x in re.findall(r"\b[a-z]+\d*\b(?!\.)", listed)}
        if tested != declared:
            names = ", ".join(sorted(tested ^ declared))
            what = "only one of DTYPES and the interface in C++ has"
            report([f"{file.relative_to(ROOT)}: {what} {names}"])


def test_every_file_of_tests_is_collected(pytestconfig):
    paths = [ROOT / path for path in pytestconfig.getini("testpaths")]
    report(
        f"{file.relative_to(ROOT)} is not in testpaths of pyproject.toml: move it, or add its folder"
        for file in project_files()
        if file.name.endswith("_test.py")
        if not any(file.is_relative_to(path) for path in paths)
    )
