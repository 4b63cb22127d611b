"""What pages show of the examples' sources, and what is in an example."""

import ast
import functools
import re

import pytest
from book import EXAMPLES, ROOT, chapters, examples
from page_source import PAGES, pages, project_files, report
from sections import sections

SOLUTION = re.compile(r"^:::\{dropdown\} A solution$.*?^:::$", re.M | re.S)
SHOWN = r"^`{3,}\{(?:snippet|literalinclude)\} (\S+)"
# Spellings of older releases.
OLD = re.compile(
    r"\bStatus::OK\(|\berrors::[A-Z]\w+\(|\btensorflow::(?:Status|StatusOr|int64|string)\b"
)
MACHINE = re.compile(r"(?<![\w.}>)-])/(?:home|root|work|mnt|srv|Users)/\w[\w/]*")


@functools.cache
def text_of_pages() -> str:
    return "".join(page.text for page in PAGES)


def test_every_example_has_its_page():
    """Or a page of another name shows it."""
    report(
        f"examples/{name}: write docs/{name}.md, which shows it"
        for name in examples()
        if name not in chapters() and f" {name}/" not in text_of_pages()
    )


def test_every_section_is_shown():
    shown = {each.argument for page in PAGES for each in page.directives("snippet")}
    files = [path for path in project_files() if path.suffix in (".c", ".cc", ".h")]
    named = (
        f"{path.relative_to(EXAMPLES)}#{section}"
        for path in files
        if path.parent.parent == EXAMPLES
        for section in sections(path)
    )
    report(
        f"examples/{name} is on no page: show it with {{snippet}}, or leave the line that opens it out"
        for name in named
        if name not in shown
    )


@pages
def test_code_is_shown_from_files(page):
    """That a compiler has seen, or pytest with its mutants."""
    languages = {"c", "cc", "c++", "cpp", "cuda"}
    for block in page.blocks:
        kind = block.kind if block.kind != "{code-block}" else block.argument
        if kind.lower() in languages:
            cure = "put it into a file under examples/ and show it with {snippet}"
            report([f"{page.at(block.line)}: typed {kind}: {cure}"])
        if block.kind == "{code-cell}" and re.search(
            r"^\s*def test_", block.text, re.M
        ):
            cure = "show one of a file with {literalinclude}"
            report([f"{page.at(block.line)}: a typed test: {cure}"])


@pages
def test_the_solution_of_an_exercise_is_named_so(page):
    rest = SOLUTION.sub("", page.text)
    for folded in SOLUTION.findall(page.text):
        if shown := [
            x for x in re.findall(SHOWN, folded, re.M) if "solution_" not in x
        ]:
            report(
                [f"{page.at(1)}: {shown[0]} is shown as a solution: call it solution_…"]
            )
    for shown in re.findall(SHOWN, rest, re.M):
        if "/solution_" in shown:
            report([f"{page.at(1)}: {shown} is shown outside of “A solution”: fold it"])


@pytest.mark.parametrize("example", examples())
def test_the_names_in_a_folder_say_what_is_the_op(example):
    """Beside the files of the chapter and its ops: solutions, wrong code, and what a page names."""
    folder = EXAMPLES / example
    files = [path for path in project_files() if path.parent == folder]
    ops = re.findall(
        r'REGISTER_\w+\(\s*"(?:\w+>)?(\w+)"',
        "".join(path.read_text() for path in files if path.suffix == ".cc"),
    )
    own = {
        example,
        "exercise",
        "solution",
        "wrong",
        *(re.sub(r"\B(?=[A-Z])", "_", op).lower() for op in ops),
    }
    report(
        f"examples/{example}/{path.name} is on no page: begin its name with {example}_, solution_ or wrong_"
        for path in files
        if path.suffix in (".c", ".cc", ".h", ".py")
        if not any(re.match(rf"{name}[_.]", path.name) for name in own)
        if f"{example}/{path.name}".replace("_test.", ".") not in text_of_pages()
    )
    kinds = ("reference", "fuzz", "test") if example in chapters() else ("fuzz", "test")
    for kind in kinds if ops else ["test"]:
        if not list(folder.rglob(f"*_{kind}.py")):
            report(
                [f"examples/{example} has no {example}_{kind}.py: see CONTRIBUTING.md"]
            )


REFERENCES = [path for path in EXAMPLES.glob("*/*_reference.py")]


@pytest.mark.parametrize("file", sorted(REFERENCES), ids=lambda path: path.stem)
def test_a_reference_is_shown_and_used_and_needs_no_op(file):
    """The first one in its file, which is that of the main op, as a whole."""
    place = file.relative_to(ROOT)
    tree = ast.parse(file.read_text())
    functions = [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]
    main = next(name for name in functions if name.endswith("_reference"))
    blocks = [x for page in PAGES for x in page.directives("literalinclude")]
    shown = [
        x.options.get("pyobject")
        for x in blocks
        if x.argument.endswith(f"/{file.name}")
    ]
    if not {main, None} & {*shown}:
        report([f"{place}: {main} is on no page: show it with {{literalinclude}}"])
    tests = "".join(path.read_text() for path in file.parent.glob("*_test.py"))
    if not re.search(rf"\b{main}\b", tests):
        report([f"{place}: no test uses {main}: give it to op_test as reference="])
    known = "numpy ml_dtypes collections itertools math queue re struct".split()
    imported = re.findall(r"^(?:import|from) (\w+)", file.read_text(), re.M)
    report(
        f"{place} imports {name}: a reference computes with NumPy alone"
        for name in imported
        if name not in known
    )


def test_sources_are_of_any_machine_and_of_today():
    """No path of the machine that they were written on; in C++ no old spelling, but in what shows mistakes."""
    problems = []
    for path in project_files():
        if path.suffix not in (
            ".py",
            ".cc",
            ".h",
            ".cu",
            ".md",
            ".toml",
            ".cmake",
            ".sh",
        ):
            continue
        text, place = path.read_text(), path.relative_to(ROOT)
        if "tests" not in place.parts:
            problems += [
                f"{place}: {found} is on one machine only: leave it out"
                for found in MACHINE.findall(text)
            ]
        shows_mistakes = path.name.startswith("wrong_") or "mistakes" in place.parts
        if path.suffix in (".cc", ".h") and not shows_mistakes:
            problems += [
                f"{place}: {found} is of an older release: use absl's"
                for found in OLD.findall(text)
            ]
    report(problems)
