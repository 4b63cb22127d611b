"""Sphinx extension: a page is read, and so executed, again when and only when its result could be another.

MyST-NB's own cache compares the text of the cells alone: after a change of a `.cc` it would show the new code over
the old output. So pages are executed whenever Sphinx reads them, and here is what makes Sphinx read them: a change of
the page, of an example that its cells name (its library included), or of the toolchain; or a complaint about the page
in the build before, which would otherwise pass the second time.
"""

import logging
import re
import sys
from importlib.metadata import version
from pathlib import Path

from book import DOCS, EXAMPLES, ROOT, cells_of, examples_of, pictures_of, tensorflow
from docutils.nodes import Node
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import get_node_location

SHARED = [
    ROOT / "conf.py",
    *sorted((ROOT / "cmake").glob("*.cmake")),
    DOCS / "support" / "measured.py",
    DOCS / "support" / "start.py",
    *sorted((EXAMPLES / "common").glob("*.*")),
]
TABLES = sorted((ROOT / "bench").glob("*.csv"))
NAMED = re.compile(r"\b(?:bench|cmake|packages|tests|tools)/[\w./-]*\w")


def files_below(folder: Path) -> list[Path]:
    """Those that a page can depend on: bytecode is written whenever Python likes."""
    files = filter(Path.is_file, folder.rglob("*"))
    return [path for path in files if path.suffix != ".pyc"]


def depend_on_examples(app: Sphinx, docname: str, content: list[str]) -> None:
    """Makes a page depend on each file that its cells name, of the examples and of the pages' own modules."""
    cells = cells_of(content[0])
    if not cells:
        return
    paths = list(SHARED)
    for name in examples_of(cells):
        paths += files_below(EXAMPLES / name)
    for module in (DOCS / "support").glob("*.py"):
        if re.search(rf"\b(from|import) {re.escape(module.stem)}\b", cells):
            paths.append(module)
    drawn = pictures_of(cells)
    if any(re.search(r"\bmeasured\b", x) for x in (cells, *map(Path.read_text, drawn))):
        paths += TABLES
    drawn |= pictures_of((DOCS / "support" / "measured.py").read_text())
    for module in drawn:
        paths += module.parent.glob(f"{module.stem}.*")
    if re.search(r"\b(from|import) opcheck\b", cells):
        paths += (ROOT / "packages" / "opcheck" / "opcheck").rglob("*.py")
        paths += (ROOT / "packages" / "opcheck" / "opcheck").glob("*.toml")
    paths.append(DOCS / "support" / "outputs" / f"{docname}.txt")
    paths += [ROOT / name for name in NAMED.findall(cells)]
    for path in filter(Path.is_file, paths):  # else Sphinx reads the page each time
        app.env.note_dependency(path, docname=docname)


def outdated_by_tables(app: Sphinx, env: BuildEnvironment, *_: object) -> list[str]:
    """The pages that show measurements, if there are other tables than when they were read."""
    if getattr(env, "tables", TABLES) == TABLES:
        return []
    return [
        page
        for page, paths in env.dependencies.items()
        if any(ROOT / "bench" in path.parents for path in paths)
    ]


def written_again(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """All pages, if what they show of others is new, such as titles and terms: to be written, not executed, again."""
    titles = {page: title.astext() for page, title in env.titles.items()}
    shown = (titles, env.toctree_includes, getattr(env, "terms", {}))
    if shown == getattr(env, "shown_on_all_pages", None):
        return []
    env.shown_on_all_pages = shown
    return list(env.all_docs)


class Complaints(logging.Handler):
    """Collects which pages were warned of; None stands for a warning that names no page."""

    def __init__(self, env: BuildEnvironment) -> None:
        super().__init__(logging.WARNING)
        self.env = env
        self.pages: set[str | None] = set()

    def emit(self, record: logging.LogRecord) -> None:
        # Sphinx gives a page's name, a pair of name and line, "path:line", or a node of the page.
        location = getattr(record, "location", None) or ""
        if isinstance(location, pending_xref):
            location = location["refdoc"]
        elif isinstance(location, Node):
            location = get_node_location(location) or ""
        page = location[0] if isinstance(location, tuple) else location
        if page not in self.env.found_docs:
            page = self.env.path2doc(re.sub(r":\d*$", "", page))
        self.pages.add(page if page in self.env.found_docs else None)


def start(app: Sphinx) -> None:
    """Listens for complaints; after a build that did not come to its end, nothing that it read counts."""
    app.complaints = Complaints(app.env)
    logging.getLogger("sphinx").addHandler(app.complaints)
    unfinished = app.doctreedir / "unfinished"
    if unfinished.exists():
        app.env.all_docs.clear()
    app.doctreedir.mkdir(parents=True, exist_ok=True)
    unfinished.touch()


def read_again(app: Sphinx, env: BuildEnvironment) -> None:
    """Before the environment is written: the next build is to read the pages that this one complained of."""
    env.tables = TABLES
    for page in app.complaints.pages & env.all_docs.keys():
        env.all_docs[page] = 0


def finish(app: Sphinx, exception: Exception | None) -> None:
    """A complaint that came after the environment was written is not in it: the build counts as unfinished."""
    noted = {page for page, read in app.env.all_docs.items() if read == 0}
    if exception is None and app.complaints.pages <= noted:
        (app.doctreedir / "unfinished").unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value(
        "toolchain", (sys.version, version("numpy"), tensorflow()), "env"
    )
    app.connect("builder-inited", start)
    app.connect("env-get-outdated", outdated_by_tables)
    app.connect("source-read", depend_on_examples)
    app.connect("env-updated", read_again)
    app.connect("env-updated", written_again)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
