"""Sphinx extension: a chapter in which something goes wrong leads to the page of errors.

Writers mark nothing: below what a cell printed stand the entries whose messages are in it.
"""

import html
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from opcheck.explain import explain

PAGE = "errors"


def link_page(app: Sphinx, docname: str, content: list[str]) -> None:
    """Where a chapter has said what goes wrong with its op, it leads to the page of all errors."""
    if (Path(app.srcdir) / f"{PAGE}.md").exists():
        section = r"^## (?:When it|What) goes wrong\n.*?(?=^## |\Z)"
        link = f"Other messages are in [What does this error mean?]({PAGE}.md).\n\n"
        content[0] = re.sub(
            section, lambda match: match[0] + link, content[0], flags=re.M | re.S
        )


class LinkMessages(SphinxPostTransform):
    """Links the first time that a page shows a message to its entry."""

    default_priority = 900
    formats = ("html",)

    def run(self, **options: object) -> None:
        if PAGE not in self.env.all_docs or self.env.docname == PAGE:
            return
        address = self.app.builder.get_relative_uri(self.env.docname, PAGE)
        linked = set()
        for block in list(self.document.findall(nodes.literal_block)):
            if "output" not in block["classes"]:
                continue
            links = []
            for found in explain(block.astext()).found:
                name = found.entry.id
                if name not in linked:
                    linked.add(name)
                    words = html.escape(name.replace("-", " "))
                    links.append(f'<a href="{address}#{name}">{words}</a>')
            if links:
                text = f"In the list of errors: {', '.join(links)}"
                note = nodes.raw(
                    "", f'<p class="error-links">{text}</p>', format="html"
                )
                block.parent.insert(block.parent.index(block) + 1, note)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", link_page)
    app.add_post_transform(LinkMessages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
