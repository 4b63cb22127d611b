"""Old names fail or warn, and their successors work: `pytest examples/old_names`."""

import re

import pytest
from old_names import (
    PYTHON,
    compiled_rows,
    compiler_says,
    cpp_rows,
    headers_say,
    says,
    shortened,
)


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


@pytest.mark.slow
def test_the_compiler_refuses_old_includes_and_the_old_command():
    *includes, build = (said for _, said, _ in compiled_rows())
    for said in includes:
        assert re.search("error: .*(No such file|not found)", said)
    assert "C++17" in build


@pytest.mark.parametrize(
    "said, short",
    [
        ("warning: ‘using int64 = int64_t’ is deprecated", "warning: ‘int64’ is deprecated"),
        (
            "warning: ‘absl::lts_20250814::Status tsl::errors::NotFound(Args ...) [with Args = {int}]’ is deprecated",
            "warning: ‘errors::NotFound’ is deprecated",
        ),
        (
            "error: ‘OK’ is not a member of ‘Status’ {aka ‘absl::lts_20250814::Status’}",
            "error: ‘OK’ is not a member of ‘Status’",
        ),
    ],
)  # fmt: skip
def test_what_the_compiler_says_is_shortened(said, short):
    assert shortened(said) == short


def test_each_function_has_a_successor(monkeypatch):
    monkeypatch.setattr(
        "old_names.compiler_says", lambda: dict.fromkeys(cpp_names(), "")
    )
    assert all(old != new for old, _, new in cpp_rows())


def cpp_names():
    from old_names import HERE, functions

    return functions(HERE / "wrong_old_names.cc")
