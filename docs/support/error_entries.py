"""The entries of the page on errors: messages as they were printed here, their causes and cures."""

import difflib
import html
import re
import sys
from itertools import groupby
from pathlib import Path

from IPython.display import HTML
from markdown_it import MarkdownIt
from pictures.figures import REPOSITORY
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import DiffLexer

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "packages" / "opcheck" / "mistakes"))

from provoke import Mistake, Outcome, mistakes, outcomes  # noqa: E402

from opcheck import explain  # noqa: E402
from opcheck.errors import Entry, entries  # noqa: E402

LONGEST = 260  # characters of a message
ENDS = {
    "timeout": "does not come to an end",
    "SIGSEGV": "ends with SIGSEGV",
    "SIGABRT": "ends with SIGABRT",
    "SIGBUS": "ends with SIGBUS",
    "SIGFPE": "ends with SIGFPE",
    "SIGILL": "ends with SIGILL",
}
markdown = MarkdownIt()


def problem(entry: Entry, mistake: Mistake, made: dict[str, Outcome]) -> str:
    """What is wrong with an entry, going by what came of its mistake and of its cure; nothing if all is well."""
    wrong, cured = made["wrong"], made.get("cured")
    if entry.regex is None:
        ends = mistake.parts["ends"].strip()
        if ends != wrong.ends and ends not in wrong.text:
            return f"the mistake ends with {wrong.ends or wrong.text}, not {ends}"
    elif not entry.regex.search(wrong.text):
        return f"the pattern is not in {wrong.text[-1000:]}"
    if cured is None:
        return ""
    if cured.ends not in ("", "error"):
        return f"the cure ends with {cured.ends}: {cured.text[-1000:]}"
    if cured.ends and not refuses(mistake):
        return f"the cure fails: {cured.text[-1000:]}"
    if entry.regex and entry.regex.search(cured.text):
        return "the cure gives the message, too"
    return ""


def refuses(mistake: Mistake) -> bool:
    """Whether the cure is an error that the kernel reports, in the place of a crash."""
    cure = mistake.parts.get("cured", "")
    return bool(re.search(r"OP_REQUIRES|CtxFailure|TF_RETURN_IF_ERROR", cure))


def message(entry: Entry, text: str) -> str:
    """The line with the pattern, of an exception rather than of the log, without what only this build has in it."""
    lines = []
    for found in entry.regex.finditer(text):
        start = text.rfind("\n", 0, found.start()) + 1
        end = text.find("\n", found.end())
        lines.append(text[start : end if end >= 0 else len(text)])
    line = next((line for line in lines if re.match(r"[\w.]+Error: ", line)), lines[0])
    line = re.sub(r"^.*?(?=(?:fatal )?error: )", "", line)
    line = re.sub(r"^(?:\w+\.)+(?=\w+Error: )", "", line)
    line = re.sub(r"^([WEFI])\d{4} [\d:.]+ +\d+ ", r"\1 ", line)
    line = re.sub(r"\{\{function_node \S+?\}\} |\b\w+_wrong::(?:wrong\(\))?", "", line)
    line = re.sub(r"(?<!\w)/\S*?(?=(?:site-packages|examples|mistakes)\b)", "…/", line)
    line = re.sub(r"\b0x[0-9a-f]+", "0x…", line)
    line = re.sub(explain.ESCAPES, "", line)
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"


def difference(mistake: Mistake) -> str:
    """The mistake and its cure in one."""
    shown = (mistake.shown(form) for form in ("wrong", "cured"))
    lines = [re.sub(r"  # noqa.*", "", text).splitlines() for text in shown]
    if not lines[1]:
        return "\n".join(lines[0])
    found = (line.rstrip() for line in difflib.ndiff(*lines) if line[0] != "?")
    runs = groupby(found, key=lambda line: line[:1] in ("+", "-"))
    return "\n".join(
        line
        for _, run in runs
        for line in sorted(run, key=lambda line: line[:1] == "+")
    )


def inline(text: str) -> str:
    """Markdown as HTML, with links to other pages of the book as the site has them."""
    made = markdown.render(text).strip()
    return re.sub(r'href="(\w+)\.md', rf'href="{explain.SITE}\1.html', made)


def link(address: str, text: str) -> str:
    return f'<a href="{address}">{html.escape(text)}</a>'


def source_of(entry: Entry) -> str:
    """A link to where it was met."""
    if found := re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", entry.source):
        return link(f"https://github.com/{found[1]}/issues/{found[2]}", entry.source)
    if entry.source.startswith("https:"):
        return link(entry.source, "a report")
    return ""


def chapter_of(entry: Entry) -> str:
    """A link to where the book explains it."""
    page, _, section = entry.chapter.partition("#")
    if not page:
        return ""
    text = (ROOT / "docs" / f"{page}.md").read_text()
    title = re.search(r"^# (.*)", text, re.M)[1]
    anchor = f"#{section}" * bool(section)
    return link(f"{explain.SITE}{page}.html{anchor}", title)


def block(text: str, kind: str) -> str:
    lexed = highlight(text, DiffLexer(), HtmlFormatter(nowrap=True))
    return f'<div class="highlight-{kind} notranslate"><div class="highlight"><pre>{lexed}</pre></div></div>'


def details(entry: Entry) -> str:
    """One entry."""
    mistake = mistakes().get(entry.id)
    made = OUTCOMES.get(entry.id, {}) if entry.reproducer else {}
    parts = [inline(entry.cause), inline(f"**Cure:** {entry.cure}")]
    shown = entry.message
    about = []
    if made:
        if entry.regex:
            shown = message(entry, made["wrong"].text)
        elif made["wrong"].ends in ENDS:
            ends = ENDS[made["wrong"].ends]
            about.append(f"here the process {ends} and prints nothing")
        if call := mistake.parts.get("call"):
            about.append(f"called as <code>{html.escape(call.strip())}</code>")
        if call := mistake.parts.get("cured_call"):
            about.append(f"cured by <code>{html.escape(call.strip())}</code>")
        parts.append(block(difference(mistake), "none"))
        file = f"{REPOSITORY}/packages/opcheck/mistakes/{entry.reproducer}"
        about.append(link(file, "provoked") + " by the build")
        if not mistake.parts.get("cured") and not mistake.parts.get("cured_call"):
            about.append("the cure was not tried")
    else:
        reason = entry.not_provoked or "this machine lacks what it takes"
        about.append(f"quoted, not provoked: {inline(reason)[3:-4]}")
        if source := source_of(entry):
            about.append(f"met in {source}")
    if chapter := chapter_of(entry):
        about.append(f"explained in {chapter}")
    shown = html.escape(shown)
    if entry.pattern:
        shown = f"<code>{shown}</code>"
    parts.append(f'<p class="error-about">{"; ".join(about)}.</p>'.replace(";;", ";"))
    return f'<details class="error" id="{entry.id}"><summary>{shown}</summary>{"".join(parts)}</details>'


def show(phase: str) -> HTML:
    """All entries of a phase."""
    chosen = [entry for entry in entries().values() if entry.phase == phase]
    SHOWN.extend(entry.id for entry in chosen)
    return HTML("\n".join(map(details, chosen)))


OUTCOMES = outcomes()
SHOWN: list[str] = []
