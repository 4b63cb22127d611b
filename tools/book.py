"""Where the book's files lie, and which of them are its chapters and its examples."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"


def chapters(docs: Path = DOCS) -> dict[str, Path]:
    """From the name of each chapter to its page: the pages that have cells, and so name a kernel."""
    return {
        page.stem: page
        for page in sorted(docs.glob("*.md"))
        if re.match(r"---\n(?:(?!---).*\n)*kernelspec:", page.read_text())
    }


def examples() -> list[str]:
    """The names of the examples."""
    return sorted(path.parent.name for path in EXAMPLES.glob("*/CMakeLists.txt"))
