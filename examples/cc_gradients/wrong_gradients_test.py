"""Mistakes in C++ gradients: `pytest examples/cc_gradients`."""

from pathlib import Path

import forked
import pytest
import tensorflow as tf
from cc_gradients import (
    round_to_step,
)
from cc_gradients_test import imported_gradient, saved
from gradient_registries import described_gradient
from op_library import load_op_library

HERE = Path(__file__).parent


def test_an_imported_graph_does_not_ask_python():
    @tf.RegisterGradient("GradientForgotten")
    def gradient(op, dy):
        return dy

    library = load_op_library(HERE / "libwrong_gradients.so", "gradient_forgotten")
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant([2.0]))
        y = library.gradient_forgotten(x)
    assert tape.gradient(y, x) == 1.0
    with pytest.raises(tf.errors.NotFoundError, match="for op: GradientForgotten"):
        imported_gradient(saved(library.gradient_forgotten), [2.0])


@pytest.mark.parametrize(
    "op, message",
    [
        ("mistyped_create", "input dyy is not found: {{node product}}"),
        ("gradient_forgotten", "No gradient defined for op: GradientForgotten"),
        ("round_to_step", "RoundToStep is registered as without a gradient"),
    ],
)
def test_gradient_function_says_what_is_wrong(op, message):
    wrong = load_op_library(HERE / "libwrong_gradients.so", "gradient_forgotten")
    function = getattr(wrong, op, round_to_step)
    with pytest.raises(tf.errors.OpError, match=message):
        described_gradient(function, [1.0])


def run_wrong(op, *environment):
    """Asks for the gradient of an op of wrong_gradients.cc, in a process of its own."""
    program = """if True:
        import sys, tensorflow as tf
        from cc_gradients import cpp_gradient
        wrong = tf.load_op_library(sys.argv[1])
        x = tf.constant([3.0])
        for _ in range(2):
            try:
                cpp_gradient(getattr(wrong, sys.argv[2]), [x], [x])
            except tf.errors.NotFoundError as error:
                print("NotFoundError", error.message)
    """
    return forked.run(program, HERE / "libwrong_gradients.so", op)


def test_a_typo_in_define_ends_the_process():
    run = run_wrong("mistyped_define")
    assert run.returncode < 0
    assert "NotFoundError" not in run.stdout
    assert "Node input 'dyy' in 'dx' of _" in run.stderr


@pytest.mark.parametrize(
    "op, reason",
    [
        ("mistyped_create", "input dyy is not found: {{node product}}"),
        ("gradient_forgotten", "No gradient defined for op: GradientForgotten"),
    ],
)
def test_other_mistakes_are_an_error_whose_reason_is_in_the_log(op, reason):
    run = run_wrong(op)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("NotFoundError") == 2
    assert "SymbolicGradient" in run.stdout and reason not in run.stdout
    assert run.stderr.count(reason) == 1
