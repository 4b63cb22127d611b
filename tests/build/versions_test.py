"""make versions: what it refuses, and the table that it writes."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from versions import Row, first_error, first_failure, rows_of, write

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
    command = [sys.executable, ROOT / "tools" / "versions.py", *options]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1 and len(run.stderr.splitlines()) == 1
    assert run.stderr.startswith(f"make versions: {message}")


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


def test_an_error_has_no_folders_of_this_machine():
    text = "1 of 2\n/home/a/b+c/x.cc:3:1: fatal error: tensorflow/c/ops.h: No such file"
    assert (
        first_error(text) == "x.cc:3:1: fatal error: tensorflow/c/ops.h: No such file"
    )
