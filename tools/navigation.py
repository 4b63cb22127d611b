"""Sphinx extension: the part and the number of a page, and the chapters for the page of no address."""

import functools
import html
import re
from collections.abc import Iterator
from pathlib import Path

from book import parts
from sphinx.application import Sphinx

LOOKUPS = "Tools"  # the part whose pages one looks things up in: they have no numbers
LINK = re.compile(r'<a [^>]*class="[^"]*reference internal" href="([\w.#/]*)">')


def chapters(app: Sphinx) -> dict[str, list[str]]:
    """The parts of the book that is built, and the names of their pages."""
    found = parts(Path(app.env.doc2path(app.config.root_doc)))
    known = app.env.all_docs
    return {part: [x for x in pages if x in known] for part, pages in found.items()}


def places(app: Sphinx) -> Iterator[tuple[str, str, int | None]]:
    """The name of each page, its part, and its number."""
    number = 0
    for part, pages in chapters(app).items():
        for page in pages:
            number += part != LOOKUPS
            yield page, part, None if part == LOOKUPS else number


def numbered(tree: str, numbers: dict[str, int], page: str) -> str:
    """A table of contents with the numbers of the chapters."""

    def with_number(match: re.Match) -> str:
        # A link to the page itself is "#", and one from a folder begins with "../".
        name = match[1].rpartition("/")[2].partition(".html")[0].strip("#") or page
        number = numbers.get(name)
        shown = f'<span class="chapter-number">{number}</span> ' if number else ""
        return f"{match[0]}{shown}"

    return LINK.sub(with_number, tree)


def show_place(app: Sphinx, page: str, template: str, context: dict, _) -> None:
    found = {name: (part, number) for name, part, number in places(app)}
    numbers = {name: number for name, (_, number) in found.items() if number}
    context["numbered"] = functools.partial(numbered, numbers=numbers, page=page)
    if page == "404":
        logo = Path(app.confdir) / app.config.html_logo
        context["logo_svg"] = logo.read_text()
        context["parts"] = {
            part: [(name, app.env.titles[name].astext()) for name in pages]
            for part, pages in chapters(app).items()
        }
    if page in found and "body" in context:
        part, number = found[page]
        place = f"{number} · {part}" if number else part
        place = f'<p class="place">{html.escape(place)}</p>\n'
        context["body"] = context["body"].replace("<h1>", f"{place}<h1>", 1)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", show_place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
