"""Sphinx extension: the dictionary of errors, which is opcheck's: a page for each entry, and what leads there.

`{explain-field}` is where one pastes a log. `{errors} link` lists the entries of a phase. The pages of the entries,
`errors/x.html`, are no documents of Sphinx: one page is written by the theme, and each entry is put in its place, which
takes no time. In chapters writers mark nothing: below what a cell printed stand the entries whose messages are in it.
"""

import datetime
import difflib
import functools
import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from book import ROOT, urls
from docutils import nodes
from found import article, as_data, tags_of
from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import DiffLexer
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from unbroken import in_code, unbroken

OPCHECK = ROOT / "packages" / "opcheck"
sys.path[:0] = [str(OPCHECK), str(OPCHECK / "mistakes")]

from provoke import Mistake, Outcome, mistakes, outcomes, problem  # noqa: E402

from opcheck.errors import REPORT, Entry, entries, table, tomllib  # noqa: E402
from opcheck.explain import explain, for_javascript  # noqa: E402

logger = logging.getLogger(__name__)
PAGE = "errors"
SKELETON = f"{PAGE}/entry"
LONGEST = 260  # characters of a message
TITLE, DESCRIPTION = 120, 160  # and of what search engines show of it
IN_SEARCH = 200  # of a cause
SHORT = 330  # of what the field shows of a cause or a cure before a click
FRAGMENTS = "Either ", "If ", "In ", "Of ", "When ", "Where ", "With "
BEFORE_MORE = ",(?= (?:and|which|such as|as|or|so that|because|since|where|whose|in) )"
HEADINGS = {
    "silent": "Nothing is printed",
    "compile": "The compiler",
    "link": "The linker",
    "load": "Loading the library",
    "register": "Registering the op",
    "call": "Calling the op",
    "trace": "Tracing a function",
    "run": "Running the kernel",
    "gradient": "Gradients",
    "cuda-build": "Compiling for the GPU",
    "cuda-run": "Running on the GPU",
    "xla": "XLA",
    "serve": "Saving, serving and Keras",
    "distribute": "Wheels and other processes",
    "test": "Tests and notebooks",
}
# What a long phase is divided into, by the ids of the entries: the first pattern that is found counts.
TOPICS = {
    "compile": {
        "TensorFlow's functions and Eigen": "",
        "C++: syntax, names and macros": r"semicolon|brace|^macro-|^std-|^dot-|^call-|lambda|not-declared|syntax"
        r"|types-do|namespace|base-class|override|template-keyword|class-defined|name-is-ambiguous|failed-decl",
        "Header files": r"header|third-party|not-shipped|helper|highwayhash|undeclared-inclusion|has-moved|beside",
        "The compiler and its options": r"^compiler-|option|needs-cpp|cpp-standard|cpp14|cpp17|-compiler|processor"
        r"|^needs-|warnings-are|instruction-set",
        "Bazel": r"bazel|nsync|wheel-built|cuda-version",
        "CMake, make and the shell": r"cmake|^make|^script|^shell|tensorflow-config|^file-|^build-|submodule"
        r"|library-of-the-build|setup-|sysconfig|tells-no-abi",
        "Windows and macOS": r"windows|visual|^mac-|editor",
        "Projects other than an op": r"tflite|flatbuffers|horovod|lammps|deepmd|^mpi|android|-ros-|docker|c-api-header"
        r"|auditwheel|pip-knows|python-strings|tensorflow-cc|wants-the-sources|libtensorflow$",
    }
}
# The names that entries had, and what took their place: an address that was printed or linked stays one.
FORMERLY = {
    "gpu-input-read-on-the-host": "crash-in-an-op",
    "no-module-named": "python-module-not-installed",
    "shard-not-declared": "name-without-its-header",
    "xla-compile-time-constant": "must-be-a-constant",
}
MISTAKES = f"{urls()['Repository']}/blob/main/packages/opcheck/mistakes"
LOADER = FileSystemLoader(ROOT / "docs" / "_templates")
TEMPLATES = Environment(loader=LOADER, autoescape=True, keep_trailing_newline=True)


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
        if phase not in HEADINGS:
            what = f"no entry of the dictionary has the phase {phase}"
            return [self.state.document.reporter.error(what, line=self.lineno)]
        return [error_entries(phase=phase)]


def visit_explain_field(self, node: explain_field) -> None:
    field = TEMPLATES.get_template("explain.html")
    self.body.append(field.render(report=REPORT))
    raise nodes.SkipNode


def visit_error_entries(self, node: error_entries) -> None:
    self.body.append(listed(node["phase"]))
    raise nodes.SkipNode


@functools.cache
def in_order() -> list[Entry]:
    """As the page lists them."""
    order = [*HEADINGS]
    return sorted(entries().values(), key=lambda entry: order.index(entry.phase))


def neighbours(entry: Entry) -> dict[str, tuple[str, str] | None]:
    """The entries before and after it in the list: the address and the message of each."""
    order = in_order()
    at = order.index(entry)
    found = {"before": order[at - 1 : at], "after": order[at + 1 : at + 2]}
    return {
        key: (f"{x[0].id}.html", shortened(worded(x[0]), 70)) if x else None
        for key, x in found.items()
    }


def also_seen(entry: Entry) -> list[str]:
    """Its other words, without those that the heading has, and what only adds to a long heading."""

    def words(text: str) -> str:
        return re.sub(r"\W+", " ", text).strip()

    said = {words(plain(x)) for x in (message_of(entry), entry.message)}
    long = tuple(x for x in said if len(x) > 50)
    others = wordings().get(entry.id, [])
    return [x for x in others if words(x) not in said and not words(x).startswith(long)]


def topic(entry: Entry) -> str:
    """The part of its phase, of one that is divided."""
    first, *others = TOPICS.get(entry.phase, {"": ""}).items()
    found = (name for name, sign in reversed(others) if re.search(sign, entry.id))
    return next(found, first[0])


def listed(phase: str, site: str = "") -> str:
    """Links to the entries of a phase, folded, as HTML. Each has the id that the entry had on this page."""
    entries = [entry for entry in in_order() if entry.phase == phase]
    groups = {
        name: [entry for entry in entries if topic(entry) == name]
        for name in TOPICS.get(phase, {"": ""})
    }
    return "".join(
        TEMPLATES.get_template("error-group.html").render(
            folder=f"{site}{PAGE}",
            name=name,
            entries=some,
            formerly=FORMERLY,
            shown=shown,
            why=lambda entry: in_brief(plain(entry.cause), 110),
            tried=lambda entry: "cured" in outcomes().get(entry.id, {}),
        )
        for name, some in groups.items()
    )


def in_short(text: str) -> str:
    """The first sentences of Markdown as HTML, and the others of a long text folded."""
    first, *rest = sentences(text)
    while rest and len(first) + len(rest[0]) < SHORT:
        first += f" {rest.pop(0)}"
    if not rest:
        return inline(first, "")
    folded = inline(" ".join(rest), "")
    return f"{inline(first, '')}<details><summary>More</summary>{folded}</details>"


def message_of(entry: Entry) -> str:
    """What one sees: as it was printed here, if it was."""
    made = outcomes().get(entry.id) if entry.regex else None
    if made and entry.regex.search(made["wrong"].text):
        return printed(entry, made["wrong"])
    return entry.message


def shown(entry: Entry) -> Markup:
    """Its message as HTML, as code unless it is a symptom."""
    if not entry.pattern:
        return inline(entry.message)
    return code(message_of(entry))


def code(text: str) -> Markup:
    return Markup(in_code(Markup("<code>{}</code>").format(text)))


def inline(text: str, site: str = "../") -> Markup:
    """Markdown of one paragraph as HTML. Links are to pages of the book, and to other entries."""
    made = MarkdownIt().renderInline(text)
    made = re.sub(r'href="(\w+)\.md', rf'href="{site}\1.html', made)
    made = re.sub(r'href="#([\w-]+)"', rf'href="{site}{PAGE}/\1.html"', made)
    return Markup(in_code(made))


def worded(entry: Entry) -> str:
    """Its message as text: Markdown if it is a symptom, and else what is printed, with the backticks of compilers."""
    return entry.message if entry.pattern else plain(entry.message)


def plain(text: str) -> str:
    """Markdown without its signs."""
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).replace("`", "")


def shortened(text: str, longest: int) -> str:
    """Cut at the end of a word, if it has ends of words."""
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    head, space, _ = cut.rpartition(" ")
    return f"{head if space and len(head) > longest // 2 else cut.rstrip()}…"


def title_of(entry: Entry) -> str:
    """For the tab and for search engines: the message, a long one up to the end of a sentence or of a word."""
    message = worded(entry).removeprefix("…: ")
    # Without the shell's words for a signal that the message names, as in “Segmentation fault”.
    message = re.sub(r", “[^”]*”(?:,(?= in| when| while))?", "", message)
    # Nor where a log line or a file comes from.
    message = re.sub(r"^[EFIW] \S+:\d+\] ", "", message)
    message = re.sub(
        r"(?<![\w/:…])(?:…|/[\w.-]+)(?:/[\w.+-]+)*/(?=[\w.+-]+: )", "", message
    )
    title = beginning(message, TITLE).rstrip(" :<")
    if "tensorflow" in title.lower():
        return title
    long = len(title) > 50
    return f"{title} | {'TensorFlow' if long else 'TensorFlow custom op'}"


def beginning(text: str, longest: int) -> str:
    """The first sentences of a text; without one that is short enough, its first words."""
    if len(text) <= longest:
        return text
    cut = text[: longest + 1]
    if len(head := cut[: cut.rfind(". ") + 1]) > longest // 2:
        return head
    cut = cut.rpartition(" ")[0]
    # Not within a parenthesis.
    if (
        opened := re.search(r"[(\[{][^()\[\]{}]*$", cut)
    ) and opened.start() > longest // 2:
        cut = cut[: opened.start()]
    small = "a|an|and|as|at|but|by|for|from|in|is|not|of|on|one|or|that|the|this|to|when|which|with"
    return re.sub(rf"(?: (?:{small})\b|[\s,;:({{\[=‘'\"–-]+)+$", "", cut)


def in_brief(text: str, longest: int) -> str:
    """Its beginning, which says so where it stops within a sentence."""
    cut = beginning(text, longest - 1)
    whole = cut == text or cut.endswith((".", "!", "?"))
    return cut if whole else f"{cut.rstrip('.')}…"


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?]) (?=[A-Z`…“‘(\[])|(?<=[a-z\d)`]\.) (?=[a-z])", text)


def clause(sentence: str, ends: tuple[str, ...] = ("[:;]", BEFORE_MORE)) -> str:
    """The beginning of a long sentence of Markdown that can stand alone; "" if there is none."""
    for end in ends if len(sentence) > DESCRIPTION + 40 else ends[:1]:
        found = re.match(rf"((?:`[^`]*`|[^`]){{40,}}?){end} ", sentence)
        if found:
            return f"{found[1]}."
    return ""


def described(entry: Entry) -> str:
    """Whole sentences of cause and cure, as many as a search engine shows, of a long one what can stand alone."""
    cause, cure = sentences(entry.cause), sentences(entry.cure)
    found, rest = cause[0], cause[1:] + cure
    if len(found) > DESCRIPTION and (short := clause(found)):
        if len(short) > 80 or len(found) > DESCRIPTION + 40:
            found, rest = short, cure
    for sentence in rest:
        longest = DESCRIPTION if len(found) > 80 else DESCRIPTION + 60
        if sentence.startswith(("Or ", "Otherwise")):
            continue  # than what there was no room for
        if len(found) + len(sentence) < longest:
            found += f" {sentence}"
        elif len(found) > 80:
            break
        elif short := clause(sentence, ("[:;]",)):
            fits = len(found) + len(short) < longest
            if fits and not short.startswith(FRAGMENTS):
                found += f" {short}"
                break
    return plain(found)


@functools.cache
def descriptions() -> dict[str, str]:
    """What search engines show of each entry below its title."""
    return {entry.id: described(entry) for entry in entries().values()}


@functools.cache
def changed() -> dict[str, str]:
    """From the name of each entry's page to when the entry was last changed, as git knows."""
    file = OPCHECK / "opcheck" / "errors.toml"
    command = ["git", "blame", "--line-porcelain", file.name]
    try:
        run = subprocess.run(command, cwd=file.parent, capture_output=True, text=True)
    except FileNotFoundError:  # no git
        return {}
    found: dict[str, int] = {}
    name, seconds = "", 0
    for line in run.stdout.splitlines():
        if line.startswith("committer-time "):
            seconds = int(line.split()[1])
        elif begins := re.match(r'\tid = "(.*)"', line):
            name = begins[1]
        if line.startswith("\t") and line.strip() and name and "[[error]]" not in line:
            found[name] = max(found.get(name, 0), seconds)
    utc = datetime.timezone.utc
    return {
        f"{PAGE}/{name}": datetime.datetime.fromtimestamp(last, utc).isoformat()
        for name, last in found.items()
    }


@functools.cache
def wordings() -> dict[str, list[str]]:
    """The other words of a message that the tests have."""
    cases = tomllib.loads((OPCHECK / "tests" / "cases.toml").read_text())
    return cases["wordings"]


def body(entry: Entry, titles: dict[str, nodes.title]) -> str:
    """The page of an entry."""
    made, heading = outcomes().get(entry.id), HEADINGS[entry.phase]
    return TEMPLATES.get_template("error.html").render(
        entry=entry,
        inline=inline,
        code=code,
        unbroken=lambda text: Markup(unbroken(escape(text))),
        shown=shown(entry),
        heading=heading,
        anchor=nodes.make_id(heading),
        headers=headers() if entry.names else (),
        example=before_and_after(entry, made) if made else None,
        others=also_seen(entry),
        neighbours=neighbours(entry),
        related=see_also(entry, titles),
        source=source_of(entry),
        mistakes=MISTAKES,
        report=REPORT.partition("?")[0],
    )


def before_and_after(entry: Entry, made: dict[str, Outcome]) -> dict[str, object]:
    """The mistake and its cure, and what calls the op."""
    mistake = mistakes()[entry.id]
    if wrong := problem(mistake, made):
        logger.warning("%s: %s", entry.id, wrong, location=PAGE)
    says, ends = [], made["wrong"].ends
    if not entry.regex and ends == "timeout":
        says.append("Here the process does not come to an end and prints nothing.")
    elif not entry.regex and ends.startswith("SIG"):
        says.append(f"Here the process ends with {ends} and prints nothing.")
    for part, how in (("call", "Called as"), ("cured_call", "Cured by")):
        if part in mistake.parts:
            called = code(mistake.parts[part].strip())
            says.append(Markup("{} {}.").format(how, called))
    if not entry.regex and not ends:
        sign = mistake.parts["ends"].strip()
        printed = next(line for line in made["wrong"].text.split("\n") if sign in line)
        what = Markup("Here it prints {}, and no error.")
        says.append(what.format(code(printed)))
    title = "Before and after" if "cured" in mistake.parts else "An example"
    return {
        "title": "How the build imitates it" if entry.staged else title,
        "code": highlight(difference(mistake), DiffLexer(), HtmlFormatter(nowrap=True)),
        "says": says,
        "cured": "cured" in made,
    }


def headers() -> Iterator[tuple[str, str]]:
    """The names that the book's examples use, and the header of each."""
    for name, (header, space) in table("headers")["names"].items():
        if not name.startswith(("TF_CALL", "REGISTER", "INTERNAL")):
            yield f"{space}::{name}" if space else name, header


def see_also(entry: Entry, titles: dict[str, nodes.title]) -> list[Markup]:
    """The chapter, what this follows from, and what follows from it."""
    found = []
    page, _, section = entry.chapter.partition("#")
    if page and page not in titles:
        logger.warning("%s: there is no page %s", entry.id, page, location=PAGE)
    elif page:
        address = f"../{page}.html#{section}".rstrip("#")
        found.append(link(address, titles[page].astext()) + ", the chapter")
    for name in entry.follows:
        if name != "*":
            found.append(entry_link(name) + ", from which it may follow")
    for other in entries().values():
        if entry.id in other.follows:
            found.append(entry_link(other.id) + ", which may follow from it")
    return found


def entry_link(name: str) -> Markup:
    entry = entries()[name]
    text = shortened(worded(entry), 90)
    return link(f"{name}.html", code(text) if entry.pattern else text)


def skeleton(app: Sphinx) -> Iterator[tuple[str, dict[str, object], str]]:
    """The one page that the theme writes for all entries."""
    if app.builder.name == "html" and PAGE in app.env.all_docs:
        context = {"title": "@@title@@", "docstitle": "", "body": "@@body@@"}
        context |= {"metatags": "@@meta@@"}
        context["meta"] = {"html_theme.sidebar_secondary.remove": True}
        yield SKELETON, context, "page.html"


def pages(app: Sphinx) -> list[str]:
    """The names of the pages of all entries."""
    return [f"{PAGE}/{name}" for name in entries()] if PAGE in app.env.all_docs else []


def section(entry: Entry) -> tuple[str, str, str, str]:
    """What the search looks through of an entry: each of its messages once, and the cause's beginning.

    Who has a message pastes it; others type what they take for the cause, as in `ABI mismatch`. The causes whole
    would be a sixth of what a search loads.
    """
    title = shortened(worded(entry), 120)
    texts: list[str] = []
    message = plain(message_of(entry)) if not entry.pattern else message_of(entry)
    for text in [message, worded(entry), *wordings().get(entry.id, [])]:
        if not any(text in other for other in (title, *texts)):
            texts = [*(other for other in texts if other not in text), text]
    text = " ".join([*texts, beginning(plain(entry.cause), IN_SEARCH)])
    return f"{PAGE}/{entry.id}.html", "", f"Errors › {title}", text


def sections(app: Sphinx) -> Iterator[tuple[str, str, str, str]]:
    """What the search looks through of the entries."""
    if PAGE in app.env.all_docs:
        yield from map(section, entries().values())


def write_pages(app: Sphinx, exception: Exception | None) -> None:
    """The pages of the entries, and what the field knows."""
    file, page = app.outdir / f"{SKELETON}.html", app.outdir / f"{PAGE}.html"
    # Of another page alone, `make page` writes the outline, and not the page of the errors.
    if (
        exception
        or app.builder.name != "html"
        or not file.exists()
        or not page.exists()
    ):
        return
    outline = file.read_text()
    file.unlink()
    # The list of all errors is where the reader is.
    item = r'<li class="(toctree-l1)">(?=<a class="reference internal" href="../errors\.html")'
    outline = re.sub(item, r'<li class="\1 current active">', outline)
    # All of them are shared with the card of the list.
    written = page.read_text()
    card = "".join(
        re.findall(
            r'<meta (?:property="og|name="twitter):(?:image|card).*?>\n?', written
        )
    )
    known = {}
    for entry in entries().values():
        name = f"{PAGE}/{entry.id}"
        address = f"{app.config.html_baseurl}{name}.html"
        title, description = map(
            html.escape, (title_of(entry), descriptions()[entry.id])
        )
        tags = {"og:title": title, "og:description": description, "og:url": address}
        tags |= {"og:type": "article", "og:site_name": app.config.project}
        meta = f'<meta name="description" content="{description}" />\n' + "".join(
            f'<meta property="{tag}" content="{text}" />\n'
            for tag, text in tags.items()
        )
        meta += card
        meta += as_data(article(app, tags_of(meta), changed().get(name)))
        filled = {"@@title@@": title, "@@meta@@": meta}
        filled |= {SKELETON: name, "@@body@@": body(entry, app.env.titles)}
        page = outline
        for place, text in filled.items():
            page = page.replace(place, text)
        (app.outdir / f"{name}.html").write_text(page)
        known[entry.id] = {
            "title": shown(entry),
            "cause": in_short(entry.cause),
            "cure": in_short(entry.cure),
        }
    data = {"rules": for_javascript(), "entries": known}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    (app.outdir / PAGE / "known.js").write_text(f"const known = {text};\n")


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


def link(address: str, text: str) -> Markup:
    return Markup('<a href="{}">{}</a>').format(address, text)


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
        folder = address.removesuffix(".html")
        linked = set()
        for block in list(self.document.findall(nodes.literal_block)):
            if "output" not in block["classes"]:
                continue
            found = [one.entry.id for one in explain(block.astext()).found]
            new = [name for name in found if name not in linked]
            linked.update(new)
            if new:
                links = (link(f"{folder}/{x}.html", x.replace("-", " ")) for x in new)
                text = f"In the list of errors: {', '.join(links)}"
                note = f'<p class="error-links">{text}</p>'
                at = block.parent.index(block) + 1
                block.parent.insert(at, nodes.raw("", note, format="html"))


class LeadToEntries(SphinxPostTransform):
    """Leads `errors.md#name` to the page of the entry, before MyST looks for a heading of that name."""

    default_priority = 8

    def run(self, **options: object) -> None:
        local = self.app.builder.format == "html"
        site = "" if local else self.app.config.html_baseurl
        for node in list(self.document.findall(addnodes.pending_xref)):
            name = node.get("reftargetid")
            if (
                node.get("refdomain") != "doc"
                or node["reftarget"] != PAGE
                or name not in entries()
            ):
                continue
            address = f"{site}{PAGE}/{name}.html"
            words = [child.deepcopy() for child in node.children]
            node.replace_self(
                nodes.reference("", "", *words, refuri=address, internal=local)
            )


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(explain_field, html=(visit_explain_field, None))
    app.add_node(error_entries, html=(visit_error_entries, None))
    app.add_directive("explain-field", Dictionary)
    app.add_directive("errors", Dictionary)
    app.add_post_transform(LeadToEntries)
    app.add_post_transform(LinkMessages)
    app.connect("source-read", link_page)
    app.connect("html-collect-pages", skeleton)
    app.connect("build-finished", write_pages)
    app.config.html_static_path.append(str(OPCHECK / "opcheck" / "explain.js"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
