"""The build of the examples: what it refuses, and what it says."""

import os
import subprocess
import sys
from pathlib import Path

import cmake
import pytest

ROOT = Path(__file__).parents[1]


def test_no_compiler(scratch, make):
    run = make(scratch("zero_out"), "examples", CXX="no-such-compiler")
    assert run.returncode
    assert (
        "make examples: no C++ compiler (no-such-compiler): sudo apt-get install g++"
        in run.stderr
    )


def test_an_example_that_does_not_exist():
    run = subprocess.run(
        [sys.executable, ROOT / "tools" / "examples.py", "nothing"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert run.stderr.startswith("make examples: no example nothing; there are ")
    assert len(run.stderr.splitlines()) == 1


def test_the_compiler_s_complaint_is_shown_and_the_next_run_finishes(scratch, make):
    book = scratch("zero_out")
    source = book / "examples" / "zero_out" / "zero_out.cc"
    good = source.read_text()
    source.write_text(good.replace("const auto in =", "const auto in_ ="))
    run = make(book, "zero_out")
    assert run.returncode
    assert (
        "error: ‘in’ was not declared" in run.stdout
        or "'in' was not declared" in run.stdout
    )
    source.write_text(good)
    run = make(book, "zero_out")
    assert run.returncode == 0
    assert "zero_out: libzero_out.so" in run.stdout
    assert "warning" not in run.stdout
    assert make(book, "zero_out").stdout.count("libzero_out.so") == 1


def configure(tmp_path: Path, python: Path, **environment: str) -> str:
    """The error of configuring an example alone with this Python."""
    run = subprocess.run(
        [
            Path(cmake.CMAKE_BIN_DIR) / "cmake",
            *("-S", ROOT / "examples" / "zero_out", "-B", tmp_path / "build"),
            f"-DPython3_EXECUTABLE={python}",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert run.returncode
    return " ".join(run.stderr.split())


def test_a_python_without_tensorflow(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True
    )
    error = configure(tmp_path, tmp_path / "bare" / "bin" / "python", PYTHONPATH="")
    assert "has no TensorFlow: run `make env`" in error


@pytest.mark.parametrize("version", ["1.15.0", "2.99.0"])
def test_a_tensorflow_out_of_range(tmp_path, version):
    package = tmp_path / "tensorflow"
    package.mkdir()
    (package / "libtensorflow_framework.so.2").touch()
    (package / "__init__.py").write_text(
        f"__version__ = '{version}'\n"
        "class sysconfig:\n"
        "    get_include = staticmethod(lambda: '/include')\n"
        "    get_compile_flags = staticmethod(lambda: ['-I/include'])\n"
    )
    error = configure(tmp_path, sys.executable, PYTHONPATH=str(tmp_path))
    assert f"TensorFlow {version} is outside the supported range" in error
    assert "run `make env`" in error
