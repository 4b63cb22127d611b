"""Rounds of generated calls, and what they take for wrong."""

import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from opcheck import rounds
from opcheck.strategies import calls, tensors


def unknown(x):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("sample", "reference", "kind", "seen"),
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
    op = rounds.Target(lambda x: tf.sqrt(tf.ensure_shape(x, [2])), None, reference)
    judged = op.judge([np.float32(sample)], {})
    assert judged[0] == kind
    assert seen in judged[1] if seen else not judged[1]


def test_an_answer_that_no_array_can_hold_is_not_compared():
    op = rounds.Target(lambda n: tf.zeros([0, n]), None, lambda n: np.zeros([0, n]))
    assert op.judge([np.int64(2**62)], {}) == ("answered", "")


@pytest.mark.parametrize(
    ("name", "op", "strategy", "reference", "said"),
    [
        pytest.param(
            "Narrow",
            tf.sqrt,
            calls(tensors(shape=(3,))),
            np.sqrt,
            "the strategy makes only 1 kinds of calls",
            id="calls of one shape",
        ),
        pytest.param(
            "Refusing",
            lambda x: tf.ensure_shape(x, [9]),
            calls(tensors()),
            unknown,
            "too few calls can be compared: 100 refused",
            id="refused, as by an op that another library registered too",
        ),
        pytest.param(
            "Sqrt",
            tf.sqrt,
            calls(tensors()),
            lambda x: x**0.5,
            "no calls for the kernels of .*, float64$",
            id="a kernel of a dtype without calls",
        ),
    ],
)
def test_calls_that_test_little_are_no_success(name, op, strategy, reference, said):
    target = rounds.Target(op, strategy, reference)
    fine, text = rounds.fuzz_op(name, target, calls=100, shrink=0)
    assert not fine and re.search(said, text)


FILE = """
import os
import numpy as np
import tensorflow as tf
from opcheck.strategies import calls, tensors
def dies(x): os.abort()
wrong = tf.sqrt, calls(tensors("float32")), np.square
FUZZ = {"Sqrt": wrong, "Other": "it is not here", "Dies": (dies, calls(tensors("int8", shape=(1,))), "none")}
"""


@pytest.mark.slow
def test_the_command_tells_of_wrong_answers_forgotten_ops_and_the_call_that_died(
    tmp_path,
):
    file, state = tmp_path / "some_fuzz.py", tmp_path / "state"
    command = [sys.executable, "-m", "opcheck", "fuzz", file, "--calls=100"]
    file.write_text(FILE)
    run = subprocess.run(
        [*command, "--shrink=0", "--state", state], capture_output=True, text=True
    )
    assert re.match(r"Sqrt: \d+ wrong answers\nsqrt\(", run.stdout)
    assert "\nOther: left out, it is not here\n" in run.stdout
    assert run.returncode < 0
    assert rounds.last_call(state).startswith("Dies: inputs [array([")
    file.write_text(FILE + 'del FUZZ["Dies"]\n')
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1
    assert "is 0 instead" in run.stdout or "instead of" in run.stdout  # shrunk
    assert "FUZZ has Sqrt, and no library beside it has this op" in run.stdout
