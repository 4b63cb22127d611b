"""Sphinx extension: writes what the search looks through, the sections of the pages as text, in the place of Sphinx's.

Sphinx's own index has stems of words and finds whole pages: neither `Status::OK` nor the section with a message.
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import dictionary
from sphinx.application import Sphinx

DROPPED = re.compile(
    r'<(script|style|svg|nav)\b.*?</\1>|<a class="headerlink".*?</a>'
    r'|<details class="error-group">.*?</details>',  # each has a page of its own
    re.S,
)
BREAKS = re.compile(
    r"</?(?:p|div|li|[ou]l|d[ltd]|t[dhr]|h\d|pre|br|summary)\b[^>]*>|\s+"
)
TAG = re.compile(r"<[^>]*>")
ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.S)
FOLDED = re.compile(r"<details\b.*?</details>", re.S)
LISTING = re.compile(r"(?<=<pre>).*?(?=</pre>)", re.S)
NAME = re.compile(r"\w{4,}")


def text_of(piece: str) -> str:
    piece = TAG.sub("", BREAKS.sub(" ", DROPPED.sub(" ", piece)))
    return " ".join(html.unescape(piece).split())


def names(text: str) -> set[str]:
    return {*NAME.findall(text_of(text))}


def open_names(page: Path) -> set[str]:
    """The names and words that a page shows unfolded."""
    return names(FOLDED.sub(" ", ARTICLE.search(page.read_text())[1]))


def with_new_names(text: str, known: set[str]) -> str:
    """A text whose folded listings have nothing but the lines with a name that is not known.

    Many repeat what the page has shown in pieces, and all of them are a sixth of what a visitor's search loads.
    """
    known = {*known}

    def new(listing: re.Match) -> str:
        lines = []
        for line in listing[0].split("\n"):
            if not (found := names(line)) <= known:
                known.update(found)
                lines.append(line)
        return "\n".join(lines)

    return FOLDED.sub(lambda folded: LISTING.sub(new, folded[0]), text)


def sections(
    page: Path, about: str = "", known: set[str] = frozenset()
) -> Iterator[tuple[str, str, str, str, str]]:
    """The sections of a page: its file's name, the anchor, the titles of page and section, the text.

    The first also says what the page is about. `known` are the names that folded listings need not tell.
    """
    article = with_new_names(ARTICLE.search(page.read_text())[1], known)
    parts = re.split(r'<section [^>]*\bid="([^"]*)"[^>]*>', article)
    top = ""
    for anchor, part in zip(parts[1::2], parts[2::2]):
        heading = re.search(r"<(h\d)>(.*?)</\1>", part, re.S)
        title = text_of(heading[2]) if heading else ""
        text = text_of(part[heading.end() :] if heading else part)
        if not top:
            top, anchor = title, ""
        titles = f"{top} › {title}" if anchor else top
        yield page.name, anchor, titles, text, "" if anchor else about


def without_sphinx(app: Sphinx) -> None:
    """The page for searching stays, the index is not made."""
    if app.builder.name == "html":
        app.builder.search = False
        app.config.html_additional_pages["search"] = "search.html"


def write_sections(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    root = app.config.root_doc
    in_order = [
        root,
        *app.env.toctree_includes.get(root, []),
        *sorted(app.env.all_docs),
    ]
    pages = [page for page in dict.fromkeys(in_order) if page in app.env.all_docs]
    found: list[tuple[str, ...]] = []
    files = {page: app.outdir / f"{page}.html" for page in pages}
    files = {page: file for page, file in files.items() if file.exists()}
    known = set().union(*map(open_names, files.values()))
    for page, file in files.items():
        says = app.env.metadata[page]
        about = f"{says.get('search_title', '')} · {says.get('description', '')}"
        found += sections(file, about, known)
    if (app.outdir / f"{dictionary.PAGE}.html").exists():  # else of another page alone
        found += dictionary.sections(app)
    data = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    (app.outdir / "sections.js").write_text(f"Search.setSections({data});\n")
    (app.outdir / "searchindex.js").write_text("// See sections.js.\n")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", without_sphinx)
    app.connect("build-finished", write_sections)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
