"""Sphinx extension: `-D page=x` builds one page. Of the others it reads the headings, so that links lead somewhere."""

import re

from book import FENCE
from sphinx.application import Sphinx

FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
WHOLE = {"glossary"}  # its terms are linked from every page
LISTS = re.compile(r"^```\{(?:chapters|toctree)\}\n.*?^```$", re.M | re.S)


def headings_only(app: Sphinx, page: str, content: list[str]) -> None:
    """Leaves of another page its headings, and of the landing page the table of contents."""
    if not app.config.page or page == app.config.page or page in WHOLE:
        return
    text = FRONT_MATTER.sub("", content[0])
    kept = re.findall(r"^#+ .*$", FENCE.sub("", text), re.M)
    kept += LISTS.findall(text)
    content[0] = "\n\n".join(kept) + "\n"


def without_anchors(app: Sphinx, config: object) -> None:
    """Anchors that cells make are not there; `make docs` looks at those."""
    if config.page:
        config.suppress_warnings = [*config.suppress_warnings, "myst.xref_missing"]
        config.show_warning_types = False


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("page", "", "env")
    app.connect("config-inited", without_anchors)
    app.connect("source-read", headings_only, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
