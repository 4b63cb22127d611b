"""Sphinx extension: the first use of a term on a page is a link to the glossary, which shows the meaning by itself.

Writers mark nothing. Headings, code, what cells show and links stay as they are.
"""

import html
import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_design.dropdown import dropdown_title

PAGE = "glossary"
LEFT_ALONE = (
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.strong,  # the title of the book, and what begins an item of a list
    nodes.FixedTextElement,
    nodes.raw,
    nodes.caption,
    nodes.rubric,
    dropdown_title,  # a button, which may not hold a link
)


def read_terms(app: Sphinx, env: BuildEnvironment) -> None:
    """Keeps each way to write a term, with its anchor and its meaning."""
    env.terms = {}
    if PAGE in env.all_docs:
        for item in env.get_doctree(PAGE).findall(nodes.definition_list_item):
            first = item[-1][0]  # the second paragraph says where the book explains it
            meaning = " ".join(first.astext().split())
            terms = [term for term in item if isinstance(term, nodes.term)]
            for term in terms:
                env.terms[term.astext()] = (terms[0]["ids"][0], meaning)


def pattern(terms: dict[str, tuple[str, str]]) -> re.Pattern:
    """Finds the terms, in the plural too and with a capital, the longest first."""
    longest_first = sorted(terms, key=len, reverse=True)
    ways = "|".join(re.escape(term).replace("\\ ", r"\s+") for term in longest_first)
    return re.compile(rf"(?<![\w.-])({ways})(?:s|es)?(?![\w-]|\.\w)", re.I)


def join_lines(document: nodes.document) -> None:
    """Makes one text of the lines of each paragraph, of which MyST makes many."""
    for element in document.findall(nodes.paragraph):
        joined = []
        for child in element:
            if (
                joined
                and isinstance(child, nodes.Text)
                and isinstance(joined[-1], nodes.Text)
            ):
                joined[-1] = nodes.Text(joined[-1] + child)
            else:
                joined.append(child)
        element.children = []
        element += joined


def prose(document: nodes.document) -> Iterator[nodes.Text]:
    """The text of a page in the order of reading, without what stays as it is."""
    for text in list(document.findall(nodes.Text)):
        above = text.parent
        while above is not None:
            if isinstance(above, LEFT_ALONE) or "nb_element" in getattr(
                above, "attributes", ()
            ):
                break
            above = above.parent
        else:
            yield text


class LinkTerms(SphinxPostTransform):
    """Links the first use of each term on a page of the site."""

    default_priority = 900
    formats = ("html",)

    def run(self, **options: object) -> None:
        terms = getattr(self.env, "terms", {})
        if not terms or self.env.docname == PAGE:
            return
        written = {re.sub(r"\s+", " ", term).lower(): term for term in terms}
        found, linked = pattern(terms), set()
        join_lines(self.document)
        glossary = self.app.builder.get_relative_uri(self.env.docname, PAGE)
        for text in prose(self.document):
            parts, end = [], 0
            for match in found.finditer(text):
                anchor, meaning = terms[written[" ".join(match[1].lower().split())]]
                if anchor in linked:
                    continue
                linked.add(anchor)
                link = (
                    f'<a class="term" href="{glossary}#{anchor}" '
                    f'data-meaning="{html.escape(meaning)}">{html.escape(match[0])}</a>'
                )
                parts.append(nodes.Text(text[end : match.start()]))
                parts.append(nodes.raw("", link, format="html"))
                end = match.end()
            if parts:
                text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(LinkTerms)
    app.connect("env-updated", read_terms, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
