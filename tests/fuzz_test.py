"""A short round of generated calls for every example."""

import functools
import re
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(ROOT.glob("examples/*/**/*_fuzz.py"))


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_short_fuzz_round_finds_nothing(in_fork, tmp_path, file):
    """In a fork, since two examples register the same ops."""
    from opcheck import rounds  # which imports TensorFlow

    state = tmp_path / "state"
    options = {"calls": 300, "shrink": 0, "state": state}
    try:
        found = in_fork(functools.partial(rounds.failures, file, **options))
    except BrokenProcessPool:
        found = [f"the process died at the call {rounds.last_call(state)}"]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def test_every_example_says_how_to_fuzz_it():
    examples = {
        file.parent
        for file in ROOT.glob("examples/*/*.cc")
        if not file.stem.startswith("wrong_") and "REGISTER_OP(" in file.read_text()
    }
    assert examples - {folder for file in FILES for folder in file.parents} == set()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_a_reader_may_call_is_compared_with_its_reference(file):
    """The ops that have a function of their name beside them.

    But for those that refuse every call, read a file, have no input or are compared by a test.
    """
    functions = {
        name.replace("_", "")
        for path in file.parent.glob("*.py")
        if not path.stem.startswith("wrong_")
        for name in re.findall(r"^def ([a-z]\w*)\(", path.read_text(), re.M)
    }
    text = file.read_text()
    left_out = re.findall(
        r'^    "(?:\w+>)?(\w+)": "(?!deprecated|of version|reads a file|has no input|is compared)',
        text,
        re.M,
    )
    assert {op for op in left_out if op.lower() in functions} == set()
