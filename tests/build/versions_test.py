"""make versions: what it refuses, and the table that it writes."""

import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from running import run
from versions import Row, Version, first_error, first_failure, rows_of, write

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--versions", "2.9"), "no version 2.9; there are 2.16, 2.17"),
        (("--versions", "2.20,two"), "no version two; there are 2.16"),
        (("--examples", "nothing"), "no example nothing; there are attrs"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(options, message):
    done = run(sys.executable, ROOT / "tools" / "versions.py", *options)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"make versions: {message}")


def row(tensorflow: str, compiled_for: str, passed: int, says: str = "") -> Row:
    about = ("3.11.2", "2.0.2", "attrs", compiled_for)
    return Row(tensorflow, *about, passed, 0, 1, says, "2026-11-25")


def test_a_table_is_read_as_it_was_written(tmp_path):
    here, carried = row("2.18.1", "2.18.1", 9), row("2.18.1", "2.21.0", 0, "a, b")
    write(tmp_path / "versions.csv", [carried, here], "make versions")
    first, second = rows_of(tmp_path / "versions.csv")
    assert first == Row(*map(str, here)) and first.fine
    assert second == Row(*map(str, carried)) and not second.fine
    assert {first.key, second.key} == {here.key, carried.key}
    assert here.key == row("2.18.2", "2.18.2", 3).key != carried.key


def test_a_failure_names_its_test_and_not_where_its_values_come_from():
    message = (
        "assert None&#10; +  where None = &lt;function search at 0x7f&gt;('fatal')"
    )
    suite = f"<testsuite><testcase name='a'/><testcase name='b'><failure message=\"{message}\"/></testcase></testsuite>"
    assert first_failure(ElementTree.fromstring(suite)) == "b: assert None"
    assert not first_failure(
        ElementTree.fromstring("<testsuite><testcase/></testsuite>")
    )


ONCE = """import os, pathlib
seen = pathlib.Path(__file__).with_name("seen")
known = seen.exists()
"""
TESTS = {
    "fine": "import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip('why')",
    "late": ONCE + "def test_a(): seen.touch(); assert known\ndef test_b(): pass",
    "dies": "import os\ndef test_a(): pass\ndef test_b(): print('error: such'); os.abort()",
    "died": ONCE
    + "def test_a(): pass\ndef test_b(): seen.touch(); known or os.abort()",
    "broken": "import nothing_of_this_name",
}


@pytest.fixture
def version(tmp_path, monkeypatch) -> Version:
    """The one of this environment, with a copy of the book that a test may fill."""
    monkeypatch.setattr("versions.PLACE", tmp_path)
    version = Version("2.99")
    version.python = Path(sys.executable)
    version.copy.mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", version.copy)
    return version


@pytest.mark.slow
def test_what_fails_runs_again_and_costs_others_nothing(version):
    for name, text in TESTS.items():
        version.folder(name).mkdir(parents=True)
        (version.folder(name) / f"{name}_test.py").write_text(text)
    version.tensorflow, version.python_version, version.numpy = "2.99.0", "3.11", "2.4"
    rows = version.test([*TESTS, "old"], "2.99.0", {"old": "needs 3.0"})
    assert [row.example for row in rows] == [*TESTS, "old"]
    counts = [(row.passed, row.failed, row.skipped) for row in rows]
    assert counts == [(1, 0, 1), (2, 0, 0), (0, 1, 0), (2, 0, 0), (0, 1, 0), (0, 0, 0)]
    *_, dies, died, broken, old = [row.says for row in rows]
    assert "Fatal Python error: Aborted" in dies and not died
    assert (broken, old) == (
        "examples.broken.broken_test: collection failure",
        "needs 3.0",
    )


CMAKE_LISTS = """cmake_minimum_required(VERSION 3.26)
project(examples NONE)
add_subdirectory(broken)
add_subdirectory(cc_gradients)
add_subdirectory(fine)
add_subdirectory(later)
"""


def test_an_example_that_does_not_compile_does_not_stop_the_others(version):
    names = ["broken", "fine", "later"]
    for name in [*names, "cc_gradients"]:
        version.folder(name).mkdir(parents=True)
        command = {"broken": "echo error: such"}.get(name, "touch made")
        end = " && false" if name == "broken" else ""
        (version.folder(name) / "CMakeLists.txt").write_text(
            f"add_custom_target({name} ALL COMMAND {command}{end})"
        )
    (version.copy / "examples" / "CMakeLists.txt").write_text(CMAKE_LISTS)
    errors = version.build(names)
    assert errors.keys() == {"broken"} and "error: such" in errors["broken"]
    for name in ("fine", "later", "cc_gradients"):
        assert (version.copy / "build" / name / "made").exists()


def test_an_error_has_no_folders_of_this_machine():
    text = "1 of 2\n/home/a/b+c/x.cc:3:1: fatal error: tensorflow/c/ops.h: No such file"
    assert (
        first_error(text) == "x.cc:3:1: fatal error: tensorflow/c/ops.h: No such file"
    )
