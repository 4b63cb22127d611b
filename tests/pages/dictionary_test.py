"""The page of errors: what its entries say of the book is so, and what is shown of a message and of a cure."""

import re

import dictionary
import pytest
from book import DOCS, EXAMPLES
from dictionary import Entry, Outcome, difference, entries, mistakes, printed
from sphinx.util.docutils import nodes


@pytest.mark.parametrize("entry", entries().values(), ids=lambda entry: entry.id)
def test_a_chapter_of_an_entry_has_the_section(entry):
    links = re.findall(r"\]\((\w+)\.md#?([\w-]*)\)", entry.not_provoked)
    for page, section in [entry.chapter.partition("#")[::2], *links]:
        text = (DOCS / f"{page}.md").read_text() if page else ""
        titles = re.findall(r"^#+ (.*)$", text, re.M)
        assert not section or section in map(nodes.make_id, titles)


def test_the_page_has_all_phases_in_the_order_of_the_dictionary():
    shown = re.findall(r"^```\{errors\} (\S+)", (DOCS / "errors.md").read_text(), re.M)
    assert shown == list(dict.fromkeys(entry.phase for entry in entries().values()))


def test_code_without_signs_is_the_whole_example():
    for name, made in dictionary.outcomes().items():
        parts = mistakes()[name].parts
        signs = re.search("^[+-] ", difference(mistakes()[name]), re.M)
        assert signs or "cured" not in parts
        assert signs or "cured" not in made or {"call", "cured_call"} & {*parts}, name


def test_what_is_shown_is_the_message_and_the_difference():
    entry = Entry("x", "call", "", "", "", "", pattern=r"x must be \w+")
    log = (
        "W0000 00:00:1.5   77 a.cc:4] y: x must be small\n"
        "tensorflow.python.errors_impl.InvalidArgumentError: {{function_node f}} x must be small [Op:Y]\n"
    )
    expected = "InvalidArgumentError: x must be small [Op:Y]"
    assert printed(entry, Outcome(log)) == expected
    assert difference(mistakes()["status-ok-is-gone"]) == (
        "- return tensorflow::Status::OK();\n+ return absl::OkStatus();"
    )


def test_a_quoted_entry_with_a_source_links_it():
    for entry in entries().values():
        if entry.not_provoked and entry.source:
            assert dictionary.source_of(entry), entry.id


def test_addresses_in_messages_are_entries():
    """Those of what loads the examples' libraries, which readers copy."""
    loader = (EXAMPLES / "common" / "op_library.py").read_text()
    address = re.search(r'_ERRORS = "(.*)"', loader)[1]
    names = re.findall(r"\{_ERRORS\}#([\w-]+)", loader)
    assert len(names) == loader.count("raise ImportError(") == 4
    for name in names:
        assert entries()[name].address == f"{address}#{name}"
