"""The check `saved_model`."""

import contextlib
from types import SimpleNamespace

import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import adds_a_random_constant, adds_noise, normal, result

import opcheck
from opcheck.checks import fresh
from opcheck.processes import calls
from opcheck.subject import Subject

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "look_up_by_id": "indices must be in [0, 0)",
}
test_a_broken_op_is_caught = caught("saved_model", CAUGHT)


def test_a_model_of_what_is_random_on_purpose_is_noted():
    found = result("saved_model", adds_noise, normal(2))
    assert found.verdict == "note", found.explanation()
    assert "gives other values at each call" in found.detail
    assert found.detail.startswith("saved, loaded in a fresh process: the same shapes;")
    assert result("saved_model", adds_a_random_constant, normal(2)).verdict == "fail"


def halved_in_numpy(x):
    return tf.numpy_function(lambda x: x / 2, [x], tf.float32)


def test_no_model_holds_python():
    found = result("saved_model", halved_in_numpy, normal(2))
    assert found.verdict == "skip", found.explanation()
    assert "tf.numpy_function, which no model holds" in found.detail


RIGHT = calls.Outcome([normal(2)])
WRONG = calls.Outcome([normal(2) + 1])
UNKNOWN = calls.Outcome(None, "Op type not registered 'ZeroOut'")


@pytest.mark.parametrize(
    ("loaded", "bare", "expected", "seen"),
    [
        (RIGHT, UNKNOWN, "", ""),
        (RIGHT, RIGHT, "Op type not registered 'ZeroOut'", "it ran"),
        (
            RIGHT,
            calls.Outcome(None, "NotFoundError: another"),
            "Op type not registered 'ZeroOut'",
            "NotFoundError: another",
        ),
        (WRONG, UNKNOWN, "the values of the process that saved it", "instead of"),
    ],
)
def test_a_model_gives_the_same_with_the_library_and_an_error_without(
    loaded, bare, expected, seen
):
    class Child:
        def __init__(self, without):
            self.answers = {
                calls.save_model: [normal(2)],
                Subject.describe: SimpleNamespace(op_types=["ZeroOut"]),
                Subject.by_chance: False,
                calls.load_saved_model: bare if without else loaded,
            }

        def ask(self, request, **unused):
            return self.answers[request]

    def make(bare=False):
        return contextlib.nullcontext(Child(bare))

    found = opcheck.Findings("saved_model", "")
    fresh.saved_model(make, SimpleNamespace(inputs=[], options={}), found)
    assert found.result().expected == expected
    assert seen in found.result().seen
