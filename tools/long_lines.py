"""Sphinx extension: marks the long lines of listings, so that a window that is too narrow for one wraps it (book.css).

What goes on below is indented further than the line itself.
"""

import html
import re
from collections.abc import Iterable, Iterator

from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

SHORT = 72  # columns, which fit wherever lines wrap


class LongLines(HtmlFormatter):
    """Writes the HTML of a listing."""

    def _format_lines(self, tokens: Iterable[tuple]) -> Iterator[tuple[int, str]]:
        for kind, line in super()._format_lines(tokens):
            yield kind, marked(line) if kind else line


def marked(line: str) -> str:
    """The HTML of a line, in an element of its own if the line is long."""
    text = html.unescape(re.sub("<[^>]*>", "", line)).rstrip("\n")
    if len(text) <= SHORT:
        return line
    indent = len(text) - len(text.lstrip())
    code = line.rstrip("\n")
    style = f' style="--indent: {indent}ch"' if indent else ""
    return f'<span class="long"{style}>{code}</span>{line[len(code) :]}'


def setup(app: Sphinx) -> dict[str, bool]:
    PygmentsBridge.html_formatter = LongLines
    return {"parallel_read_safe": True, "parallel_write_safe": True}
