"""Pages as tests read them: their Markdown by markdown-it, and in it the cells and directives of MyST."""

import functools
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest
import yaml
from book import DOCS, ROOT
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

MARKDOWN = MarkdownIt("commonmark").enable("table")
MARKDOWN.use(front_matter_plugin).use(myst_role_plugin)


class Block(NamedTuple):
    """A fenced block: what its first line says, its options, its text, and the line of the page where it begins."""

    kind: str
    argument: str
    options: dict[str, str]
    text: str
    line: int

    @property
    def tags(self) -> list[str]:
        return re.findall(r"[\w-]+", self.options.get("tags", ""))


class Page:
    """A Markdown file of the book."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.stem

    def at(self, line: int) -> str:
        """A place to click on, such as docs/zero_out.md:44."""
        return f"{self.path.relative_to(ROOT)}:{line}"

    @functools.cached_property
    def text(self) -> str:
        return self.path.read_text()

    @functools.cached_property
    def tokens(self) -> list[Token]:
        # What is in a directive of colons is part of the page.
        return MARKDOWN.parse(re.sub(r"^:{3,}.*$", "", self.text, flags=re.M))

    @functools.cached_property
    def front(self) -> dict[str, object]:
        if self.tokens and self.tokens[0].type == "front_matter":
            return yaml.safe_load(self.tokens[0].content)
        return {}

    @functools.cached_property
    def blocks(self) -> list[Block]:
        found = []
        for token in self.tokens:
            if token.type == "fence":
                kind, _, argument = token.info.strip().partition(" ")
                parts = re.match(r"((?::[^\n]*\n)*)\n*(.*)", token.content, re.S)
                options = dict(re.findall(r"^:([\w-]+): *(.*)$", parts[1], re.M))
                line = token.map[0] + 1
                found.append(Block(kind, argument.strip(), options, parts[2], line))
        return found

    def directives(self, name: str) -> list[Block]:
        return [block for block in self.blocks if block.kind == f"{{{name}}}"]

    @property
    def cells(self) -> list[Block]:
        return self.directives("code-cell")

    @functools.cached_property
    def inline(self) -> list[tuple[int, Token]]:
        """The pieces of its text, with their lines."""
        return [
            (token.map[0] + 1, child)
            for token in self.tokens
            if token.type == "inline"
            for child in token.children
        ]

    @functools.cached_property
    def links(self) -> list[tuple[int, str]]:
        """The line and the address of each link."""
        return [
            (line, unquote(token.attrs["href"]))
            for line, token in self.inline
            if token.type == "link_open"
        ]

    @functools.cached_property
    def code(self) -> list[tuple[int, str]]:
        """What it shows as code, in the text, in blocks and in cells, with their lines."""
        spans = [(n, each.content) for n, each in self.inline if each.tag == "code"]
        return spans + [(block.line, block.text) for block in self.blocks]


PAGES = [Page(path) for path in sorted(DOCS.glob("*.md"))]
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def report(problems: Iterable[str]) -> None:
    """Fails with one line for each problem: where it is, what is wrong, what to do."""
    if text := "\n".join(problems):
        pytest.fail(text, pytrace=False)


@functools.cache
def project_files() -> list[Path]:
    """The files that belong to the book, new ones too, and nothing that was made of them."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        found = [ROOT / name for name in run.stdout.split("\0") if name]
    except FileNotFoundError:  # no git
        found = []
    return [path for path in found or _without_git() if path.is_file()]


def _without_git() -> Iterator[Path]:
    endings = ".c .cc .cmake .css .csv .h .js .md .py .sh .svg .toml .txt .yml".split()
    for path in sorted(ROOT.glob("[a-z]*/**/*.*")):
        if path.suffix in endings and not path.is_relative_to(ROOT / "build"):
            yield path
