"""Sphinx extension: what search engines and social cards show of a page, from `search_title` and `description`.

Without these keys a page has the title of its heading, and the card says what the page begins with.
"""

import html
import json
import re

import sphinxext.opengraph
from docutils import nodes
from sphinx.application import Sphinx

from_text = sphinxext.opengraph.get_description


def described(doctree: nodes.document, *arguments: object) -> str:
    """The description of a page: written by hand, for one that is cut from the text loses its glossary terms."""
    env = doctree.settings.env
    about = env.metadata.get(env.path2doc(doctree["source"]), {})
    return about.get("description") or from_text(doctree, *arguments)


def entitle(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Before the tags are made: the title, and that all pages but the first are articles."""
    about = context.get("meta") or {}
    if title := about.get("search_title"):
        context |= {"title": html.escape(title, quote=False), "docstitle": ""}
    if doctree and page != app.config.root_doc:
        context["meta"] = {**about, "og:type": "article"}


def structure(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """After the tags are made: the same as structured data."""
    if not doctree:
        return
    tags = tags_of(context["metatags"])
    if page == app.config.root_doc:
        data = {**site(app), "description": tags.get("og:description", "")}
    else:
        data = article(app, tags, app.changed.get(page))
    context["metatags"] += as_data(data)


def tags_of(written: str) -> dict[str, str]:
    made = r'<meta (?:property|name)="([\w:]+)" content="(.*?)" />'
    return {name: html.unescape(text) for name, text in re.findall(made, written)}


def site(app: Sphinx) -> dict[str, str]:
    name, url = app.config.project, app.config.html_baseurl
    return {"@type": "WebSite", "name": name, "url": url}


def article(app: Sphinx, tags: dict[str, str], changed: str | None) -> dict:
    """What the tags of a page say, and when it was last changed."""
    data = {
        "@type": "TechArticle",
        "headline": tags["og:title"],
        "description": tags.get("og:description", ""),
        "url": tags["og:url"],
        "image": tags.get("og:image", ""),
        "author": {"@type": "Organization", "name": app.config.author},
        "isPartOf": site(app),
    }
    return {**data, "dateModified": changed} if changed else data


def as_data(data: dict) -> str:
    text = json.dumps({"@context": "https://schema.org", **data}, ensure_ascii=False)
    text = text.replace("<", "\\u003c")
    return f'<script type="application/ld+json">{text}</script>\n'


def setup(app: Sphinx) -> dict[str, bool]:
    sphinxext.opengraph.get_description = described
    app.connect("html-page-context", entitle, priority=400)
    app.connect("html-page-context", structure, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
