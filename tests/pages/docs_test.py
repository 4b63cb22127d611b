"""Holds pages and code to each other, in both directions."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import book
import pytest
from book import EXAMPLES
from sections import sections
from sphinx.directives.code import LiteralIncludeReader

from opcheck.op_names import function_of

CHAPTERS = list(book.chapters().values())
HEADINGS = [
    "What it computes",
    "Declare it",
    "Compute it",
    "Build it",
    "Call it",
    "Differentiate it",
    "Run it on the GPU",
    "Measure it",
    "Test it",
    "When it goes wrong",
    "Try it",
    "Recap",
]
SHOWN = r"^`{3,}\{(?:snippet|literalinclude)\} (\S+?)(?:#\w+)?$"
chapters = pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.stem)


def directives(page: Path, name: str) -> list[str]:
    return re.findall(rf"^[`:]{{3,}}\{{{name}\}} *(.*)$", page.read_text(), re.M)


def cells(page: Path) -> list[str]:
    return [
        match[1]
        for match in re.finditer(
            r"^```\{code-cell\}[^\n]*\n(.*?)^```$", page.read_text(), re.M | re.S
        )
    ]


def test_every_example_has_its_chapter():
    assert set(book.examples()) <= set(book.chapters())


def test_a_part_without_pages_is_not_shown():
    lines = ["First steps:", "- one", "- two", "", "Later:", "Tools:", "- three"]
    parts = {"First steps": ["one", "two"], "Tools": ["three"]}
    assert book.listed_parts(lines) == parts


@pytest.mark.parametrize("example", book.examples())
def test_the_names_in_a_folder_say_what_is_the_op(example):
    """Beside the chapter's and its ops' own files: solutions, wrong code, and what a page shows."""
    sources = "\n".join(path.read_text() for path in (EXAMPLES / example).glob("*.cc"))
    ops = re.findall(r'REGISTER_\w+\(\s*"(?:\w+>)?(\w+)"', sources)
    own = "|".join([example, "solution", "wrong", *map(function_of, ops)])
    files = {path.name for path in (EXAMPLES / example).glob("*.[chp]*")}
    others = {name for name in files if not re.match(rf"(?:{own})[_.]", name)}
    pages = "".join(page.read_text() for page in CHAPTERS)
    assert {name for name in others if f"{example}/{name}" not in pages} == set()
    for kind in "reference", "fuzz":
        assert re.search(rf"^(?:{own})_{kind}\.py$", "\n".join(files), re.M), kind


@pytest.mark.parametrize("example", book.examples())
def test_the_default_of_an_attr_is_that_of_the_functions(example):
    """The Python function passes its own, so nobody would notice another one in the interface."""
    folder = EXAMPLES / example
    defaults = {}
    for path in folder.glob("*.cc"):
        ops = re.split(
            r'^REGISTER_\w+\(\s*"(?:\w+>)?(\w+)"', path.read_text(), flags=re.M
        )
        for op, text in zip(ops[1::2], ops[2::2]):
            attrs = r'"(\w+): (?:int|float|bool|string)\b(?: >= \S+)? = ([^"]*)"'
            for attr, default in re.findall(attrs, text):
                value = (
                    default.capitalize() if default in ("true", "false") else default
                )
                defaults[op.lower(), attr] = ast.literal_eval(value)
    for path in folder.glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            op = function.name.removesuffix("_reference").replace("_", "")
            arguments = function.args.args[::-1]
            for argument, default in zip(arguments, function.args.defaults[::-1]):
                known = defaults.get((op, argument.arg))
                assert known is None or known == ast.literal_eval(default), (
                    f"{path.name}: {function.name}({argument.arg}={ast.unparse(default)}), "
                    f"but the default of the attr is {known}"
                )


def types_in(text: str) -> set[str]:
    """The dtypes that a text names, as Python calls them."""
    names = {"float": "float32", "double": "float64", "half": "float16", "int": "int64"}
    found = re.findall(r"\bb?float(?:16|32|64)?\b|\bdouble|\bhalf\b|\bu?int\d*\b", text)
    return {names.get(x, x) for x in found}


@pytest.mark.parametrize("example", book.examples())
def test_a_docstring_names_the_types_of_the_op(example):
    """All of a set of which it names several, and none that the interface does not have."""
    interfaces = {}
    for path in (EXAMPLES / example).glob("*.cc"):
        text = "" if path.name.startswith("wrong_") else path.read_text()
        sets = re.findall(r'"(T: \{.*?\})', text)
        ops = re.split(r'\bREGISTER_OP\("(?:\w+>)?(\w+)"\)', text)
        for op, text in zip(ops[1::2], ops[2::2]):
            parts = re.findall(r'"([^"]*)"', re.split(r"\.SetShapeFn|;", text)[0])
            own = [x for x in parts if x.startswith("T: ")]  # else in a macro
            interfaces[function_of(op)] = own or sets, parts
    for path in (EXAMPLES / example).glob("*.py"):
        for function in ast.parse(path.read_text()).body:
            name = getattr(function, "name", "")
            if name in interfaces:
                sets, parts = interfaces[name]
                said = types_in((ast.get_docstring(function) or "").split("Args:")[-1])
                several = types_in(" ".join(sets))
                wanted = several if len(said & several) > 1 else set()
                having = several | types_in(" ".join(parts))
                assert wanted <= said <= having, f"{path.name}: {name}"


@pytest.mark.parametrize("example", book.examples())
def test_a_gradient_in_cpp_is_for_all_floats_of_its_op(example):
    for path in (EXAMPLES / example).glob("*.cc"):
        if "REGISTER_OP_GRADIENT(" in path.read_text():
            sets = re.findall(r'"T: \{(.*?)\}', path.read_text())
            floats = [{x for x in types_in(one) if "float" in x} for one in sets]
            assert all(one == floats[0] for one in floats), (path.name, sets)


@chapters
def test_the_solution_of_an_exercise_is_named_so(page):
    folded = re.compile(r"^:::\{dropdown\} A solution$.*?^:::$", re.M | re.S)
    solutions = folded.findall(page.read_text())
    assert all("/solution_" in solution for solution in solutions)
    rest = folded.sub("", page.read_text())
    assert "/solution_" not in "".join(re.findall(SHOWN, rest, re.M))


@chapters
def test_a_shown_function_is_spoken_of_where_it_is_shown(page):
    """Tests and gradients are named by what they do."""
    for section in re.split(r"^(?=##+ )", page.read_text(), flags=re.M):
        block = r"\{literalinclude\} +(\S+)\n(?::.*\n)*?:pyobject: ([a-z]\w*)"
        rest = re.sub(block, "", section)
        for file, name in re.findall(block, section):
            if not file.endswith(("_test.py", "_reference.py")) and name != "main":
                assert re.search(rf"\b{name}\b", rest), (
                    f"{section[:60]}: {name} of {file}"
                )


def test_every_section_is_shown():
    shown = {snippet for page in CHAPTERS for snippet in directives(page, "snippet")}
    sources = [
        path
        for pattern in ("*.c", "*.cc", "*.h")
        for path in EXAMPLES.glob(f"*/{pattern}")
    ]
    named = {
        f"{path.relative_to(EXAMPLES)}#{section}"
        for path in sources
        for section in sections(path)
    }
    assert named - shown == set()


def shown_of(file: Path) -> Iterator[str]:
    """What pages show of a Python file, each piece as Sphinx reads it."""
    block = rf"^```\{{literalinclude\}} +\S*/{file.name}\n((?::.*\n)*)"
    config = SimpleNamespace(source_encoding="utf-8")
    for options in re.findall(block, "".join(map(Path.read_text, CHAPTERS)), re.M):
        given = dict(re.findall(r"^:([\w-]+): *(.*)$", options, re.M))
        yield LiteralIncludeReader(str(file), given, config).read()[0]


@pytest.mark.parametrize(
    "file", sorted(EXAMPLES.glob("*/*_reference.py")), ids=lambda path: path.stem
)
def test_the_reference_of_the_main_op_is_shown_and_tests_use_it(file):
    """The first one in its file, as a whole."""
    text = file.read_text()
    main = next(
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name.endswith("_reference")
    )
    whole = ast.get_source_segment(text, main)
    assert any(whole in piece for piece in shown_of(file)), f"{main.name}: on no page"
    imported = {
        alias.name
        for path in file.parent.glob("*_test.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == file.stem
        for alias in node.names
    }
    assert main.name in imported, f"{main.name}: in no test"


def test_a_section_without_a_name_ends_the_one_before(tmp_path):
    path = tmp_path / "x.cc"
    path.write_text(
        "// [a] One.\nint a;\n\n// [] Not shown.\nint b;\n// [c] Two.\nint c;\n"
    )
    assert sections(path) == {"a": (1, 2), "c": (6, 7)}


@chapters
def test_no_c_plus_plus_is_typed_into_a_page(page):
    typed = re.findall(
        r"^[`~]{3,}\s*\{?(?:code-block\}\s*)?(c|cc|c\+\+|cpp|cuda)\b.*$",
        page.read_text(),
        re.M | re.I,
    )
    assert not typed


@chapters
def test_headings_are_in_the_order_of_the_template(page):
    order = [
        HEADINGS.index(title)
        for title in re.findall(r"^## (.*)$", page.read_text(), re.M)
        if title in HEADINGS
    ]
    assert order == sorted(set(order))
    needed = {"Recap"} if "\nlearn:" in page.read_text() else set()
    if page.stem in book.examples():
        needed = {"Try it", "Recap"}
    assert needed <= {HEADINGS[index] for index in order}


@chapters
def test_a_failing_command_fails_the_page(page):
    for cell in cells(page):
        assert not re.search(r"^\s*!", cell, re.M), (
            "`!command` passes when the command fails: use %%bash -e"
        )
        assert "raises-exception" not in cell, (
            "the tag passes when nothing is raised: use pytest.raises"
        )
        for magic in re.findall(r"^%%(?:bash|sh)\b.*$", cell, re.M):
            assert re.search(r"\s-\w*e", magic), (
                f"{magic}: only the last command counts without -e"
            )


@chapters
def test_no_cell_measures_time(page):
    assert not [
        cell
        for cell in cells(page)
        if re.search(r"\b(perf_counter|timeit|time\.time|monotonic)\b", cell)
    ]


@chapters
def test_the_first_cell_prepares_the_others(page):
    first = cells(page)[0]
    assert first.split() == [":tags:", "[remove-cell]", "%run", "support/start.py"]


@pytest.mark.parametrize("own", [None, "1"])
def test_cells_see_no_gpu_unless_they_ask(own):
    """Each twice: who runs a cell again still gets the machine's own setting back."""
    code = f"""
import os
%run "{book.DOCS}/support/start.py"
%run "{book.DOCS}/support/start.py"
print(os.environ["CUDA_VISIBLE_DEVICES"])
see_gpus()
see_gpus()
print(os.environ.get("CUDA_VISIBLE_DEVICES"))
"""
    environment = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}
    if own:
        environment["CUDA_VISIBLE_DEVICES"] = own
    run = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == ["-1", str(own)], run.stderr
