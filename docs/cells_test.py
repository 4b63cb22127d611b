"""Holds the text of a page to its cells: what comes out is checked, checks can fail, and numbers come from code."""

import ast
import functools
import re
import sysconfig
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import book
import pytest
from book import EXAMPLES
from docs_test import chapters
from names_test import FOLDERS, inline
from sections import sections

TESTS = sorted(
    [*EXAMPLES.glob("*/*_test.py"), *(book.ROOT / "tests").glob("*_test.py")]
)
CHECKS = re.compile(
    r"\bassert|\bnp\.testing\.|\bpytest\.raises\b|^%%bash|\b(?:table|grids)\(", re.M
)
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.M | re.S)
MAGIC = r"^%(?:[^\n]*\\\n)*[^\n]*$"
NUMBER = re.compile(r"(?<![\w.,#-])\d+(?:\.\d+)?(?![\w.]*\d|\w)")
WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen twenty"
).split()
NAME = re.compile(r"(?<!\w)[A-Za-z_]\w{3,}")
HEADERS = [
    "include/tensorflow/c/*.h",
    "include/tensorflow/cc/**/*.h",
    "include/tensorflow/core/framework/*.h",
    "include/tensorflow/core/util/*.h",
    "include/absl/str*/*.h",
    "_api/v2/**/*.py",
]
# Names of other programs, and one that a reader is to choose.
ELSEWHERE = {
    *("LD_LIBRARY_PATH", "tf_custom_op_library", "xprof", "initcheck", "racecheck"),
    *("TF_CALL", "MixV2"),
}
SWALLOWED = re.compile(r"(\|\||;|&)\s*(true\b|:(?=\s|$))|\bset \+e\b")
TAGS = {"hide-input", "remove-cell", "remove-input"}
WITHOUT_WORDS = {"AssertionError", "KeyboardInterrupt", "SystemExit", "KeyError"}
THREE = 3  # smaller numbers are in every cell


def python(cell: str) -> ast.Module:
    """A cell without its options and magics; nothing of a cell in another language."""
    code = re.sub(r"\A(?:---\n.*?^---\n|:[^\n]*\n|\n)*", "", cell, flags=re.M | re.S)
    return ast.parse(
        "" if code.startswith("%%") else re.sub(MAGIC, "", code, flags=re.M)
    )


def has_tag(cell: str, *tags: str) -> bool:
    return any(tag in cell.partition("\n\n")[0] for tag in tags)


def has_output(cell: str) -> bool:
    body = python(cell).body
    return "print(" in cell or bool(body) and isinstance(body[-1], ast.Expr)


def checking_functions(page: Path) -> set[str]:
    """The functions that cells of this page define and that assert something."""
    return {
        node.name
        for _, cell in numbered_cells(page)
        for node in python(cell).body
        if isinstance(node, ast.FunctionDef) and CHECKS.search(ast.unparse(node))
    }


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is written out: a constant, or an empty container."""
    return isinstance(node, ast.Constant) or is_empty(node)


def is_empty(node: ast.expr) -> bool:
    return not getattr(node, "elts", getattr(node, "keys", [node]))


def always_true(tree: ast.AST) -> Iterator[str]:
    """Checks that compare a value with itself, or constants, or that are never made."""
    for node in ast.walk(tree):
        pairs = []
        if isinstance(node, ast.If | ast.While) and is_literal(node.test):
            if not (isinstance(node, ast.While) and ast.unparse(node.test) == "True"):
                yield f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
        if isinstance(node, ast.For | ast.comprehension) and is_empty(node.iter):
            yield f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
        if isinstance(node, ast.ExceptHandler) and catches_assertions(node):
            yield f"except: {ast.unparse(node.body)}"
        if isinstance(node, ast.Assert):
            if isinstance(node.test, ast.Constant | ast.Tuple):
                yield ast.unparse(node)
            if isinstance(node.test, ast.BoolOp):
                if any(map(is_literal, node.test.values)):
                    yield ast.unparse(node)
            for comparison in ast.walk(node.test):
                if isinstance(comparison, ast.Compare):
                    pairs.append((comparison.left, comparison.comparators[0]))
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            name = ast.unparse(node.func).rpartition(".")[2]
            if name.startswith("assert"):
                pairs.append(node.args[:2])
        for left, right in pairs:
            if ast.dump(left) == ast.dump(right) or (
                isinstance(left, ast.Constant) and isinstance(right, ast.Constant)
            ):
                yield ast.unparse(node)


def catches_assertions(handler: ast.ExceptHandler) -> bool:
    """Whether a handler lets a failed assertion pass."""
    caught = ast.unparse(handler.type) if handler.type else "Exception"
    return bool(
        re.search(r"\b(AssertionError|Exception|BaseException)\b", caught)
    ) and all(isinstance(x, ast.Pass | ast.Continue) for x in handler.body)


def unasserted(tree: ast.Module) -> Iterator[str]:
    """Comparisons whose result nobody looks at, but for the last line of a cell, which is shown."""
    last = tree.body[-1:]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and node not in last:
            if isinstance(node.value, ast.Compare | ast.BoolOp):
                yield f"{ast.unparse(node)} without assert"


def vague(tree: ast.AST, least: int = 8) -> Iterator[str]:
    """`pytest.raises` that another error would satisfy as well, and tolerances that let anything pass."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        options = {keyword.arg: keyword.value for keyword in node.keywords}
        if ast.unparse(node.func) == "pytest.raises":
            match = options.get("match")
            if match is None and ast.unparse(node.args[0]) not in WITHOUT_WORDS:
                yield f"{ast.unparse(node)} without match"
            if isinstance(match, ast.Constant):
                for way in match.value.split("|"):
                    if len(re.findall(r"\w", way)) < least:
                        yield f'match="{match.value}" says too little'
        for option in {"atol", "rtol", "delta"} & options.keys():
            tolerance = options[option]
            if isinstance(tolerance, ast.Constant) and tolerance.value > 0.01:
                yield f"{ast.unparse(node)}: wide tolerance"


def parts(page: Path) -> Iterator[tuple[str, str, str]]:
    """The sections of a page: title, text and the code that it shows, which is all code for the top and the recap."""
    text = page.read_text()
    found = re.split(r"^(?=## )", text, flags=re.M)
    for part in found:
        title = (
            part.partition("\n")[0].lstrip("# ") if part.startswith("## ") else "top"
        )
        yield title, part, shown_code(text if title in ("top", "Recap") else part)


def numbers_of_code(code: str) -> set[str]:
    digits = re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d)_(?=\d)", "", code))
    digits += [number.removesuffix(".0") for number in digits]
    words = set(re.findall(r"[a-z]+", code)) & set(WORDS)
    return {*digits, *(str(WORDS.index(word)) for word in words)}


def shown_code(text: str) -> str:
    fences = r"^(`{3,})\{(?:code-cell|code-block)\}[^\n]*\n(.*?)^\1$"
    code = [match[2] for match in re.finditer(fences, text, re.M | re.S)]
    for snippet in re.findall(r"\{snippet\} +(\S+)", text):
        file, _, section = snippet.partition("#")
        path = EXAMPLES / file
        first, last = sections(path)[section]
        code += path.read_text().splitlines()[first - 1 : last]
    include = r"\{literalinclude\} +(\S+)\n((?::.*\n)*)"
    for file, options in re.findall(include, text):
        source = (book.DOCS / file).read_text()
        if whole := re.search(r":pyobject: (?:\w+\.)?(\w+)", options):
            [source] = (
                ast.unparse(node)
                for node in ast.walk(ast.parse(source))
                if getattr(node, "name", None) == whole[1]
            )
        code.append(source)
    return "\n".join(code)


def numbers(prose: str) -> set[str]:
    """The numbers of a text, words from three on too, without those in links, headings and lists."""
    for taken_out in (
        r"^(`{3,}).*?^\1$",  # blocks
        r"\{\w+\}`[^`]*`",
        r"`ssh[^`]*`",
        r"\[[^\]]*\]\([^)]*\)",
        r"^#[^\n]*",
        r"^\d+\.",
        r"(?:TensorFlow|[Vv]ersion) \d[\d.]*",
    ):
        prose = re.sub(taken_out, "", prose, flags=re.M | re.S)
    prose = re.sub(r"(?<=\d)[ ,](?=\d{3}\b)", "", prose)
    found = {
        number for number in NUMBER.findall(prose) if float(number) not in (0, 1, 2)
    }
    for word in re.findall(r"[a-z]+", prose.lower()):
        if word in WORDS[THREE:]:
            found.add(str(WORDS.index(word)))
    return found


def numbered_cells(page: Path) -> Iterator[tuple[str, str]]:
    """Each cell with its place, `zero_out.md:44`."""
    text = page.read_text()
    for match in CELL.finditer(text):
        yield f"{page.name}:{text[: match.start()].count(chr(10)) + 1}", match[1]


def report(problems: Iterable[str]) -> None:
    if text := "\n".join(problems):
        pytest.fail(text, pytrace=False)


@functools.cache
def names() -> set[str]:
    """Each name of the book's code and of TensorFlow's headers and Python modules."""
    files = [
        path
        for folder in FOLDERS
        for path in (book.ROOT / folder).rglob("*.*")
        if path.suffix in (".cc", ".cmake", ".cu", ".h", ".js", ".py", ".sh", ".txt")
    ]
    files += [book.ROOT / name for name in ("Makefile", "conf.py", "pyproject.toml")]
    tensorflow = Path(sysconfig.get_path("purelib"), "tensorflow")
    for pattern in HEADERS:
        files += tensorflow.glob(pattern)
    texts = [path.read_text(errors="ignore") for path in files]
    texts += [shown_code(page.read_text()) for page in book.chapters().values()]
    return {name for text in texts for name in NAME.findall(text)} | {
        path.stem for path in files
    }


@chapters
def test_names_in_the_text_exist(page):
    report(
        f"{page.name}: `{token.content}`: no {name} in the code of the book or of TensorFlow"
        for before, token in pairwise(inline(page))
        if token.type == "code_inline" and "/" not in token.content
        if not before.content.endswith("}")  # a role
        for name in NAME.findall(re.sub(r"(?<!\S)-\S+", "", token.content))
        if name not in names() | ELSEWHERE
    )


@chapters
def test_what_comes_out_of_a_cell_is_checked(page):
    found = [*numbered_cells(page), ("", "")]
    checks = re.compile("|".join([CHECKS.pattern, *checking_functions(page)]), re.M)
    report(
        f"{place}: what comes out is asserted neither here nor in a removed cell behind it"
        for (place, cell), (_, following) in pairwise(found)
        if has_output(cell)
        and not has_tag(cell, "remove-", "hide-input")  # guards, pictures
        and not checks.search(
            cell + (following if has_tag(following, "remove-cell") else "")
        )
    )


def problems_of(cell: str) -> Iterator[str]:
    tree = python(cell)
    yield from (*always_true(tree), *vague(tree), *unasserted(tree))
    if has_tag(cell, "remove-cell") and tree.body:
        last = tree.body[-1]
        if isinstance(last, ast.Expr) and isinstance(
            last.value, ast.Compare | ast.BoolOp
        ):
            yield f"{ast.unparse(last)} without assert"
    if "%%bash" in cell and (swallowed := SWALLOWED.search(cell)):
        yield f"{swallowed[0].strip()} makes a failing command pass"


@chapters
def test_checks_of_a_page_can_fail(page):
    report(
        f"{place}: {problem}"
        for place, cell in numbered_cells(page)
        for problem in problems_of(cell)
    )


@chapters
def test_every_cell_is_executed(page):
    """MyST-NB knows tags and settings of a page that leave cells out, or let them fail."""
    text = page.read_text()
    front = text.partition("\n---\n")[0]
    keys = set(re.findall(r"^(\w+):", front, re.M))
    allowed = {"file_format", "kernelspec", "ops", "learn"}
    report(f"{page.name}: {key} in the front matter" for key in sorted(keys - allowed))
    report(
        f"{place}: the tag {tag}"
        for place, cell in numbered_cells(page)
        for tags in re.findall(r"^:tags: \[(.*)\]$", cell.partition("\n\n")[0], re.M)
        for tag in re.split(r",\s*", tags)
        if tag not in TAGS
    )
    conf = (book.ROOT / "conf.py").read_text()
    settings = set(re.findall(r"^(nb_execution_\w+) = (.*)$", conf, re.M))
    assert settings == {
        ("nb_execution_mode", '"force"'),
        ("nb_execution_timeout", "300"),
    }


@chapters
def test_what_a_cell_records_is_in_the_text(page):
    """Otherwise the text shows a number of another name in its place, or one that is typed."""
    text = page.read_text()
    shown = set(re.findall(r"\{value\}`(\w+)", text))
    report(
        f"{place}: {keyword.arg} is recorded, but no {{value}} shows it"
        for place, cell in numbered_cells(page)
        for node in ast.walk(python(cell))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "record"
        for keyword in node.keywords
        if keyword.arg and keyword.arg not in shown
    )


@chapters
def test_a_caption_is_the_file_that_is_shown(page):
    """And what is shown under the name of a test or function is the whole of it."""
    blocks = re.findall(r"\{literalinclude\} +(\S+)\n((?::.*\n)*)", page.read_text())
    report(
        f"{page.name}: {caption} stands over {file}"
        for file, options in blocks
        for caption in re.findall(r"^:caption: (.*)$", options, re.M)
        if (page.parent / file).resolve() != book.ROOT / caption
    )


@chapters
def test_emphasized_lines_are_new(page):
    """What is set off is what has changed: no code that the page shows before has this line."""
    text = page.read_text()
    blocks = r"^```\{snippet\} +\S+\n:emphasize-lines: (.*)$"
    found = []
    for block in re.finditer(blocks, text, re.M):
        before = {x.strip() for x in shown_code(text[: block.start()]).splitlines()}
        shown = shown_code(block[0]).splitlines()
        for lines in block[1].split(","):
            first, _, last = lines.strip().partition("-")
            found += [
                f"{page.name}: `{line.strip()}` is shown before"
                for line in shown[int(first) - 1 : int(last or first)]
                if line.strip() in before - {""}
            ]
    report(found)


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_checks_of_a_test_can_fail(path):
    tree = ast.parse(path.read_text())
    found = [*always_true(tree), *vague(tree, least=4), *unasserted(tree)]
    report(f"{path.name}: {check}" for check in found)


@chapters
def test_numbers_in_the_text_are_in_the_code_of_their_section(page):
    report(
        f"{page.name}, {title}: {number} is in no cell here: show it by {{value}}, or assert it in a removed cell"
        for title, text, code in parts(page)
        for number in sorted(numbers(text) - numbers_of_code(code))
    )


@pytest.mark.parametrize(
    "check",
    [
        "assert x == x",
        "assert True",
        "assert (x == y, 'a tuple')",
        "np.testing.assert_array_equal(x, x)",
        "np.testing.assert_allclose(x, y, atol=9)",
        "pytest.raises(ValueError)",
        "pytest.raises(ValueError, match='')",
        "pytest.raises(ValueError, match='dimension -1|')",
        "assert x == 1 or True",
        "if False:\n    assert x == 1",
        "for x in []:\n    assert x == 1",
        "try:\n    assert x == 1\nexcept AssertionError:\n    pass",
        "x == 1\nprint(x)",
        ":tags: [remove-cell]\n\nx == 1",
        "%%bash -e\ngrep word file || true",
    ],
)
def test_a_check_that_says_nothing_is_found(check):
    assert [*problems_of(check)]


def test_numbers_are_found():
    prose = "Four of 19, 1 000 or 0.5, in `[3,?]`, {value}`x:.6f`, int32, version 7.\n## 8\n```\n9\n```\n"
    assert numbers(prose) == {"4", "19", "1000", "0.5", "3"}
    assert numbers_of_code("five = 5_000 + 2.0") >= {"5", "5000", "2"}
