"""Sphinx extension: no line ends within an option or an arrow of a piece of code.

A browser would break `--version` and `ctx->x` behind a hyphen. Only the hyphen is tied to what follows: a name that is
longer than a line can still be broken elsewhere.
"""

import re

from sphinx.application import Sphinx

CODE = re.compile(r"<code\b.*?</code>", re.S)
TEXT = re.compile(r"(?<=>)[^<>]+(?=<)")
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
HYPHENS = re.compile(r"-+\w")
ARROW = re.compile(r"-&gt;")


def unbroken(written: str) -> str:
    """The HTML of a text without tags, whose options and arrows stay in one line."""

    def tied(found: re.Match) -> str:
        return f'<span class="option">{found[0]}</span>'

    written = ARROW.sub(tied, written)
    return OPTION.sub(lambda option: HYPHENS.sub(tied, option[0]), written)


def in_code(written: str) -> str:
    """The same for the pieces of code in some HTML."""
    return CODE.sub(
        lambda code: TEXT.sub(lambda text: unbroken(text[0]), code[0]), written
    )


def in_pages(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    if "body" in context:
        context["body"] = in_code(context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", in_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
