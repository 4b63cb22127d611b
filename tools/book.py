"""Where the book's files lie, and which of them are its chapters and its examples."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

# jsonschema, which nbformat imports, would make 38 parsers for formats of addresses that no notebook has, which takes
# 2.7 s of a processor.
sys.modules.setdefault("rfc3987_syntax", None)

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"


def chapters(docs: Path = DOCS) -> dict[str, Path]:
    """From the name of each chapter to its page: the pages that have cells, and so name a kernel, but for the first."""
    return {
        page.stem: page
        for page in sorted(docs.glob("*.md"))
        if page.stem != "index"
        and re.match(r"---\n(?:(?!---).*\n)*kernelspec:", page.read_text())
    }


def parts() -> dict[str, list[str]]:
    """From the title of each part of the book to the names of its pages, in the order of reading."""
    index = (DOCS / "index.md").read_text()
    body = re.search(r"^```\{chapters\}\n(.*?)^```$", index, re.M | re.S)
    return listed_parts(body[1].splitlines())


def listed_parts(lines: Iterable[str]) -> dict[str, list[str]]:
    """The parts as the directive `chapters` lists them: the title with a colon, below it `- page` for each page."""
    found, pages = {}, []
    for line in filter(None, lines):
        if line.endswith(":"):
            pages = found.setdefault(line.removesuffix(":"), [])
        else:
            pages.append(line.removeprefix("- "))
    return {title: pages for title, pages in found.items() if pages}


def examples() -> list[str]:
    """The names of the examples."""
    return sorted(path.parent.name for path in EXAMPLES.glob("*/CMakeLists.txt"))
