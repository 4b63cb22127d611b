"""Tests of the built site: as files, and as a reader meets it, in a headless Chromium."""

import datetime
import fcntl
import functools
import http.server
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.etree import ElementTree

import nbformat
import ninja as ninja_package
import numpy as np
import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from bs4 import BeautifulSoup
from docutils.nodes import make_id
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, Page, expect

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.path += [str(ROOT / "docs" / "support"), str(ROOT / "docs")]
sys.path.append(str(ROOT / "bench"))  # last: a bench is named like its example

from book import chapters, examples, parts  # noqa: E402
from downloads import archive  # noqa: E402
from freshness import INSTALLED  # noqa: E402
from glossary import pattern  # noqa: E402
from page_weight import page_files, page_weight  # noqa: E402
from sections import sections  # noqa: E402

from opcheck.errors import entries  # noqa: E402
from opcheck.explain import explain  # noqa: E402

CHAPTERS = list(chapters())
EXAMPLES = examples()
# Its tests share what is parsed of all pages.
on_files = pytest.mark.xdist_group("the site's files")
AXE = AXE_FILE_PATH.read_text()


@pytest.fixture(scope="module")
def site() -> Path:
    """The folder of the site, up to date: `make test` has just built it; else the first worker does."""
    if "SITE_IS_BUILT" not in os.environ:
        (ROOT / "build").mkdir(exist_ok=True)
        with open(ROOT / "build" / "site_test.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            command = ["make", f"PYTHON={sys.executable}", "docs"]
            subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / "build" / "html"


@functools.cache
def parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(), "html.parser")


@pytest.fixture(scope="module")
def documents(site: Path) -> dict[Path, BeautifulSoup]:
    """From the path of each page to its content."""
    return {
        path: parsed(path)
        for path in site.rglob("*.html")
        if "_static" not in path.parts
    }


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    """The site over HTTP: its address."""
    handler = functools.partial(QuietHandler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(params=["http", "file"])
def address(request: pytest.FixtureRequest, site: Path) -> str:
    """The site over HTTP and as files on the disk: a test that takes it runs twice."""
    if request.param == "file":
        return site.as_uri() + "/"
    return request.getfixturevalue("server")


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page in a window of its own.

    The test fails for whatever goes wrong in there until its end: an error or a warning on the
    console, a failed request, or one that leaves the site.
    """
    contexts, problems = [], []

    def open_page(
        address: str,
        page: str,
        mode: str = "light",
        width: int = 1280,
        wait_until: str = "load",
    ) -> Page:
        context = browser.new_context(
            color_scheme=mode, viewport={"width": width, "height": 900}
        )
        context.set_default_timeout(100_000)
        contexts.append(context)

        def on_console(message) -> None:
            if message.type in ("error", "warning"):
                problems.append(f"console: {message.text}")

        def on_request(request) -> None:
            if not request.url.startswith((address, "data:")):
                problems.append(f"request to elsewhere: {request.url}")

        def on_response(response) -> None:
            if response.status >= 400:
                problems.append(f"{response.status}: {response.url}")

        def on_failure(request) -> None:
            if request.failure != "net::ERR_ABORTED":  # the page was left before
                problems.append(f"failed, {request.failure}: {request.url}")

        context.on("console", on_console)
        context.on("request", on_request)
        context.on("response", on_response)
        context.on("requestfailed", on_failure)
        context.on("weberror", lambda error: problems.append(f"error: {error.error}"))
        tab = context.new_page()
        tab.goto(address + page, wait_until=wait_until)
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert not problems


# As a reader sees a page: the scheme of colours, and how wide the window is.
VIEWS = [("light", 1280), ("dark", 390)]
# Texts that look the same have the same contrast, on all pages: axe looks at the colours of one of them.
MARK_ONE_OF_EACH_LOOK = """([mark, known]) => {
  const looks = new Set(known), here = new Set(), grounds = new Map();
  const ground = (element) => {
    if (!element) return "";
    if (!grounds.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const own = [backgroundColor, backgroundImage, opacity];
      grounds.set(element, own + ground(element.parentElement));
    }
    return grounds.get(element);
  };
  const says = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  for (const element of document.body.querySelectorAll("*")) {
    const visible = element.checkVisibility({ visibilityProperty: true });
    if (!visible || ![...element.childNodes].some(says)) continue;
    const { color, fill, fontSize, fontWeight } = getComputedStyle(element);
    const link = element.closest("a"), around = link?.parentElement;
    const lines = link && around.localName + getComputedStyle(link).textDecorationLine;
    const own = [color, fill, fontSize, fontWeight, element.disabled, lines, around && getComputedStyle(around).color];
    const look = own + ground(element);
    if (!here.has(look)) element.dataset.kept = "";
    if (!looks.has(look)) [element, link ?? element].forEach((each) => (each.dataset[mark] = ""));
    here.add(look);
    looks.add(look);
  }
  return [...looks];
}"""
# Of the coloured pieces of code, up to 20,000 on a page, one of each look stays, the others become plain text.
THIN_OUT = """() => {
  const same = document.querySelectorAll("pre span:not([data-kept], :has(*))");
  for (const piece of [...same]) piece.replaceWith(piece.textContent);
}"""
# The words and lines in drawings that reach over their left or right edge, by more than fonts differ.
CUT_OFF = """[...document.querySelectorAll("article svg[viewBox] :is(text, path, line, rect, circle)")].filter(mark => {
  const { x, width } = mark.getBBox();
  const view = mark.ownerSVGElement.viewBox.baseVal;
  return !mark.closest("[transform]") && (x < view.x - 4 || x + width > view.x + view.width + 4);
}).map(mark => mark.textContent || mark.outerHTML)"""
COLOURS = {"color-contrast": "[data-%s]", "link-in-text-block": "a[data-%s]"}
OF_A_VIEW = ["scrollable-region-focusable"]


@pytest.fixture(scope="module")
def looks() -> dict[str, list[str]]:
    """The looks of the pages so far."""
    return {mode: [] for mode, _ in VIEWS}


def turn_to(page: Page, mode: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=mode)
    expect(page.locator("html")).to_have_attribute("data-theme", mode)
    # The theme lets the keyboard scroll what has become too wide 300 ms after a change.
    page.evaluate(
        "new Promise(done => requestAnimationFrame(() => setTimeout(done, 400)))"
    )


PAGES = ["index", "search", "glossary", *CHAPTERS]


@pytest.mark.parametrize("name", PAGES)
def test_page_is_light_fits_and_is_accessible(visit, server, site, looks, name):
    """Every other one is opened on a phone, in the dark. Then it is turned to the other view, and back for axe."""
    views = VIEWS[:: -1 if PAGES.index(name) % 2 else 1]
    page = visit(server, f"{name}.html", *views[0], wait_until="networkidle")
    if name != "search":
        entries = "performance.getEntriesByType('resource').map(entry => entry.name)"
        loaded = {unquote(urlsplit(url).path) for url in page.evaluate(entries)}
        files = page_files(site / f"{name}.html")
        expected = {f"/{path.relative_to(site.resolve())}" for path in files}
        assert loaded and loaded <= expected
        assert page_weight(files) <= 700_000
    if name in CHAPTERS:
        inputs = page.locator(".cell_input pre").count()
        expect(page.locator(".cell_input .copybtn")).to_have_count(inputs)
        assert inputs == 0 or page.locator(".cell_output pre").count() > 0
        assert page.locator(".cell_output .copybtn").count() == 0
    for mode, width in views:
        turn_to(page, mode, width)
        for selector in ("html", ".bd-article-container"):
            sizes = "e => [e.scrollWidth, e.clientWidth]"
            widths = page.locator(selector).evaluate(sizes)
            assert widths[0] <= widths[1], f"{selector} scrolls sideways: {mode}"
        # Playwright's own :has() takes 17 seconds on the longest page.
        tables = "[...document.querySelectorAll('.opcheck')].map(e => e.parentElement)"
        assert page.evaluate(f"{tables}.every(e => e.scrollWidth <= e.clientWidth)")
        looks[mode] = page.evaluate(MARK_ONE_OF_EACH_LOOK, [mode, looks[mode]])
    assert page.evaluate(CUT_OFF) == []
    page.evaluate(THIN_OUT)
    page.evaluate(AXE)
    found = violations(page, views[1][0], [*COLOURS, *OF_A_VIEW])
    turn_to(page, *views[0])
    found += violations(page, views[0][0])
    assert not found


def violations(page: Page, mark: str, rules: list[str] | None = None) -> list[tuple]:
    """What axe has against a page, by some rules or by all, and of colours only the marked: the rule, and where."""
    own = [{"id": rule, "selector": where % mark} for rule, where in COLOURS.items()]
    # Preloading, axe looks for imported style sheets in the wrong folder. To tell the selectors of
    # all that is fine takes as long as to look at it.
    options = {"preload": False, "resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    run = "([rules, options]) => { axe.configure({ rules }); return axe.run(options); }"
    return [
        (violation["id"], node["target"])
        for violation in page.evaluate(run, [own, options])["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def test_search_finds_a_chapter(visit, address):
    page = visit(address, "index.html")
    page.get_by_role("button", name="Search").filter(visible=True).click()
    page.keyboard.type("kernel")
    result = page.locator("#search-results a[href*='zero_out.html']").first
    expect(result).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=kernel")
    page.locator("#search-results a[href*='zero_out.html']").first.click()
    page.wait_for_url("**/zero_out.html*")


# Names as one types them, a piece of a message, and a whole message with other values than the book's.
SEARCHED = {
    "REGISTER_OP": "register_op(",
    "tf.load_op_library": "tf.load_op_library",
    "Status::OK": "status::ok",
    "OP_REQUIRES_OK": "op_requires_ok",
    "context->allocate_output": "context->allocate_output",
    "absl::InvalidArgumentError": "absl::invalidargumenterror",
    "tf.RegisterGradient": "tf.registergradient",
    "int64_t": "int64_t",
    "no gradient defined": "no gradient defined",
    "LookupError: No gradient defined for operation 'my_op' (op type: MyOp)": "no gradient defined",
}


@pytest.mark.parametrize("address", ["file"], indirect=True)
def test_the_search_finds_what_is_typed_in_its_section(visit, address, site):
    page = visit(address, "search.html")
    for query, text in SEARCHED.items():
        page.goto(f"{address}search.html?q={quote(query)}")
        result = page.locator("#search-results li a").first
        expect(result, query).to_be_visible()
        name, _, anchor = result.get_attribute("href").removeprefix("./").partition("#")
        found = parsed(site / name).select_one(f"#{anchor}" if anchor else "article")
        assert text in " ".join(found.get_text().lower().split()), query
        expect(page.locator("#search-results mark").first).to_be_visible()
    page.goto(f"{address}search.html?q=no_such_name_anywhere")
    expect(page.get_by_role("status")).to_contain_text("No section")


@on_files
def test_the_site_is_listed_and_shared_with_a_card(documents, site):
    entries = ElementTree.parse(site / "sitemap.xml").getroot().findall("{*}url/{*}loc")
    base = dict(
        url.split(", ")
        for url in importlib.metadata.metadata("op-by-op").get_all("Project-URL")
    )["Documentation"]
    listed = {entry.text.removeprefix(base) for entry in entries}
    pages = {path.name for path in documents} - {"search.html", "404.html"}
    assert listed == pages
    for name in pages:
        head = documents[site / name].head
        [card] = head.select("meta[property='og:image']")
        assert (site / card["content"].removeprefix(base)).is_file()
        assert head.select_one("meta[property='og:description']")["content"]


def test_an_address_that_is_none_leads_to_the_search(visit, server, site):
    page = visit(server, "404.html")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("kernel")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=kernel")
    text = (site / "404.html").read_text()
    assert 'href="/op-by-op/index.html"' in text
    assert "src=" not in text and 'rel="stylesheet"' not in text


def test_dark_mode_is_chosen_and_kept(visit, address):
    page = visit(address, "zero_out.html")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    # Chromium stores the choice in the background: one made just before a reload may be lost.
    for wait in (0, 500, 2000, 20_000):
        page.get_by_role("button", name="Color mode").filter(visible=True).click()
        page.get_by_role("button", name="Dark").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert page.evaluate(background) != light
        page.wait_for_timeout(wait)
        page.reload(wait_until="networkidle")
        if page.locator("html").get_attribute("data-theme") == "dark":
            break
    assert page.evaluate(background) != light


def test_chapters_are_reached_on_a_phone(visit, address):
    page = visit(address, "index.html", width=390)
    page.get_by_role("button", name="Site navigation").click()
    chapters = page.get_by_role("navigation", name="Chapters")
    chapters.get_by_role("link").first.click()
    page.wait_for_url("**/zero_out.html")


def test_copied_snippet_is_the_section_of_the_file(visit, server):
    page = visit(server, "zero_out.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    snippets = page.locator(".literal-block-wrapper", has_text="// [kernel]")
    # Before it there is the whole file.
    snippet = snippets.filter(has_text="examples/zero_out/zero_out.cc").last
    snippet.hover()
    snippet.get_by_role("button").click()
    expect(snippet.locator(".copybtn.success")).to_be_visible()
    path = ROOT / snippet.locator(".caption-text").inner_text()
    first, last = sections(path)["kernel"]
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines() == path.read_text().splitlines()[first - 1 : last]


@on_files
def test_internal_links_and_anchors_resolve(documents):
    broken = []
    ids = {
        path: {element["id"] for element in document.find_all(id=True)}
        for path, document in documents.items()
    }
    for path, document in documents.items():
        for element in document.find_all(["a", "img", "link", "script"]):
            url = urlsplit(element.get("href") or element.get("src") or "")
            if url.scheme or url.netloc:
                continue
            target = path
            if (
                url.path
            ):  # that of the page for addresses that are none begins with the site's
                inside = url.path.removeprefix("/op-by-op/")
                target = (path.parent / unquote(inside)).resolve()
            anchor = unquote(url.fragment)
            if (
                not target.is_file()
                or anchor
                and anchor not in ids.get(target, [anchor])
            ):
                broken.append((path.name, url.geturl()))
    assert len(documents) > len(CHAPTERS)
    assert not broken


@on_files
def test_no_trace_of_the_building_machine(site, documents):
    places = (str(ROOT), sys.prefix, f"{Path.home()}/")
    traces = re.compile("|".join(map(re.escape, places)) + r"|\x1b|\\u001b|&#27;")
    for path in [*documents, *site.glob("notebooks/*.ipynb")]:
        assert not traces.findall(path.read_text()), path.name


@on_files
def test_landing_page(documents, site):
    page = documents[site / "index.html"]
    for title, pages in parts().items():
        part = page.select_one(f"section#{make_id(title)}")
        linked = [link["href"] for link in part.select("a.reference")]
        assert linked == [f"{name}.html" for name in pages]
    urls = importlib.metadata.metadata("op-by-op").get_all("Project-URL")
    repository = dict(url.split(", ") for url in urls)["Repository"]
    assert f"git clone {repository} " in page.get_text()
    badge = page.select_one(".badge-of-the-run").get_text()
    assert f"TensorFlow {importlib.metadata.version(INSTALLED[-1])}\n" in badge


def test_the_first_screen_has_an_op_its_result_and_a_region_that_moves(visit, address):
    page = visit(address, "index.html")
    for shown in (
        page.locator(".routes"),
        page.get_by_text("REGISTER_OP"),
        page.get_by_text("void Compute"),
        page.locator(".cell_output", has_text="[5, 0, 0]"),
        page.locator(".roi-picture .pooled").last,
    ):
        expect(shown).to_be_in_viewport(ratio=1)
    before = page.locator(".pooled").all_text_contents()
    page.get_by_role("application").first.focus()
    page.keyboard.press("Shift+ArrowRight")
    assert page.locator(".pooled").all_text_contents() != before


@on_files
def test_the_sidebar_has_the_parts_and_next_leads_through_them(documents, site):
    order = [name for pages in parts().values() for name in pages]
    read, page = [], documents[site / "index.html"]
    while following := page.select_one("a.right-next"):
        read.append(following["href"].removesuffix(".html"))
        page = documents[site / following["href"]]
        if len(read) > 1:
            before = page.select_one("a.left-prev")["href"]
            assert before == f"{read[-2]}.html"
        sidebar = page.select_one(".bd-docs-nav")
        shown = {
            part.get_text(): [entry.get_text() for entry in part.find_next("ul")("a")]
            for part in sidebar.select(".caption")
        }
        assert list(shown) == list(parts())
        assert sidebar.select_one("a[aria-current=page]")["href"] == "#"
        assert [len(pages) for pages in shown.values()] == [
            len(pages) for pages in parts().values()
        ]
    assert read == order


@on_files
@pytest.mark.parametrize("name", CHAPTERS)
def test_the_foot_says_when_and_on_what_the_page_ran(documents, site, name):
    foot = documents[site / f"{name}.html"].select_one(".bd-footer-article")
    ran = datetime.datetime.fromisoformat(foot.time["datetime"])
    assert ran <= datetime.datetime.now(datetime.timezone.utc)
    text = " ".join(foot.get_text().split())
    assert f"TensorFlow {importlib.metadata.version(INSTALLED[-1])}," in text
    assert f"Python {platform.python_version()}," in text
    assert f" on {platform.machine()}, " in text
    assert re.search(r"(?:g\+\+|Clang) [\d.]+,", text)
    if (ROOT / ".git").exists() and shutil.which("git"):
        assert re.search(r"commit [0-9a-f]{10}", text)


def test_a_mistake_is_reported_with_page_and_section(visit, server):
    page = visit(server, "zero_out.html")
    link = page.get_by_role("link", name="Report a mistake").filter(visible=True)
    page.locator("section#call-it h2").scroll_into_view_if_needed()
    link.evaluate("link => link.addEventListener('click', e => e.preventDefault())")
    link.click()
    url = urlsplit(link.get_attribute("href"))
    assert url.path.endswith("/issues/new")
    report = {key: value for key, [value] in parse_qs(url.query).items()}
    assert report["title"] == "Mistake in zero_out, Call it"
    assert "/zero_out.html#call-it\nSection: Call it\nRun: 20" in report["body"]


@on_files
def test_the_first_use_of_a_term_is_a_link(documents, site):
    """In the order of reading, and with the meaning that the glossary gives."""
    glossary = documents[site / "glossary.html"]
    terms, meanings = {}, {}
    for term in glossary.select("dl.glossary dt"):
        meaning = term.find_next_sibling("dd").p.get_text()
        meanings[term["id"]] = " ".join(meaning.split())
        terms[term.find(string=True).strip().lower()] = term["id"]
    found, used, wrong = pattern(terms), set(), []
    not_prose = [
        "h1",
        "h2",
        "h3",
        "h4",
        "summary",
        "pre",
        "code",
        "script",
        "style",
        "svg",
    ]
    for name in ["index", *(name for pages in parts().values() for name in pages)]:
        if name == "glossary":
            continue
        article = documents[site / f"{name}.html"].article
        for link in article.select("a.term"):
            assert link["data-meaning"] in meanings.values()
            assert glossary.find(id=link["href"].partition("#")[2])
        for text in article.find_all(string=found):
            if text.find_parent(not_prose) or text.find_parent(class_="cell"):
                continue
            for match in found.finditer(text):
                meaning = meanings[terms[" ".join(match[1].lower().split())]]
                if meaning not in used and not text.find_parent(["a", "nav"]):
                    wrong.append(f"{name}: {match[0]}")
                used.add(meaning)
    assert not wrong
    assert len(used) > 10


def test_a_message_that_a_chapter_shows_leads_to_its_entry_and_back(documents):
    linked = set()
    for path, page in documents.items():
        if path.stem != "errors":
            links = {a["href"].partition("#")[2] for a in page.select(".error-links a")}
            shown = page.select("div.output:is(.stream, .text_plain) pre")
            texts = [block.get_text() for block in shown]
            for entry in entries().values():
                if entry.regex and any(map(entry.regex.search, texts)):
                    assert entry.id in links, path.name
            found = {one.entry.id for text in texts for one in explain(text).found}
            assert links == found, path.name
            linked |= links
    assert len(linked) >= 12
    assert not [entry for entry in linked if not entries()[entry].chapter]


def test_a_term_shows_its_meaning(visit, address):
    page = visit(address, "zero_out.html", width=390)
    term = page.locator("a.term").first
    shown = "term => getComputedStyle(term, '::after').display"
    assert term.evaluate(shown) == "none"
    term.hover()
    assert term.evaluate(shown) == "block"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    term.click()
    page.wait_for_url("**/glossary.html#term-*")


# A log with a cause, what follows from it, and a mangled name.
LOG = """\
x.cc:13:5: error: cannot convert ‘<lambda(tensorflow::shape_inference::InferenceContext*)>’ to \
‘tensorflow::OpShapeInferenceFn’
x.cc:12:22: error: ‘OK’ is not a member of ‘tensorflow::Status’
./x.so: undefined symbol: _ZN10tensorflow15OpKernelContext21CtxFailureWithWarningEPKciRKN4absl12lts_202508146StatusE
"""
PASTE = """(field, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text", text);
  const event = { clipboardData, bubbles: true, cancelable: true };
  if (field.dispatchEvent(new ClipboardEvent("paste", event))) {
    field.value += text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}"""


def test_a_pasted_log_shows_its_entries(visit, address):
    page = visit(address, "errors.html", width=390)
    field = page.get_by_label("Paste all that was printed")
    field.evaluate(PASTE, LOG)
    found = page.locator(".explain-found > section")
    expect(found).to_have_count(3)
    expect(page.get_by_role("status")).to_contain_text("3 known messages")
    entries = found.locator("details[open] summary").all_inner_texts()
    expected = "is not a member of", "undefined symbol", "OpShapeInferenceFn"
    assert len(entries) == 3
    for entry, words in zip(entries, expected):
        assert words in entry
    expect(found.nth(0)).to_contain_text("Line 2")
    expect(found.nth(1)).to_contain_text("compiled for TensorFlow 2.21")
    expect(found.nth(2)).to_contain_text("follows from")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(
        "[...document.querySelectorAll('[id]')].every((one, _, all) =>"
        " all.filter((other) => other.id === one.id).length === 1)"
    )
    link = found.nth(2).get_by_role("link").first
    name = link.get_attribute("href").removeprefix("#")
    link.click()
    expect(page.locator(f"details[id='{name}']")).to_have_attribute("open", "")


@pytest.mark.parametrize("address", ["file"], indirect=True)
def test_a_pasted_log_without_a_known_message_can_be_reported(visit, address):
    page = visit(address, "errors.html")
    field = page.get_by_label("Paste all that was printed")
    field.evaluate(PASTE, "error: ‘NO’ is not a member of ‘my::Status’")
    status = page.get_by_role("status")
    expect(status).to_contain_text("None of the messages")
    report = status.get_by_role("link", name="report it").get_attribute("href")
    assert "/issues/new?" in report and "NO" not in report
    field.fill("")
    expect(status).to_be_empty()


@pytest.mark.parametrize("address", ["file"], indirect=True)
def test_a_hundred_thousand_pasted_lines_are_read_in_seconds(visit, address):
    page = visit(address, "errors.html")
    lines = [
        f"/usr/include/{i % 977}.h:{i}: note: a line of a log" for i in range(100_000)
    ]
    lines[90_000] = LOG
    field = page.get_by_label("Paste all that was printed")
    field.evaluate(PASTE, "\n".join(lines))
    found = page.locator(".explain-found > section")
    expect(found).to_have_count(3, timeout=300_000)
    expect(found.nth(0)).to_contain_text("Line 90002")
    assert len(field.input_value()) < 5000


def pooled_by_the_op(settings: dict, corners: np.ndarray) -> list[list]:
    """What RoiPool gives for the map of the picture: pooled and argmax, flat, for each row of x1, y1, x2, y2.

    A process of its own runs this, with `in_fork`.
    """
    sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "examples" / "roi_pool")]
    from roi_pool import roi_pool

    features = np.array(settings["map"], np.float32)[None, :, :, None]
    rois = np.insert(np.array(corners, np.float32), 0, 0, axis=1)
    outputs = roi_pool(features, rois, *settings["pooled"], settings["scale"])
    return [output.numpy().reshape(len(rois), -1).tolist() for output in outputs]


def test_region_in_the_picture_equals_the_op(visit, server, in_fork):
    page = visit(server, "roi_pool.html")
    picture = page.locator(".roi-picture")
    settings = json.loads(picture.get_attribute("data-settings"))
    random = np.random.default_rng(0)
    corners = np.concatenate(
        [
            np.sort(random.integers(-6, 42, (100, 2, 2)), axis=1).reshape(-1, 4),
            random.integers(-60, 90, (100, 4)) / 2,  # every other one is reversed
            random.normal(0, 1, (100, 4)) * [[-3000, -3000, 3000, 3000]],
            random.choice([-0.5, 0.49999997, 2.0, 6.0, -6.0, 10.0], (50, 4)),
            [[100, 0, 120, 9], [0, -90, 9, -80], [-3e38, -3e38, 3e38, 3e38]],
        ]
    ).astype(np.float32)
    shown = picture.evaluate(
        """(picture, corners) => corners.map((roi) => {
          picture.querySelectorAll("input").forEach((input, k) => {
            input.value = roi[k];
            input.dispatchEvent(new Event("input"));
          });
          return [".pooled", ".argmax"].map((name) =>
            [...picture.querySelectorAll(name)].map((text) => Number(text.textContent)));
        })""",
        corners.tolist(),
    )
    pooled, argmax = in_fork(pooled_by_the_op, settings, corners)
    for roi, values, *expected in zip(corners, shown, pooled, argmax):
        assert values == expected, f"x1, y1, x2, y2 = {roi}"
    assert len({tuple(each) for each in argmax}) > 150

    # Three bins and a scale of 1/4 are the same in double precision; these are not.
    features = random.integers(-9, 100, (20, 70)).tolist()
    settings = {"map": features, "scale": 0.3, "pooled": [7, 14]}
    size = random.integers(1, 210, (300, 2))
    corners = np.concatenate([-size * random.random((300, 2)), size], axis=1)
    corners = corners.astype(np.float32)
    shown = picture.evaluate(
        """(picture, [settings, corners]) => corners.map((roi) =>
          picture.roiPool(settings.map, roi, settings.scale, settings.pooled).bins
            .map((bin) => [bin.best, bin.where]))""",
        [settings, corners.tolist()],
    )
    for roi, values, *expected in zip(
        corners, shown, *in_fork(pooled_by_the_op, settings, corners)
    ):
        assert values == list(map(list, zip(*expected))), f"x1, y1, x2, y2 = {roi}"


@pytest.mark.parametrize("address", ["file"], indirect=True)
def test_region_in_the_picture_is_moved_by_keys_and_pointer(visit, address, in_fork):
    page = visit(address, "roi_pool.html")
    picture = page.locator(".roi-picture")
    settings = json.loads(picture.get_attribute("data-settings"))
    region, first, second = picture.get_by_role("application").all()

    def corners() -> list[float]:
        return [float(input.input_value()) for input in picture.locator("input").all()]

    x1, y1, x2, y2 = settings["roi"]
    assert corners() == [x1, y1, x2, y2]
    region.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(region).to_be_focused()
    expect(region.locator(".focus")).not_to_have_css("stroke", "none")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowDown")
    assert corners() == [x1 - 1, y1 + 4, x2 - 1, y2 + 4]
    page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("ArrowUp")
    assert corners() == [x1 - 1, y1 + 3, x2 - 1, y2 + 4]

    second.scroll_into_view_if_needed()
    box = picture.locator("svg").bounding_box()
    view = picture.locator("svg").evaluate("svg => svg.viewBox.baseVal.width")
    pixel = settings["cell"] * settings["scale"] * box["width"] / view
    at = second.bounding_box()
    x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 8 * pixel, y - 5 * pixel, steps=4)
    page.mouse.up()
    page.mouse.move(x, y)
    moved = [x1 - 1, y1 + 3, x2 - 9, y2 - 1]
    assert corners() == moved
    expect(second).to_have_css("touch-action", "none")  # dragging does not scroll
    (values,), (where,) = in_fork(pooled_by_the_op, settings, [moved])
    assert picture.locator(".pooled").all_text_contents() == [f"{v:g}" for v in values]
    assert picture.locator(".argmax").all_text_contents() == list(map(str, where))


@on_files
def test_picture_of_a_region_needs_no_script(documents, site, in_fork):
    picture = documents[site / "roi_pool.html"].select_one(".roi-picture")
    assert picture.svg["role"] == "img" and picture.svg["aria-label"]
    settings = json.loads(picture["data-settings"])
    (values,), (where,) = in_fork(pooled_by_the_op, settings, [settings["roi"]])
    assert [float(text.string) for text in picture.select(".pooled")] == values
    assert [int(text.string) for text in picture.select(".argmax")] == where


def offers(page: BeautifulSoup) -> set[str]:
    """Where the links beside a chapter lead."""
    return {link["href"] for link in page.select(".bd-sidebar-secondary a")}


@on_files
@pytest.mark.parametrize("name", CHAPTERS)
def test_notebook_is_offered_and_valid(documents, site, name):
    assert f"notebooks/{name}.ipynb" in offers(documents[site / f"{name}.html"])
    notebook = nbformat.read(site / "notebooks" / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert any(cell.cell_type == "code" for cell in notebook.cells)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    reader = MarkdownIt("commonmark").enable("table")
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        assert not re.search(r"^ *(:::|\(.*\)=$|%|\+\+\+)", cell.source, re.M)
        for token in reader.parse(cell.source):
            assert not token.info.startswith("{"), f"a directive in {cell.source}"
            for part in token.children or []:
                url = part.attrs.get("href") or part.attrs.get("src") or "https:"
                assert re.match(r"https?:|data:image/", url), f"{url} leads nowhere"


@pytest.fixture(scope="module")
def read_by_the_build(site) -> dict[str, set[Path]]:
    """From the name of each example to the book's files that its build has read, as Ninja has noted; CMake's: ""."""
    build = ROOT / "build" / "examples"

    def noted(*command: str) -> list[str]:
        ninja = [Path(ninja_package.BIN_DIR) / "ninja", "-C", build, "-t", *command]
        run = subprocess.run(ninja, stdout=subprocess.PIPE, text=True, check=True)
        return run.stdout.splitlines()

    found = {"": set()}
    files = found[""]
    for line in [*noted("query", "build.ninja"), *noted("deps")]:
        if (
            "#deps" in line
        ):  # zero_out/CMakeFiles/zero_out.dir/zero_out.cc.o: #deps 912, …
            files = found.setdefault(line.split("/")[0], set())
            if "(VALID)" not in line:  # of a target that there was before
                files = set()
        path = Path(os.path.normpath(build / line.strip(" |")))
        top = path.relative_to(ROOT).parts[:1] if path.is_relative_to(ROOT) else ()
        if path.is_file() and top and top[0] != "build" and top[0][0] != ".":
            files.add(path)
    return found


def kept(folder: Path) -> set[Path]:
    """The files of an example that are not built."""
    ignored = folder / ".gitignore"
    built = ignored.read_text().replace("/", "").split() if ignored.exists() else []
    return {
        path
        for path in folder.iterdir()
        if path.is_file() and path.suffix != ".so" and path.name[0] != "."
        if path.name not in built
    }


@on_files
@pytest.mark.parametrize("name", EXAMPLES)
def test_zip_is_offered_and_whole(documents, site, read_by_the_build, name):
    assert f"downloads/{name}.zip" in offers(documents[site / f"{name}.html"])
    path = site / "downloads" / f"{name}.zip"
    with zipfile.ZipFile(path) as zipped:
        assert {info.date_time[0] for info in zipped.infolist()} == {1980}
        packed = {info.filename: zipped.read(info) for info in zipped.infolist()}
    example = ROOT / "examples" / name
    needed = kept(example) | read_by_the_build[name] | set(ROOT.glob("cmake/*.cmake"))
    assert example / "CMakeLists.txt" in needed
    assert any(path.suffix == ".cc" for path in read_by_the_build[name])
    needed |= {
        path
        for path in read_by_the_build[""]
        if ROOT / "examples" not in path.parents or example in path.parents
    }
    needed |= {ROOT / "LICENSE", *ROOT.glob("examples/*.py")}
    opcheck = ROOT / "packages" / "opcheck"
    needed |= {*opcheck.glob("opcheck/**/*.py"), *opcheck.glob("opcheck/*.toml")}
    needed = {f"op-by-op/{path.relative_to(ROOT)}": path for path in needed}
    assert needed.keys() - packed.keys() == set()
    for inside, source in needed.items():
        assert packed[inside] == source.read_bytes(), inside
    site_address = packed["op-by-op/README.txt"].decode().splitlines()[1]
    address = site_address.removesuffix(f"{name}.html")
    assert path.read_bytes() == archive(name, address)


def test_zip_builds_alone_and_passes(site, tmp_path):
    """That of one example: test_zip_is_offered_and_whole holds all of them to what their builds read."""
    with zipfile.ZipFile(site / "downloads" / "frexp.zip") as zipped:
        zipped.extractall(tmp_path)
    folder = tmp_path / "op-by-op"
    readme = (folder / "README.txt").read_text()
    commands = re.findall(r"^  ((?:cmake|PYTHONPATH=).*)$", readme, re.M)
    assert len(commands) == 2
    imported = (
        "from importlib.util import find_spec; print(find_spec('op_library').origin)"
    )
    commands.append(f'PYTHONPATH=examples python -c "{imported}"')
    programs = [sysconfig.get_path("scripts"), os.environ["PATH"]]
    run = subprocess.run(
        ["bash", "-ec", "\n".join(commands)],
        cwd=folder,
        env=os.environ | {"PATH": os.pathsep.join(programs)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout and "warning: " not in run.stdout
    assert run.stdout.splitlines()[-1] == str(folder / "examples" / "op_library.py")
