"""What a mutex guards is touched under a lock: clang's thread safety analysis for std::mutex and any compiler."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from book import EXAMPLES

MUTEX = re.compile(r"\b(?:std::\w*mutex|absl::Mutex) (\w+);")
LOCK = re.compile(r"\b(?:\w+_lock|lock_guard|MutexLock)\b[^;]*?[(&:](\w+)[,)]")
GUARDED = re.compile(r"\b(\w+) ABSL_(?:PT_)?GUARDED_BY\((\w+)\)")
REQUIRES = re.compile(r"\b(\w+)\([^()]*\)\s*ABSL_EXCLUSIVE_LOCKS_REQUIRED\((\w+)\)")
SOURCES = {
    path.name: path.read_text()
    for path in sorted(EXAMPLES.glob("*/*.*"))
    if path.suffix in (".cc", ".h") and "utex" in path.read_text()
}


class Scope(NamedTuple):
    """What a pair of braces holds: locks that are held to its end, mutexes, and which of them are locked in it."""

    held: set[str]
    declared: set[str]
    locked: set[str]


def unguarded(text: str) -> Iterator[str]:
    """Mutexes that nothing locks, and uses of what one guards outside of a scope that has locked it."""
    text = re.sub(r"//.*", "", f"{{{text}}}")
    guarded = dict([*GUARDED.findall(text), *REQUIRES.findall(text)])
    for mutex in {*re.findall(r"mutex (\w+_);", text)} - {*guarded.values()}:
        yield f"nothing is ABSL_GUARDED_BY({mutex})"
    names = "|".join(guarded) or "$"
    found = rf"[{{}}]|{LOCK.pattern}|{MUTEX.pattern}|\b(?:{names})\b"
    declared = [m.span() for p in (GUARDED, REQUIRES) for m in p.finditer(text)]
    scopes = []
    for match in re.finditer(found, text):
        lock, mutex = match.groups()
        line = text[: match.start()].count("\n") + 1
        if match[0] == "{":
            head = re.split(r"[;{}]", text[: match.start()])[-1]
            held = {of_function for _, of_function in REQUIRES.findall(head)}
            scopes.append(Scope(held, set(), set()))
        elif match[0] == "}":
            ended = scopes.pop()
            for never in ended.declared - ended.locked:
                yield f"line {line}: the scope of {never} ends, and nothing locks it"
            if scopes:
                scopes[-1].locked.update(ended.locked)
        elif lock:
            scopes[-1].held.add(lock)
            scopes[-1].locked.add(lock)
        elif mutex:
            scopes[-1].declared.add(mutex)
        elif not any(begin <= match.start() < end for begin, end in declared):
            needed = guarded[match[0]]
            if not any(needed in scope.held for scope in scopes):
                yield f"line {line}: {match[0]} without a lock of {needed}"


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_mutex_guards_is_touched_under_a_lock(name):
    assert not [*unguarded(SOURCES[name])]


LOCKED = """
class Table {
  int Size() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Count();
  }
  int Count() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return size_; }
  std::mutex mutex_;
  int size_ ABSL_GUARDED_BY(mutex_);
};
"""


@pytest.mark.parametrize("gone", [r".*lock_guard.*\n", r" ABSL_\w+\(mutex_\)"])
def test_a_lock_or_an_annotation_that_is_gone_is_found(gone):
    assert not [*unguarded(LOCKED)]
    assert [*unguarded(re.sub(gone, "", LOCKED))]
