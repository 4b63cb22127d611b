"""Holds the text of a page to its cells: what comes out is checked, checks can fail, and numbers come from code."""

import ast
import builtins
import copy
import functools
import itertools
import re
import sysconfig
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import book
import pytest
from book import EXAMPLES
from docs_test import CHAPTERS, chapters
from names_test import FOLDERS, FRONT_MATTER, glossary, inline
from sections import sections

TESTS = sorted(
    [*EXAMPLES.glob("*/*_test.py"), *(book.ROOT / "tests").rglob("*_test.py")]
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
TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = (
    "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
).split()
SUPERSCRIPT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
POWER = r"\b([2-9])(?:\.0)? ?\*\* ?(-?\d+)"
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
    *(
        "LD_LIBRARY_PATH",
        "saved_model_cli",
        "tf_custom_op_library",
        "xprof",
        "initcheck",
        "racecheck",
    ),
    *("TF_CALL", "MuLawV2"),
}
SWALLOWED = re.compile(r"(\|\||;|&)\s*(true\b|:(?=\s|$))|\bset \+e\b")
ASSERTIONS = re.compile(r"\b(AssertionError|Exception|BaseException)\b")
TAGS = {"hide-input", "remove-cell", "remove-input"}
TOLERANCES = {"atol", "rtol", "delta", "abs", "rel", "abs_tol", "rel_tol"}
WITHOUT_WORDS = {"AssertionError", "KeyboardInterrupt", "SystemExit", "KeyError"}
THREE = 3  # smaller numbers are in every cell
BLOCK = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$", re.M | re.S)
UNITS = {
    "%": "percent",
    "bytes": "bytes",
    "cycles": "cycles",
    "s": "s$|seconds",
    "seconds": "s$|seconds",
    "µs": "us$",
    "microseconds": "us$",
    "ms": "ms$",
    "milliseconds": "ms$",
    "ns": "ns$",
    "nanoseconds": "ns$",
    "kB": "kb|kilob",
    "MB": "mb|megab",
    "GB": "gb|gigab",
    "megabytes": "mb",
    "KiB": "kib",
    "MiB": "mib",
    "GiB": "gib",
    "kilobytes": "kb",
    "gigabytes": "gb",
}
PROMISES = re.compile(
    r"\b((fast|slow|quick|cheap|soon)(er|est)|as (fast|quick|slow|cheap) as|always|never"
    r"|takes? (\w+ )*(longer than|longer eagerly|less time than)|(half|twice) the time)\b",
    re.I,
)
READING = re.compile(r"how many times|how much|(left|right) of 1|\bwhere\b", re.I)


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


class Inlined(ast.NodeTransformer):
    """Writes out the names that a function binds once."""

    def __init__(self, function: ast.FunctionDef) -> None:
        stored = [
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        self.values = {
            node.targets[0].id: node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            if stored.count(node.targets[0].id) == 1
        }

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.values.pop(node.id, None)
        if value is None or isinstance(node.ctx, ast.Store):
            return node
        inlined = self.visit(copy.deepcopy(value))
        self.values[node.id] = value
        return inlined


def compared_with_itself(tree: ast.AST) -> Iterator[str]:
    """Checks of a value against one that the same op makes of the same."""
    ours = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and "reference" not in node.module
        for alias in node.names
        if alias.name.islower() and list(EXAMPLES.glob(f"*/{node.module}.py"))
    }
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            pair = []
            if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
                pair = [node.test.left, *node.test.comparators]
            elif isinstance(node, ast.Call) and "assert" in ast.unparse(node.func):
                pair = node.args[:2]
            if len(pair) != 2 or "!=" in ast.unparse(node):
                continue
            left, right = (Inlined(function).visit(copy.deepcopy(x)) for x in pair)
            names = [
                names_in(side, ast.Load) - {"mode", "np", "tf"}
                for side in (left, right)
            ]
            if (
                ast.dump(left) == ast.dump(right)
                or names[0] & ours
                and names[0] == names[1]
            ):
                yield f"{ast.unparse(node)} compares what is computed in the same way"


def always_true(tree: ast.AST) -> Iterator[str]:
    """Checks that compare a value with itself, or constants, or that are never made."""
    yield from compared_with_itself(tree)
    for node in ast.walk(tree):
        pairs = []
        if isinstance(node, ast.If | ast.While) and is_literal(node.test):
            if not (isinstance(node, ast.While) and ast.unparse(node.test) == "True"):
                yield f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
        if isinstance(node, ast.For | ast.comprehension) and is_empty(node.iter):
            yield f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
        if isinstance(node, ast.ExceptHandler) and catches_assertions(node):
            yield f"except: {ast.unparse(node.body)}"
        if isinstance(node, ast.Dict):
            names = [ast.unparse(value) for value in node.values]
            for key, name in zip(node.keys, names):
                if isinstance(key, ast.Constant) and key.value in {*names} - {name}:
                    yield f"{name} is called {key.value}, which is another value's name"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "record":
            used = {x.arg: names_in(x.value, ast.Load) for x in node.keywords}
            for one, other in itertools.combinations(used, 2):
                if one in used[other] - used[one] and other in used[one] - used[other]:
                    yield f"{one} and {other} are recorded under each other's name"
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            if ASSERTIONS.search(ast.unparse(node.args)):
                yield ast.unparse(node)
        if isinstance(node, ast.Assert):
            if isinstance(node.test, ast.Constant | ast.Tuple):
                yield ast.unparse(node)
            if ast.unparse(node.test) in ("_", "printed()", "_.tolist()", "_.numpy()"):
                yield f"{ast.unparse(node)} says too little"
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
    return bool(ASSERTIONS.search(caught)) and all(
        isinstance(x, ast.Pass | ast.Continue) for x in handler.body
    )


def unasserted(tree: ast.Module) -> Iterator[str]:
    """Comparisons whose result nobody looks at, but for the last line of a cell, which is shown."""
    last = tree.body[-1:]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and node not in last:
            if isinstance(node.value, ast.Compare | ast.BoolOp):
                yield f"{ast.unparse(node)} without assert"


def vague(tree: ast.AST, least: int = 8, widest: float = 1e-4) -> Iterator[str]:
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
        if ast.unparse(node.func) == "session" and isinstance(node.args[0], ast.Dict):
            for answer in node.args[0].values:
                if isinstance(answer, ast.Constant) and answer.value:
                    if re.search(answer.value, "~"):
                        yield f"{ast.unparse(answer)} is in any answer"
        if ast.unparse(node).endswith("default_rng()"):
            yield "random numbers without a seed"
        tolerances = [options[name] for name in TOLERANCES & options.keys()]
        if ast.unparse(node.func).endswith(("allclose", "isclose", "AllClose")):
            tolerances += node.args[2:]
        for tolerance in tolerances:
            if isinstance(tolerance, ast.Constant) and tolerance.value > widest:
                yield f"{ast.unparse(node)}: wide tolerance"


def parts(page: Path) -> Iterator[tuple[str, str, str]]:
    """The sections of a page: title, text and the code that it shows, which is all code for the recap."""
    text = FRONT_MATTER.sub("", page.read_text())
    found = re.split(r"^(?=## )", text, flags=re.M)
    for part in found:
        title = (
            part.partition("\n")[0].lstrip("# ") if part.startswith("## ") else "top"
        )
        yield title, part, shown_code(text if title == "Recap" else part)


def passages(text: str, reach: int = 1) -> Iterator[tuple[str, str]]:
    """Each piece of a text, with the code of the blocks right before and right behind it, or of more of them."""
    pieces, blocks, end = [], [""], 0
    for block in BLOCK.finditer(text):
        if (piece := text[end : block.start()]).strip():
            pieces.append(piece)
            blocks.append("")
        blocks[-1] += f"{block[0]}\n"
        end = block.end()
    pieces.append(text[end:])
    blocks.append("")
    for number, piece in enumerate(pieces, 1):
        around = blocks[max(0, number - reach) : number + reach]
        yield piece, shown_code("".join(around))


def sentences(text: str) -> list[str]:
    """The sentences of a text, each in one line; of its markup, the addresses of links are left."""
    text = re.sub(r"[`*]|\{value\}", "", BLOCK.sub("\n\n", text))
    parts = re.split(r"\n\n|(?<=[.:?!])\s|^\W*[-*] ", text, flags=re.M)
    return [" ".join(part.split()) for part in parts if part]


def numbers_of_code(code: str) -> set[str]:
    digits = re.findall(r"(?<![\w.])\d+(?:\.\d+)?", re.sub(r"(?<=\d)_(?=\d)", "", code))
    digits += [number.removesuffix(".0") for number in digits]
    powers = re.findall(r"(?:([\d.]+) \* )?\b10(?:\.0)?\*\*(-?\d+)", code)
    digits += [f"{times or 1}e{power}" for times, power in powers]
    digits += [f"{base}**{power}" for base, power in re.findall(POWER, code)]
    digits += [f"2**{power}" for power in re.findall(r"\b1\}? << (\d+)", code)]
    bits = [*digits, *re.findall(r"(?<=[a-z])\d+(?=_t\b|\b)", code)]
    digits += [f"{number} bits" for number in bits]
    words = set(re.findall(r"[a-z]+", code)) & set(WORDS)
    found = {*digits, *(str(WORDS.index(word)) for word in words)}
    counted = {int(number) for number in found if re.fullmatch(r"\d\d?", number)}
    return found | {f"place {place}" for n in counted for place in (n, n + 1)}


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


def numbers(prose: str, words: bool = True) -> set[str]:
    """The numbers of a text, words from three on too, without those in links, headings and lists."""
    for taken_out in (
        r"^(`{3,}).*?^\1$",  # blocks
        r"\{\w+\}`[^`]*`",
        r"`ssh[^`]*`",
        r"\[[^\]]*\]\([^)]*\)",
        r"^#+ ",
        r"^\d+\.",
        r"(?:TensorFlow|[Vv]ersion) \d[\d.]*",
    ):
        prose = re.sub(taken_out, "", prose, flags=re.M | re.S)
    prose = re.sub(r"(?<=\d)[ ,](?=\d{3}\b)", "", prose)
    bits = r"(?<![\w.])(\d+)[ -]bits?\b"
    found = {f"{number} bits" for number in re.findall(bits, prose)}
    prose = re.sub(bits, "", prose)
    found |= {
        number for number in NUMBER.findall(prose) if float(number) not in (0, 1, 2)
    }
    for word in re.findall(r"[a-z]+(?:-[a-z]+)?", prose.lower()):
        tens, _, ones = word.partition("-")
        if words and tens in TENS and ones in WORDS[1:10]:
            found.add(str(10 * TENS.index(tens) + WORDS.index(ones)))
            continue
        for part in (tens, ones) if words else ():
            if part in WORDS[THREE:]:
                found.add(str(WORDS.index(part)))
            elif part in ORDINALS:
                found.add(f"place {ORDINALS.index(part) + THREE}")
    for digits, power in re.findall(r"(?:([\d.]+)·)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", prose):
        found.add(f"{digits or 1}e{power.translate(SUPERSCRIPT)}")
    for base, power in re.findall(r"\b([2-9])([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", prose):
        found.add(f"{base}**{power.translate(SUPERSCRIPT).lstrip('-')}")
    return found


def numbered_cells(page: Path) -> Iterator[tuple[str, str]]:
    """Each cell with its place, `zero_out.md:44`."""
    text = page.read_text()
    for match in CELL.finditer(text):
        yield f"{page.name}:{text[: match.start()].count(chr(10)) + 1}", match[1]


def report(problems: Iterable[str]) -> None:
    if text := "\n".join(problems):
        pytest.fail(text, pytrace=False)


@chapters
def test_a_page_has_few_lines_for_its_readers(page):
    """Text and code that they see. What is hidden stands beside the sentence that it draws or holds."""

    def seen(match: re.Match) -> str:
        return "" if has_tag(match[1], *TAGS) else match[0]

    lines = CELL.sub(seen, FRONT_MATTER.sub("", page.read_text())).split("\n")
    contributing = (book.ROOT / "CONTRIBUTING.md").read_text()
    [most] = re.findall(r"at most (\d+) lines", contributing)
    assert sum(bool(line.strip()) for line in lines) <= int(most)


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


@functools.cache
def names_in_headers() -> set[str]:
    """The names of TensorFlow's C++ that look like code and are not its Python's too."""
    tensorflow = Path(sysconfig.get_path("purelib"), "tensorflow")
    cpp, python = (
        {
            name
            for pattern in patterns
            for path in tensorflow.glob(pattern)
            for name in NAME.findall(path.read_text(errors="ignore"))
        }
        for patterns in (HEADERS[:-1], HEADERS[-1:])
    )
    return {name for name in cpp - python if re.search("[A-Z]|_(?!t$)", name)}


@chapters
def test_names_of_tensorflow_in_the_text_are_in_the_code_of_the_page(page):
    """A removed cell is enough. Another function of TensorFlow's exists, too, but is not the one that is meant."""
    text = page.read_text()
    folders = {EXAMPLES / name for name in re.findall(r"\bexamples/(\w+)", text)}
    files = [path for folder in folders for path in folder.glob("*.[chp]*")]
    files += book.ROOT.glob("opcheck/*.py")
    include = Path(sysconfig.get_path("purelib"), "tensorflow", "include")
    files += [include / name for name in re.findall(r"`(tensorflow/\S+\.h)`", text)]
    code = shown_code(text) + "".join(path.read_text() for path in files)
    others = names_in_headers() - {*NAME.findall(code), *ELSEWHERE}
    report(
        f"{page.name}: `{token.content}`: the page and its example have no {name}"
        for before, token in pairwise(inline(page))
        if token.type == "code_inline" and not re.search("[ /=]", token.content)
        if not before.content.endswith("}")  # a role
        for name in sorted(set(NAME.findall(token.content)) & others)
    )


@chapters
def test_values_in_the_text_are_in_the_code_of_the_page(page):
    """Of `compression_type="GZIP"` the string, and the number of `count=1`; of paths and patterns, other tests tell."""
    text = page.read_text()
    folders = re.findall(r"\b(?:examples/|snippet\} +)(\w+)", text)
    files = [x for name in folders for x in EXAMPLES.glob(f"{name}/*.[chp]*")]
    files = [x for x in files if not x.stem.endswith(("_test", "_fuzz"))]
    files += [
        book.DOCS / "pictures" / f"{name}.py"
        for name in re.findall(r"\bfrom pictures(?:\.| import )(\w+)", text)
    ]
    files = [path.with_suffix(path.suffix or ".py") for path in files]
    code = shown_code(text) + "".join(x.read_text() for x in files if x.is_file())
    report(
        f"{page.name}: `{token.content}`: the page and its example have no {value}"
        for token in inline(page)
        if token.type == "code_inline"
        for values in re.findall(r"\"([^\"]+)\"|'([^']+)'|=(\w+)\b", token.content)
        if (value := "".join(values)) not in code
        and not re.search(r"/|^name: |^more inputs", value)
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


def names_in(tree: ast.AST, kind: type) -> set[str]:
    """Those that are read, or bound, there."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, kind):
            found.add(node.id)
        elif kind is ast.Store and isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif kind is ast.Store and isinstance(node, ast.arg):
            found.add(node.arg)
        elif kind is ast.Store and isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif kind is ast.Store and isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
    return found


@chapters
def test_a_shown_cell_uses_what_the_reader_has_seen(page):
    """Its names are of shown cells, or imported."""
    found = list(numbered_cells(page))
    seen = {*dir(builtins), "display", "table", "_"}
    for _, cell in found:
        for node in ast.walk(python(cell)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                seen |= names_in(node, ast.Store)
    problems = []
    for place, cell in found:
        if has_tag(cell, "remove-"):
            continue
        tree = python(cell)
        seen |= names_in(tree, ast.Store)
        if has_tag(cell, "hide-input"):
            continue
        problems += [
            f"{place}: no cell before shows where {name} comes from"
            for name in sorted(names_in(tree, ast.Load) - seen)
        ]
    report(problems)


def displaying(tree: ast.Module) -> list[ast.stmt]:
    """The statements of a cell that print something, and its last line."""
    last = [line for line in tree.body[-1:] if isinstance(line, ast.Expr)]
    return [line for line in tree.body if "print(" in ast.unparse(line) or line in last]


@chapters
def test_a_check_is_of_what_comes_out(page):
    """Of the names in it, of the printed text, or of the error that was expected."""
    functions = checking_functions(page)
    found = [*numbered_cells(page), ("", "")]
    problems = []
    for (place, cell), (_, following) in pairwise(found):
        guard = following if has_tag(following, "remove-cell") else ""
        tree, checks = python(cell), python(guard).body
        shown = displaying(tree)
        if has_tag(cell, "remove-", "hide-input") or not shown:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert) or (
                isinstance(node, ast.Expr) and "assert" in ast.unparse(node.value)
            ):
                checks.append(node)
            elif isinstance(node, ast.With) and "raises" in ast.unparse(node.items):
                checks += [
                    item.optional_vars for item in node.items if item.optional_vars
                ]
        checked = {name for node in checks for name in names_in(node, ast.Load)}
        checked |= {name for node in checks for name in names_in(node, ast.Store)}
        names = {name for node in shown for name in names_in(node, ast.Load)}
        if not checked & {*names, "_", "printed"} and not names & {*functions, "table"}:
            problems.append(
                f"{place}: `{ast.unparse(shown[-1])}` is not what is asserted"
            )
    report(problems)


def problems_of(cell: str) -> Iterator[str]:
    tree = python(cell)
    yield from (*always_true(tree), *vague(tree), *unasserted(tree))
    if has_tag(cell, "remove-cell"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert) and isinstance(node.test, ast.Name):
                yield f"{ast.unparse(node)} says too little"
    if has_tag(cell, "remove-cell") and tree.body:
        last = tree.body[-1]
        if isinstance(last, ast.Expr) and isinstance(
            last.value, ast.Compare | ast.BoolOp
        ):
            yield f"{ast.unparse(last)} without assert"
    if has_tag(cell, "remove-input") and "print(" in cell:
        yield "what is printed is shown without its code: only tables and drawings are"
    if "%%bash" in cell and (swallowed := SWALLOWED.search(cell)):
        yield f"{swallowed[0].strip()} makes a failing command pass"
    if "%%bash -e\n" in cell and re.search(r"(?<!\|)\|(?!\|)", cell):
        yield "without -o pipefail a command passes that fails before a bar"


@pytest.mark.parametrize(
    "page", [*CHAPTERS, book.DOCS / "index.md"], ids=lambda path: path.stem
)
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
    allowed = {"file_format", "kernelspec", "ops", "learn", "holds"}
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
        ("nb_execution_timeout", "1500"),
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
def test_the_unit_behind_a_value_is_in_its_name(page):
    """Where it is recorded, beside the computation: another unit in the text fails here."""
    values = r"\{value\}`(\w+)[^`]*`\s+(%|[^\W\d]+)"
    report(
        f"{page.name}: {name} is said to be in {unit}: its name does not say so"
        for name, unit in re.findall(values, page.read_text())
        if unit in UNITS and not re.search(rf"(^|_)({UNITS[unit]})", name)
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


@pytest.mark.parametrize(
    "path", [*TESTS, *book.DOCS.glob("pictures/*.py")], ids=lambda path: path.stem
)
def test_checks_of_a_test_can_fail(path):
    tree = ast.parse(path.read_text())
    found = [*always_true(tree), *vague(tree, 4, 1e-3), *unasserted(tree)]
    report(f"{path.name}: {check}" for check in found)


@chapters
def test_numbers_in_the_text_are_in_the_code_of_their_section(page):
    report(
        f"{page.name}, {title}: {number} is in no cell here: show it by {{value}}, or assert it in a removed cell"
        for title, text, code in parts(page)
        for number in sorted(numbers(text) - numbers_of_code(code))
    )


@chapters
@pytest.mark.parametrize("words, reach", [(False, 1), (True, 3)])
def test_a_number_is_in_the_code_beside_it(page, words, reach):
    """One that is written as a word may be in the code a little further on."""
    report(
        f"{page.name}, {title}: {number} is in the code of the section, but not near "
        f"`{' '.join(piece.split())[:60]}…`: show it by {{value}}, or assert it there in a removed cell"
        for title, text, code in parts(page)
        if title not in ("top", "Recap")
        for piece, near in passages(text, reach)
        for number in sorted(numbers(piece, words) - numbers_of_code(near))
        if number in numbers_of_code(code)  # else the test above has said it
    )


def test_numbers_in_the_glossary_are_in_the_sections_that_it_leads_to():
    for terms, meaning, texts in glossary():
        known = {number for text in texts for number in numbers(text)}
        assert numbers(meaning) <= known, terms


def test_numbers_in_the_readme_are_those_of_the_programs():
    files = [book.ROOT / name for name in ("Makefile", "pyproject.toml", ".ci/run")]
    files += [*book.ROOT.glob("tools/*.*"), *book.ROOT.glob(".github/workflows/*.yml")]
    code = re.sub(
        r"\d+(?:\.\d+)?(?= (?:MB|GB|MiB|GiB|s|ms)\b)",
        "",
        "".join(map(Path.read_text, files)),
    )
    readme = re.sub(r"\[.*?\]\(.*?\)", "", (book.ROOT / "README.md").read_text())
    readme = re.sub(r"(?<=\d)–(?=\d)", " to ", readme)
    assert not numbers(readme) - numbers_of_code(code)


@functools.cache
def names_of_tests() -> list[str]:
    return re.findall(r"\btest_\w+", "".join(path.read_text() for path in TESTS))


def not_run(page: str) -> Iterator[str]:
    """The tests that a section shows and its commands leave out, and words after `-k` that choose no test."""
    for section in re.split(r"^(?=##+ )", page, flags=re.M):
        shown = re.findall(r":pyobject: (?:\w+\.)?(test_\w+)", section)
        for command in re.findall(r"-m pytest\b((?:\\\n|[^\n|])*)", section):
            chosen = re.search(r"\s-k\s+(\"[^\"]*\"|\w+)", command)
            words = set(re.findall(r"\w+", chosen[1])) - {"or"} if chosen else {""}
            for test in shown:
                if not any(word in test for word in words):
                    yield f"{test} is shown, but `-k {chosen[1]}` leaves it out"
            for word in sorted(words):
                if not any(word in test for test in names_of_tests()):
                    yield f"-k {word} chooses no test"


@chapters
def test_a_command_runs_the_tests_that_its_section_shows(page):
    report(f"{page.name}: {problem}" for problem in not_run(page.read_text()))


@pytest.mark.parametrize("words", ["dtype", "no_such_test or equals"])
def test_a_narrower_choice_of_tests_is_found(words):
    shown = "```{literalinclude} x_test.py\n:pyobject: test_equals_the_reference\n```\n"
    assert [*not_run(f'{shown}python -m pytest examples/x -k "{words}"\n')]


def quoted(page: Path) -> dict[str, str]:
    """What the assertions that readers do not see say when they fail, and where they are."""
    return {
        " ".join(sentences(node.msg.value)): place
        for place, cell in numbered_cells(page)
        if has_tag(cell, "remove-")
        for node in ast.walk(python(cell))
        if isinstance(node, ast.Assert) and isinstance(node.msg, ast.Constant)
    }


@chapters
def test_what_a_guard_says_is_in_the_text(page):
    """`assert fast < slow, "the first is faster"` holds these words of the text: a changed word fails here."""
    text = " ".join(sentences(page.read_text()))
    report(
        f"{place}: the text does not say `{words}`"
        for words, place in quoted(page).items()
        if words not in text
    )


@chapters
def test_a_typed_table_is_held_line_by_line(page):
    """By assertions, each with such a line as its message. What code knows otherwise, `table` shows."""
    lines = re.findall(r"^\|.*\|$", BLOCK.sub("", page.read_text()), re.M)
    report(
        f"{page.name}: `{line}` is no assertion's message: let `table` show what a cell computes"
        for line in lines
        if re.search(r"\w", line)
        if not any(" ".join(sentences(line)) in words for words in quoted(page))
    )


@chapters
def test_a_promise_is_held_by_an_assertion_or_has_a_source(page):
    text = page.read_text().replace("{value}`", "`\0")
    report(
        f"{page.name}: `{sentence}`: {match[0]} needs an assertion with words of the sentence as its message, "
        "in a removed cell, or a link to its source"
        for sentence in sentences(text)
        if (match := PROMISES.search(sentence)) and "](" not in sentence
        if "take" not in match[0] or not ("\0" in sentence or READING.search(sentence))
        if not any(
            words in sentence.replace("\0", "") and match[0] in words
            for words in quoted(page)
        )
    )


@pytest.mark.parametrize(
    "check",
    [
        "assert x == x",
        "def test_it():\n    expected = f(1)\n    x = f(1)\n    assert x == expected",
        "from zero_out import zero_out\n"
        "def test_it(mode):\n    expected = zero_out(1)\n    assert mode(zero_out)(1) == expected",
        "assert True",
        "assert (x == y, 'a tuple')",
        "np.testing.assert_array_equal(x, x)",
        "np.testing.assert_allclose(x, y, atol=9)",
        "np.testing.assert_allclose(x, y, 1, 1)",
        "assert x == pytest.approx(y, rel=0.5)",
        "with contextlib.suppress(AssertionError):\n    assert x == 1",
        "pytest.raises(ValueError)",
        "pytest.raises(ValueError, match='')",
        "pytest.raises(ValueError, match='dimension -1|')",
        "assert x == 1 or True",
        ":tags: [remove-cell]\n\nassert x",
        "x = np.random.default_rng().normal()",
        "if False:\n    assert x == 1",
        "for x in []:\n    assert x == 1",
        "try:\n    assert x == 1\nexcept AssertionError:\n    pass",
        "x == 1\nprint(x)",
        "session({'f(1)': '.*', 'x = 1': ''})",
        "grids({'before': after, 'after': before})",
        "record(one=many[0], many=one[0])",
        ":tags: [remove-cell]\n\nx == 1",
        "%%bash -e\ngrep word file || true",
    ],
)
def test_a_check_that_says_nothing_is_found(check):
    assert [*problems_of(check)]


def test_numbers_are_found():
    prose = "Four of 19, 1 000 or 0.5, in `[3,?]`, {value}`x:.6f`, int32, version 7.\n## 8\n```\n9\n```\n"
    assert numbers(prose) == {"4", "19", "1000", "0.5", "3", "8"}
    assert numbers("The eighth is 2³¹") == {"place 8", "2**31"}
    assert numbers_of_code("seven(1 << 31, 2**5)") >= {"place 8", "2**31", "2**5"}
    assert numbers("Twenty-three of 1.2·10⁻³⁸") == {"23", "1.2", "10", "1.2e-38"}
    assert numbers_of_code("five = 5_000 + 2.0") >= {"5", "5000", "2"}
