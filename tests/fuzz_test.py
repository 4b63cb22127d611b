"""A short fuzz round of every example, and what `tools/fuzz.py` takes for wrong."""

import re
import shutil
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import fuzz
import numpy as np
import pytest
import sanitize
import tensorflow as tf

from opcheck.strategies import calls, tensors

ROOT = Path(__file__).parents[1]
FILES = sorted(ROOT.glob("examples/*/*_fuzz.py"))


@pytest.fixture
def failures(in_fork, tmp_path):
    """What a round finds wrong; in a fork, since two examples register the same ops."""
    state = tmp_path / "state"

    def run(file: Path, *options: str) -> str:
        arguments = [str(file), "--shrink=0", f"--state={state}", *options]
        try:
            return "\n".join(in_fork(fuzz.failures, arguments))
        except BrokenProcessPool:
            return f"the process died at the call {sanitize.last_call(state)}"

    return run


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_short_fuzz_round_finds_nothing(failures, file):
    if found := failures(file, "--calls=300"):
        pytest.fail(found, pytrace=False)


def test_every_example_says_how_to_fuzz_it():
    examples = {file.parent for file in ROOT.glob("examples/*/CMakeLists.txt")}
    assert examples - {file.parent for file in FILES} == set()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_a_reader_may_call_is_compared_with_its_reference(file):
    """The ops that have a function of their name beside them, but for those that refuse every call or read a file."""
    functions = {
        name.replace("_", "")
        for path in file.parent.glob("*.py")
        if not path.stem.startswith("wrong_")
        for name in re.findall(r"^def ([a-z]\w*)\(", path.read_text(), re.M)
    }
    text = file.read_text()
    left_out = re.findall(
        r'^    "(?:\w+>)?(\w+)": "(?!deprecated|of version|reads a file)', text, re.M
    )
    assert {op for op in left_out if op.lower() in functions} == set()


def test_a_wrong_answer_and_a_forgotten_op_are_errors(failures, tmp_path):
    folder = tmp_path / "zero_out"
    shutil.copytree(ROOT / "examples" / "zero_out", folder)
    shutil.copy(ROOT / "examples" / "op_library.py", tmp_path)
    file = folder / "zero_out_fuzz.py"
    with file.open("a") as fuzz_file:
        fuzz_file.write(
            'FUZZ["Other"] = FUZZ.pop("KeepLast")\n'
            'FUZZ["ZeroOut"] = (*FUZZ["ZeroOut"][:2], lambda to_zero: to_zero)\n'
        )
    found = failures(file, "--calls=100")
    assert "ZeroOut: " in found and "wrong answers\nzero_out(" in found
    assert "disagree about KeepLast, Other" in found


def test_a_crash_is_told_with_its_call(failures, tmp_path):
    file = tmp_path / "crash_fuzz.py"
    file.write_text(
        "import os\n"
        "from opcheck.strategies import calls, tensors\n"
        "def dies(x): os.abort()\n"
        'FUZZ = {"Dies": (dies, calls(tensors("int8", shape=(1,))), "none")}\n'
    )
    assert "died at the call Dies: inputs [array([" in failures(file)


def unknown(x):
    raise NotImplementedError


@pytest.mark.parametrize(
    "sample, reference, kind, seen",
    [
        ([4.0, 9.0], np.sqrt, "compared", ""),
        ([4.0, 9.0], np.square, "compared", "the output[0] is 2 instead of 16"),
        ([4.0, 9.0], unknown, "answered", ""),
        ([4.0, 9.0], lambda x: x.reshape(5), "answered", "the reference has none"),
        ([4.0], np.sqrt, "refused", "though the reference has an answer"),
        ([4.0], unknown, "refused", ""),
        ([4.0], lambda x: x.reshape(2), "refused", ""),
    ],
)
def test_an_op_answers_what_its_reference_does_and_refuses_the_rest(
    sample, reference, kind, seen
):
    target = fuzz.Target(lambda x: tf.sqrt(tf.ensure_shape(x, [2])), None, reference)
    judged = fuzz.judge(target, [np.float32(sample)], {})
    assert judged[0] == kind
    assert seen in judged[1] if seen else not judged[1]


def test_calls_of_one_shape_are_no_success():
    target = fuzz.Target(tf.sqrt, calls(tensors(shape=(3,))), lambda x: x**0.5)
    options = fuzz.parsed(["", "--shrink=0", "--calls=100"])
    fine, text = fuzz.fuzz("Narrow", target, options)
    assert not fine and "the strategy makes only 1 kinds of calls" in text


def test_calls_that_are_all_refused_are_no_success():
    """As were those of an op that another library had registered too."""
    target = fuzz.Target(lambda x: tf.ensure_shape(x, [9]), calls(tensors()), unknown)
    options = fuzz.parsed(["", "--shrink=0", "--calls=100"])
    fine, text = fuzz.fuzz("Refusing", target, options)
    assert not fine and "too few calls can be compared: 100 refused" in text


def test_a_kernel_of_a_type_without_calls_is_no_success():
    target = fuzz.Target(tf.sqrt, calls(tensors()), lambda x: x**0.5)
    options = fuzz.parsed(["", "--shrink=0", "--calls=100"])
    fine, text = fuzz.fuzz("Sqrt", target, options)
    assert not fine and re.search("no calls for the kernels of .*, float64$", text)
