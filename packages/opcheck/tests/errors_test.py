"""The dictionary of errors: the mistakes give these messages, and the cures help."""

import re
import sys
from pathlib import Path

import pytest
import tensorflow as tf

sys.path[:0] = [str(Path(__file__).parents[1] / "mistakes")]

import provoke  # noqa: E402
from provoke import Outcome, mistakes, outcomes, problem  # noqa: E402

from opcheck.errors import Entry, entries  # noqa: E402
from opcheck.explain import header_of  # noqa: E402

PHASES = (
    "compile link load register call trace run gradient cuda-build cuda-run xla serve "
    "distribute test silent"
).split()

every = pytest.mark.parametrize("entry", entries().values(), ids=lambda entry: entry.id)


# One worker waits for the mistakes to be made, where the build of the page has not made them.
@pytest.mark.xdist_group("errors")
@pytest.mark.parametrize("name", mistakes())
def test_a_mistake_gives_its_message_and_the_cure_does_not(name):
    """An upgrade of TensorFlow or of a compiler that changes a text fails here."""
    mistake = mistakes()[name]
    if name not in outcomes():
        assert "needs" in mistake.parts
        pytest.skip(f"needs {mistake.parts['needs'].strip()}")
    assert problem(mistake, outcomes()[name]) == ""


@pytest.mark.parametrize(("version", "made"), [("2.20.0", False), ("2.21.0", True)])
def test_what_came_with_a_release_is_provoked_from_it_on(monkeypatch, version, made):
    monkeypatch.setattr(tf, "__version__", version)
    assert provoke.possible(mistakes()["highwayhash-not-found"]) == made


def test_the_dictionary_is_large_and_most_of_it_is_provoked():
    counts = provoke.counts()
    assert counts["number"] >= 100
    assert counts["cured"] >= 70


def test_each_file_belongs_to_an_entry():
    files = {
        mistake.path.relative_to(provoke.HERE).as_posix(): name
        for name, mistake in mistakes().items()
    }
    named = {x.reproducer: x.id for x in entries().values() if x.reproducer}
    assert files == named
    for file, name in named.items():
        assert entries()[name].phase in (Path(file).parent.name, "silent")


@every
def test_an_entry_is_complete(entry):
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", entry.id)
    assert entry.phase in PHASES
    assert bool(entry.pattern) == (entry.phase != "silent")
    assert bool(entry.reproducer) != bool(entry.not_provoked)
    assert entry.message and entry.cause.endswith((".", ".)")) and entry.cure
    assert set(entry.follows) <= {*entries(), "*"} - {entry.id}


@every
def test_a_pattern_means_the_same_in_javascript(entry):
    """No lookbehind, no flags, no named groups, and nothing possessive."""
    for pattern in (entry.pattern, entry.beside, entry.unless):
        assert not re.search(r"\(\?(?![:=!])|\\[AZ]|[*+?}]\+|\(\?<", pattern)


@every
def test_what_is_looked_for_beside_a_pattern_has_no_white_space(entry):
    """The text in which it is looked for has none."""
    assert not re.search(r"\s|\\s", entry.beside + entry.unless)


def is_in(entry: Entry, text: str) -> bool:
    """Whether a text has the message of an entry, and what belongs to it."""
    found = entry.regex.finditer(text)
    if not any(not entry.names or header_of(match[0]) for match in found):
        return False
    solid = re.sub(r"\s", "", text)
    if not re.search(entry.beside, solid):
        return False
    return not (entry.unless and re.search(entry.unless, solid))


@pytest.mark.slow
def test_a_provoked_text_has_the_messages_of_no_other_entry():
    """Or one of the two follows the other, or it is in the same text for a reason."""
    both = {
        ("op-requires-failed-at", "unknown-input-name"),
        ("keras-could-not-infer", "type-not-allowed-graph"),
        # Its messages are told in place of those of the other.
        ("undefined-reference-tensorflow-abi", "undefined-reference-to-tensorflow"),
        ("undefined-symbol-of-a-c-library", "undefined-symbol-of-your-own"),
        ("another-eigen-comes-first", "name-is-not-in-eigen"),
        ("preloaded-into-the-shell", "undefined-symbol-of-tensorflow"),
    }
    wrong = [
        (name, other.id)
        for name, made in outcomes().items()
        for other in entries().values()
        if other.regex and other.id != name and is_in(other, made["wrong"].text)
        if not other.alone  # it is not told beside others
        if not {name, "*"} & {*other.follows}
        if (name, other.id) not in both
    ]
    assert not wrong


def test_a_changed_text_is_found():
    mistake = mistakes()["status-ok-is-gone"]
    text = "x.cc:1:2: error: ‘OK’ is not a member of ‘tensorflow::Status’"
    good = {"wrong": Outcome(text, "error"), "cured": Outcome()}
    assert problem(mistake, good) == ""
    assert "pattern" in problem(mistake, {**good, "wrong": Outcome("other")})
    assert "fails" in problem(mistake, {**good, "cured": Outcome("x", "error")})
    assert "too" in problem(mistake, {**good, "cured": Outcome(text)})
    silent = mistakes()["exception-leaves-compute"]
    ended = {"wrong": Outcome(ends="SIGABRT"), "cured": Outcome()}
    assert "not SIGSEGV" in problem(silent, ended)
    died = {"wrong": Outcome(ends="SIGSEGV"), "cured": Outcome(ends="SIGSEGV")}
    assert "the cure ends" in problem(silent, died)
