"""The table of errors: the mistakes give these messages, the cures help, and what an entry refers to is there."""

import re
import sys

import book
import pytest
import tensorflow as tf
from sphinx.util.docutils import nodes

sys.path[:0] = [str(book.DOCS), str(book.DOCS / "support")]

import error_entries  # noqa: E402
import provoke  # noqa: E402
from error_entries import ENDS, OUTCOMES, Outcome, difference, message  # noqa: E402

from opcheck.errors import Entry, entries  # noqa: E402

TABLE = list(entries().values())
MISTAKES = error_entries.mistakes()
PHASES = (
    "compile link load register call trace run gradient cuda-build cuda-run xla serve "
    "distribute test silent"
).split()

every = pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.id)
# One worker waits for the mistakes to be made, where the build of the page has not made them.
provoking = pytest.mark.xdist_group("errors")


@provoking
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gives_its_message_and_the_cure_does_not(name):
    """An upgrade of TensorFlow or of a compiler that changes a text fails here."""
    made = OUTCOMES.get(name)
    if made is None:
        assert "needs" in MISTAKES[name].parts
        pytest.skip(f"needs {MISTAKES[name].parts['needs'].strip()}")
    assert error_entries.problem(entries()[name], MISTAKES[name], made) == ""


@pytest.mark.parametrize("version, made", [("2.20.0", False), ("2.21.0", True)])
def test_what_came_with_a_release_is_provoked_from_it_on(monkeypatch, version, made):
    monkeypatch.setattr(tf, "__version__", version)
    assert provoke.possible(MISTAKES["highwayhash-not-found"]) == made


def test_the_table_is_large_and_most_of_it_is_provoked():
    assert len(TABLE) >= 100
    assert len(MISTAKES) >= 70
    assert sum("cured" in made for made in OUTCOMES.values()) >= 70


def test_each_file_belongs_to_an_entry():
    files = {
        f"{mistake.path.parent.name}/{mistake.path.name}"
        for mistake in MISTAKES.values()
    }
    assert files == {entry.reproducer for entry in TABLE} - {""}
    for entry in TABLE:
        assert bool(entry.reproducer) == (entry.id in MISTAKES), entry.id
        folder = entry.reproducer.partition("/")[0]
        assert not folder or entry.phase in (folder, "silent")


@every
def test_an_entry_is_complete(entry):
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", entry.id)
    assert entry.phase in PHASES
    assert bool(entry.pattern) == (entry.phase != "silent")
    assert bool(entry.reproducer) != bool(entry.not_provoked)
    assert entry.message and entry.cause.endswith((".", ".)")) and entry.cure
    if entry.not_provoked and entry.source:
        assert error_entries.source_of(entry)
    assert set(entry.follows) <= {*entries(), "*"} - {entry.id}


@every
def test_a_pattern_means_the_same_in_javascript(entry):
    """No lookbehind, no flags, no named groups, and nothing possessive."""
    assert not re.search(r"\(\?(?![:=!])|\\[AZ]|[*+?}]\+|\(\?<", entry.pattern), (
        entry.pattern
    )


@every
def test_a_chapter_of_an_entry_has_the_section(entry):
    page, _, section = entry.chapter.partition("#")
    if page:
        text = (book.DOCS / f"{page}.md").read_text()
        titles = re.findall(r"^#+ (.*)$", text, re.M)
        assert not section or section in map(nodes.make_id, titles)
    for page, section in re.findall(r"\]\((\w+)\.md#?([\w-]*)\)", entry.not_provoked):
        assert (book.DOCS / f"{page}.md").exists() and section


def test_a_provoked_text_has_the_messages_of_no_other_entry():
    """Or one of the two follows the other, or it is in the same text for a reason."""
    both = {
        ("op-requires-failed-at", "unknown-input-name"),
        ("keras-could-not-infer", "type-not-allowed-graph"),
    }
    wrong = [
        (name, other.id)
        for name, made in OUTCOMES.items()
        for other in TABLE
        if other.regex and other.id != name and other.regex.search(made["wrong"].text)
        if not {name, "*"} & {*other.follows}
        if (name, other.id) not in both
    ]
    assert not wrong


def test_a_changed_text_is_found():
    mistake = MISTAKES["status-ok-is-gone"]
    entry = entries()[mistake.id]
    text = "x.cc:1:2: error: ‘OK’ is not a member of ‘tensorflow::Status’"
    good = {"wrong": Outcome(text, "error"), "cured": Outcome()}
    problem = error_entries.problem
    assert problem(entry, mistake, good) == ""
    assert "pattern" in problem(entry, mistake, {**good, "wrong": Outcome("other")})
    assert "fails" in problem(entry, mistake, {**good, "cured": Outcome("x", "error")})
    assert "too" in problem(entry, mistake, {**good, "cured": Outcome(text)})
    silent = MISTAKES["exception-leaves-compute"]
    ended = {"wrong": Outcome(ends="SIGABRT"), "cured": Outcome()}
    assert "not SIGSEGV" in problem(entries()[silent.id], silent, ended)
    died = {"wrong": Outcome(ends="SIGSEGV"), "cured": Outcome(ends="SIGSEGV")}
    assert "the cure ends" in problem(entries()[silent.id], silent, died)


def test_what_is_shown_is_the_message_and_the_difference():
    entry = Entry("x", "call", "", "", "", "", pattern=r"x must be \w+")
    log = (
        "W0000 00:00:1.5   77 a.cc:4] y: x must be small\n"
        "tensorflow.python.errors_impl.InvalidArgumentError: {{function_node f}} x must be small [Op:Y]\n"
    )
    assert message(entry, log) == "InvalidArgumentError: x must be small [Op:Y]"
    assert difference(MISTAKES["status-ok-is-gone"]) == (
        "- return tensorflow::Status::OK();\n+ return absl::OkStatus();"
    )
    assert set(ENDS) >= {
        made["wrong"].ends
        for name, made in OUTCOMES.items()
        if entries()[name].phase == "silent" and made["wrong"].ends.startswith("SIG")
    }
