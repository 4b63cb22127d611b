"""The tests are all run, and each of them can fail."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

import book
import pytest
from book import EXAMPLES, ROOT

from opcheck.op_names import function_of

FILES = sorted(
    path
    for folder in ("examples", "tests")
    for path in (ROOT / folder).rglob("*_test.py")
)
# How a failing command passes, or a test is left out.
SWALLOWED = re.compile(r"(\|\||;)\s*(true\b|:(?=\s|$))|\bset \+e\b|continue-on-error")
LEFT_OUT = re.compile(r"--ignore|--deselect|--co\b|--collect-only|\s-[km]\s*\S|--exit")
CHECKS = re.compile(
    r"\bassert|\.assert|\bpytest\.(raises|fail)\b|check=True|\.check\(|refusal\("
)

files = pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)


def report(problems: Iterator[str]) -> None:
    if text := "\n".join(problems):
        pytest.fail(text, pytrace=False)


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Those of the file itself and of its classes of tests."""
    classes = [x for x in tree.body if isinstance(x, ast.ClassDef) and "Test" in x.name]
    bodies = [tree.body, *(x.body for x in classes)]
    return [x for body in bodies for x in body if isinstance(x, ast.FunctionDef)]


def ways_out(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Statements that end a function, or its test, before the last line of their block."""
    for x in ast.walk(function):
        for block in (getattr(x, name, []) for name in ("body", "orelse", "finalbody")):
            for y in block[:-1] if isinstance(block, list) else []:
                if isinstance(y, ast.Return | ast.Raise | ast.Break | ast.Continue) or (
                    re.match(r"pytest\.(skip|xfail|exit)\(", ast.unparse(y))
                ):
                    yield y


def never_run(text: str) -> Iterator[str]:
    """Functions that are not collected and not called, tests that are always skipped, and code behind a way out."""
    tree = ast.parse(text)
    for x in tree.body:
        if re.match(
            r"(pytestmark = .*\.(skip\b|xfail)|pytest\.skip\(|__test__)", ast.unparse(x)
        ):
            yield f"{ast.unparse(x)} leaves out the file"
    for function in functions(tree):
        for x in ways_out(function):
            yield f"{function.name}: what follows `{ast.unparse(x)}` is not run"
    for function in functions(tree):
        decorators = [ast.unparse(x) for x in function.decorator_list]
        marks = [x for x in decorators if x.startswith("pytest.mark.")]
        for mark in marks:
            if re.match(r"pytest\.mark\.(skip\b|xfail|skipif\((True|1)\b)", mark):
                yield f"{function.name}: @{mark}"
        special = re.match(r"test_|setUp$|tearDown$|pytest_|__", function.name)
        used = len(re.findall(rf"\b{function.name}\b", text)) > 1
        if not special and not used and decorators == marks:
            yield f"{function.name} is neither a test nor used: is its name wrong?"
    for x in tree.body:
        if isinstance(x, ast.Assign) and isinstance(x.value, ast.Call):
            name = ast.unparse(x.targets[0])
            if ast.unparse(x.value.func) == "op_test" and not name.startswith("test_"):
                yield f"{name} = op_test(…) is not collected: its name must begin with test_"


def checks_nothing(text: str) -> Iterator[str]:
    """Tests in which nothing can fail but a call."""
    tree = ast.parse(text)
    checking = {x.name for x in functions(tree) if CHECKS.search(ast.unparse(x))}
    for function in functions(tree):
        called = {
            ast.unparse(x.func).rpartition(".")[2]
            for x in ast.walk(function)
            if isinstance(x, ast.Call)
        }
        if function.name.startswith("test_") and not CHECKS.search(
            ast.unparse(function.body)
        ):
            if not called & checking:
                yield f"{function.name} checks nothing"


def cases_unused(text: str) -> Iterator[str]:
    """Arguments that make a test run several times, and each time with the same."""
    for function in functions(ast.parse(text)):
        cases = {"mode"}
        for x in map(ast.unparse, function.decorator_list):
            if match := re.match(r"pytest\.mark\.parametrize\(\(?'([\w, ]+)", x):
                cases |= {*re.split(r",\s*", match[1])}
        used = {x.id for x in ast.walk(function) if isinstance(x, ast.Name)}
        for x in function.args.args:
            if function.name.startswith("test_") and x.arg in cases - used:
                yield f"{function.name} does not use {x.arg}"


def judged_by_itself(text: str) -> Iterator[str]:
    """Ops that are given as their own reference, to op_test or as an entry of FUZZ."""
    for x in ast.walk(ast.parse(text)):
        pairs = []
        if isinstance(x, ast.Call) and ast.unparse(x.func) in ("op_test", "check"):
            pairs = [(x.args[0], y.value) for y in x.keywords if y.arg == "reference"]
        elif isinstance(x, ast.Dict):
            targets = [y.elts for y in x.values if isinstance(y, ast.Tuple)]
            pairs = [(y[0], y[2]) for y in targets if len(y) > 2]
        for op, reference in pairs:
            names = {y.id for y in ast.walk(reference) if isinstance(y, ast.Name)}
            if isinstance(op, ast.Name) and op.id in names:
                yield f"{op.id} is its own reference: {ast.unparse(reference)}"


@files
def test_what_is_in_a_test_file_is_run(file):
    text = file.read_text()
    problems = [*never_run(text), *cases_unused(text)]
    report(f"{file.name}: {problem}" for problem in problems)


@files
def test_a_test_checks_something(file):
    report(f"{file.name}: {problem}" for problem in checks_nothing(file.read_text()))


@pytest.mark.parametrize(
    "file",
    [*sorted(EXAMPLES.glob("*/*_test.py")), *sorted(EXAMPLES.glob("*/*_fuzz.py"))],
    ids=lambda path: path.stem,
)
def test_no_op_is_its_own_reference(file):
    report(f"{file.name}: {problem}" for problem in judged_by_itself(file.read_text()))


def test_every_file_of_tests_is_collected():
    pyproject = (ROOT / "pyproject.toml").read_text()
    [options] = re.findall(
        r"^\[tool\.pytest\.ini_options\]\n(.*?)^\[", pyproject, re.S | re.M
    )
    options = dict(re.findall(r"^(\w+) = (.*)$", options, re.M))
    folders = {path.relative_to(ROOT).parts[0] for path in FILES}
    assert folders <= {*ast.literal_eval(options["testpaths"])}
    assert options["python_files"] == '["*_test.py"]'
    assert not LEFT_OUT.search(options["addopts"])
    assert "--strict-markers" in options["addopts"]
    assert options["empty_parameter_set_mark"] == '"fail_at_collect"'
    assert "error::pytest.PytestUnhandledThread" in options["filterwarnings"]
    assert not options.keys() & {"norecursedirs", "python_functions", "python_classes"}
    for conftest in ROOT.glob("[a-z]*/conftest.py"):
        assert "collect_ignore" not in conftest.read_text()


def left_out_of_op_test(text: str) -> Iterator[str]:
    """What an op's promises are not held to."""
    for x in ast.walk(ast.parse(text)):
        if isinstance(x, ast.Call) and ast.unparse(x.func) == "op_test":
            for option in x.keywords:
                if option.arg in ("skip", "checks", "tolerances", "special_values"):
                    yield f"op_test({ast.unparse(x.args[0])}, …) with {ast.unparse(option)}"


TYPES = {"float": "float32", "double": "float64", "half": "float16"}
EXAMPLES_TESTS = sorted(EXAMPLES.glob("*/*_test.py"))


@pytest.mark.parametrize("file", EXAMPLES_TESTS, ids=lambda path: path.stem)
def test_an_example_is_held_to_all_promises(file):
    report(
        f"{file.name}: {problem}" for problem in left_out_of_op_test(file.read_text())
    )


@pytest.mark.parametrize("file", EXAMPLES_TESTS, ids=lambda path: path.stem)
def test_all_dtypes_of_the_interface_are_tested(file):
    """A list named DTYPES has each `T: {…}` of the example's interfaces."""
    interfaces = "".join(
        path.read_text()
        for path in file.parent.glob("*.cc")
        if not path.name.startswith(("wrong_", "solution_"))
    )
    sets = re.findall(r'"T: \{([a-z0-9, ]+)\}', interfaces)
    declared = {TYPES.get(x, x) for one in sets for x in one.split(", ")}
    for listed in re.findall(r"^DTYPES = \[(.*)\]$", file.read_text(), re.M):
        tested = {TYPES.get(x, x) for x in re.findall(r"\.(\w+)", listed)}
        problem = f"{file.name}: DTYPES are {tested}, those of the interface {declared}"
        assert tested == declared, problem


@pytest.mark.parametrize(
    "file", sorted(EXAMPLES.glob("*/*_gpu.cc")), ids=lambda x: x.stem
)
def test_the_memory_of_gpu_kernels_is_tested(file):
    """A forgotten HostMemory crashes on a GPU only."""
    tests = "".join(path.read_text() for path in file.parent.glob("*_test.py"))
    assert "host_memory_arg" in tests


@pytest.mark.parametrize("page", book.chapters().values(), ids=lambda path: path.stem)
def test_the_ops_of_a_chapter_keep_their_promises(page):
    """Each op that a page's front matter names has an op_test, but for those of solutions."""
    solutions = "".join(path.read_text() for path in EXAMPLES.glob("*/solution_*.cc"))
    [ops] = re.findall(r"^ops: \[(.*)\]$", page.read_text(), re.M) or [""]
    tests = "".join(path.read_text() for path in EXAMPLES_TESTS)
    tested = set(re.findall(r"\bop_test\(\s*(?:\w+\.)?(\w+)", tests))
    untested = [
        op
        for op in ops.split(", ")
        if op and function_of(op) not in tested
        if f'REGISTER_OP("{op}")' not in solutions
    ]
    assert not untested, f"{page.name} names ops without an op_test: {untested}"


def compared_by_hand(text: str) -> Iterator[str]:
    """Comparisons of numbers that examples/conftest.py cannot hold to the error that is seen."""
    for x in ast.walk(ast.parse(text)):
        if isinstance(x, ast.Compare) and isinstance(x.ops[0], ast.Lt | ast.LtE):
            if re.search(r"abs\(.* - |\bdifference\b|\de-\d", ast.unparse(x)):
                yield f"`{ast.unparse(x)}`: use np.testing.assert_allclose"
        if isinstance(x, ast.Attribute) and x.attr in (
            "allclose",
            "isclose",
            "approx",
            "assertAllClose",
            "assert_almost_equal",
            "assert_array_almost_equal",
            "assert_array_less",
            "compute_gradient_error",
        ):
            yield f"{x.attr}: use np.testing.assert_allclose"


@pytest.mark.parametrize("file", EXAMPLES_TESTS, ids=lambda path: path.stem)
def test_a_tolerance_is_one_of_assert_allclose(file):
    report(f"{file.name}: {problem}" for problem in compared_by_hand(file.read_text()))


COMMANDS = [
    ROOT / name for name in ("Makefile", ".ci/run", "postBuild", ".readthedocs.yaml")
] + sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("file", COMMANDS, ids=lambda path: path.name)
def test_a_failing_command_fails(file):
    text = file.read_text()
    swallowed = [match[0] for match in SWALLOWED.finditer(text)]
    assert not swallowed
    for command in re.findall(r"-m (?:pytest|sphinx)\b.*", text):
        assert not LEFT_OUT.search(command), command
    if file.name == "Makefile":
        assert not re.findall(r"^\t@?-.*", text, re.M), "make goes on after this"
        assert re.search(r"-m sphinx\b.* -W ", text), "a warning must be an error"


# What a target of the Makefile runs, in this order, as its help says.
RUNS = {
    "docs": ["tools/examples.py", "-m sphinx -n -W", "build/html"],
    "test": [
        "tools/examples.py",
        "-m sphinx",
        "SITE_IS_BUILT=1",
        "-m pytest",
        "--dist loadgroup",
    ],
    "lint": [
        "ruff check",
        "format --quiet --check",
        "-run -Werror",
        "elementwise.h",
        "shellcheck",
        "postBuild",
    ],
    "serve": ["--watch examples --watch conf.py --watch tools", "docs build/html"],
    "asan": ["tools/sanitize.py asan"],
    "tsan": ["tools/sanitize.py tsan"],
    "notebooks": ["tools/examples.py", "-b notebook"],
    "linkcheck": ["tools/examples.py", "-b linkcheck"],
    "lab": ["-b notebook -d build/lab", "notebooks=local", "--notebook-dir build/lab"],
    "bench-build": ["tools/examples.py", "bench/build.py"],
    "bench-gpu": ["bench/roi_pool_gpu.py"],
    "test-gpu": ["tools/examples.py", "bench/gpu_tests.py"],
    "clean": ["rm -rf build examples/*/lib*.so"],
}


@pytest.mark.parametrize("target", RUNS)
def test_a_target_runs_what_its_help_says(target):
    command = ["make", "-n", f"PYTHON={sys.executable}", target]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    ran = re.search(".*".join(map(re.escape, RUNS[target])), run.stdout, re.S)
    assert ran, f"make {target} does not run {', '.join(RUNS[target])}: {run.stdout}"


@pytest.mark.parametrize(
    "file", sorted(EXAMPLES.glob("*/*_reference.py")), ids=lambda path: path.stem
)
def test_a_reference_computes_without_the_op(file):
    imported = set()
    for x in ast.walk(ast.parse(file.read_text())):
        if isinstance(x, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in x.names}
        elif isinstance(x, ast.ImportFrom):
            imported.add(x.module.partition(".")[0])
    known = "numpy ml_dtypes collections itertools math queue re struct"
    assert imported <= set(known.split())


@pytest.mark.parametrize(
    "text",
    [
        "def check_it():\n    assert f() == 1",
        "@pytest.mark.parametrize('x', [1])\ndef tset_it(x):\n    assert x == 1",
        "@pytest.mark.skip\ndef test_it():\n    assert f() == 1",
        "@pytest.mark.skipif(True, reason='slow')\ndef test_it():\n    assert f() == 1",
        "it_keeps_its_promises = op_test(op)",
        "pytestmark = pytest.mark.skip(reason='slow')",
        "pytest.skip(allow_module_level=True)",
        "def test_it():\n    pytest.skip('slow')\n    assert f() == 1",
        "def test_it():\n    for x in xs:\n        continue\n        assert x == 1",
        "def test_it():\n    f()",
        "test_it = op_test(op, 1, skip={'schema': 'no time'})",
        "def test_it():\n    assert np.all(np.abs(f(1) - 1) <= 1000 * bound)",
        "def test_it(mode):\n    assert op(1) == 1",
        "@pytest.mark.parametrize('x, y', [(1, 2)])\ndef test_it(x, y):\n    assert op(x)",
        "test_it = op_test(op, 1, reference=op)",
        "FUZZ = {'Op': (op, calls(tensors()), quiet(op))}",
    ],
)
def test_a_test_that_is_none_is_found(text):
    assert [
        *never_run(text),
        *cases_unused(text),
        *checks_nothing(text),
        *judged_by_itself(text),
        *left_out_of_op_test(text),
        *compared_by_hand(text),
    ]


def test_the_tests_of_a_group_run_in_one_process(tmp_path):
    """Else a fixture that takes a minute is made by each process that runs one of them."""
    (tmp_path / "group_test.py").write_text(
        "import os, pathlib, pytest\n\n"
        "@pytest.mark.xdist_group('one')\n@pytest.mark.parametrize('number', range(8))\n"
        "def test_it(number):\n"
        "    pathlib.Path(os.environ['PYTEST_XDIST_WORKER']).touch()\n"
    )
    options = ["-n2", "--dist=loadgroup", "--rootdir=.", "group_test.py"]
    command = [sys.executable, "-m", "pytest", *options]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert len(list(tmp_path.glob("gw*"))) == 1
