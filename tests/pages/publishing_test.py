"""What a build writes for search engines, social cards and old addresses, on a small book."""

import json
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pytest
from bs4 import BeautifulSoup
from small_pages import build

DESCRIPTION = 'A page about an op, `kernel` and \\"attr\\" included: this is all that a search shows.'
PAGES = {
    "index": "# A book\n\n```{toctree}\npage\nchanges\nglossary\n```\n",
    "page": f"""\
---
search_title: "TensorFlow custom op: <kernels> & attrs"
description: "{DESCRIPTION}"
formerly: [old_page, older]
---

# A page

Your op works.

## A section
""",
    "changes": """\
# Changes

## 2026-11-25: Two things

One op is new.

* And a list.

## 2026-10-01: Another

Text.

## How to hear of it

Here.
""",
    "glossary": "# Glossary\n\n```{glossary}\nop\n  A step.\n\n  See [](page.md).\n```\n",
}
SITE = "https://op-by-op.github.io/op-by-op/"


published = pytest.mark.xdist_group("published")


@pytest.fixture(scope="module")
def html(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    run = build(folder, PAGES)
    assert run.returncode == 0, run.stderr
    return folder / "html"


def read(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(), "html.parser")


@published
def test_a_page_is_found_by_what_its_front_matter_says(html):
    head = read(html / "page.html").head
    title = "TensorFlow custom op: <kernels> & attrs"
    description = DESCRIPTION.replace("\\", "")
    assert head.title.get_text(strip=True) == title
    tags = {tag.get("property") or tag.get("name"): tag for tag in head("meta")}
    assert tags["og:title"]["content"] == title
    for name in ("description", "og:description", "og:image:alt"):
        assert tags[name]["content"] == description
    assert tags["og:type"]["content"] == "article"
    assert tags["twitter:card"]["content"] == "summary_large_image"
    image = tags["og:image"]["content"].removeprefix(SITE)
    assert (html / image).is_file()
    [data] = head.select("script[type='application/ld+json']")
    article = json.loads(data.string)
    assert (article["@type"], article["headline"]) == ("TechArticle", title)
    assert article["description"] == description
    assert article["url"] == f"{SITE}page.html" and article["image"].endswith(image)


@published
def test_a_card_shows_the_logo_once(html):
    [image] = read(html / "page.html").select("meta[property='og:image']")
    picture = matplotlib.image.imread(html / image["content"].removeprefix(SITE))
    height, width = picture.shape[:2]
    # The second place is right of the address.
    top = picture[: height // 3, width * 2 // 3 :]
    foot = picture[height * 83 // 100 : height * 9 // 10, width * 4 // 5 :]
    assert np.ptp(top, axis=(0, 1)).max() > 0 and np.ptp(foot, axis=(0, 1)).max() == 0


@published
def test_an_old_address_leads_to_the_page(html):
    for name in ("old_page", "older"):
        page = read(html / f"{name}.html")
        assert page.a["href"] == "page.html" and page.title.string == "A page"
        [canonical] = page.select("link[rel=canonical]")
        assert canonical["href"] == f"{SITE}page.html"
        assert "location.hash" in page.script.string
    assert "old_page" not in (html / "sitemap.xml").read_text()


def test_an_old_name_is_that_of_one_page(tmp_path):
    other = PAGES["page"].replace("old_page, older", "changes")
    run = build(tmp_path, {**PAGES, "page": other})
    assert "page.md: WARNING: formerly: changes is the name" in run.stderr


@published
def test_the_feed_has_the_sections_with_dates(html):
    feed = ElementTree.parse(html / "changes.xml").getroot()
    entries = [
        [e.findtext(f"{{*}}{x}") for x in ("title", "updated", "summary")]
        for e in feed.findall("{*}entry")
    ]
    assert entries == [
        ["Two things", "2026-11-25T00:00:00Z", "One op is new. And a list."],
        ["Another", "2026-10-01T00:00:00Z", "Text."],
    ]
    assert feed.findtext("{*}updated") == "2026-11-25T00:00:00Z"
    anchors = {each["id"] for each in read(html / "changes.html")("section", id=True)}
    for entry in feed.findall("{*}entry"):
        page, _, anchor = entry.find("{*}link").get("href").partition("#")
        assert page == f"{SITE}changes.html" and anchor in anchors
    [link] = read(html / "page.html").select("link[type='application/atom+xml']")
    assert link["href"] == "changes.xml"
