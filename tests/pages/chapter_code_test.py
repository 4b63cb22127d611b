"""What of a chapter's code is in the notebook that readers download."""

import re

from chapter_code import readers_cells, without_statements, without_unused_fixtures
from nbformat.v4 import new_code_cell


def reader(source: str, *tags: str) -> str:
    """A cell of a reader's notebook."""
    return readers_cells([new_code_cell(source, metadata={"tags": [*tags]})])[0]


def test_what_only_the_build_needs_is_left_out():
    hidden = "from solution_x import solved\n\nis_right(solved)"
    assert reader(hidden, "remove-cell") == ""
    assert reader("assert printed() == '1'", "remove-cell") == ""
    values = "from pictures import p\n\nrecord(**p.figures())\np.draw()"
    shown = "from pictures import p\n\np.draw()"
    assert reader(values, "remove-input") == reader(values) == shown
    assert reader("%%bash -e\ntest 1", "remove-cell", "guard") == ""
    assert reader("x = 2\nassert x\ndraw(x)", "remove-input") == "x = 2\ndraw(x)"


def test_what_later_cells_need_stays():
    shown = "from solution_x import solved\n\nassert is_right(solved)"
    assert reader(shown) == shown
    for hidden in (
        "import tensorflow as tf\n\ntf.config.set_x(4)",
        "x = 1  # a comment\ny = 2",
        "%time run(y)",
        "%%bash -e\necho {x}",
        'def after(change):\n    """What remains."""\n    return change',
    ):
        assert reader(hidden, "remove-cell") == hidden
    assert reader("import os; record(x=1)", "remove-cell") == "import os"


CONFTEST = """\
import ctypes
import pytest

CODE = "pass"
CODE += "\\n"
REST = 1


@pytest.fixture
def library():
    return ctypes.CDLL(CODE)


@pytest.fixture(scope="module")
def loaded(library):
    return library


@pytest.fixture(autouse=True)
def always(rest):
    return rest


@pytest.fixture
def rest():
    return REST
"""


def test_a_conftest_keeps_the_fixtures_that_tests_and_others_name():
    both = "def test_it(loaded): pass"
    assert without_unused_fixtures(CONFTEST, both) == CONFTEST
    without = without_unused_fixtures(CONFTEST, "").splitlines()
    assert without[:2] == ["import pytest", ""]
    named = " ".join(without)
    assert "REST" in named and "def always" in named and "def rest" in named
    assert not re.search("CODE|library|loaded|ctypes", named)


def test_a_variable_of_a_comprehension_is_not_what_a_statement_binds():
    kept = "SIZES = [n for n, _ in [(1, 2)]]\n\n\ndef test_it():\n    assert SIZES\n"
    source = f'CODE = "for _ in range(2): gone()"\n{kept}'
    assert without_statements(source, re.compile("gone")) == kept
