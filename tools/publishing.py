"""Sphinx extension: what a published site has beside its pages.

A map with dates, a page for addresses that are none, a feed of the page of changes, and for each name that a page had
(`formerly: [old_name]` in its front matter; of errors, dictionary.FORMERLY) a page that leads to it.
"""

import functools
import html
import re
import subprocess
from collections.abc import Iterator
from xml.etree import ElementTree

import dictionary
from book import ROOT
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

logger = logging.getLogger(__name__)
CHANGES = "changes"
ATOM = "http://www.w3.org/2005/Atom"
MOVED = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="{address}">
<meta http-equiv="refresh" content="1; url={page}.html">
<script>location.replace("{page}.html" + location.hash);</script>
<p>This page is now <a href="{page}.html">{title}</a>.</p>
</html>
"""


@functools.cache
def changes() -> dict[str, str]:
    """From the name of each page to when its text was last changed, as git knows."""
    command = ["git", "log", "--format=%x00%cI", "--name-only", "--", "docs/*.md"]
    try:
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:  # no git
        return {}
    found: dict[str, str] = {}
    for commit in run.stdout.split("\0")[1:]:
        date, *paths = filter(None, commit.splitlines())
        for name in re.findall(r"^docs/(\w+)\.md$", "\n".join(paths), re.M):
            found.setdefault(name, date)
    return found


def start(app: Sphinx) -> None:
    app.changed = changes()
    if app.builder.name == "html":
        app.config.html_additional_pages["404"] = "404.html"


def former_names(env: BuildEnvironment) -> Iterator[tuple[str, str]]:
    """The names that pages had, and the page that each leads to now."""
    taken: dict[str, str] = {}
    for page, about in env.metadata.items():
        # MyST gives a list as text.
        for name in re.findall(r"\w+", about.get("formerly", "")):
            if name in env.all_docs or name in taken:
                other = name if name in env.all_docs else taken[name]
                what = "formerly: %s is the name of the page %s"
                logger.warning(what, name, other, location=page)
            else:
                taken[name] = page
                yield name, page


def write_redirects(app: Sphinx) -> None:
    for name, page in former_names(app.env):
        write_redirect(app, name, page, app.env.titles[page].astext())
    if (app.outdir / f"{dictionary.PAGE}.html").exists():
        for name, now in dictionary.FORMERLY.items():
            title = dictionary.title_of(dictionary.entries()[now])
            write_redirect(
                app, f"{dictionary.PAGE}/{name}", f"{dictionary.PAGE}/{now}", title
            )


def write_redirect(app: Sphinx, name: str, page: str, title: str) -> None:
    """Both in the same folder."""
    address = f"{app.config.html_baseurl}{page}.html"
    file = page.rpartition("/")[2]
    text = MOVED.format(title=html.escape(title), address=address, page=file)
    (app.outdir / f"{name}.html").write_text(text)


def write_sitemap(app: Sphinx) -> None:
    """Lists all pages, also those that this build has not written."""
    site = ElementTree.Element(
        "urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    )
    errors = dictionary.pages(app)
    changed = {**app.changed, **(dictionary.changed() if errors else {})}
    for page in sorted({*app.env.all_docs, *errors}):
        entry = ElementTree.SubElement(site, "url")
        address = f"{app.config.html_baseurl}{page}.html"
        ElementTree.SubElement(entry, "loc").text = address
        if date := changed.get(page):
            ElementTree.SubElement(entry, "lastmod").text = date
    tree = ElementTree.ElementTree(site)
    tree.write(app.outdir / "sitemap.xml", encoding="utf-8", xml_declaration=True)


def write_feed(app: Sphinx) -> None:
    """The sections of the page of changes whose titles begin with a date, `2026-11-25: What is new`."""
    if CHANGES not in app.env.all_docs:
        return
    address = f"{app.config.html_baseurl}{CHANGES}.html"
    feed = ElementTree.Element("feed", xmlns=ATOM)

    def add(parent: ElementTree.Element, name: str, text: str = "", **attributes: str):
        ElementTree.SubElement(parent, name, attributes).text = text or None

    add(feed, "title", f"{app.config.project}: changes")
    add(feed, "id", address)
    add(feed, "link", href=address)
    add(feed, "link", rel="self", href=f"{app.config.html_baseurl}{CHANGES}.xml")
    author = ElementTree.SubElement(feed, "author")
    add(author, "name", app.config.author)
    dates = []
    for section in app.env.get_doctree(CHANGES).findall(nodes.section):
        dated = re.match(r"(\d{4}-\d\d-\d\d): (.*)", section[0].astext())
        if not dated:
            continue
        dates.append(f"{dated[1]}T00:00:00Z")
        place = f"{address}#{section['ids'][0]}"
        entry = ElementTree.SubElement(feed, "entry")
        add(entry, "title", dated[2])
        add(entry, "id", place)
        add(entry, "link", href=place)
        add(entry, "updated", dates[-1])
        parts = [part for part in section[1:] if not isinstance(part, nodes.section)]
        add(entry, "summary", " ".join(" ".join(p.astext().split()) for p in parts))
    add(feed, "updated", max(dates, default="1970-01-01T00:00:00Z"))
    tree = ElementTree.ElementTree(feed)
    file = app.outdir / f"{CHANGES}.xml"
    tree.write(file, encoding="utf-8", xml_declaration=True)


def finish(app: Sphinx, exception: Exception | None) -> None:
    if not exception and app.builder.name == "html":
        write_redirects(app)
        write_sitemap(app)
        write_feed(app)


def add_feed(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    if doctree and CHANGES in app.env.all_docs:
        context["metatags"] += (
            '<link rel="alternate" type="application/atom+xml" '
            f'title="Changes" href="{CHANGES}.xml">\n'
        )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", start)
    app.connect("html-page-context", add_feed)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
