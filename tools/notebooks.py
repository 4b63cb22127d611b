"""The chapters as Jupyter notebooks, for readers who have no MyST: plain Jupyter, Colab and others.

    python tools/notebooks.py --execute FOLDER [CHAPTER ...]   writes them with their outputs
    python tools/notebooks.py --local FOLDER [CHAPTER ...]     writes them to be run in this checkout

A notebook says what the page says, with what only Sphinx knows replaced: the code that a directive fetches is put in,
admonitions become quotes, drawings become images, and links lead to the site or to the repository.
"""

import argparse
import base64
import functools
import hashlib
import importlib.metadata
import mimetypes
import os
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import nbformat
from book import ROOT, chapters
from docutils.parsers.rst import Directive
from docutils.parsers.rst.directives import admonitions, images, misc
from docutils.parsers.rst.states import MarkupError
from jupytext.myst import myst_to_notebook
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.directives import DirectiveParsingResult, parse_directive_text
from myst_parser.parsers.mdit import create_md_parser
from myst_parser.slugs import github_slugify, unique_slug
from nbformat import NotebookNode
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sections import line_count, sections
from sphinx.directives.code import CodeBlock, LiteralInclude, LiteralIncludeReader
from sphinx.directives.other import TocTree
from sphinx.directives.patches import MathDirective
from sphinx.util.docutils import ReferenceRole
from sphinx_design.cards import CardDirective
from sphinx_design.dropdown import DropdownDirective
from sphinx_design.grids import GridDirective, GridItemCardDirective, GridItemDirective
from sphinx_design.tabs import TabItemDirective, TabSetDirective

LAB = ROOT / "build" / "lab"
BRANCH = "main"
EXTENSIONS = {
    "attrs_inline",
    "colon_fence",
    "deflist",
}  # conf.py's myst_enable_extensions
HEADING_ANCHORS = 3  # conf.py's myst_heading_anchors
TIMEOUT = 300

SET_UP = '''\
# Set-up; run it first. It takes the book's files from $OP_BY_OP, from around this notebook or from a folder op-by-op
# beside it, and clones them where there are none. It installs what is missing, which on Colab takes some minutes, and
# compiles the code of this chapter. A second run does only what is left to do.
import os
import runpy
import subprocess
import sys
from pathlib import Path

places = [Path(os.environ.get("OP_BY_OP", "op-by-op")).absolute(), Path.cwd(), *Path.cwd().parents]
book = next((place for place in places if (place / "tools" / "set_up.py").exists()), places[0])
if not (book / "tools" / "set_up.py").exists():
    repository = os.environ.get("OP_BY_OP_REPOSITORY", "{repository}")
    print("Cloning the book")
    clone = ["git", "clone", "--quiet", "--depth", "1", repository, str(book)]
    if (git := subprocess.run(clone, capture_output=True, text=True)).returncode:
        sys.exit(f"Set-up: cannot clone {{repository}}: {{git.stderr}}")
runpy.run_path(str(book / "tools" / "set_up.py"))["set_up"]({examples})
%run "{{book}}/docs/start.py"'''


class ExecutionError(Exception):
    """A cell fails; the message names it."""


class PageError(ValueError):
    """A page says what no notebook can; the message begins with the page and the line."""


@dataclass
class Anchors:
    """Where links can lead to in a page: its title, and from a heading's slug or a label to the text there."""

    title: str = ""
    texts: dict[str, str] = field(default_factory=dict)


@dataclass
class Span:
    """A piece of inline Markdown: its place in the text, its token, and where its label in brackets ends."""

    rule: str
    start: int
    end: int
    token: Token | None
    label_end: int


Edit = tuple[int, int, str]


def export(page: Path, local: bool, folder: Path = LAB) -> NotebookNode:
    """Makes a notebook, without outputs, from a chapter.

    Args:
      page: `docs/<chapter>.md`; the book's other files are looked for around it.
      local: The notebook is to be run in this checkout. If not, its first code cell sets things up anywhere.
      folder: Where a local notebook is going to lie.

    Returns:
      The notebook; from the same page and examples always the same.

    Raises:
      PageError: Something in the page has no counterpart in a notebook.
    """
    return _Page(page.resolve()).notebook(local, folder)


def execute(notebook: NotebookNode, folder: Path, root: Path = ROOT) -> None:
    """Runs a notebook as if it lay in the folder, and puts in the outputs, which name no path of this machine.

    Raises:
      ExecutionError: A cell fails.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    running = None

    def on_start(cell: NotebookNode, cell_index: int) -> None:
        nonlocal running
        running = cell

    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        on_cell_execute=on_start,
        resources={"metadata": {"path": str(folder)}},
    )
    client.coalesce_streams = True
    try:
        client.execute(env={**environment, "OP_BY_OP": str(root)})
    except (CellExecutionError, CellTimeoutError, RuntimeError) as error:
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        number = next(
            (number for number, cell in enumerate(code, 1) if cell is running), 0
        )
        line = running.source.strip().split("\n")[0] if running else ""
        what = (
            f"no answer in {TIMEOUT} s"
            if isinstance(error, CellTimeoutError)
            else str(error)
        )
        if isinstance(error, CellExecutionError):
            what = f"{error.ename}: {error.evalue}"
        raise ExecutionError(
            f"code cell {number} (`{line}`) fails: {' '.join(what.split())}"
        ) from error
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            _hide_paths(output, root)


def _hide_paths(output: NotebookNode, root: Path) -> None:
    """Takes this machine's folders out of an output's texts. Cells run in the root: paths in it become relative."""
    replacements = [
        (rf"{re.escape(tempfile.gettempdir())}/ipykernel_\d+/\d+\.py", "cell"),
        (rf"{re.escape(str(root))}/", ""),
        (re.escape(str(root)), "."),
        (re.escape(sys.prefix), "$PREFIX"),
        (re.escape(str(Path.home())) + r"(?=/|\b)", "~"),
    ]

    def hide(text: str) -> str:
        for pattern, replacement in replacements:
            text = re.sub(pattern, lambda _, to=replacement: to, text)
        return text

    if "text" in output:
        output.text = hide(output.text)
    for kind, data in output.get("data", {}).items():
        if isinstance(data, str) and not kind.startswith("image/p"):
            output.data[kind] = hide(data)
    if "traceback" in output:
        output.traceback = [hide(line) for line in output.traceback]
        output.evalue = hide(output.evalue)


def write(notebook: NotebookNode, path: Path) -> None:
    """Writes a notebook whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    nbformat.write(notebook, unfinished)
    os.replace(unfinished, path)


def write_for_lab(notebook: NotebookNode, path: Path) -> str:
    """Writes a notebook for JupyterLab, but never over one that the reader has changed; says what was done."""
    digest = _digest(notebook)
    notebook.metadata["op_by_op"] = {"digest": digest}
    if not path.exists():
        write(notebook, path)
        return "new"
    try:
        there = nbformat.read(path, as_version=4)
        written, now = there.metadata.get("op_by_op", {}).get("digest"), _digest(there)
    except Exception:  # nbformat raises whatever its JSON parser and its validators do
        return (
            "kept, though it is no notebook: delete or rename it to get the chapter's"
        )
    if now == digest:
        return "unchanged"
    if now == written:
        write(notebook, path)
        return "updated, as the chapter has changed"
    if written == digest:
        return "kept with your changes"
    return "kept with your changes, though the chapter has changed since: delete or rename it to get the new one"


def _digest(notebook: NotebookNode) -> str:
    """Of what the reader can edit; outputs do not count."""
    return hashlib.sha256(
        repr([(cell.cell_type, cell.source) for cell in notebook.cells]).encode()
    ).hexdigest()


@functools.cache
def _urls() -> tuple[str, str]:
    """The site, ending in a slash, and the repository."""
    urls = dict(
        url.split(", ")
        for url in importlib.metadata.metadata("op-by-op").get_all("Project-URL")
    )
    return urls["Documentation"].rstrip("/") + "/", urls["Repository"].rstrip("/")


@functools.cache
def _parser() -> tuple[MarkdownIt, list[Span]]:
    """The site's Markdown parser, and the list that it puts the inline pieces into which `inline_spans` asks for."""
    parser = create_md_parser(
        MdParserConfig(enable_extensions=EXTENSIONS), RendererHTML
    )
    parser.disable("front_matter")
    parser.options["inline_definitions"] = True
    spans: list[Span] = []

    def recording(
        name: str, rule: Callable[[StateInline, bool], bool]
    ) -> Callable[[StateInline, bool], bool]:
        def record(state: StateInline, silent: bool) -> bool:
            start, count = state.pos, len(state.tokens)
            found = rule(state, silent)
            if found and not silent and state.env.get("recorded") is state.tokens:
                token = next(
                    (token for token in state.tokens[count:] if token.type != "text"),
                    None,
                )
                label_end = -1
                if name in ("link", "image", "span"):
                    label_end = state.md.helpers.parseLinkLabel(
                        state, start + (name == "image"), name == "link"
                    )
                spans.append(Span(name, start, state.pos, token, label_end))
            return found

        return record

    for rule in list(parser.inline.ruler.__rules__):
        if rule.name in (
            "link",
            "image",
            "autolink",
            "myst_role",
            "attr",
            "span",
            "footnote_ref",
        ):
            parser.inline.ruler.at(rule.name, recording(rule.name, rule.fn))
    return parser, spans


def inline_spans(text: str, env: dict) -> list[Span]:
    """The links, images, roles and attributes of a paragraph's text, in their order."""
    parser, spans = _parser()
    spans.clear()
    tokens: list[Token] = []
    parser.inline.parse(text, parser, {**env, "recorded": tokens}, tokens)
    return sorted(spans, key=lambda span: span.start)


def _plain(tokens: Iterable[Token]) -> str:
    return "".join(
        token.content
        for token in tokens
        if token.type in ("text", "code_inline", "softbreak")
    )


@functools.lru_cache(maxsize=64)
def _anchors(text: str) -> Anchors:
    anchors, labels, slugs = Anchors(), [], set()
    tokens = _parser()[0].parse(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S), {})
    for token, following in zip(tokens, [*tokens[1:], None]):
        if token.type == "myst_target":
            labels.append(token.content)
        elif token.type in ("fence", "colon_fence"):
            anchors.texts |= {
                name: "" for name in re.findall(r"^:name: *(\S+)", token.content, re.M)
            }
        elif token.type == "heading_open":
            heading = _plain(following.children)
            anchors.title = anchors.title or heading
            if int(token.tag[1]) <= HEADING_ANCHORS:
                slug = unique_slug(github_slugify(heading), slugs)
                slugs.add(slug)
                anchors.texts[slug] = heading
            anchors.texts |= dict.fromkeys(labels, heading)
            labels = []
    return Anchors(anchors.title, anchors.texts | dict.fromkeys(labels, ""))


def _escaped(text: str) -> str:
    """Plain text as Markdown."""
    return re.sub(r"[\\`*\[\]<>]|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _fence(code: str, language: str) -> str:
    marks = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{marks}{language}\n{code.rstrip()}\n{marks}"


def _language(path: Path) -> str:
    """What Jupyter's highlighter calls the language of a file."""
    try:
        return (
            "c++"
            if path.suffix in (".cc", ".cu", ".h")
            else get_lexer_for_filename(path.name).aliases[0]
        )
    except ClassNotFound:
        return ""


def _readable_svg(svg: str) -> str:
    """A drawing in the colours of the page has no page in an image: it gets a light ground and dark lines."""
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.fromstring(svg)
    root.set(
        "style",
        f"color:#1f2328;background:#fff;font-family:sans-serif;{root.get('style', '')}",
    )
    if "width" not in root.attrib and "viewBox" in root.attrib:
        root.set("width", root.get("viewBox").split()[2])
    return ElementTree.tostring(root, encoding="unicode")


class _Drawing(Directive):
    required_arguments = 1
    has_content = True


class _Page:
    """A chapter on its way to a notebook."""

    def __init__(self, page: Path) -> None:
        self.page, self.docs, self.root = page, page.parent, page.parent.parent
        self.text = page.read_text()
        self.site, self.repository = _urls()
        self.env: dict = {}
        self.introduced = False
        _parser()[0].parse(
            re.sub(r"\A---\n.*?\n---\n", "", self.text, flags=re.S), self.env
        )

    def error(self, line: int, what: str) -> PageError:
        return PageError(f"{self.page.relative_to(self.root)}:{line + 1}: {what}")

    def notebook(self, local: bool, folder: Path) -> NotebookNode:
        source = myst_to_notebook(self.text, add_source_map=True)
        notebook = nbformat.v4.new_notebook(
            metadata={
                "kernelspec": dict(source.metadata["kernelspec"]),
                "language_info": {
                    "name": "python",
                    "file_extension": ".py",
                    "mimetype": "text/x-python",
                },
            }
        )
        lines = self.text.split("\n")
        code_seen = False
        for cell, line in zip(source.cells, source.metadata["source_map"]):
            if cell.cell_type == "markdown":
                while not lines[line].strip():
                    line += 1
                cell.source = self.markdown(cell.source, line).strip("\n")
                if not cell.source:
                    continue
            elif cell.cell_type == "code" and not code_seen:
                if cell.source.strip() != "%run start.py":
                    raise self.error(line, "the first code cell is not `%run start.py`")
                cell = nbformat.v4.new_code_cell(self.first_cell(source, local, folder))
                code_seen = True
            cell.id = f"{self.page.stem[:50]}-{len(notebook.cells)}"
            notebook.cells.append(cell)
        if not code_seen:
            raise self.error(0, "a chapter without a code cell")
        if not self.introduced:
            raise self.error(0, "a chapter without a title")
        nbformat.validate(notebook)
        return notebook

    def first_cell(self, source: NotebookNode, local: bool, folder: Path) -> str:
        if local:
            start = os.path.relpath(self.docs / "start.py", folder.resolve())
            return f'# Work in the root of the book, with its examples at hand.\n%run "{{_dh[0]}}/{start}"'
        code = "\n".join(
            cell.source for cell in source.cells if cell.cell_type == "code"
        )
        examples = sorted(
            path.parent.name
            for path in (self.root / "examples").glob("*/CMakeLists.txt")
        )
        used = [
            name
            for name in examples
            if name == self.page.stem or re.search(rf"\b{name}\b", code)
        ]
        return SET_UP.format(
            repository=self.repository, examples=", ".join(f'"{name}"' for name in used)
        )

    def introduction(self) -> str:
        return (
            f"*This notebook is a chapter of the book [Op by Op]({self.site}) and runs as it is, from top to bottom. "
            f"[The chapter on the site]({self.site}{self.page.stem}.html)*"
        )

    # Markdown ---------------------------------------------------------------------------------------------------------

    def markdown(self, text: str, line: int) -> str:
        """Rewrites Markdown whose first line is this line of the page, counted from 0."""
        lines = text.split("\n")
        starts = [0]
        for each in lines:
            starts.append(starts[-1] + len(each) + 1)
        edits: list[Edit] = []
        columns: dict[int, int] = {}
        definitions = replaced = 0
        tokens = _parser()[0].parse(
            text, {"references": dict(self.env.get("references", {}))}
        )
        for token, following in zip(tokens, [*tokens[1:], None]):
            if token.type in ("fence", "colon_fence"):
                edits += self.fence(token, lines, starts, line, replaced)
                replaced = token.map[1]
            elif token.type in ("myst_target", "myst_line_comment", "definition"):
                edits.append(self.removal(token.map, lines, starts))
            elif token.type == "inline":
                edits += self.inline(token, lines, starts, columns, line)
            elif (
                token.type == "heading_open"
                and token.tag == "h1"
                and not self.introduced
            ):
                self.introduced = True
                end = starts[token.map[1]] - 1
                edits.append((end, end, f"\n\n{self.introduction()}"))
            elif token.type == "dt_open":
                definitions = 0
                first = token.map[0]
                edits.append((starts[first], starts[first], "- **"))
                edits.append(
                    (
                        starts[first] + len(lines[first].rstrip()),
                        starts[first + 1] - 1,
                        "**:",
                    )
                )
            elif token.type == "dd_open":
                first = following.map[
                    0
                ]  # the token's own map begins at a line of its term, or before
                marker = starts[first] + len(lines[first]) - len(lines[first].lstrip())
                edits.append((marker, marker + 2, "\n  " if definitions else "  "))
                definitions += 1
            elif token.type.startswith("footnote"):
                raise self.error(
                    line + (token.map or [0])[0], "notebooks have no footnotes"
                )
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    @staticmethod
    def removal(place: list[int], lines: list[str], starts: list[int]) -> Edit:
        """Takes lines out, with the blank line after them where there is one before them too."""
        first, end = place
        if (
            end < len(lines)
            and not lines[end].strip()
            and (first == 0 or not lines[first - 1].strip())
        ):
            end += 1
        return starts[first], min(starts[end], starts[-1] - 1), ""

    def fence(
        self,
        token: Token,
        lines: list[str],
        starts: list[int],
        line: int,
        replaced: int,
    ) -> list[Edit]:
        """Replaces a directive, with a blank line on either side; the fence before it ended at line `replaced`."""
        match = re.match(r"\{([^\s}]+)\}\s*(.*)", token.info.strip())
        first, end = token.map
        if not match:
            if token.type == "colon_fence":
                raise self.error(line + first, "a colon fence without a directive")
            return []
        new = self.directive(match[1], match[2], token.content, line + first)
        before = lines[first][: lines[first].index(token.markup)]
        if not new and not before.strip():
            return [self.removal(token.map, lines, starts)]
        indent = re.sub(r"[^>\s]", " ", before)
        if not before.strip() and first > replaced and lines[first - 1].strip():
            new = "\n" + new
        if end < len(lines) and lines[end].strip(" >"):
            new += "\n"
        new = "\n".join(f"{indent}{each}".rstrip() for each in new.split("\n"))[
            len(indent) :
        ]
        return [(starts[first] + len(before), starts[end] - 1, new)]

    def directive(self, name: str, first_line: str, content: str, line: int) -> str:
        """The Markdown that says what a directive does."""
        if name not in DIRECTIVES:
            raise self.error(line, f"unknown directive {{{name}}}")
        kind, convert = DIRECTIVES[name]
        try:
            parsed = parse_directive_text(kind, first_line, content, line=line)
        except MarkupError as error:
            raise self.error(line, f"{{{name}}}: {error}") from error
        if parsed.warnings:
            raise self.error(line, f"{{{name}}}: {parsed.warnings[0].msg}")
        try:
            return convert(self, name, parsed, line)
        except PageError:
            raise
        except (OSError, ValueError) as error:
            raise self.error(line, f"{{{name}}}: {error}") from error

    def body(self, parsed: DirectiveParsingResult, line: int) -> str:
        return self.markdown(
            "\n".join(parsed.body), line + 1 + parsed.body_offset
        ).strip("\n")

    def inline(
        self,
        token: Token,
        lines: list[str],
        starts: list[int],
        columns: dict[int, int],
        line: int,
    ) -> list[Edit]:
        """Replaces roles, links and images in a paragraph, a heading or a cell of a table.

        `columns` keeps how far each line has been read, for a table has several texts in one.
        """
        offsets: list[int] | None = []
        for number, part in enumerate(token.content.split("\n"), token.map[0]):
            column = lines[number].find(part, columns.get(number, 0))
            if column < 0:  # a table's cell with an escaped bar
                offsets = None
                break
            columns[number] = column + len(part)
            offsets += range(
                starts[number] + column, starts[number] + column + len(part) + 1
            )
        edits: list[Edit] = []
        for span in inline_spans(token.content, self.env):
            at = line + token.map[0] + token.content[: span.start].count("\n")
            if offsets is None:
                raise self.error(
                    at, "no link or role is possible beside an escaped bar"
                )
            edits += [
                (offsets[start], offsets[end], new)
                for start, end, new in self.inline_edits(span, at)
            ]
        return edits

    def inline_edits(self, span: Span, line: int) -> list[Edit]:
        if span.rule == "myst_role":
            return [
                (
                    span.start,
                    span.end,
                    self.role(span.token.meta["name"], span.token.content, line),
                )
            ]
        if span.rule == "attr":
            return [(span.start, span.end, "")]
        if span.rule == "span":
            return [(span.start, span.start + 1, ""), (span.label_end, span.end, "")]
        if span.rule == "footnote_ref":
            raise self.error(line, "notebooks have no footnotes")
        if span.rule == "image":
            source, title = span.token.attrs["src"], span.token.attrs.get("title")
            return [
                (
                    span.label_end + 1,
                    span.end,
                    self.target(self.image_source(source, line), title),
                )
            ]
        href, title = span.token.attrs["href"], span.token.attrs.get("title")
        url, text = self.link(href, line)
        if span.rule == "autolink":
            return (
                []
                if url == href
                else [(span.start, span.end, f"[{_escaped(text)}]({url})")]
            )
        edits = [(span.label_end + 1, span.end, self.target(url, title))]
        if span.label_end == span.start + 1:
            edits.insert(0, (span.label_end, span.label_end, _escaped(text)))
        return edits

    @staticmethod
    def target(url: str, title: str | None) -> str:
        quoted = (title or "").replace('"', '\\"')
        return f'({url} "{quoted}")' if title else f"({url})"

    # Links and images -------------------------------------------------------------------------------------------------

    def link(self, href: str, line: int) -> tuple[str, str]:
        """The absolute address of a link, and the text for one that has none."""
        href = re.sub(r"^(project|path):", "", href)
        if scheme := re.match(r"([a-z][a-z0-9+.-]*):", href, re.I):
            if scheme[1] not in ("http", "https", "mailto"):
                raise self.error(line, f"a notebook cannot link to {href}")
            return href, href
        name, _, fragment = unquote(href).partition("#")
        path = Path(
            os.path.normpath(
                (self.docs if name.startswith("/") else self.page.parent)
                / name.lstrip("/")
            )
        )
        page = self.page if not name else path
        if page.parent == self.docs and page.suffix == ".md" and page.exists():
            return self.page_link(page, fragment, line)
        if not name or not path.exists() or not path.is_relative_to(self.root):
            raise self.error(line, f"no page or file {name}")
        kind = "tree" if path.is_dir() else "blob"
        relative = path.relative_to(self.root).as_posix()
        return f"{self.repository}/{kind}/{BRANCH}/{relative}" + (
            f"#{fragment}" if fragment else ""
        ), path.name

    def page_link(self, page: Path, fragment: str, line: int) -> tuple[str, str]:
        anchors = _anchors(page.read_text())
        url = f"{self.site}{page.stem}.html"
        if not fragment:
            return url, anchors.title
        if fragment not in anchors.texts:
            if page == self.page and self.labelled(fragment):
                return self.page_link(self.labelled(fragment), fragment, line)
            raise self.error(line, f"{page.name} has no heading or label {fragment}")
        return f"{url}#{fragment}", anchors.texts[fragment] or anchors.title

    def labelled(self, label: str) -> Path | None:
        """The page that has a label."""
        pages = sorted(self.docs.glob("*.md"))
        return next(
            (page for page in pages if label in _anchors(page.read_text()).texts), None
        )

    def image_source(self, source: str, line: int) -> str:
        """An image as a data URI."""
        if re.match(r"(https?|data):", source):
            return source
        name = unquote(source)
        path = (self.docs if name.startswith("/") else self.page.parent) / name.lstrip(
            "/"
        )
        if not path.exists():
            raise self.error(line, f"no image {name}")
        data = (
            _readable_svg(path.read_text()).encode()
            if path.suffix == ".svg"
            else path.read_bytes()
        )
        return f"data:{mimetypes.guess_type(path.name)[0]};base64,{base64.b64encode(data).decode()}"

    def image(self, source: str, alternative: str, line: int) -> str:
        return f"![{_escaped(' '.join(alternative.split()))}]({self.image_source(source, line)})"

    # Roles ------------------------------------------------------------------------------------------------------------

    def role(self, name: str, content: str, line: int) -> str:
        """The Markdown that says what a role does."""
        if name not in ROLES:
            raise self.error(line, f"unknown role {{{name}}}")
        return ROLES[name](self, content, line)

    def reference(self, content: str) -> tuple[str, str]:
        """The text, empty where the role has none, and the target of `text <target>`."""
        explicit = ReferenceRole.explicit_title_re.match(content)
        return (explicit[1], explicit[2]) if explicit else ("", content)

    def doc(self, content: str, line: int) -> str:
        text, target = self.reference(content)
        url, title = self.link(f"{target}.md", line)
        return f"[{_escaped(text or title)}]({url})"

    def ref(self, content: str, line: int) -> str:
        text, label = self.reference(content)
        page = self.labelled(label)
        if page is None:
            raise self.error(line, f"no label {label}")
        url, title = self.page_link(page, label, line)
        return f"[{_escaped(text or title)}]({url})"

    def download(self, content: str, line: int) -> str:
        text, target = self.reference(content)
        url, name = self.link(target, line)
        return f"[{_escaped(text or name)}]({url})"

    def lines(self, content: str, line: int) -> str:
        directory = self.root / "examples" / content
        if not directory.is_dir():
            raise self.error(line, f"no example {content}")
        return str(line_count(directory))

    # Directives -------------------------------------------------------------------------------------------------------

    def nothing(self, name: str, parsed: DirectiveParsingResult, line: int) -> str:
        return ""

    def content(self, name: str, parsed: DirectiveParsingResult, line: int) -> str:
        """What a directive that only arranges has in it, under its title."""
        title = (
            f"**{parsed.arguments[0]}**\n\n"
            if name != "grid" and parsed.arguments
            else ""
        )
        return self.markdown(title, line) + self.body(parsed, line)

    def admonition(self, name: str, parsed: DirectiveParsingResult, line: int) -> str:
        title = (
            parsed.arguments[0]
            if parsed.arguments
            else {"seealso": "See also"}.get(name, name.capitalize())
        )
        return _quote(
            f"{self.markdown(f'**{title}**', line)}\n\n{self.body(parsed, line)}".rstrip()
        )

    def snippet(self, name: str, parsed: DirectiveParsingResult, line: int) -> str:
        file, _, section = parsed.arguments[0].partition("#")
        path = self.root / "examples" / file
        found = sections(path) if path.exists() else {}
        if section not in found:
            raise self.error(line, f"examples/{file} has no section [{section}]")
        first, last = found[section]
        return self.listing(path, {**parsed.options, "lines": f"{first}-{last}"})

    def literalinclude(
        self, name: str, parsed: DirectiveParsingResult, line: int
    ) -> str:
        file = parsed.arguments[0]
        path = Path(
            os.path.normpath(
                (self.docs if file.startswith("/") else self.page.parent)
                / file.lstrip("/")
            )
        )
        return self.listing(path, parsed.options)

    def listing(self, path: Path, options: dict) -> str:
        """Lines of a file under its name."""
        code, _ = LiteralIncludeReader(
            path, options, SimpleNamespace(source_encoding="utf-8-sig")
        ).read()
        relative = path.relative_to(self.root).as_posix()
        language = _language(path) or options.get("language", "")
        heading = f"[`{relative}`]({self.repository}/blob/{BRANCH}/{relative})"
        return f"{heading}\n\n{_fence(code, language)}"

    def code(self, name: str, parsed: DirectiveParsingResult, line: int) -> str:
        language = parsed.arguments[0] if parsed.arguments else ""
        caption = parsed.options.get("caption")
        return (f"`{caption}`\n\n" if caption else "") + _fence(
            "\n".join(parsed.body), language
        )

    def math(self, name: str, parsed: DirectiveParsingResult, line: int) -> str:
        return "\n".join(["$$", *parsed.arguments, *parsed.body, "$$"])

    def drawing(self, name: str, parsed: DirectiveParsingResult, line: int) -> str:
        return self.image(parsed.arguments[0], " ".join(parsed.body), line)

    def figure(self, name: str, parsed: DirectiveParsingResult, line: int) -> str:
        image = self.image(parsed.arguments[0], parsed.options.get("alt", ""), line)
        return "\n\n".join(part for part in (image, self.body(parsed, line)) if part)


ROLES: dict[str, Callable[[_Page, str, int], str]] = {
    "doc": _Page.doc,
    "ref": _Page.ref,
    "download": _Page.download,
    "lines": _Page.lines,
    "term": lambda page, content, line: _escaped(page.reference(content)[0] or content),
    "abbr": lambda page, content, line: _escaped(content),
    "value": lambda page, content, line: _escaped(content),
    "math": lambda page, content, line: f"${content}$",
    "kbd": lambda page, content, line: f"<kbd>{content}</kbd>",
    "sub": lambda page, content, line: f"<sub>{content}</sub>",
    "sup": lambda page, content, line: f"<sup>{content}</sup>",
    **dict.fromkeys(
        ("code", "command", "envvar", "file", "program", "samp"),
        lambda page, content, line: f"`{content}`",
    ),
}

DIRECTIVES: dict[
    str,
    tuple[type[Directive], Callable[[_Page, str, DirectiveParsingResult, int], str]],
] = {
    "admonition": (admonitions.Admonition, _Page.admonition),
    "attention": (admonitions.Attention, _Page.admonition),
    "caution": (admonitions.Caution, _Page.admonition),
    "danger": (admonitions.Danger, _Page.admonition),
    "error": (admonitions.Error, _Page.admonition),
    "hint": (admonitions.Hint, _Page.admonition),
    "important": (admonitions.Important, _Page.admonition),
    "note": (admonitions.Note, _Page.admonition),
    "seealso": (admonitions.Note, _Page.admonition),
    "tip": (admonitions.Tip, _Page.admonition),
    "warning": (admonitions.Warning, _Page.admonition),
    "dropdown": (DropdownDirective, _Page.admonition),
    "card": (CardDirective, _Page.admonition),
    "grid-item-card": (GridItemCardDirective, _Page.admonition),
    "tab-item": (TabItemDirective, _Page.admonition),
    "grid": (GridDirective, _Page.content),
    "grid-item": (GridItemDirective, _Page.content),
    "tab-set": (TabSetDirective, _Page.content),
    "snippet": (LiteralInclude, _Page.snippet),
    "literalinclude": (LiteralInclude, _Page.literalinclude),
    "code": (CodeBlock, _Page.code),
    "code-block": (CodeBlock, _Page.code),
    "math": (MathDirective, _Page.math),
    "drawing": (_Drawing, _Page.drawing),
    "figure": (images.Figure, _Page.figure),
    "image": (images.Image, _Page.figure),
    "toctree": (TocTree, _Page.nothing),
    "raw": (misc.Raw, _Page.nothing),
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    folder = parser.add_mutually_exclusive_group(required=True)
    folder.add_argument(
        "--execute",
        metavar="FOLDER",
        type=Path,
        help="write the notebooks with their outputs",
    )
    folder.add_argument(
        "--local",
        metavar="FOLDER",
        type=Path,
        help="write them to be run in this checkout",
    )
    parser.add_argument(
        "chapters", metavar="CHAPTER", nargs="*", help="all of them without a name"
    )
    options = parser.parse_args(arguments)
    pages = chapters(ROOT / "docs")
    command = "make notebooks" if options.execute else "make lab"
    if unknown := set(options.chapters) - set(pages):
        sys.exit(
            f"{command}: no chapter {', '.join(sorted(unknown))}; there are {', '.join(pages)}"
        )
    failed = False
    for name in options.chapters or pages:
        path = (options.execute or options.local) / f"{name}.ipynb"
        try:
            if options.local:
                print(
                    f"{path}: {write_for_lab(export(pages[name], local=True, folder=path.parent), path)}",
                    flush=True,
                )
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            notebook = export(pages[name], local=False)
            execute(notebook, path.parent)
            write(notebook, path)
            print(path, flush=True)
        except (PageError, ExecutionError) as error:
            failed = True
            if options.execute:
                path.unlink(
                    missing_ok=True
                )  # of an earlier run: its outputs would pass for this chapter's
            print(f"{command}: {name}: {error}", file=sys.stderr, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
