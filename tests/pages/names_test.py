"""What a page names is there: targets, paths, options, links, versions, and other pages in the right order."""

import functools
import re
import sysconfig
from collections.abc import Iterator
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest
from book import ROOT, examples, parts, urls
from packaging.requirements import Requirement
from page_source import PAGES, Page, project_files, report

TENSORFLOW = r"https://github\.com/tensorflow/tensorflow/(?:blob|tree)/([^/]+)/([^#]*)"
INCLUDE = Path(sysconfig.get_path("purelib"), "tensorflow", "include")
FOLDERS = "bench|cmake|docs|examples|packages|tests|tools"
# What readers are to put in: x_test.py, NAME, <name>, …
PLACEHOLDER = re.compile(r"\bx(?:_\w+)?\b|\bNAME\b|[<>*…{}$]")
Problems = Iterator[tuple[int, str]]  # the line, and what is wrong there


def in_code(page: Page, pattern: str) -> Iterator[tuple[int, str]]:
    """Where a page's code has a pattern, and what is in its group."""
    for line, code in page.code:
        for found in re.findall(pattern, code, re.M):
            yield line, found


@functools.cache
def programs() -> str:
    """What `make` reads and calls."""
    called = re.compile(r"Makefile|(?:tools|bench|cmake|packages)/.*\.(?:py|sh|cmake)")
    files = {path.relative_to(ROOT).as_posix(): path for path in project_files()}
    return "".join(files[name].read_text() for name in files if called.fullmatch(name))


def targets(page: Page) -> Problems:
    folders = ROOT, ROOT / "examples" / "packaging"  # the book's, a project's
    makefile = "\n".join((folder / "Makefile").read_text() for folder in folders)
    known = {*re.findall(r"^([a-z][a-z-]*):", makefile, re.M), *examples()}
    for line, words in in_code(page, r"(?:^|&& )make((?: (?!2>)[\w.=/'-]+)+)"):
        for word in words.split():
            name, is_variable, _ = word.partition("=")
            fits = (
                re.search(rf"\b{name}\b", programs()) if is_variable else name in known
            )
            if not fits and not PLACEHOLDER.search(word):
                kind = "variable" if is_variable else "target"
                yield line, f"`{word}` is no {kind} of make: see `make help`"


def is_made(path: Path) -> bool:
    """Whether CMake or a measurement makes a file: then its name is known there."""
    makers = [path.parent / "CMakeLists.txt", path.with_suffix(".py")]
    known = "".join(maker.read_text() for maker in makers if maker.is_file())
    return path.stem.removeprefix("lib") in re.findall(r"\w+", known)


def paths(page: Page) -> Problems:
    for line, path in in_code(page, rf"(?<![\w/.-])((?:{FOLDERS})/[\w./-]*\w)"):
        if not (ROOT / path).exists() and not is_made(ROOT / path):
            if not PLACEHOLDER.search(path) and "/build" not in path:
                yield line, f"there is no {path}: has it moved?"


def options(page: Page) -> Problems:
    pattern = r"((?:tools|bench)/\w+\.py|python -m opcheck)\b([^\n|;&']*)"
    for line, (program, arguments) in in_code(page, pattern):
        name = program.replace("python -m opcheck", "opcheck/command.py")
        source = "".join(x.read_text() for x in project_files() if x.match(name))
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", arguments):
            if f'"{option}"' not in source:
                yield line, f"{program} has no option {option}"


def links_to_the_repository(page: Page) -> Problems:
    for line, address in page.links:
        pattern = rf"{urls()['Repository']}/(tree|blob)/main/([^#]*)(?:#L(\d+))?.*"
        if found := re.fullmatch(pattern, address):
            kind, path, number = found.groups()
            file = ROOT / path
            fits = file.is_dir() if kind == "tree" else file.is_file()
            if fits and number:
                fits = int(number) <= len(file.read_text().splitlines())
            if not fits:
                what = "folder (tree)" if kind == "tree" else "file (blob) or line"
                yield line, f"no such {what}: {address}"


def links_to_tensorflow(page: Page) -> Problems:
    """Of the proven version, or of a commit. A header is in the package."""
    constraints = (ROOT / "constraints.txt").read_text()
    proven = re.search(r"^tensorflow-cpu==([\d.]+)", constraints, re.M)[1]
    installed = any(INCLUDE.parents[1].glob(f"tensorflow*-{proven}.dist-info"))
    for line, address in page.links:
        if found := re.match(TENSORFLOW, address):
            version, path = found[1], found[2].removeprefix("third_party/xla/")
            if version == f"v{proven}":
                is_header = installed and path.endswith(".h")
                if is_header and not (INCLUDE / path).exists():
                    yield line, f"TensorFlow {proven} has no {path}"
            elif len(version) != 40:
                yield line, f"{address}: link to v{proven}, which constraints.txt names"


def extras(page: Page) -> Problems:
    known = metadata("op-by-op").get_all("Provides-Extra")
    for line, names in in_code(page, r"\bop-by-op\[([a-z,]+)\]"):
        for extra in {*names.split(",")} - {*known}:
            yield line, f"pyproject.toml has no extra {extra}"


def versions(page: Page) -> Problems:
    """In pages where TensorFlow stands before them, in the README and CONTRIBUTING anywhere."""
    needed = map(Requirement, requires("op-by-op"))
    allowed = next(each for each in needed if each.name == "tensorflow-cpu").specifier
    texts = [(n, each.content) for n, each in page.inline if each.type == "text"]
    before = "TensorFlow "
    if page.name in ("changes", "stable_abi"):  # they tell of other releases
        return
    if page not in PAGES:
        before, texts = "", texts + page.code
    for line, text in texts:
        for version in re.findall(rf"{before}\b(2\.\d\d(?:\.\d+)?)(?![\w.]*\d)", text):
            if version not in allowed:
                yield (
                    line,
                    f"TensorFlow {version} is not in {allowed} of pyproject.toml",
                )


def order(page: Page) -> Problems:
    """What a page needs comes before it, what is next comes later."""
    book = ["index", *(name for part in parts().values() for name in part)]
    need = re.search(r"^\*\*You need\*\*(.*?)(?:^\*\*|^#|\Z)", page.text, re.S | re.M)
    for name in re.findall(r"\((\w+)\.md", need[1] if need else ""):
        if book.index(name) >= book.index(page.name):
            yield (
                1,
                f"needs {name}.md, which docs/index.md lists later: move one of them",
            )
    for name in re.findall(r"^Next\b[^(]*\((\w+)\.md", page.text, re.M):
        if book.index(name) <= book.index(page.name):
            yield 1, f"goes on with {name}.md, which docs/index.md lists before it"


CHECKS = [targets, paths, options, links_to_the_repository]
CHECKS += [links_to_tensorflow, extras, versions, order]
TEXTS = [Page(ROOT / "README.md"), Page(ROOT / "CONTRIBUTING.md"), *PAGES]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page, check):
    report(f"{page.at(line)}: {problem}" for line, problem in check(page))
