"""The sanitizers of `make asan` and `make tsan` find what they are there for; no op is forgotten."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import sanitize
import tensorflow as tf

ROOT = Path(__file__).parents[1]
COMPILER = shlex.split(os.environ.get("CXX", "c++"))
SOURCE = ROOT / "tests" / "sanitizer_controls.cc"
LINES = {
    "heap-buffer-overflow": "sanitizer_controls.cc:32",
    "arithmetic without a defined result": "sanitizer_controls.cc:30",
    "data race": "sanitizer_controls.cc:66",
}
OUTSIDE = "library.out_of_range([1.0, 2.0, 3.0], 3, 1)"
OVERFLOW = "library.out_of_range([1.0, 2.0, 3.0], 65536, 65536)"
SAFE = "[library.control_sum(tf.ones([1000]), safe=True) for _ in range(20)]"
RACE = SAFE.replace("True", "False")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Builds the controls for a sanitizer; for both at once, in the first call."""
    folder = tmp_path_factory.mktemp("sanitize")
    flags = [
        flag.replace("-I", "-isystem") for flag in tf.sysconfig.get_compile_flags()
    ]
    options = [*flags, "-DNDEBUG", "-shared", "-fPIC"]
    runs = {
        name: subprocess.Popen(
            [
                *COMPILER,
                *options,
                *sanitize.SANITIZERS[name].flags,
                SOURCE,
                "-o",
                folder / f"{name}.so",
                *tf.sysconfig.get_link_flags(),
            ]
        )
        for name in sanitize.SANITIZERS
    }

    def built(name):
        assert runs[name].wait() == 0
        return folder / f"{name}.so"

    return built


def reported(name, library, code, tmp_path):
    """What a sanitizer reports of a program that has loaded the library."""
    sanitizer = sanitize.SANITIZERS[name]
    reports = tmp_path / "reports"
    reports.mkdir()
    program = f"import tensorflow as tf\nlibrary = tf.load_op_library('{library}')\n"
    run = subprocess.run(
        [sys.executable, "-c", program + code],
        capture_output=True,
        text=True,
        env=sanitize.environment(
            sanitizer, sanitize.runtimes(sanitizer, tmp_path), reports
        ),
    )
    found = sanitize.findings(reports)
    assert bool(run.returncode) == any(
        "==ERROR" in text or "data race" in text for text in found
    ), run.stderr
    return "".join(found)


@pytest.mark.xdist_group("sanitize")
@pytest.mark.skipif(sys.platform != "linux", reason="the runtimes are preloaded")
class TestPositiveControls:
    @pytest.mark.parametrize(
        "name, code, kind",
        [
            ("asan", OUTSIDE, "heap-buffer-overflow"),
            ("asan", OVERFLOW, "arithmetic without a defined result"),
            ("tsan", RACE, "data race"),
        ],
    )
    def test_a_mistake_is_reported(self, build, tmp_path, name, code, kind):
        text = reported(name, build(name), code, tmp_path)
        assert kind in text and LINES[kind] in text

    def test_threads_that_lock_are_not(self, build, tmp_path):
        """Nor what TensorFlow hands to its threads and back."""
        assert reported("tsan", build("tsan"), SAFE, tmp_path) == ""


@pytest.mark.parametrize("name", sanitize.SANITIZERS)
def test_a_compiler_without_sanitizers(tmp_path, monkeypatch, name):
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho 'ld: cannot find the library' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(
        SystemExit, match=rf"^make {name}: .*cannot build.*ld: cannot"
    ) as end:
        sanitize.runtimes(sanitize.SANITIZERS[name], tmp_path)
    assert "\n" not in end.value.code


@pytest.mark.parametrize(
    "test",
    sorted({test for one in sanitize.SANITIZERS.values() for test in one.left_out}),
)
def test_what_is_left_out_exists(test):
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", f"examples/{test}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout


def test_a_failed_allocation_is_no_finding(tmp_path):
    warning = "==1==WARNING: AddressSanitizer failed to allocate 0xfff bytes\n"
    (tmp_path / "asan.1").write_text(warning)
    (tmp_path / "asan.2").write_text(warning + "==2==ERROR: AddressSanitizer: SEGV\n")
    assert sanitize.findings(tmp_path) == ["==2==ERROR: AddressSanitizer: SEGV\n"]
