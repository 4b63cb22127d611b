"""Sphinx extension: the dictionary of errors, which is opcheck's, on the page `errors.md`, and what leads there.

`{explain-field}` is where one pastes a log. `{errors} link` shows the entries of a phase, with their messages as the
mistakes of packages/opcheck/mistakes have given them here. In chapters writers mark nothing: below what a cell printed
stand the entries whose messages are in it.
"""

import difflib
import html
import json
import re
import sys
from itertools import groupby
from pathlib import Path

from book import ROOT
from docutils import nodes
from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import DiffLexer
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

OPCHECK = ROOT / "packages" / "opcheck"
sys.path[:0] = [str(OPCHECK), str(OPCHECK / "mistakes")]

from provoke import Mistake, Outcome, mistakes, outcomes, problem  # noqa: E402

from opcheck.errors import REPORT, Entry, entries  # noqa: E402
from opcheck.explain import explain, for_javascript  # noqa: E402

logger = logging.getLogger(__name__)
PAGE = "errors"
LONGEST = 260  # characters of a message
REPOSITORY = "https://github.com/op-by-op/op-by-op/blob/main/packages/opcheck/mistakes"
FIELD = """\
<form class="explain" data-report="{report}" hidden>
<label for="explain-log">Paste all that was printed</label>
<textarea id="explain-log" rows="7" wrap="off" spellcheck="false" autocomplete="off" autocapitalize="off"></textarea>
<p class="explain-note">Or drop a file. Nothing leaves this page. In a terminal,
<code>make 2&gt;&amp;1 | python -m opcheck explain</code> does the same.</p>
<p class="explain-status" role="status"></p>
<div class="explain-found"></div>
</form>
<script type="application/json" id="explain-rules">{rules}</script>
<script src="_static/explain.js"></script>
<script src="_static/errors.js"></script>
"""


class explain_field(nodes.General, nodes.Element):
    """The place of the field."""


class error_entries(nodes.General, nodes.Element):
    """The entries of a phase."""


class Dictionary(SphinxDirective):
    """A part of the page, made when the page is written, since it leads to others."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        files = filter(Path.is_file, (OPCHECK / "mistakes").rglob("*.*"))
        for path in (*(OPCHECK / "opcheck").glob("*.*"), *files):
            if path.suffix != ".pyc":
                self.env.note_dependency(str(path))
        if self.name == "explain-field":
            return [explain_field()]
        phase = self.arguments[0]
        if phase not in {entry.phase for entry in entries().values()}:
            what = f"no entry of the dictionary has the phase {phase}"
            return [self.state.document.reporter.error(what, line=self.lineno)]
        return [error_entries(phase=phase)]


def visit_explain_field(self, node: explain_field) -> None:
    rules = json.dumps(for_javascript(), ensure_ascii=False, separators=(",", ":"))
    rules = rules.replace("<", "\\u003c")
    self.body.append(FIELD.format(report=html.escape(REPORT), rules=rules))
    raise nodes.SkipNode


def visit_error_entries(self, node: error_entries) -> None:
    self.body.append(shown(node, self.builder.env.titles))
    raise nodes.SkipNode


def shown(node: error_entries, titles: dict[str, nodes.title], site: str = "") -> str:
    """The entries as HTML; other pages lie under the address of the site, or beside this one."""
    chosen = [entry for entry in entries().values() if entry.phase == node["phase"]]
    return "\n".join(details(entry, titles, site) for entry in chosen)


def details(entry: Entry, titles: dict[str, nodes.title], site: str) -> str:
    """One entry."""

    def inline(text: str) -> str:
        made = MarkdownIt().render(text).strip()
        return re.sub(r'href="(\w+)\.md', rf'href="{site}\1.html', made)

    def code(part: str) -> str:
        return f"<code>{html.escape(mistake.parts[part].strip())}</code>"

    parts = [inline(entry.cause), inline(f"**Cure:** {entry.cure}")]
    message, about = entry.message, []
    if made := outcomes().get(entry.id):
        mistake = mistakes()[entry.id]
        if wrong := problem(mistake, made):
            logger.warning("%s: %s", entry.id, wrong, location=PAGE)
        if entry.regex:
            message = printed(entry, made["wrong"])
        elif (ends := made["wrong"].ends) == "timeout":
            about.append("here the process does not come to an end and prints nothing")
        elif ends != "error":
            about.append(f"here the process ends with {ends} and prints nothing")
        if "call" in mistake.parts:
            about.append(f"called as {code('call')}")
        if "cured_call" in mistake.parts:
            about.append(f"cured by {code('cured_call')}")
        lexed = highlight(difference(mistake), DiffLexer(), HtmlFormatter(nowrap=True))
        parts.append(
            '<div class="highlight-none notranslate"><div class="highlight">'
            f"<pre>{lexed}</pre></div></div>"
        )
        about.append(
            f"{link(f'{REPOSITORY}/{entry.reproducer}', 'provoked')} by the build"
        )
        if "cured" not in made:
            about.append("the cure was not tried")
    else:
        reason = entry.not_provoked or "this machine lacks what it takes"
        about.append(f"quoted, not provoked: {inline(reason)[3:-4]}")
        if source := source_of(entry):
            about.append(f"met in {source}")
    page, _, section = entry.chapter.partition("#")
    if page and page not in titles:
        logger.warning("%s: there is no page %s", entry.id, page, location=PAGE)
    elif page:
        address = f"{site}{page}.html" + f"#{section}" * bool(section)
        about.append(f"explained in {link(address, titles[page].astext())}")
    summary = html.escape(message)
    if entry.pattern:
        summary = f"<code>{summary}</code>"
    parts.append(f'<p class="error-about">{"; ".join(about)}.</p>'.replace(";;", ";"))
    return f'<details class="error" id="{entry.id}"><summary>{summary}</summary>{"".join(parts)}</details>'


def printed(entry: Entry, made: Outcome) -> str:
    """The line with the message, of an exception rather than of the log, without what only this build has in it."""
    lines = []
    for found in entry.regex.finditer(made.text):
        start = made.text.rfind("\n", 0, found.start()) + 1
        end = made.text.find("\n", found.end())
        lines.append(made.text[start : end if end >= 0 else None])
    line = next((line for line in lines if re.match(r"[\w.]+Error: ", line)), lines[0])
    for pattern, replacement in (
        (r"^.*?(?=(?:fatal )?error: )", ""),
        (r"^(?:\w+\.)+(?=\w+Error: )", ""),
        (r"^([WEFI])\d{4} [\d:.]+ +\d+ ", r"\1 "),
        (r"\{\{function_node \S+?\}\} |\b\w+_wrong::(?:wrong\(\))?", ""),
        (r"(?<!\w)/\S*?(?=(?:site-packages|examples|mistakes|errors)\b)", "…/"),
        (r"\b0x[0-9a-f]+", "0x…"),
        (r"\x1b\[[0-9;]*[mK]", ""),
    ):
        line = re.sub(pattern, replacement, line)
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def difference(mistake: Mistake) -> str:
    """The mistake and its cure in one."""
    wrong, cured = (
        re.sub(r"  # noqa.*", "", mistake.shown(form)).splitlines()
        for form in ("wrong", "cured")
    )
    if not cured:
        return "\n".join(wrong)
    lines = (line.rstrip() for line in difflib.ndiff(wrong, cured) if line[0] != "?")
    runs = groupby(lines, key=lambda line: line[:1] in ("+", "-"))
    return "\n".join(
        line
        for _, run in runs
        for line in sorted(run, key=lambda line: line[:1] == "+")
    )


def link(address: str, text: str) -> str:
    return f'<a href="{address}">{html.escape(text)}</a>'


def source_of(entry: Entry) -> str:
    """A link to where it was met."""
    if found := re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", entry.source):
        return link(f"https://github.com/{found[1]}/issues/{found[2]}", entry.source)
    if entry.source.startswith("https:"):
        return link(entry.source, "a report")
    return ""


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
            found = [one.entry.id for one in explain(block.astext()).found]
            new = [name for name in found if name not in linked]
            linked.update(new)
            if new:
                links = (link(f"{address}#{x}", x.replace("-", " ")) for x in new)
                text = f"In the list of errors: {', '.join(links)}"
                note = f'<p class="error-links">{text}</p>'
                at = block.parent.index(block) + 1
                block.parent.insert(at, nodes.raw("", note, format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(explain_field, html=(visit_explain_field, None))
    app.add_node(error_entries, html=(visit_error_entries, None))
    app.add_directive("explain-field", Dictionary)
    app.add_directive("errors", Dictionary)
    app.add_post_transform(LinkMessages)
    app.connect("source-read", link_page)
    app.config.html_static_path.append(str(OPCHECK / "opcheck" / "explain.js"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
