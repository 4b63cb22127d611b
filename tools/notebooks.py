"""Sphinx builder: every chapter as a notebook, its text from the doctree of the page, its cells from their execution.

The config value `notebooks` says which kind. "executed" has all cells, the build's guards too. "download" has the
reader's, with the outputs of the build, and runs anywhere; a build of the site writes these, too. "local" has the
reader's without outputs, runs in this checkout, and never replaces what a reader has changed.
"""

import base64
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree

import dictionary
import nbformat
import stamp
from book import DOCS, ROOT, examples_of, notebooks
from chapter_code import readers_cells
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx_markdown_builder.builder import MarkdownBuilder
from sphinx_markdown_builder.contexts import (
    IndentContext,
    SubContextParams,
    TableContext,
    WrappedContext,
)
from sphinx_markdown_builder.translator import MarkdownTranslator, pushing_context

CELL = "\x02%d\x03"  # stands for a cell in the Markdown of a whole page
FIRST = -1  # the set-up
# Jupyter and Colab show what the cell shows, and its code at a click.
FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}
ALIGNMENT = {"text-right": "--:", "text-center": ":-:"}

SET_UP = '''\
# @title Set-up: run this cell first
# It takes the book from $OP_BY_OP or from around this notebook, or clones the commit that this notebook belongs to,
# installs what is missing, which on Colab takes some minutes, and compiles this chapter's code.
import os, runpy, shutil, subprocess, sys
from pathlib import Path

places = [Path(os.environ.get("OP_BY_OP", "{folder}")).absolute(), Path.cwd(), *Path.cwd().parents]
book = next((place for place in places if (place / "tools/set_up.py").exists()), places[0])
if not (book / "tools/set_up.py").exists():
    repository = os.environ.get("OP_BY_OP_REPOSITORY", "{repository}")
    if shutil.which("git") is None:
        sys.exit(f"Set-up: there is no git to clone {{repository}} with: install it or set $OP_BY_OP to the book")
    book.mkdir(parents=True, exist_ok=True)
    for step in ["init"], ["fetch", "--depth", "1", repository, "{commit}"], ["checkout", "FETCH_HEAD"]:
        git = subprocess.run(["git", *step, "--quiet"], cwd=book, capture_output=True, text=True)
        if git.returncode:
            sys.exit(f"Set-up: cannot clone {{repository}}: {{git.stderr}}")
runpy.run_path(str(book / "tools/set_up.py"))["set_up"]({examples})
%run "{{book}}/docs/support/start.py"'''
LOCAL = """\
# Work in the root of the book, with its examples at hand.
%run "{{_dh[0]}}/{start}\""""
INTRODUCTION = (
    "*This notebook is a chapter of the book [Op by Op]({site}): [the chapter on the site]({page}). "
    "Run its cells in order{first}.*"
)
FETCHES = ": the first one fetches the book and compiles the chapter's code"

logger = logging.getLogger(__name__)


class Quote(IndentContext):
    """A block quote, which dropdowns and admonitions become."""

    def __init__(self) -> None:
        super().__init__("> ", empty=True, params=SubContextParams(2, 2))

    def make(self) -> str:
        return re.sub(" +$", "", super().make(), flags=re.M)


class Table(TableContext):
    """A table that leaves numbers as they are and keeps bars and the alignment of columns."""

    def __init__(self) -> None:
        super().__init__(SubContextParams(2, 2))
        self.alignment: list[str] = []

    def make(self) -> str:
        head, *body = [
            ["".join(e).strip().replace("|", r"\|").replace("\n", " ") for e in row]
            for row in self.headers + self.body
        ]
        rows = [head, self.alignment[: len(head)], *body]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)


class NotebookTranslator(MarkdownTranslator):
    """From a page's doctree to Markdown, with marks where the code cells are."""

    def __init__(self, document: nodes.document, builder: "NotebookBuilder") -> None:
        super().__init__(document, builder)
        self.hidden = builder.hidden_cells(document)
        self.complete = True

    def dispatch_visit(self, node: nodes.Node) -> None:
        if isinstance(node.parent, (nodes.document, nodes.section)):
            place = (node.line or 0, node.attributes.get("cell_index", 0))
            while self.hidden and any(map(int.__lt__, self.hidden[0], place)):
                self.add(CELL % self.hidden.pop(0)[1], 2, 2)
        super().dispatch_visit(node)

    def unknown_visit(self, node: nodes.Node) -> None:
        logger.warning("a notebook has nothing for <%s>", node.tagname, location=node)
        self.complete = False
        raise nodes.SkipNode

    # What the base class would turn into Markdown that notebooks do not show, or that leads nowhere from a notebook.
    visit_definition = visit_download_reference = visit_footnote = unknown_visit
    visit_footnote_reference = visit_image = visit_line_block = unknown_visit

    def visit_container(self, node: nodes.container) -> None:
        if node.get("nb_element") == "cell_code":
            self.add(CELL % node["cell_index"], 2, 2)
            raise nodes.SkipNode
        if (kind := node.get("design_component", "dropdown")) != "dropdown":
            node.tagname = kind
            self.unknown_visit(node)
        if "design_component" in node:
            self._push_context(Quote())

    def depart_container(self, node: nodes.container) -> None:
        if "design_component" in node:
            self._pop_context()

    @pushing_context
    def visit_block_quote(self, node: nodes.block_quote) -> None:
        self._push_context(Quote())

    @pushing_context
    def visit_admonition(self, node: nodes.admonition) -> None:
        self._push_context(Quote())

    def _push_box(self, title: str) -> None:
        """A note, a warning and their like, which have no title of their own."""
        self._push_context(Quote())
        self.add(f"**{title.capitalize()}**", 2, 2)

    @pushing_context
    def visit_rubric(self, node: nodes.rubric) -> None:
        self._push_context(WrappedContext("**", params=SubContextParams(2, 2)))

    @pushing_context
    def visit_title(self, node: nodes.title) -> None:
        if isinstance(node.parent, nodes.Admonition):
            self.visit_rubric(node)
        else:
            super().visit_title(node)

    def depart_title(self, node: nodes.title) -> None:
        self._pop_context()
        section = node.parent
        if isinstance(section, nodes.section) and section.parent is self.document:
            site, page = self.config.html_baseurl, self.builder.address
            first = "" if self.builder.kind == "local" else FETCHES
            self.add(INTRODUCTION.format(site=site, page=page, first=first), 2, 2)
            self.add(CELL % FIRST, 2, 2)

    @pushing_context
    def visit_reference(self, node: nodes.reference) -> None:
        target = node.get("refuri") or f"#{node['refid']}"
        url = urljoin(self.builder.address, target)
        self._push_context(WrappedContext("[", f"]({url})"))

    def visit_target(self, node: nodes.target) -> None:
        pass

    def visit_Text(self, node: nodes.Text) -> None:
        text = node.astext()
        if self.status.escape_text:
            text = re.sub(r"[\\`*\[\]<$]|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)
        self.add(text)

    def visit_literal(self, node: nodes.literal) -> None:
        text = node.astext().replace("\n", " ")
        marks = self._longer_than_in(text, 1)
        space = " " if text[0] == "`" or text[-1] == "`" else ""
        self.add(f"{marks}{space}{text}{space}{marks}")
        raise nodes.SkipNode

    def visit_literal_block(self, node: nodes.literal_block) -> None:
        code, file = node.astext().rstrip("\n"), Path(node.get("source", ""))
        captioned = isinstance(node.parent[0], nodes.caption)
        if file.is_file() and file.is_relative_to(ROOT) and not captioned:
            self._link_to_file(file.relative_to(ROOT).as_posix())
        marks = self._longer_than_in(code, 3)
        language = {"cuda": "c++", "default": ""}.get(*[node.get("language", "")] * 2)
        self.add(f"{marks}{language}\n{code}\n{marks}", 2, 2)
        raise nodes.SkipNode

    def _link_to_file(self, path: str) -> None:
        repository = self.config.html_context["repository"]
        self.add(f"[`{path}`]({repository}/blob/main/{path})", 2, 2)

    @staticmethod
    def _longer_than_in(code: str, least: int) -> str:
        """As many backticks as fence in a code that has some itself."""
        return "`" * max(least, 1 + max(map(len, re.findall("`+", code)), default=0))

    def visit_caption(self, node: nodes.caption) -> None:
        if (ROOT / node.astext()).exists():
            self._link_to_file(node.astext())
            raise nodes.SkipNode
        self.ensure_eol(2)

    def depart_caption(self, node: nodes.caption) -> None:
        self.ensure_eol(2)

    @pushing_context
    def visit_table(self, node: nodes.table) -> None:
        self._push_context(Table())

    def visit_entry(self, node: nodes.entry) -> None:
        super().visit_entry(node)
        mark = next((ALIGNMENT[c] for c in node["classes"] if c in ALIGNMENT), "---")
        self.table_ctx.alignment.append(mark)

    def visit_error_entries(self, node: nodes.Element) -> None:
        site = self.builder.config.html_baseurl
        self.add(dictionary.listed(node["phase"], site), 2, 2)
        raise nodes.SkipNode

    def visit_explain_field(self, node: nodes.Element) -> None:
        """A notebook has no field for a log, the site has one."""
        site = f"{self.builder.config.html_baseurl}errors.html"
        self.add(f"[The site]({site}) has a field for that.", 2, 2)
        raise nodes.SkipNode

    def visit_raw(self, node: nodes.raw) -> None:
        """A drawing: an image has no page to take its colours from, so it gets a light ground and dark lines."""
        if "<svg" not in node.astext():
            self.unknown_visit(node)
        ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
        try:
            drawing = ElementTree.fromstring(node.astext())
        except ElementTree.ParseError as error:
            logger.warning("a drawing is no XML: %s", error, location=node)
            self.complete = False
            raise nodes.SkipNode from error
        svg = next(e for e in drawing if "viewBox" in e.attrib)
        light = "color:#1f2328;background:#fff;font-family:sans-serif;"
        svg.attrib |= {"style": light + svg.get("style", "")}
        svg.attrib.setdefault("width", svg.get("viewBox").split()[2])
        label = re.sub(r"[\\\[\]]", r"\\\g<0>", svg.get("aria-label"))
        data = base64.b64encode(ElementTree.tostring(svg)).decode()
        self.add(f"![{label}](data:image/svg+xml;base64,{data})", 2, 2)
        raise nodes.SkipNode


class NotebookBuilder(MarkdownBuilder):
    """Writes each chapter that nothing was wrong with."""

    name = format = "notebook"
    default_translator_class = NotebookTranslator
    out_suffix = ".ipynb"
    epilog = ""

    def init(self) -> None:
        self.kind = self.config.notebooks

    def get_outdated_docs(self) -> list[str]:
        return notebooks(self.env)

    def write(self, build_docnames: object, updated: object, method: str = "") -> None:
        pages = set(notebooks(self.env))
        wrong = pages & (getattr(self, "_app", None) or self.app).complaints.pages
        for page in wrong:  # else the outputs of an earlier run would pass for today's
            Path(self.outdir, f"{page}.ipynb").unlink(missing_ok=True)
        self.env.files_to_rebuild = {}  # the pages with tables of contents, not ours
        if pages - wrong:
            super().write(pages - wrong, (), "specific")

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        return urljoin(self.config.html_baseurl, f"{docname}.html")

    def get_relative_uri(self, from_: str, to: str, typ: str | None = None) -> str:
        return self.get_target_uri(to)

    def hidden_cells(self, document: nodes.document) -> list[tuple[int, int]]:
        """The code cells that the page does not show: line and index of each."""
        shown = {node.get("cell_index") for node in document.findall(nodes.container)}
        lines = self.source.metadata["source_map"]
        return [
            (line + 1, index)
            for index, (line, cell) in enumerate(zip(lines, self.source.cells))
            if cell.cell_type == "code" and index not in shown
        ]

    def write_doc(self, docname: str, doctree: nodes.document) -> None:
        path = Path(self.outdir, f"{docname}.ipynb")
        self.address = self.get_target_uri(docname)
        folder = self.env.mystnb_config.output_folder
        self.source = nbformat.read(Path(folder, f"{docname}.ipynb"), as_version=4)
        translator = NotebookTranslator(doctree, self)
        doctree.walkabout(translator)
        for _, index in translator.hidden:
            translator.add(CELL % index, 2, 2)
        if not translator.complete:
            path.unlink(missing_ok=True)
            return
        notebook = self.notebook(docname, translator.astext())
        if self.kind == "local":
            print(f"{path}: {write_for_lab(notebook, path)}", flush=True)
        else:
            write(notebook, path)

    def notebook(self, docname: str, markdown: str) -> NotebookNode:
        """Puts cells between the texts."""
        code = [cell for cell in self.source.cells if cell.cell_type == "code"]
        if self.kind != "executed":
            for cell, source in zip(code, readers_cells(code)):
                cell.source = source
        used = "\n".join(cell.source for cell in code)
        about = self.env.metadata[docname]
        cells = []
        for number, part in enumerate(re.split("\x02(-?\\d+)\x03", markdown)):
            if number % 2 and int(part) == FIRST:
                source = self.first_cell(used)
                if "accelerator" in about:
                    source += "\nsee_gpus()"
                cells.append(nbformat.v4.new_code_cell(source, metadata=FOLDED))
            elif number % 2:
                cell = self.code_cell(self.source.cells[int(part)])
                if cell.source.strip():
                    cells.append(cell)
            elif part.strip():
                cells.append(nbformat.v4.new_markdown_cell(part.strip()))
        for number, cell in enumerate(cells):
            cell.id = f"{docname[:50]}-{number}"
        language = {
            "name": "python",
            "file_extension": ".py",
            "mimetype": "text/x-python",
        }
        kernel = self.source.metadata["kernelspec"]
        metadata = {"kernelspec": kernel, "language_info": language}
        if accelerator := about.get("accelerator"):
            colab = {"provenance": [], "gpuType": "T4"}
            metadata |= {"accelerator": accelerator, "colab": colab}
        return nbformat.v4.new_notebook(cells=cells, metadata=metadata)

    def first_cell(self, code: str) -> str:
        if self.kind == "local":
            start = os.path.relpath(DOCS / "support" / "start.py", self.outdir)
            return LOCAL.format(start=start)
        repository = self.config.html_context["repository"]
        version = commit()
        return SET_UP.format(
            repository=repository,
            commit=version or "HEAD",
            folder=f"op-by-op-{version[:10]}".rstrip("-"),
            examples=", ".join(f'"{name}"' for name in examples_of(code)),
        )

    def code_cell(self, cell: NotebookNode) -> NotebookNode:
        if self.kind == "local":
            cell.outputs, cell.execution_count = [], None
        if self.kind != "executed":
            tags = {*cell.metadata.get("tags", ())}
            folded = tags & {"remove-cell", "remove-input", "hide-input"}
            cell.metadata = FOLDED if folded else {}
            cell.outputs = [x for x in cell.outputs if not is_record(x)]
        for output in cell.outputs:
            _map_texts(output, self.hide_paths)
            site, data = self.config.html_baseurl, output.get("data", {})
            if markdown := data.get("text/markdown"):
                url = rf"]({site}\1.html"
                data["text/markdown"] = re.sub(r"\]\((\w+)\.md", url, markdown)
            if page := data.get("text/html"):
                url = rf'href="{site}\1.html'
                data["text/html"] = re.sub(r'href="(\w+)\.html', url, page)
        return cell

    @staticmethod
    def hide_paths(text: str) -> str:
        """Takes this machine's folders out of a text. Cells run in the root: paths in it become relative."""
        for pattern, replacement in (
            (rf"{re.escape(tempfile.gettempdir())}/ipykernel_\d+/\d+\.py", "cell"),
            (rf"{re.escape(str(ROOT))}/", ""),
            (re.escape(str(ROOT)), "."),
            (re.escape(sys.prefix), "$PREFIX"),
            (re.escape(str(Path.home())) + r"(?=/|\b)", "~"),
        ):
            text = re.sub(pattern, lambda _, to=replacement: to, text)
        return text


def commit() -> str:
    """The commit from which a download takes the book; none where the book is in no repository."""
    return stamp.output("git", f"--git-dir={ROOT / '.git'}", "rev-parse", "HEAD")


def is_record(output: NotebookNode) -> bool:
    """Whether an output is a value for the text, which the text has by now."""
    kinds = output.get("data", {})
    return any(kind.startswith("application/papermill.record/") for kind in kinds)


def _map_texts(output: NotebookNode, change: Callable[[str], str]) -> None:
    """Changes the texts of an output, in place."""
    if "text" in output:
        output.text = change(output.text)
    for kind, data in output.get("data", {}).items():
        if isinstance(data, str) and not kind.startswith("image/p"):
            output.data[kind] = change(data)


def write(notebook: NotebookNode, path: Path) -> None:
    """Writes a notebook whole or not at all."""
    nbformat.validate(notebook)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    nbformat.write(notebook, unfinished)
    unfinished.replace(path)


def write_for_lab(notebook: NotebookNode, path: Path) -> str:
    """Writes a notebook for JupyterLab, but never over one that the reader has changed; says what was done."""
    notebook.metadata["op_by_op"] = {"digest": _digest(notebook)}
    if path.exists():
        try:
            there = nbformat.read(path, as_version=4)
            written = there.metadata.get("op_by_op", {}).get("digest")
            if written != _digest(there):
                return (
                    "kept with your changes: delete or rename it to get the chapter's"
                )
        except (
            Exception
        ):  # nbformat raises whatever its JSON parser and its validators do
            return "kept, though it is no notebook: delete or rename it to get the chapter's"
        if written == _digest(notebook):
            return "unchanged"
    write(notebook, path)
    return "written"


def _digest(notebook: NotebookNode) -> str:
    """Of what the reader can edit; outputs do not count."""
    cells = [(cell.cell_type, cell.source) for cell in notebook.cells]
    return hashlib.sha256(repr(cells).encode()).hexdigest()


def write_downloads(app: Sphinx, exception: Exception | None) -> None:
    """At the end of a build of the site: what its pages offer to download."""
    if exception or app.builder.name != "html":
        return
    site = app.builder
    app.builder = app.registry.create_builder(app, "notebook", app.env)
    # Here Sphinx 9 looks which transforms to apply.
    app.env._builder_cls = NotebookBuilder
    folder = Path(site.outdir, "notebooks")
    for path in folder.glob("*.ipynb"):  # a page may have had one in an earlier build
        if path.stem not in notebooks(app.env):
            path.unlink()
    try:
        app.builder.outdir = folder
        app.builder.init()
        app.builder.kind, app.builder.parallel_ok = "download", site.parallel_ok
        app.builder.write((), ())
    finally:
        app.builder, app.env._builder_cls = site, type(site)


def keep_executions_with_doctrees(app: Sphinx) -> None:
    """What MyST-NB has executed goes with the doctrees, not with one builder's output."""
    folder = str(app.doctreedir / "executed")
    app.env.mystnb_config = app.env.mystnb_config.copy(output_folder=folder)


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("sphinx_markdown_builder")
    app.add_builder(NotebookBuilder)
    app.add_config_value("notebooks", "executed", "")
    app.connect("builder-inited", keep_executions_with_doctrees, priority=600)
    app.connect("build-finished", write_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
