"""Tests of the steps on the way to SlidingMax."""

import numpy as np
import pytest
import sliding_max_steps as steps
import tensorflow as tf

import opcheck

X = np.float32([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
Y = np.float32([4, 4, 5, 9, 9, 9, 6, 6, 5])
POSITION = [2, 2, 4, 5, 5, 5, 7, 7, 8]
FROM_6 = steps.step_6, steps.step_7, steps.step_8


def test_step_1_has_one_type_and_one_window():
    np.testing.assert_array_equal(steps.step_1(X), Y)
    with pytest.raises(tf.errors.InvalidArgumentError, match="double"):
        steps.step_1(tf.constant(X, tf.float64))


@pytest.mark.parametrize("step", [steps.step_2, steps.step_3, steps.step_4])
def test_steps_with_one_output(step):
    np.testing.assert_array_equal(step(X, window=3), Y)
    np.testing.assert_array_equal(step(X, window=1), X)


@pytest.mark.parametrize("step", [steps.step_3, steps.step_4, steps.step_5])
def test_steps_with_any_type(step):
    for dtype in ["float16", "float64", "int32", "uint8"]:
        result = step(X.astype(dtype), window=3)
        y = result[0] if isinstance(result, tuple) else result
        np.testing.assert_array_equal(y, Y.astype(dtype), strict=True)


@pytest.mark.parametrize(
    "step", [steps.step_5, *FROM_6, steps.composition, steps.naive]
)
def test_steps_with_positions(step):
    y, position = step(X, window=3)
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(position, POSITION)


@pytest.mark.parametrize("window", range(1, 13))
def test_doubled_windows_have_the_first_of_equal_maxima(window):
    x = tf.random.stateless_uniform([3, 12], [1, 2], 0, 4, tf.int32)
    for one, other in zip(steps.doubled(x, window), steps.composition(x, window)):
        np.testing.assert_array_equal(one, other)


def test_step_3_has_no_shape_in_a_graph_and_step_4_has():
    spec = tf.TensorSpec([None, 7])

    def traced(step):
        function = tf.function(lambda x: step(x, window=3))
        return function.get_concrete_function(spec).output_shapes

    assert traced(steps.step_3).rank is None
    assert traced(steps.step_4).as_list() == [None, 5]


def test_step_4_refuses_rows_that_are_too_short():
    for x in [1.0, [1.0, 2.0]]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least window=3"):
            steps.step_4(x, window=3)


@pytest.mark.parametrize("step", [steps.step_4, steps.step_5, *FROM_6])
def test_rows_that_are_known_to_be_too_short_are_refused_in_a_graph(step):
    function = tf.function(lambda x: step(x, window=4))
    with pytest.raises(ValueError, match="x has rows shorter than window=4"):
        function.get_concrete_function(tf.TensorSpec([2]))


def test_step_6_keeps_subnormal_numbers_and_step_5_takes_them_for_zero():
    x = np.float32([1e-40, 2e-40, 5e-41])
    positions = [step(x, 3)[1] for step in (steps.step_5, *FROM_6)]
    assert positions == [0, 1, 1, 1]


@pytest.mark.parametrize("step", FROM_6)
@pytest.mark.parametrize("shape", [(2, 3, 50), (1, 100_003)])
def test_blocks_of_any_size(step, shape):
    x = np.random.default_rng(0).integers(0, 9, shape)
    for window in (1, 2, 7, 49, 50):
        for ours, expected in zip(
            step(x, window), steps.sliding_max_reference(x, window)
        ):
            np.testing.assert_array_equal(ours, expected)


def test_the_gradient_of_step_8_counts_beyond_int32():
    function = tf.function(lambda x: tf.gradients(steps.step_8(x, window=3)[0], x)[0])
    traced = function.get_concrete_function(tf.TensorSpec([2**31], tf.float16))
    assert traced.output_shapes == [2**31]


@pytest.mark.parametrize("dtype, total", [("float16", 3000), ("bfloat16", 3008)])
def test_the_gradient_of_step_8_rounds_16_bits_once(dtype, total):
    x = tf.cast(tf.one_hot(2999, 5999), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, _ = steps.step_8(x, window=3000)
    assert tape.gradient(y, x)[2999].numpy() == total


@pytest.mark.parametrize("step, fine", [(steps.step_5, False), (steps.step_6, True)])
def test_opcheck_finds_what_is_not_a_number(step, fine):
    report = opcheck.check(
        step, X, window=3, reference=steps.sliding_max_reference, checks=["reference"]
    )
    assert report.ok == fine
    assert "nan" in str(report) or fine
