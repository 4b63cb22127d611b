"""Settings of the site, and the directives that put code onto a page."""

import functools
import html
import importlib.metadata
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import sphinx.builders
import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.directives.code import LiteralInclude
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / folder) for folder in ("tools", "docs/support", "docs")]

from book import EXAMPLES, examples, listed_parts  # noqa: E402
from measured import number  # noqa: E402
from myst_nb.ext.glue.roles import PasteTextRole  # noqa: E402
from sections import sections  # noqa: E402


def longest_first(source: Path, pages: Iterable[str], *_: object) -> list[list[str]]:
    """One page after the other for each process, and first those whose cells compile and run other programs.

    By itself, Sphinx would give each process a share of the pages at the start, and in the end one would work on a
    long page and the others on nothing.
    """
    programs = {
        page: (source / f"{page}.md").read_text().count("%%bash") for page in pages
    }
    return [[page] for page in sorted(programs, key=programs.get, reverse=True)]


metadata = importlib.metadata.metadata("op-by-op")
urls = dict(url.split(", ") for url in metadata.get_all("Project-URL"))

project = "Op by Op"
author = "the authors of Op by Op"
copyright = "2026, " + author
version = release = metadata["Version"]

extensions = [
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxext.opengraph",
    "one_page",
    "cells",
    "notebooks",
    "downloads",
    "glossary",
    "explain_field",
    "error_links",
    "search",
    "publishing",
    "stamp",
    "freshness",  # the last one: it looks at what the others complained of
]
exclude_patterns = ["_static", "_templates", "pictures", "support"]
templates_path = ["docs/_templates"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# A page is executed whenever it is read, and read again only when something that it depends on has changed. (The
# "cache" mode compares the cells alone: after a change of a .cc it would show the new code over the old output.)
nb_execution_mode = "force"
nb_execution_timeout = 1500
nb_output_stderr = "show"
nb_render_markdown_format = "myst"
# Notebooks take the outputs as they are, but MyST-NB insists on choosing.
nb_mime_priority_overrides = [
    ("notebook", "text/plain", 1),
    ("notebook", "text/html", 2),
    ("notebook", "image/png", 3),
]

copybutton_exclude = ".linenos, .gp, .go"
# What can be copied is code to run or to compile, not what came out of it.
copybutton_selector = (
    "div:not(.output, .highlight-text, .highlight-none) > div.highlight > pre"
)

html_theme = "pydata_sphinx_theme"
html_title = "Op by Op"
html_logo = html_favicon = "docs/_static/logo.svg"
html_static_path = ["docs/_static"]
html_css_files = ["book.css"]
html_js_files = ["book.js"]
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_baseurl = urls["Documentation"]
html_context = {
    "default_mode": "auto",
    "repository": urls["Repository"],
    "baseurl": html_baseurl,
}
# What a page looks like where a link to it is shared.
logo = str(Path(__file__).parent / "docs" / "_static" / "logo.png")
ogp_site_url = html_baseurl
ogp_social_cards = {
    "image": logo,
    "image_mini": logo,
    "line_color": "#0b5566",
    "font": "DejaVu Sans",  # matplotlib brings it along
}
html_sidebars = {"**": ["sidebar-chapters.html"]}
html_theme_options = {
    "logo": {"text": "Op by Op"},
    "navbar_center": [],
    "navbar_end": [],
    "navbar_persistent": ["search-button"],
    "primary_sidebar_end": [],
    "article_header_start": ["badge"],
    "article_footer_items": ["foot"],
    "secondary_sidebar_items": ["page-toc", "chapter-downloads", "report-mistake"],
    "footer_start": ["colophon"],
    "footer_end": [],
    "search_bar_text": "Search the book",
    "search_as_you_type": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


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


class Value(PasteTextRole):
    """``{value}`speed:2` ``: what a cell recorded, in two digits; its name on a page that is not executed."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        name, _, form = self.text.partition(":")
        if self.document.settings.env.config.nb_execution_mode == "off":
            return [nodes.literal(name, name)], []
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
        table = ["| Page | Ops | You learn to | Example |", "|---|---|---|---|"]
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
                ops = ", ".join(f"`{op}`" for op in says.get("ops", []))
                table.append(
                    f"| {link} | {ops} | {says['learn']} | {zip_of(path.stem)} |"
                )
            elif "holds" in says:
                lookups.append(f"| {link} | {says['holds']} |")
            elif says:  # else the table of contents complains
                others.append(link)
        contents = ["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"]
        tables = [line for rows in (table, lookups) if rows[2:] for line in (*rows, "")]
        lines = [*tables, " · ".join(others), "", *contents]
        self.state.nested_parse(StringList(lines), self.content_offset, part)
        return part


def zip_of(page: str) -> str:
    """A link to the example of a page, if it has one."""
    if page not in examples():
        return ""
    return f'<a href="downloads/{page}.zip" download aria-label="Example {page} as a zip">zip</a>'


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
    return "".join(path.read_text() for path in EXAMPLES.glob("*/*.cc"))


def stay_here(app: Sphinx, page: str, template: str, context: dict, _) -> None:
    """Links to the published site, as opcheck's reports have them, lead to the site that is being built."""
    if "body" in context:
        published = f'href="{html_baseurl}'
        context["body"] = context["body"].replace(published, 'href="')


def setup(app: Sphinx) -> dict[str, bool]:
    source = Path(app.srcdir)
    sphinx.builders.make_chunks = functools.partial(longest_first, source)
    app.connect("html-page-context", stay_here)
    app.connect("env-get-outdated", outdated_lists)
    app.add_directive("snippet", Snippet)
    app.add_directive("drawing", Drawing)
    app.add_directive("chapters", Chapters)
    app.add_role("value", Value())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
