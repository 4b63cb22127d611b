"""The page of errors: what its entries say of the book is so, and what is shown of a message and of a cure."""

import re
import subprocess

import dictionary
import pytest
from book import DOCS, EXAMPLES
from dictionary import (
    HEADINGS,
    Entry,
    Outcome,
    body,
    difference,
    entries,
    explain,
    mistakes,
    printed,
)
from sphinx.util.docutils import nodes

from opcheck import CHECKS

TITLES = {path.stem: nodes.title("", path.stem) for path in DOCS.glob("*.md")}


@pytest.mark.parametrize("entry", entries().values(), ids=lambda entry: entry.id)
def test_a_chapter_of_an_entry_has_the_section(entry):
    texts = f"{entry.not_provoked} {entry.cause} {entry.cure}"
    links = re.findall(r"\]\((\w+)\.md#?([\w-]*)\)", texts)
    assert {*re.findall(r"\]\(#([\w-]*)\)", texts)} <= {*entries()}
    for page, section in [entry.chapter.partition("#")[::2], *links]:
        text = (DOCS / f"{page}.md").read_text() if page else ""
        titles = re.findall(r"^#+ (.*)$", text, re.M)
        assert not section or section in map(nodes.make_id, titles)


def test_a_chapter_of_a_check_has_the_section():
    rows = (DOCS / "support" / "outputs" / "checks.txt").read_text()
    for check in CHECKS.values():
        page, _, section = check.chapter.partition("#")
        titles = re.findall(r"^#+ (.*)$", (DOCS / f"{page}.md").read_text(), re.M)
        assert not section or (
            section in map(nodes.make_id, titles) or f'id="{section}"' in rows
        )


def test_the_page_has_all_phases_in_the_order_of_the_dictionary():
    shown = re.findall(
        r"^### (.*)\n\n```\{errors\} (\S+)", (DOCS / "errors.md").read_text(), re.M
    )
    assert [(phase, heading) for heading, phase in shown] == [*HEADINGS.items()]
    # What prints nothing cannot be pasted, so it is first on the page.
    phases = list(dict.fromkeys(entry.phase for entry in entries().values()))
    assert [phases[-1], *phases[:-1]] == list(HEADINGS)


def test_a_page_has_cause_cure_example_other_words_and_what_is_related():
    made = body(entries()["status-ok-is-gone"], TITLES)
    headings = re.findall(r"<h2>(.*?)</h2>", made)
    assert headings == [
        "Why",
        "What to do",
        "Before and after",
        "Also seen as",
        "See also",
    ]
    assert "is not a member of" in re.search(r"<h1>(.*?)</h1>", made)[1]
    assert 'href="shape-function-returns-nothing.html"' in made
    assert 'href="../zero_out.html"' in made
    assert 'href="../errors.html#the-compiler"' in made
    quoted = body(entries()["cuda-driver-too-old"], TITLES)
    assert "Quoted, not provoked" in quoted and "Before and after" not in quoted
    names = body(entries()["name-without-its-header"], TITLES)
    assert "<code>tensorflow::LookupResource</code>" in names


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("output-not-set", "<code>(0,)</code>, and no error."),
        ("floating-point-exception", "ends with SIGFPE and prints nothing."),
    ],
)
def test_a_page_of_a_silent_mistake_says_how_the_process_ends(name, ends):
    if name not in dictionary.outcomes():
        pytest.skip("not made on this machine")
    said = re.findall(r"Here [^.]*?\bprints .*?\.", body(entries()[name], TITLES))
    assert len(said) == 1 and said[0].endswith(ends)


def test_other_wordings_are_of_entries():
    assert {*dictionary.wordings()} <= {*entries()}


def test_the_search_has_each_message_once_and_what_the_cause_begins_with():
    for entry in entries().values():
        page, anchor, title, text = dictionary.section(entry)
        assert (page, anchor) == (f"errors/{entry.id}.html", "")
        cause = dictionary.plain(entry.cause)
        assert text.endswith(dictionary.beginning(cause, dictionary.IN_SEARCH))
        for words in dictionary.wordings().get(entry.id, []):
            assert words in f"{text} {title}"
    everything = sum(len("".join(dictionary.section(e))) for e in entries().values())
    assert everything < 500 * len(entries())


def test_the_list_says_where_it_cuts_a_cause():
    for entry in entries().values():
        cause = dictionary.plain(entry.cause)
        text = dictionary.in_brief(cause, 110)
        assert len(text) <= 110 and text.endswith((".", "?", "!", "…"))
        assert text.endswith("…") or cause.startswith(text)


def test_what_a_search_engine_shows_of_each_is_whole_and_of_it_alone():
    titles = {e.id: dictionary.title_of(e) for e in entries().values()}
    texts = dictionary.descriptions()
    for made, longest in ((titles, 140), (texts, 225)):
        assert len({*made.values()}) == len(made) == len(entries())
        assert not [text for text in made.values() if len(text) > longest]
    for name, entry in entries().items():
        assert "tensorflow" in titles[name].lower()
        said = titles[name].partition(" | ")[0]
        message = dictionary.worded(entry).rstrip(" :<")
        assert all(word in message for word in said.split())
        assert len(said) > 60 or said[-5:] == message[-5:] or "“" in message
        assert said[-1] not in " :<([{,"
        # Up to the end of a sentence, and without the message, which stands above.
        assert len(texts[name]) > 50 and said not in texts[name]
        assert texts[name].endswith((".", ".)", ".”", "?", "!")), texts[name]


def test_a_long_message_is_cut_where_a_word_ends():
    cut = dictionary.beginning
    assert cut("It is short: …", 20) == "It is short: …"
    assert (
        cut("One sentence is whole. Then others follow.", 35)
        == "One sentence is whole."
    )
    assert cut("cannot convert ‘a::b’ to ‘std::string’", 30) == "cannot convert ‘a::b’"


def test_each_entry_has_a_date():
    if not dictionary.changed():
        pytest.skip("no git")
    assert {*dictionary.changed()} == {f"errors/{name}" for name in entries()}
    dates = {*dictionary.changed().values()}
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT[\d:]{8}\+00:00", x) for x in dates)


def test_one_leads_through_all_errors():
    order = dictionary.in_order()
    read = [order[0]]
    while after := dictionary.neighbours(read[-1])["after"]:
        read.append(entries()[after[0].removesuffix(".html")])
        assert dictionary.neighbours(read[-1])["before"][0] == f"{read[-2].id}.html"
    assert read == order and len(order) == len(entries())
    assert dictionary.neighbours(order[0])["before"] is None
    made = body(order[1], TITLES)
    assert f'class="left-prev" href="{order[0].id}.html"' in made
    assert f'class="right-next" href="{order[2].id}.html"' in made


def test_what_else_is_seen_is_not_the_heading():
    said = "terminate called after throwing an instance of 'std::bad_alloc'"
    assert dictionary.wordings()["bad-alloc"] == [said]
    assert "Also seen as" not in body(entries()["bad-alloc"], TITLES)


def test_the_list_is_folded_and_has_the_names_that_entries_had():
    made = "".join(map(dictionary.listed, HEADINGS))
    assert made.count("<details") == made.count("</details>") >= len(HEADINGS)
    assert sum(map(int, re.findall(r"(\d+) errors</summary>", made))) == len(entries())
    assert not {*dictionary.FORMERLY} & {*entries()}
    for former, now in dictionary.FORMERLY.items():
        assert f'<li id="{now}"><span id="{former}"></span>' in made


def test_each_name_that_an_entry_ever_had_leads_to_an_entry():
    command = ["git", "log", "-p", "-U0", "--format=", "--", ":/*errors.toml"]
    try:
        log = subprocess.run(command, cwd=DOCS, capture_output=True, text=True).stdout
    except FileNotFoundError:
        log = ""
    if not (ever := {*re.findall(r'^\+id = "(.*)"', log, re.M)}):
        pytest.skip("no git")
    assert ever - {*entries()} <= {*dictionary.FORMERLY}
    assert {*dictionary.FORMERLY.values()} <= {*entries()}


def test_an_option_stays_in_one_line():
    assert dictionary.inline("`nvcc --version`, --x and `a-b`") == (
        '<code>nvcc <span class="option">--v</span>ersion</code>, --x and <code>a-b</code>'
    )
    assert dictionary.code("x-y->z --no-use") == (
        '<code>x-y<span class="option">-&gt;</span>z '
        '<span class="option">--n</span>o<span class="option">-u</span>se</code>'
    )


def test_samples_of_the_field_are_explained():
    field = dictionary.TEMPLATES.get_template("explain.html")
    assert len(field.module.samples) == 3
    for log in field.module.samples.values():
        assert explain(log).found


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
    names = re.findall(r"\{_ERRORS\}/([\w-]+)\.html", loader)
    assert len(names) == loader.count("raise ImportError(") == 5
    for name in names:
        assert entries()[name].address == f"{address}/{name}.html"
