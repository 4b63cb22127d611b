"""What pages show of the examples' sources, and what is in an example."""

import functools
import re

from book import EXAMPLES, ROOT, chapters, examples
from page_source import PAGES, pages, project_files, report
from sections import sections

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
