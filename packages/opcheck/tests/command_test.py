"""The command line: python -m opcheck FILE.py:function --samples FILE.py:name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import opcheck
from opcheck.__main__ import main, parser

OP = f"{Path(__file__).with_name('python_ops.py')}:adds_one"
SAMPLES = """
import numpy as np
good = (np.float32([3, 4]),)
full = {"inputs": good, "reference": lambda x: x + 1, "checks": ["reference"]}
wrong = {"inputs": good, "reference": lambda x: x}
nothing = 7
misspelt = {"inputs": good, "checks": ["refrence"]}
unknown = {"inputs": good, "repeat": 3}
three = good * 3
def made():
    return full
def failing():
    return {}["x"]
"""


@pytest.fixture
def samples(tmp_path):
    (tmp_path / "cli_samples.py").write_text(SAMPLES)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "unclear.py").write_text("def x(:\n")
    return tmp_path / "cli_samples.py"


def test_the_command(samples):
    page = samples.with_name("report.html")
    command = [sys.executable, "-m", "opcheck", OP, "--samples", f"{samples}:good"]
    command += ["--checks", "eager_vs_graph, empty", "--html", page]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "adds_one: 2 passed, 0 failed" in run.stdout
    assert page.read_text().startswith("<!doctype html>")
    assert "<td>pass</td>" in page.read_text()


def test_the_command_fails_where_a_check_fails(samples, capsys):
    assert main([OP, "--samples", f"{samples}:made"]) == 0
    arguments = [OP, "--samples", f"{samples}:wrong", "--checks", "reference"]
    assert main(arguments) == 1
    assert "1 failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("op", "sample", "more", "message"),
    [
        ("nowhere.py:op", ":good", [], "there is no file nowhere.py"),
        ("adds_one", ":good", [], "'adds_one' is not FILE.py:name"),
        (f"{OP}s", ":good", [], "has no adds_ones"),
        (OP, ":bad", [], "has no bad"),
        (OP, ":nothing", [], "is neither a tuple of inputs nor a dict"),
        (OP, ":misspelt", [], "no check 'refrence'"),
        (OP, ":unknown", [], "has no argument 'repeat'"),
        (OP, ":three", [], "cannot be called with 3 inputs and no attrs: too many"),
        (OP, ":failing", [], "failing raised KeyError: 'x' (cli_samples.py, line "),
        (OP, ":good", ["--checks", ""], "no check ''"),
        ("leaves.py:x", ":good", [], "cannot be imported: SystemExit: 0 (leaves.py, "),
        ("unclear.py:x", ":good", [], "cannot be imported: SyntaxError: "),
        (OP, ":good", ["--skip", "x"], "no check 'x'"),
        (OP, ":good", ["--colour"], "unrecognized arguments: --colour"),
        (
            "broken.py:x",
            ":good",
            [],
            "broken.py cannot be imported: ZeroDivisionError: division by zero (broken.py, line 1)",
        ),
        (
            OP,
            ":full",
            ["--html", "/nowhere/x.html"],
            "cannot write /nowhere/x.html: No such file or directory",
        ),
    ],
)
def test_bad_use_is_one_line_and_exit_1(
    samples, capsys, monkeypatch, op, sample, more, message
):
    monkeypatch.chdir(samples.parent)
    assert main([op, "--samples", f"{samples}{sample}", *more]) == 1
    error = capsys.readouterr().err
    assert re.search(re.escape(message), error)
    assert len(error.splitlines()) == 1
    assert error.startswith("opcheck: ")


def test_samples_are_required(capsys):
    assert main([OP]) == 1
    required = "opcheck: the following arguments are required: --samples\n"
    assert capsys.readouterr().err == required


def test_help_has_every_option_and_every_check(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["--help"])
    assert exit.value.code == 0
    text = capsys.readouterr().out
    options = {x for action in parser()._actions for x in action.option_strings}
    assert options - {"-h", "--help"} <= set(re.findall(r"--\w+", text))
    assert set(opcheck.NAMES) <= set(re.findall(r"\w+", text))
