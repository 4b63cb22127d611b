"""The pages of the site as files: what each has beside its text, and where its links lead."""

import datetime
import json
import os
import platform
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from book import ROOT, chapters, parts, tensorflow, urls
from bs4 import BeautifulSoup, Tag
from dictionary import FORMERLY, entries
from region import pooled_by_the_op

# They share what is parsed of all pages.
pytestmark = pytest.mark.xdist_group("the site's files")
PAGES = ["index", *chapters()]


def names(site: Path) -> list[str]:
    return sorted(path.stem for path in site.glob("*.html"))


def error_names(site: Path) -> list[str]:
    """The pages of one error each."""
    stems = {path.stem for path in site.glob("errors/*.html")} - {*FORMERLY}
    return sorted(f"errors/{stem}" for stem in stems)


class Links(HTMLParser):
    """The ids of a page, and the addresses that it links or loads: of hundreds of pages sooner than a tree of each."""

    def __init__(self, path: Path):
        super().__init__()
        self.ids, self.addresses = set(), set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids.add(values.get("id", ""))
        if tag in ("a", "img", "link", "script"):
            self.addresses.add(values.get("href") or values.get("src") or "")


def head(site: Path, name: str) -> Tag:
    text = (site / f"{name}.html").read_text()
    return BeautifulSoup(text.partition("<body")[0], "html.parser").head


def test_links_and_anchors_lead_somewhere(site):
    broken = []
    pages = {
        site / f"{name}.html": Links(site / f"{name}.html")
        for name in [*names(site), *error_names(site)]
    }
    for path, page in pages.items():
        for address in page.addresses:
            url = urlsplit(address)
            if url.scheme or url.netloc:
                continue
            # The page for addresses that are none has links from the root.
            inside = unquote(url.path.removeprefix("/op-by-op/"))
            target = Path(os.path.normpath(path.parent / inside)) if url.path else path
            anchor = unquote(url.fragment)
            ids = pages[target].ids if target in pages else {anchor}
            if not target.is_file() or anchor and anchor not in ids:
                broken.append((path.relative_to(site), address))
    assert not broken


@pytest.mark.parametrize(
    "name", ["attr_types", "shape_calls", "input_specs", "type_lists"]
)
def test_a_link_can_lead_to_each_row(document, name):
    rows = document(name).select("article .cell_output tbody tr")
    assert rows and all(row.select_one("td:first-child [id]") for row in rows)
    ids = [each["id"] for each in document(name)(id=True)]
    assert len(ids) == len(set(ids))


def test_the_site_is_listed_and_shared_with_a_card(site, document):
    entries = ElementTree.parse(site / "sitemap.xml").getroot().findall("{*}url")
    if (ROOT / ".git").exists():
        assert all(entry.findtext("{*}lastmod") for entry in entries)
    base = urls()["Documentation"]
    places = [entry.findtext("{*}loc").removeprefix(base) for entry in entries]
    listed = {place.removesuffix(".html") for place in places}
    moved = {name for name in names(site) if not document(name).select("article")}
    pages = {*names(site)} - moved - {"search", "404"}
    assert listed == pages | {*error_names(site)}
    for name in listed:
        [card] = head(site, name).select("meta[property='og:image']")
        assert (site / card["content"].removeprefix(base)).is_file()


def test_each_error_has_a_page_of_its_own(site, document):
    wanted = {f"errors/{name}" for name in entries()}
    assert {*error_names(site)} == wanted
    listed = document("errors").select(".error-list > li")
    assert [f"errors/{item['id']}" for item in listed] == [
        item.a["href"].removesuffix(".html") for item in listed
    ]
    assert {f"errors/{item['id']}" for item in listed} == wanted
    for name in wanted:
        text = (site / f"{name}.html").read_text()
        assert 'class="gu"' not in text and "errors/entry" not in text
        about = head(site, name)
        assert "tensorflow" in about.title.get_text().lower()
        [data] = about.select("script[type='application/ld+json']")
        data = json.loads(data.string)
        assert data["@type"] == "TechArticle" and data["url"].endswith(f"/{name}.html")
        assert data["headline"] == about.title.get_text()
        canonical = about.select_one("link[rel=canonical]")["href"]
        assert canonical.endswith(f"/{name}.html")
        [description] = about.select("meta[name=description]")
        assert description["content"]
        current = r'<li class="[^"]*\bcurrent\b[^"]*"><a [^>]*href="([^"]*)"'
        assert re.findall(current, text) == ["../errors.html"]
    weight = (site / "errors/file-too-short.html").stat().st_size
    assert weight < 60_000


def test_a_former_name_of_an_error_leads_to_its_page(document):
    for former, now in FORMERLY.items():
        page = document(f"errors/{former}")
        assert page.a["href"] == f"{now}.html"
        canonical = page.select_one("link[rel=canonical]")["href"]
        assert canonical.endswith(f"/errors/{now}.html")


def test_no_trace_of_the_building_machine(site):
    places = (str(ROOT), sys.prefix, f"{Path.home()}/")
    traces = re.compile("|".join(map(re.escape, places)) + r"|\x1b|\\u001b|&#27;")
    written = "*.html", "errors/*.html", "errors/known.js", "notebooks/*.ipynb"
    for path in [path for pattern in written for path in site.glob(pattern)]:
        assert not traces.findall(path.read_text()), path.name


def test_the_landing_page_lists_all_parts(document):
    page = document("index")
    shown = [
        sorted(x["href"].removesuffix(".html") for x in part.select("a.reference"))
        for part in page.select("section section")
    ]
    # A table has what teaches, another what one looks up: the order is that of the sidebar in the first alone.
    expected = [sorted(pages) for pages in parts().values()]
    assert [pages for pages in shown if pages in expected] == expected
    assert f"git clone {urls()['Repository']} " in page.get_text()
    assert [link["href"] for link in page.select("a.action")] == [
        "zero_out.html",
        "errors.html",
    ]


def test_the_landing_page_leads_with_one_number_and_lists_each_chapter_once(document):
    page = document("index")
    [number] = page.select(".lead strong")
    assert (
        f"{number.get_text()[:-1]} times faster"
        in page.select_one("article p.caption").text
    )
    for name in chapters():
        assert len(page.select(f'#the-chapters section a[href="{name}.html"]')) == 1


def test_the_sidebar_has_the_parts_and_next_leads_through_them(document):
    order = [name for pages in parts().values() for name in pages]
    read, page = ["index"], document("index")
    while following := page.select_one("a.right-next"):
        read.append(following["href"].removesuffix(".html"))
        page = document(read[-1])
        assert page.select_one("a.left-prev")["href"] == f"{read[-2]}.html"
        sidebar = page.select_one(".bd-docs-nav")
        shown = {
            part.get_text(): len(part.find_next("ul")("a"))
            for part in sidebar.select(".caption")
        }
        assert shown == {title: len(pages) for title, pages in parts().items()}
        assert sidebar.select_one("a[aria-current=page]")["href"] == "#"
    assert read[1:] == order


@pytest.mark.parametrize("name", PAGES)
def test_the_foot_says_when_and_on_what_the_page_ran(document, name):
    foot = document(name).select_one(".bd-footer-article")
    ran = datetime.datetime.fromisoformat(foot.time["datetime"])
    assert ran <= datetime.datetime.now(datetime.timezone.utc)
    text = " ".join(foot.get_text().split())
    assert f"TensorFlow {tensorflow()}," in text
    assert f"Python {platform.python_version()}," in text
    assert f" on {platform.machine()}, " in text
    assert re.search(r"(?:g\+\+|Clang) [\d.]+,", text)
    if (ROOT / ".git").exists():
        assert re.search(r"commit [0-9a-f]{10}", text)


@pytest.mark.parametrize("name", PAGES)
def test_a_picture_that_is_not_folded_has_a_caption(document, name):
    for drawing in document(name).select("article div.drawing"):
        if not drawing.find_parent("details"):
            shown = drawing.find_parent(class_="cell") or drawing
            below = shown.find_next_sibling()
            label = drawing.svg.get("aria-label", "")
            assert below and "caption" in below.get("class", []), label


def test_the_picture_of_a_region_needs_no_script(document, in_fork):
    picture = document("roi_pool").select_one(".roi-picture")
    assert picture.svg["role"] == "img" and picture.svg["aria-label"]
    settings = json.loads(picture["data-settings"])
    (values,), (where,) = in_fork(pooled_by_the_op, settings, [settings["roi"]])
    assert [float(text.string) for text in picture.select(".pooled")] == values
    assert [int(text.string) for text in picture.select(".argmax")] == where
