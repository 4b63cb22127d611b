"""Old names fail or warn, and their successors work: `pytest examples/old_names`."""

import pytest
from old_names import PYTHON, compiler_says, cpp_rows, headers_say, says


@pytest.mark.parametrize("old, new", PYTHON)
def test_an_old_line_fails_and_a_new_one_works(old, new):
    assert says(old) and not says(new)


def test_the_compiler_refuses_or_warns_of_old_lines():
    """The new ones are compiled by `make examples`, without a warning."""
    said = compiler_says()
    silent = {name for name, what in said.items() if not what}
    refused = {name for name, what in said.items() if what.startswith("error")}
    assert silent == {"Code", "NotCopied", "Define"}
    assert refused == {"StatusOK", "ErrorMessage", "Persistent", "AllocatePersistent"}


def test_headers_have_the_new_names():
    assert all(what for _, what, _ in headers_say())


def test_each_function_has_a_successor(monkeypatch):
    monkeypatch.setattr(
        "old_names.compiler_says", lambda: dict.fromkeys(cpp_names(), "")
    )
    assert all(old != new for old, _, new in cpp_rows())


def cpp_names():
    from old_names import HERE, functions

    return functions(HERE / "wrong_old_names.cc")
