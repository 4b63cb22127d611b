"""The command line: python -m opcheck FILE.py:function --samples FILE.py:name."""

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import forked
import pytest

import opcheck
import opcheck.command
from opcheck.command import main

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


@pytest.fixture(autouse=True)
def log_level(monkeypatch):
    """The command may change it for its process, and with it for what later tests start."""
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", os.environ["TF_CPP_MIN_LOG_LEVEL"])


def _imported_library() -> Path:
    """Some library of this platform."""
    import numpy

    return next(Path(numpy.__file__).parent.glob("*core/_multiarray_umath*.so"))


@pytest.fixture
def samples(tmp_path):
    (tmp_path / "cli_samples.py").write_text(SAMPLES)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "unclear.py").write_text("def x(:\n")
    (tmp_path / "some_fuzz.py").write_text("FUZZ = 7\n")
    (tmp_path / "text.so").write_text("no library")
    (tmp_path / "cut.so").write_bytes(_imported_library().read_bytes()[:3000])
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


CHECK = f"{OP} --samples cli_samples.py:"
FUZZ = "fuzz some_fuzz.py "


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("nowhere.py:op --samples x.py:good", "there is no file nowhere.py"),
        ("adds_one --samples x.py:good", "'adds_one' is not FILE.py:name"),
        ("elucidate build.log", "is not FILE.py:name, LIBRARY.so, fuzz or explain"),
        (f"{OP} --samples cli_samples.py", "'cli_samples.py' is not FILE.py:name"),
        ("", "the following arguments are required: op, --samples"),
        (OP, "the following arguments are required: --samples"),
        (CHECK.replace("adds_one", "adds_ones"), "has no adds_ones"),
        (f"{CHECK}bad", "has no bad"),
        (f"{CHECK}nothing", "is neither a tuple of inputs nor a dict"),
        (f"{CHECK}misspelt", "no check 'refrence', did you mean 'reference'?"),
        (f"{CHECK}unknown", "has no argument 'repeat'"),
        (f"{CHECK}three", "cannot be called with 3 inputs and no attrs: too many"),
        (
            f"{CHECK}failing",
            "failing raised KeyError: 'x' (cli_samples.py, line ",
        ),
        (f"{CHECK}good --checks ''", "no check ''"),
        (f"{CHECK}good --skip x", "no check 'x'"),
        (f"{CHECK}good --colour", "unrecognized arguments: --colour"),
        (
            f"{CHECK}full --html /nowhere/x.html",
            "cannot write /nowhere/x.html: No such file or directory",
        ),
        (
            "leaves.py:x --samples x.py:good",
            "cannot be imported: SystemExit: 0 (leaves.py, ",
        ),
        (
            "unclear.py:x --samples x.py:good",
            "cannot be imported: SyntaxError: ",
        ),
        (
            "broken.py:x --samples x.py:good",
            "broken.py cannot be imported: ZeroDivisionError: division by zero (broken.py, line 1)",
        ),
        ("none.so", "argument file: there is no file none.so"),
        ("text.so", "text.so: it cannot be loaded: "),
        pytest.param(
            *("cut.so", "cut.so: it cannot be loaded: it has 3000 bytes of "),
            marks=pytest.mark.skipif(sys.platform != "linux", reason="of Linux"),
        ),
        ("text.so --json /nowhere/x", "cannot write /nowhere/x: No such file"),
        ("text.so --timeout -3", "argument --timeout: -3 is not above 0"),
        ("text.so --colour", "unrecognized arguments: --colour"),
        ("{library} --ops Nothing", "libaround.so: no op 'Nothing': there are "),
        ("{library} --ops NextSums", "no op 'NextSums', did you mean 'NextSum'?"),
        ("{library} --checks gradients", "did you mean 'gradient'?"),
        ("{library} --list --checks gradients", "did you mean 'gradient'?"),
        ("{library} --checks ''", "no check ''"),
        ("fuzz none_fuzz.py", "argument file: there is no file none_fuzz.py"),
        ("fuzz broken.py", "broken.py cannot be imported: ZeroDivisionError: "),
        ("fuzz cli_samples.py", "cli_samples.py has no FUZZ"),
        (FUZZ, "some_fuzz.py: FUZZ is not a dictionary"),
        (FUZZ + "--state /nowhere/x", "cannot write /nowhere/x: No such file"),
        (FUZZ + "--calls 0", "argument --calls: 0 is not above 0"),
        (FUZZ + "--shrink -1", "argument --shrink: -1 is below 0"),
        (FUZZ + "--threads no", "argument --threads: invalid int value: 'no'"),
        ("explain none.log", "there is no file none.log"),
        ("explain .", "cannot read .: Is a directory"),
        ("explain --colour", "unrecognized arguments: --colour"),
    ],
)
def test_bad_use_is_one_line_and_exit_1(
    samples, broken_ops, capsys, monkeypatch, command, message
):
    monkeypatch.chdir(samples.parent)
    before = {*samples.parent.iterdir()}
    command = command.format(library=broken_ops.BUILD / "libaround.so")
    assert main(shlex.split(command)) == 1
    output, error = capsys.readouterr()
    assert not output
    assert message in error
    assert len(error.splitlines()) == 1
    assert error.startswith("opcheck: ")
    assert {*samples.parent.iterdir()} - before <= {samples.with_name("__pycache__")}


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr(opcheck.command, "_run", interrupted)
    assert main(["explain"]) == 130
    assert capsys.readouterr() == ("", "opcheck: interrupted\n")


@pytest.mark.parametrize("arguments", [["--help"], ["explain"]])
def test_a_reader_that_has_gone_is_no_error(arguments):
    run = subprocess.Popen(
        [sys.executable, "-m", "opcheck", *arguments], stdin=-1, stdout=-1, stderr=-1
    )
    run.stdout.close()
    _, error = run.communicate(b"undefined symbol: _ZTIN10tensorflow8OpKernelE\n")
    assert (run.returncode, error) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["explain"]])
def test_a_full_disk_is_one_line(arguments):
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "opcheck", *arguments],
            input=b"undefined symbol: _ZTIN10tensorflow8OpKernelE\n",
            stdout=full,
            stderr=subprocess.PIPE,
        )
    message = b"opcheck: cannot write the output: No space left on device\n"
    assert (run.returncode, run.stderr) == (1, message)


def test_a_terminal_that_lacks_a_character_gets_the_rest(monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(opcheck.command, "_run", lambda options: print("a…") or 0)
    assert main(["explain"]) == 0
    assert terminal.buffer.getvalue() == b"a\\u2026\n"


def test_help_has_every_option_and_every_check(capsys, tmp_path):
    library = tmp_path / "x.so"
    library.touch()
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    options = re.findall(r"--\w+", text)
    assert {"--samples", "--html", "--list", "--ops", "--shrink"} <= {*options}
    for arguments in (["x.py:f"], [str(library)], ["fuzz"], ["explain"]):
        with pytest.raises(SystemExit):
            main([*arguments, "--help"])
    known = capsys.readouterr().out
    assert {*options} <= {*re.findall(r"--\w+", known)}
    assert set(opcheck.CHECKS) <= set(re.findall(r"\w+", text))


PROGRAM = """
import os, runpy, sys
del sys.argv[0]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize(
    ("program", "arguments", "message"),
    [
        ("wild/look.py", ["here", "typo"], "look.py: no wheel typo: there are deepmd"),
        ("wild/built_in.py", ["no/x.json"], "built_in.py: there is no folder no"),
        ("mistakes/provoke.py", ["out", "no-such"], "there is no mistake no-such"),
        ("mistakes/provoke.py", ["out", "needs-cpp17"], "there is no out yet"),
        ("releases.py", [], "usage: python packages/opcheck/releases.py 2.5 2.21"),
        ("releases.py", ["2.5", "last"], "usage: python packages/opcheck/releases"),
    ],
)
def test_a_program_of_this_folder_refuses_in_a_line(
    tmp_path, monkeypatch, program, arguments, message
):
    monkeypatch.chdir(tmp_path)
    path = Path(opcheck.__file__).parents[1] / program
    run = forked.run(PROGRAM, path, *arguments)
    assert run.returncode == 1
    *logged, line = run.stderr.splitlines()  # TensorFlow 2.16 logs as it is imported
    assert message in line and "Traceback" not in " ".join(logged)
    assert not run.stdout and not [*tmp_path.iterdir()]
