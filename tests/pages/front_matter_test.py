"""What search engines and social cards show of a page is in its front matter, written by hand."""

import collections

import pytest
from book import EXAMPLES
from page_source import PAGES, Page, report

TEXTS = [*PAGES, Page(EXAMPLES / "template" / "my_op.md")]
LENGTHS = {"search_title": (20, 60), "description": (100, 155)}


@pytest.mark.parametrize("key", LENGTHS)
def test_each_page_says_what_a_search_shows_of_it(key):
    least, most = LENGTHS[key]
    written = {page: str(page.front.get(key, "")) for page in TEXTS}
    times = collections.Counter(written.values())
    problems = []
    for page, text in written.items():
        if not least <= len(text) <= most:
            problems.append(
                f"{page.at(1)}: {key}: has {len(text)} characters, a search shows {least} to {most}"
            )
        elif times[text] > 1:
            problems.append(
                f"{page.at(1)}: {key}: another page has the same: say what this one is about"
            )
        elif "TensorFlow" not in text and key == "search_title":
            what = "without TensorFlow, which those who search type: name it"
            problems.append(f"{page.at(1)}: {key}: {what}")
    report(problems)
