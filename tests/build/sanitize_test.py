"""The sanitizers of `make asan` and `make tsan` find what they are there for; no op is forgotten."""

import os
import shlex
import sys
from pathlib import Path

import pytest
import sanitize
from running import program, run

ROOT = Path(__file__).parents[2]
COMPILER = shlex.split(os.environ.get("CXX", "c++"))
HERE = Path(__file__).parent


def tensorflow() -> list[str]:
    """What the compiler needs to know of TensorFlow."""
    from tensorflow import sysconfig

    return [
        *(flag.replace("-I", "-isystem") for flag in sysconfig.get_compile_flags()),
        *sysconfig.get_link_flags(),
        f"-Wl,-rpath,{sysconfig.get_lib()}",
    ]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory) -> Path:
    """Where the controls are once they are built."""
    return tmp_path_factory.mktemp("controls")


@pytest.fixture
def reported(libraries, tmp_path):
    """What a sanitizer reports of some calls of the control's function, or of an op in another source."""

    def report(name: str, *calls: str, op: Path | None = None) -> str:
        sanitizer = sanitize.SANITIZERS[name]
        source = op or HERE / f"{name}_control.cc"
        library = libraries / f"{source.stem}.so"
        flags = tensorflow() if name == "tsan" else []
        options = [*sanitizer.flags, "-DNDEBUG", "-shared", "-fPIC"]
        if not library.exists():
            built = run(*COMPILER, *options, source, "-o", library, *flags)
            assert built.returncode == 0, built.stderr
        reports = tmp_path / "reports"
        reports.mkdir(exist_ok=True)
        code = f"import ctypes\nlibrary = ctypes.CDLL('{library}')\n"
        if op:
            code = (
                f"import tensorflow as tf\nlibrary = tf.load_op_library('{library}')\n"
            )
        preload = sanitize.runtimes(sanitizer, tmp_path)
        environment = sanitize.environment(sanitizer, preload, reports)
        process = run(sys.executable, "-c", code + "\n".join(calls), **environment)
        found = "".join(sanitize.findings(reports))
        assert bool(process.returncode) == bool(found), process.stderr + found
        return found

    return report


def line_of(file: str, words: str) -> str:
    lines = (HERE / file).read_text().splitlines()
    (number,) = [i for i, line in enumerate(lines, 1) if f"// wrong{words}" in line]
    return f"{file}:{number}"


@pytest.mark.slow
@pytest.mark.xdist_group("sanitize")
@pytest.mark.skipif(sys.platform != "linux", reason="the runtimes are preloaded")
class TestPositiveControls:
    @pytest.mark.parametrize(
        "call, kind, words",
        [
            ("library.Pick(3, 1)", "heap-buffer-overflow", ": no check"),
            (
                "library.Pick(65536, 65536)",
                "arithmetic without a defined result",
                ": it can overflow",
            ),
        ],
    )
    def test_a_wrong_index_is_reported(self, reported, call, kind, words):
        text = reported("asan", call)
        assert kind in text and line_of("asan_control.cc", words) in text

    @pytest.mark.parametrize(
        "function, words",
        [
            ("Sum", " without the lock"),
            ("Cancel", " once it is registered"),
            ("Keys", " in a method"),
        ],
    )
    def test_a_race_is_reported_and_threads_that_are_ordered_are_not(
        self, reported, function, words
    ):
        """By a lock, or since TensorFlow hands work to its threads and back, and a callback to who cancels."""
        several = f"[library.{function}({{}}) for _ in range(20)]"
        assert reported("tsan", several.format(True)) == ""
        text = reported("tsan", several.format(False))
        assert "data race" in text
        assert line_of("tsan_control.cc", words) in text

    def test_a_race_on_three_elements_is_reported(self, reported):
        text = reported(
            "tsan",
            "from concurrent.futures import ThreadPoolExecutor",
            "inputs = [tf.fill([3], float(number)) for number in range(4)]",
            "call = lambda i: library.racy_zero_out(inputs[i % 4])",
            "with ThreadPoolExecutor(4) as pool: list(pool.map(call, range(400)))",
            op=ROOT / "examples/count_runs/wrong_racy_zero_out.cc",
        )
        assert "data race" in text and "wrong_racy_zero_out.cc" in text


@pytest.mark.parametrize(
    "sanitizer", sanitize.SANITIZERS.values(), ids=lambda one: one.name
)
def test_headers_do_not_learn_of_it(sanitizer):
    """TensorFlow's would give its classes other members."""
    command = [*COMPILER, *sanitizer.flags, "-dM", "-E", "-x", "c++", os.devnull]
    defined = run(*command).stdout
    assert "__cplusplus" in defined and "__SANITIZE" not in defined


@pytest.mark.parametrize("name", sanitize.SANITIZERS)
def test_a_compiler_without_sanitizers(tmp_path, monkeypatch, name):
    compiler = program(
        tmp_path, "c++", "echo 'ld: cannot find the library' >&2; exit 1"
    )
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(
        SystemExit, match=rf"^make {name}: .*cannot build.*ld: cannot"
    ) as end:
        sanitize.runtimes(sanitize.SANITIZERS[name], tmp_path)
    assert "\n" not in end.value.code


def test_a_failed_allocation_is_no_finding(tmp_path):
    warning = "==1==WARNING: AddressSanitizer failed to allocate 0xfff bytes\n"
    (tmp_path / "asan.1").write_text(warning)
    (tmp_path / "asan.2").write_text(warning + "==2==ERROR: AddressSanitizer: SEGV\n")
    assert sanitize.findings(tmp_path) == ["==2==ERROR: AddressSanitizer: SEGV\n"]
