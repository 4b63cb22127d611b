"""The site as a reader meets it, in a headless Chromium."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import numpy as np
import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from book import chapters
from playwright.sync_api import Page, expect
from region import pooled_by_the_op

as_files = pytest.mark.parametrize("address", ["file"], indirect=True)

# As a reader sees a page: the scheme of colours, and how wide the window is.
VIEWS = [("light", 1280), ("dark", 390)]
LOOKS = Path(__file__).with_name("looks.js").read_text()
COLOURS = {"color-contrast": "[data-%s]", "link-in-text-block": "a[data-%s]"}
OF_A_VIEW = ["scrollable-region-focusable"]
ERRORS = "errors/status-ok-is-gone", "errors/name-without-its-header"
PAGES = ["index", "search", "glossary", "promise", "changes", *ERRORS, *chapters()]
# One of each kind: what a page is made of is the same on all others, which make test-slow opens.
KINDS = "index", "search", "glossary", ERRORS[0], "errors", "roi_pool", "checks"
EACH = [pytest.param(x, marks=() if x in KINDS else pytest.mark.slow) for x in PAGES]


@pytest.fixture(scope="module")
def looks() -> dict[str, list[str]]:
    """The looks of the pages so far."""
    return {mode: [] for mode, _ in VIEWS}


@pytest.mark.parametrize("name", EACH)
def test_page_is_light_fits_and_is_accessible(visit, window, server, looks, name):
    """Every other one is opened on a phone, in the dark. Then it is turned to the other view."""
    first, second = VIEWS[:: -1 if PAGES.index(name) % 2 else 1]
    page = visit(server, f"{name}.html", *first, "networkidle", window)
    if name != "search":
        entries = (
            "[...performance.getEntries()].map(entry => entry.decodedBodySize || 0)"
        )
        assert 0 < sum(page.evaluate(entries)) <= 1_500_000
    loaded = "performance.getEntriesByType('resource').map(x => x.name)"
    assert not [x for x in page.evaluate(loaded) if "webfonts" in x]  # 115 kB of icons
    inputs = page.locator(".cell_input pre").count()
    expect(page.locator(".cell_input .copybtn")).to_have_count(inputs)
    assert page.locator(".cell_output .copybtn").count() == 0
    assert page.evaluate(f"{LOOKS} cutOff()") == []
    mark_looks(page, first[0], looks)
    assert_fits(page)
    page.evaluate(f"{LOOKS} thinOut()")  # which may make lines a little wider
    settle(page)
    page.evaluate(AXE_FILE_PATH.read_text())
    found = violations(page, first[0], [*COLOURS, *OF_A_VIEW])
    turn_to(page, *second)
    mark_looks(page, second[0], looks)
    assert_fits(page)
    assert found + violations(page, second[0]) == []


def mark_looks(page: Page, mode: str, looks: dict[str, list[str]]) -> None:
    looks[mode] = page.evaluate(f"{LOOKS} markOneOfEachLook", [mode, looks[mode]])


def assert_fits(page: Page) -> None:
    for selector in ("html", ".bd-article-container"):
        sizes = "e => [e.scrollWidth, e.clientWidth]"
        widths = page.locator(selector).evaluate(sizes)
        assert widths[0] <= widths[1], f"{selector} scrolls sideways"
    # Playwright's own :has() takes 17 seconds on the longest page.
    tables = "[...document.querySelectorAll('.opcheck')].map(e => e.parentElement)"
    assert page.evaluate(f"{tables}.every(e => e.scrollWidth <= e.clientWidth)")


def turn_to(page: Page, mode: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=mode)
    expect(page.locator("html")).to_have_attribute("data-theme", mode)
    settle(page)


def settle(page: Page) -> None:
    """Waits for the theme, which lets the keyboard scroll what has become too wide 300 ms after a change."""
    page.evaluate(
        "new Promise(done => requestAnimationFrame(() => setTimeout(done, 400)))"
    )


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


@pytest.fixture(scope="module")
def searched(browser, server) -> Iterator[Page]:
    """The page of a search that has shown what it found: it has read all sections."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server}search.html?q={quote('shape function?')}")
    expect(page.locator("#search-results li a").first).to_be_visible()
    assert page.get_by_role("status").inner_text().count("“shape function?”") == 1
    yield page
    context.close()


@pytest.fixture
def search(searched) -> Callable[[str], Page]:
    """Searches in the page that is open, as for the query of an address: to read all sections takes long."""

    def run(query: str) -> Page:
        searched.evaluate("query => Search.performSearch(query)", query)
        return searched

    return run


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


def test_search_finds_what_is_typed_in_its_section(search, document):
    message = "LookupError: No gradient defined for operation 'my_op' (op type: MyOp)"
    for query, text in {
        "REGISTER_OP": "register_op(",
        "tf.load_op_library": "tf.load_op_library",
        "Status::OK": "status::ok",
        "context->allocate_output": "context->allocate_output",
        "int64_t": "int64_t",
        message: "no gradient defined",
    }.items():
        page = search(query)
        result = page.locator("#search-results li a").first
        expect(result, query).to_be_visible()
        name, _, anchor = result.get_attribute("href").removeprefix("./").partition("#")
        found = document(name.removesuffix(".html")).select_one(
            f"#{anchor}" if anchor else "article"
        )
        assert text in " ".join(found.get_text().lower().split()), query
        expect(page.locator("#search-results mark").first).to_be_visible()
    page = search("no_such_name_anywhere")
    expect(page.get_by_role("status")).to_contain_text("No section")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("multiple outputs", "output"),
        ("wheel", "pip"),
        ("segfault", "segmentation fault"),
        ("im2col", "patch"),
        ("kernnel registration", "kernel"),
        ("REGITSER_OP", "register_op"),
    ],
)
def test_search_knows_other_words_and_forgives_a_typo(search, query, said):
    page = search(query)
    expect(page.locator("#search-results li a").first).to_be_visible()
    assert said in page.locator("#search-results").inner_text().lower()


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("tensorflow custom op gradient c++", "cc_gradients"),
        ("shape function", "shape_functions"),
        ("multiple outputs", "multi_output"),
        ("Shard", "ps_roi_align"),
        ("im2col", "conv2d"),
        ("gpu kernel", "gpu"),
        ("cuda kernel", "gpu"),
        ("REGISTER_OP", "zero_out"),
        ("how do I write a gradient?", "frexp"),
        ("how do I pass a list of tensors", "lists"),
        ("how do I return multiple outputs", "multi_output"),
        ("how do I test my op", "opcheck"),
        ("unit test custom op", "opcheck"),
        ("what is a shape function", "shape_functions"),
        ("shape inference", "shape_functions"),
        ("deploy model", "serving"),
        ("why is my op slow?", "performance"),
        ("register gpu kernel", "gpu"),
        ("gradient is None", "frexp"),
        ("kernel crashes", "call_stack"),
        ("how to debug segfault", "call_stack"),
        ("default attribute value", "attrs"),
        ("mixed precision float16", "types"),
        ("use openmp in kernel", "ps_roi_align"),
        ("resource handle state between calls", "state"),
        ("dynamic output shape", "attr_types"),
        ("custom op tensorflow serving", "serving"),
        ("jit compile xla", "xla"),
        ("publish op on pypi", "packaging"),
        ("random seed", "stochastic_rounding"),
        ("tensorflow 2.22", "changes"),
    ],
)
def test_search_finds_the_chapter_first(search, query, page):
    first = search(query).locator("#search-results li a").first
    expect(first).to_have_attribute("href", re.compile(rf"^(\./)?{page}\.html"))


def test_the_list_of_errors_is_no_long_way_on_a_phone(visit, server):
    page = visit(server, "errors.html", width=390)
    assert page.evaluate("document.documentElement.scrollHeight") < 8000
    group = page.locator("section#the-linker details")
    expect(group.get_by_role("link").first).to_be_hidden()
    group.locator("summary").click()
    expect(group.get_by_role("link").first).to_be_visible()


def test_the_landing_page_is_no_long_way(visit, server):
    page = visit(server, "index.html")
    assert page.evaluate("document.documentElement.scrollHeight") < 5200
    parts = page.locator("#the-chapters > section")
    sides = parts.evaluate_all("all => all.map(e => e.getBoundingClientRect().left)")
    assert sides[0] == min(sides) < max(sides)


def test_the_errors_before_and_after_are_whole_on_a_phone(visit, server):
    page = visit(server, "errors/undefined-symbol-old-abi.html", width=390)
    for link in page.locator(".prev-next-area a").all():
        place = link.bounding_box()
        assert place["x"] >= 0 and place["x"] + place["width"] <= 390
        inside = link.locator(".prev-next-title")
        widths = inside.evaluate("e => [e.scrollWidth, e.clientWidth]")
        assert widths[0] <= widths[1]


def test_what_a_search_loads_is_light(visit, server, site):
    page = visit(server, "search.html?q=kernel")
    expect(page.locator("ul.search a").first).to_be_visible()
    loaded = page.evaluate("performance.getEntriesByType('resource').map(x => x.name)")
    files = {urlsplit(url).path.lstrip("/") for url in loaded}
    assert "sections.js" in files
    # As a server sends them; what fonts and pictures are is compressed.
    sizes = {x: len(gzip.compress((site / x).read_bytes(), 6)) for x in files}
    assert sum(sizes.values()) < 700_000, sizes


def test_an_address_that_is_none_leads_to_the_search_and_the_chapters(
    visit, server, site
):
    page = visit(server, "404.html")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("kernel")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=kernel")
    page.goto(f"{server}404.html")
    page.get_by_role("navigation", name="Chapters").get_by_role("link").first.click()
    page.wait_for_url("**/zero_out.html")
    text = (site / "404.html").read_text()
    for name in ("index", "errors", "glossary"):
        assert f'href="/op-by-op/{name}.html"' in text
    assert "src=" not in text and 'rel="stylesheet"' not in text


def test_the_chapter_that_is_read_is_in_sight(visit, address):
    """Though the theme has the sidebar where it was on the page before."""
    page = visit(address, "index.html")
    chapters = page.get_by_role("navigation", name="Chapters")
    chapters.locator("a[href='glossary.html']").evaluate("link => link.click()")
    page.wait_for_url("**/glossary.html")
    current = chapters.locator("[aria-current=page]")
    expect(current).to_be_in_viewport()
    page.go_back()
    page.wait_for_url("**/index.html")
    chapters.get_by_role("link").first.click()
    page.wait_for_url("**/zero_out.html")
    expect(current).to_be_in_viewport()
    expect(current).to_have_text(re.compile("^1 "))
    expect(page.locator("p.place")).to_have_text("1 · First steps")


def test_a_tap_shows_the_meaning_and_a_second_one_leads_there(browser, server):
    options = {"has_touch": True, "is_mobile": True}
    context = browser.new_context(viewport={"width": 390, "height": 800}, **options)
    page = context.new_page()
    page.goto(f"{server}zero_out.html")
    first, second = page.locator("p a.term").filter(visible=True).all()[:2]
    shown = "term => getComputedStyle(term, '::after').display"
    first.tap()
    assert page.url.endswith("/zero_out.html") and first.evaluate(shown) == "block"
    second.tap()
    assert page.url.endswith("/zero_out.html") and second.evaluate(shown) == "block"
    expect(first).not_to_have_class(re.compile("open"))
    second.tap()
    page.wait_for_url("**/glossary.html#term-*")
    context.close()


def test_on_paper_the_page_is_light_and_open(visit, server):
    page = visit(server, "zero_out.html", mode="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert page.locator("article details").count()
    assert page.locator("article details:not([open])").count() == 0
    for selector in (".bd-sidebar-primary", ".bd-sidebar-secondary", "nav.launch"):
        expect(page.locator(selector).first).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.locator("article details:not([open])").count()


def test_chapters_are_reached_on_a_phone(visit, address):
    page = visit(address, "index.html", width=390)
    page.get_by_role("button", name="Site navigation").click()
    chapters = page.get_by_role("navigation", name="Chapters")
    chapters.get_by_role("link").first.click()
    page.wait_for_url("**/zero_out.html")


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


# A log with a cause, what follows from it, and a mangled name.
LOG = """\
x.cc:13:5: error: cannot convert ‘<lambda(tensorflow::shape_inference::InferenceContext*)>’ to \
‘tensorflow::OpShapeInferenceFn’
x.cc:12:22: error: ‘OK’ is not a member of ‘tensorflow::Status’
x.cc:15:3: error: ‘Shard’ was not declared in this scope
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
    expect(found).to_have_count(4)
    expect(page.get_by_role("status")).to_contain_text("4 known messages")
    for section, words in zip(found.all(), ("is not a member", "Shard", "undefined")):
        expect(section.locator("pre")).to_contain_text(words)
    expect(found.nth(0)).to_contain_text("Line 2")
    expect(found.nth(0)).to_contain_text("Write absl::OkStatus()")
    header = '#include "tensorflow/core/util/work_sharder.h"'
    expect(found.nth(1)).to_contain_text(header)
    expect(found.nth(2)).to_contain_text("that of TensorFlow 2.21")
    expect(found.nth(3)).to_contain_text("follows from")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(
        "[...document.querySelectorAll('[id]')].every((one, _, all) =>"
        " all.filter((other) => other.id === one.id).length === 1)"
    )
    found.nth(3).get_by_role("link").first.click()
    page.wait_for_url("**/errors/status-ok-is-gone.html")
    expect(page.get_by_role("heading", level=1)).to_contain_text("is not a member of")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@as_files
def test_a_log_without_a_known_message_gets_its_first_error_a_search_and_a_report(
    visit, address
):
    page = visit(address, "errors.html")
    field = page.get_by_label("Paste all that was printed")
    log = "Building\nmy/op.cc:3:1: error: ‘NO’ is not a member of ‘my::Status’\nsecret"
    field.evaluate(PASTE, log)
    status, found = page.get_by_role("status"), page.locator(".explain-found")
    expect(status).to_contain_text("None of the known messages")
    expect(found).to_contain_text("line 2")
    expect(found.locator("pre")).to_contain_text("error: 'NO' is not a member")
    search = found.get_by_role("link", name="Search the book").get_attribute("href")
    assert search.startswith("search.html?q=error") and "my" in search
    report = found.get_by_role("link", name="report it").get_attribute("href")
    assert "/issues/new?title=" in report
    assert "is+not+a+member" in report and "secret" not in report
    field.fill("")
    expect(status).to_be_empty()
    expect(found).to_be_empty()
    field.evaluate(PASTE, "RuntimeError: CUDA error: device-side assert triggered")
    expect(found).to_contain_text("PyTorch")


@as_files
def test_a_visitor_without_a_log_can_try_samples(visit, address):
    page = visit(address, "errors.html")
    buttons = page.locator(".explain-samples button")
    assert buttons.count() == 3
    field = page.get_by_label("Paste all that was printed")
    for n in range(3):
        buttons.nth(n).click()
        expect(page.locator(".explain-found > section").first).to_be_visible()
        expect(page.locator(".explain-samples")).to_be_hidden()
        field.fill("")
        expect(page.locator(".explain-samples")).to_be_visible()


@as_files
@pytest.mark.parametrize(
    ("former", "name", "said"),
    [
        ("undefined-symbol-cuda", "undefined-symbol-cuda", "__cuda"),
        ("shard-not-declared", "name-without-its-header", "not declared"),
        ("gpu-input-read-on-the-host", "crash-in-an-op", "Segmentation fault"),
        ("no-module-named", "python-module-not-installed", "No module named"),
        ("xla-compile-time-constant", "must-be-a-constant", "compile-time constant"),
    ],
)
def test_an_old_address_of_an_entry_leads_to_its_page(
    visit, address, former, name, said
):
    page = visit(address, f"errors.html#{former}")
    page.wait_for_url(f"**/errors/{name}.html")
    expect(page.get_by_role("heading", level=1)).to_contain_text(said)
    page.get_by_role("link", name="All errors").click()
    page.wait_for_url("**/errors.html")


@pytest.mark.parametrize(
    "query",
    [
        "shape function",
        "segfault",
        "multiple outputs",
        "several outputs",
        "pip wheel",
        "im2col",
        "Shard",
        "how to write a cuda kernel",
    ],
)
def test_a_search_shows_chapters_before_errors(search, query):
    page = search(query)
    expect(page.locator("ul.search a").first).to_be_visible()
    found = page.evaluate("query => Search.find(query).map((x) => x.section)", query)
    kinds = [section["address"].startswith("errors/") for section in found]
    assert kinds == sorted(kinds) and not all(kinds)
    chapters = [section["page"] for section in found if not section["isError"]]
    for n, name in enumerate(chapters):  # a page does not fill the screen
        assert chapters[:n].count(name) < 3 or {*chapters[n:]} <= {*chapters[:n]}


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("version GLIBCXX_3.4.99 not found (required by x)", "glibcxx-not-found"),
        (
            "LookupError: No gradient defined for operation 'my_op' (op type: MyOp)",
            "no-gradient-defined-for-operation",
        ),
        ("no gradient defined for operation", "no-gradient-defined-for-operation"),
    ],
)
def test_a_search_finds_the_page_of_a_message(search, message, name):
    first = search(message).locator("ul.search a").first
    expect(first).to_have_attribute("href", re.compile(f"errors/{name}.html"))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("ABI mismatch", "undefined-symbol-old-abi undefined-symbol-new-abi"),
        ("undefined symbol", "undefined-symbol-of-tensorflow"),
        ("op not found", "op-type-not-registered"),
        ("python version mismatch", "module-for-another-python"),
        ("glibc too old", "glibc-not-found"),
        ("out of memory", "gpu-out-of-memory"),
        ("memory leak", "sanitizer-found-leaks"),
        ("mac m1", "mac-incompatible-architecture"),
        ("tf.function retracing", "function-is-traced-again"),
        ("kernel crashes", "crash-in-an-op"),
    ],
)
def test_a_search_for_a_cause_shows_its_errors_on_the_first_screens(
    search, server, query, names
):
    page = search(query)
    expect(page.locator("ul.search a").first).to_be_visible()
    links = page.locator("ul.search a").evaluate_all("all => all.map(a => a.href)")
    for name in names.split():
        assert f"{server}errors/{name}.html" in links[:13]


def test_region_in_the_picture_equals_the_op(visit, server, in_fork):
    picture = visit(server, "roi_pool.html").locator(".roi-picture")
    settings = json.loads(picture.get_attribute("data-settings"))
    random = np.random.default_rng(0)
    odd = [[100, 0, 120, 9], [0, -90, 9, -80], [-3e38, -3e38, 3e38, 3e38]]
    near = [
        np.sort(random.integers(-6, 42, (100, 2, 2)), axis=1).reshape(-1, 4),
        random.integers(-60, 90, (100, 4)) / 2,  # every other one is reversed
        random.normal(0, 3000, (100, 4)),
        random.choice([-0.5, 0.49999997, 2.0, 6.0, -6.0, 10.0], (50, 4)),
    ]
    # Three bins and a scale of 1/4 are the same in double precision; these are not.
    features = random.integers(-9, 100, (20, 70)).tolist()
    others = {"map": features, "scale": 0.3, "pooled": [7, 14]}
    size = random.integers(1, 210, (300, 2))
    wide = np.concatenate([-size * random.random((300, 2)), size], axis=1)
    for each, corners in ((settings, np.concatenate([*near, odd])), (others, wide)):
        shown = picture.evaluate(
            """(picture, [settings, corners]) => corners.map((roi) =>
              picture.roiPool(settings.map, roi, settings.scale, settings.pooled).bins
                .map((bin) => [bin.best, bin.where]))""",
            [each, corners.astype(np.float32).tolist()],
        )
        expected = in_fork(pooled_by_the_op, each, corners.astype(np.float32))
        for roi, bins, *ours in zip(corners, shown, *expected):
            assert [list(x) for x in zip(*bins)] == ours, f"x1, y1, x2, y2 = {roi}"
        assert len({tuple(argmax) for argmax in expected[1]}) > 150


@as_files
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


def test_what_scrolls_fades_out_where_there_is_more(visit, server):
    page = visit(server, "zero_out.html", width=390, mode="dark")
    expect(page.locator("article pre.more-right").first).to_be_attached()
    wide = page.locator("article pre.more-right").first
    wide = page.locator(f"#{wide.evaluate('e => (e.id ||= `wide`)')}")
    wide.evaluate("box => (box.scrollLeft = 20)")
    expect(wide).to_have_class(re.compile("more-left"))
    wide.evaluate("box => (box.scrollLeft = box.scrollWidth)")
    expect(wide).not_to_have_class(re.compile("more-right"))


def test_a_table_fits_a_wide_window_and_shows_its_first_columns_on_a_phone(
    visit, server
):
    """And a drawing that is little wider than a phone shrinks."""
    sizes = "all => all.map(e => [e.scrollWidth - e.clientWidth, e.textContent])"
    for name in ("performance", "cc_gradients"):
        page = visit(server, f"{name}.html")
        tables = page.locator("article .pst-scrollable-table-container")
        assert [text for more, text in tables.evaluate_all(sizes) if more > 0] == []
    page = visit(server, "performance.html", width=390)
    first = page.locator("article table").first
    decision = first.locator("tbody td").nth(1).bounding_box()
    assert decision["x"] < 390 / 2 + 20
    page = visit(server, "cpu.html", width=390)
    drawing = page.locator("article div.drawing").first
    expect(drawing).not_to_have_class(re.compile("more-right"))


@pytest.mark.parametrize("name", EACH)
def test_listings_and_outputs_fit_a_small_laptop(visit, server, window, name):
    """Also folded ones. Only what has more than 88 columns wraps, and what is copied has no more lines for that."""
    page = visit(server, f"{name}.html", width=1200, window=window)
    page.evaluate("document.querySelectorAll('details').forEach(e => (e.open = true))")
    cut_off = page.locator("article pre").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    )
    assert cut_off == []
    lines = page.locator("article pre .long").evaluate_all(
        """all => all.map(line => [
          line.textContent,
          line.innerText,
          line.offsetHeight > 1.5 * parseFloat(getComputedStyle(line).lineHeight),
        ])"""
    )
    assert [text for text, _, wrapped in lines if wrapped and len(text) <= 88] == []
    assert [text for text, copied, _ in lines if copied != text] == []


@pytest.mark.parametrize("name", EACH)
def test_no_line_ends_within_an_option_or_an_arrow(visit, server, window, name):
    """Of the list of errors, in any message."""
    page = visit(server, f"{name}.html", width=390, window=window)
    page.evaluate("document.querySelectorAll('details').forEach(e => (e.open = true))")
    for width in (390, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(f"{LOOKS} brokenOptions()") == []
        assert_fits(page)


def test_on_paper_nothing_is_cut_off_or_faded(visit, server):
    """On A4 and on letter paper, of which the narrower has 680 pixels between margins of 1.5 cm."""
    for name in ("zero_out", "found_by_opcheck", "summary_images"):
        page = visit(server, f"{name}.html", width=680)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        boxes = page.locator(
            "article :is(pre, .drawing, .pst-scrollable-table-container)"
        )
        looks = boxes.evaluate_all(
            """all => all.map((e) => [
              e.scrollWidth - e.clientWidth, getComputedStyle(e).maskImage, e.textContent.slice(0, 80)
            ])"""
        )
        assert looks
        assert [look for look in looks if look[0] > 1 or look[1] != "none"] == []
