"""Sphinx extension: the directives and the role of the pages, and the order in which pages are executed."""

import functools
import html
import re
from collections.abc import Iterable
from pathlib import Path

import sphinx.builders
import yaml
from book import EXAMPLES, listed_parts
from docutils import nodes
from docutils.statemachine import StringList
from measured import number
from myst_nb.ext.glue.roles import PasteTextRole
from sections import sections, without_names
from sphinx.application import Sphinx
from sphinx.directives.code import LiteralInclude
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective


class Snippet(LiteralInclude):
    """`{snippet} zero_out/zero_out.cc#kernel`: a named section of an example's source."""

    def run(self) -> list[nodes.Node]:
        file, _, section = self.arguments[0].partition("#")
        path = EXAMPLES / file
        self.env.note_dependency(str(path))
        found = sections(path) if path.exists() else {}
        if section not in found:
            what = f"examples/{file} has no section [{section}]"
            return [self.state.document.reporter.error(what, line=self.lineno)]
        first, last = found[section]
        self.arguments[0] = "/" + str(Path("..") / "examples" / file)
        language = "cuda" if file.endswith(".cu.cc") else "c++"
        self.options |= {
            "lines": f"{first}-{last}",
            "language": language,
            "caption": f"examples/{file}",
        }
        return super().run()


class Drawing(SphinxDirective):
    """`{drawing} call_path.svg` with the text alternative as its body: an SVG that follows the page's colours."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.doc2path(self.env.docname)).parent / self.arguments[0]
        self.env.note_dependency(str(path))
        if not path.exists():
            what = f"there is no drawing {path.name}"
            return [self.state.document.reporter.error(what, line=self.lineno)]
        label = html.escape(" ".join(self.content))
        svg = path.read_text().replace(
            "<svg ", f'<svg role="img" aria-label="{label}" class="drawing" ', 1
        )
        # The theme lets the keyboard scroll what has this class, where it does scroll.
        scrolls = "pst-scrollable-table-container"
        drawing = f'<div class="drawing {scrolls}">{svg}</div>'
        return [nodes.raw("", drawing, format="html")]


class Caption(SphinxDirective):
    """`{caption}`: what to see in the picture above it."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        found = self.parse_content_to_nodes()
        for paragraph in found:
            paragraph["classes"].append("caption")
        return found


class Value(PasteTextRole):
    """``{value}`speed:2` ``: what a cell recorded, in two digits; its name on a page that is not executed."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        name, _, form = self.text.partition(":")
        if self.document.settings.env.config.nb_execution_mode == "off":
            return [nodes.literal(name, name)], []
        if form.isdigit() and form != "2":
            what = f"{self.text}: two digits, :2, or a format such as :.{form}f"
            return [], [self.document.reporter.error(what, line=self.line)]
        if form != "2":
            return super().run()
        self.text = f"{name}:.9g"
        found, messages = super().run()
        texts = [number(float(node.astext())) for node in found]
        return [
            nodes.inline(text, text, classes=["pasted-text"]) for text in texts
        ], messages


class Chapters(SphinxDirective):
    """The parts of the book: a section, a table of contents and a table of what its pages teach for each.

    The body has the title of a part with a colon, and below it `- page` for each page. In a page's front matter, `ops`
    are its ops, of which the examples must know, and `learn` is what readers learn. A page to look things up in has
    `holds`, which says what is there.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        parts = listed_parts(self.content)
        return [self.part(title, pages) for title, pages in parts.items()]

    def part(self, title: str, pages: list[str]) -> nodes.section:
        part = nodes.section(ids=[nodes.make_id(title)])
        part += nodes.title(title, title)
        table = ["| Page | You learn to |", "|---|---|"]
        lookups, others = ["| To look up | What is there |", "|---|---|"], []
        listed = self.env.metadata[self.env.docname].setdefault("listed", {})
        for path in (Path(self.env.doc2path(page)) for page in pages):
            listed[str(path)] = says = front_matter(path)
            for op in says.get("ops", []):
                if not re.search(rf'"(\w+>)?{op}"', sources()):
                    what = f"{path.name}: no example registers an op {op}"
                    part += self.state.document.reporter.error(what, line=self.lineno)
            link = f"[{says.get('title')}]({path.name})"
            if "learn" in says:
                table.append(f"| {link} | {says['learn']} |")
            elif "holds" in says:
                lookups.append(f"| {link} | {says['holds']} |")
            elif says:  # else the table of contents complains
                others.append(link)
        contents = ["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"]
        tables = [line for rows in (table, lookups) if rows[2:] for line in (*rows, "")]
        lines = [*tables, " · ".join(others), "", *contents]
        self.state.nested_parse(StringList(lines), self.content_offset, part)
        return part


def front_matter(path: Path) -> dict[str, object]:
    """What a page says of itself, its title included; nothing if there is no such page."""
    text = path.read_text() if path.exists() else ""
    found = re.match(r"(?:---\n(.*?\n)---\n)?.*?^# (.*?)$", text, re.S | re.M)
    try:
        return {**yaml.safe_load(found[1] or "{}"), "title": found[2]} if found else {}
    except yaml.YAMLError:  # of which MyST complains when it reads the page
        return {"title": found[2]}


def outdated_lists(app: Sphinx, env: BuildEnvironment, *_: object) -> list[str]:
    """The pages that list others which now say something else of themselves."""
    return [
        page
        for page, about in env.metadata.items()
        if any(
            front_matter(Path(path)) != said
            for path, said in about.get("listed", {}).items()
        )
    ]


@functools.cache
def sources() -> str:
    """The C++ code of the examples."""
    return "".join(path.read_text() for path in EXAMPLES.rglob("*.cc"))


def stay_here(app: Sphinx, page: str, template: str, context: dict, _) -> None:
    """Links to the published site, as opcheck's reports have them, lead to the site that is being built."""
    if "body" in context:
        published = f'href="{app.config.html_baseurl}'
        context["body"] = context["body"].replace(published, 'href="')


def longest_first(source: Path, pages: Iterable[str], *_: object) -> list[list[str]]:
    """One page after the other for each process, and first those whose cells compile and run other programs.

    By itself, Sphinx would give each process a share of the pages at the start, and in the end one would work on a
    long page and the others on nothing.
    """
    programs = {
        page: (source / f"{page}.md").read_text().count("%%bash") for page in pages
    }
    return [[page] for page in sorted(programs, key=programs.get, reverse=True)]


def tidy_listings(app: Sphinx, document: nodes.document) -> None:
    """Takes from what is included the blank lines at its end, and the names of sections, which are for authors."""
    for block in document.findall(nodes.literal_block):
        if source := block.get("source"):
            text = block.astext().rstrip("\n") + "\n"
            if source.endswith((".c", ".cc", ".h")):
                text = without_names(text)
            block.rawsource, block[:] = text, [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, bool]:
    source = Path(app.srcdir)
    sphinx.builders.make_chunks = functools.partial(longest_first, source)
    app.connect("doctree-read", tidy_listings)
    app.connect("html-page-context", stay_here)
    app.connect("env-get-outdated", outdated_lists)
    app.add_directive("snippet", Snippet)
    app.add_directive("drawing", Drawing)
    app.add_directive("caption", Caption)
    app.add_directive("chapters", Chapters)
    app.add_role("value", Value())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
