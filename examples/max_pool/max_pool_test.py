"""Tests of MaxPool: `pytest examples/max_pool`."""

import hashlib
import os
import platform
import subprocess
import sys
from itertools import product
from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
from max_pool import (
    avg_pool,
    avg_pool_grad,
    max_pool,
    max_pool_grad,
    max_pool_grad_grad,
    max_pool_patches,
    max_pool_plain,
    max_pool_with_argmax,
)
from max_pool_fuzz import max_pool_nan, max_pool_simple
from max_pool_reference import (
    avg_pool_grad_reference,
    avg_pool_reference,
    max_pool_grad_grad_reference,
    max_pool_grad_reference,
    max_pool_nan_reference,
    max_pool_reference,
    max_pool_with_argmax_reference,
)
from max_pool_slices import max_pool_slices, max_pool_with_argmax_slices

from opcheck.testing import op_test

HERE = Path(__file__).parent
DTYPES = [tf.half, tf.bfloat16, tf.float32, tf.float64]
SIZES = dict(ksize=3, strides=2, padding="SAME")


def distinct(*shape, seed=0):
    """Numbers of which no two are close."""
    order = np.random.default_rng(seed).permutation(np.prod(shape))
    return (order / 4 - 7).reshape(shape)


SAMPLE, POOLED = distinct(2, 5, 6, 3), distinct(2, 3, 3, 3, seed=1)
test_max_pool_keeps_its_promises = op_test(
    max_pool, SAMPLE, reference=max_pool_reference, **SIZES
)
test_max_pool_with_argmax_keeps_its_promises = op_test(
    max_pool_with_argmax, SAMPLE, reference=max_pool_with_argmax_reference, **SIZES
)
test_max_pool_grad_keeps_its_promises = op_test(
    max_pool_grad,
    SAMPLE,
    max_pool_reference(SAMPLE, **SIZES),
    POOLED,
    reference=max_pool_grad_reference,
    **SIZES,
)
test_max_pool_grad_grad_keeps_its_promises = op_test(
    max_pool_grad_grad,
    SAMPLE,
    max_pool_reference(SAMPLE, **SIZES),
    distinct(2, 5, 6, 3, seed=2),
    reference=max_pool_grad_grad_reference,
    **SIZES,
)
test_avg_pool_keeps_its_promises = op_test(
    avg_pool, SAMPLE, reference=avg_pool_reference, **SIZES
)
test_avg_pool_grad_keeps_its_promises = op_test(
    avg_pool_grad,
    np.int32(SAMPLE.shape),
    POOLED,
    reference=avg_pool_grad_reference,
    **SIZES,
)


def awkward(shape, dtype):
    """Few different numbers, with NaN, infinities and zeros of both signs among them."""
    some = [1, 2, 3, 0.0, -0.0, -1, np.nan, np.inf, -np.inf, -np.inf]
    random = np.random.default_rng(0)
    return tf.cast(random.choice(some, shape), dtype)


def bits(*tensors):
    return [(x.dtype, x.shape, x.numpy().tobytes()) for x in tf.nest.flatten(tensors)]


POOLINGS = [
    ([2, 5, 7, 3], 3, 2, "SAME"),
    ([2, 5, 7, 3], 2, 2, "VALID"),
    ([1, 4, 4, 35], 3, 1, "SAME"),
    ([1, 6, 5, 35], [2, 4], [3, 1], "VALID"),
    ([3, 1, 9, 8], 5, 3, "SAME"),
    ([1, 3, 4, 255], 2, 1, "SAME"),
    ([1, 3, 4, 300], 2, 1, "SAME"),
    ([2, 5, 5, 40], 1, 3, "VALID"),
    ([0, 3, 3, 2], 2, 1, "SAME"),
    ([2, 3, 3, 2], 7, 9, "SAME"),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, ksize, strides, padding", POOLINGS)
def test_the_bits_are_those_of_tensorflow(mode, dtype, shape, ksize, strides, padding):
    x, sizes = awkward(shape, dtype), (ksize, strides, padding)
    y = mode(max_pool)(x, *sizes)
    assert bits(y) == bits(tf.nn.max_pool2d(x, *sizes))
    if not len(x):  # which TensorFlow's other ops refuse
        return
    for batch in False, True:
        ours = mode(max_pool_with_argmax)(x, *sizes, batch)
        assert bits(ours) == bits(
            tf.nn.max_pool_with_argmax(x, *sizes, include_batch_in_index=batch)
        )


what_slices_take = pytest.mark.parametrize(
    "shape, ksize, strides, padding",
    [each for each in POOLINGS if each[0][0] and isinstance(each[1], int)],
)


@what_slices_take
def test_slices_give_the_same_of_finite_numbers(shape, ksize, strides, padding):
    x = awkward(shape, tf.float32)
    x = tf.where(tf.math.is_finite(x), x, 1.0)
    ours = max_pool_with_argmax(x, ksize, strides, padding)
    assert bits(max_pool_with_argmax_slices(x, ksize, strides, padding)) == bits(ours)


@what_slices_take
def test_slices_have_the_gradient_of_finite_numbers(shape, ksize, strides, padding):
    x = awkward(shape, tf.float32)
    x = tf.where(tf.math.is_finite(x), x, 1.0)

    def step(pool):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = pool(x, ksize, strides, padding)
        given = tf.reshape(tf.range(tf.size(y, tf.float32)), y.shape)
        return y, tape.gradient(y, x, given)

    slices = tf.function(lambda: step(max_pool_slices), jit_compile=True)()
    for one, other in zip(slices, step(max_pool)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, ksize, strides, padding", POOLINGS)
def test_gradients_have_the_bits_of_tensorflow_s(
    mode, dtype, shape, ksize, strides, padding
):
    x, sizes = awkward(shape, dtype), (ksize, strides, padding)
    y = max_pool(x, *sizes)
    whole = {"padding": padding}
    for name, size in ("ksize", ksize), ("strides", strides):
        whole[name] = [1, *np.broadcast_to(size, 2).tolist(), 1]
    random = np.random.default_rng(1)
    for ours, stock, given in (
        (max_pool_grad, tf.raw_ops.MaxPoolGrad, y),
        (max_pool_grad_grad, tf.raw_ops.MaxPoolGradGrad, x),
    ):
        grad = tf.cast(random.normal(size=given.shape), dtype)
        expected = stock(orig_input=x, orig_output=y, grad=grad, **whole)
        assert bits(mode(ours)(x, y, grad, *sizes)) == bits(expected)


_ROW = dict(ksize=[1, 1, 3, 1], strides=[1] * 4, padding="VALID")
GRADIENTS = {
    "ours": [
        lambda *tensors: max_pool_grad(*tensors, [1, 3], 1, "VALID"),
        lambda *tensors: max_pool_grad_grad(*tensors, [1, 3], 1, "VALID"),
    ],
    "stock": [
        lambda x, y, dy: tf.raw_ops.MaxPoolGrad(
            orig_input=x, orig_output=y, grad=dy, **_ROW
        ),
        lambda x, y, v: tf.raw_ops.MaxPoolGradGrad(
            orig_input=x, orig_output=y, grad=v, **_ROW
        ),
    ],
}


@pytest.mark.parametrize("whose", GRADIENTS)
@pytest.mark.parametrize(
    "window, gets, takes",
    [
        ([1.0, 3.0, 3.0], 1, [1]),
        ([1.0, np.nan, 2.0], 2, [2]),
        ([np.nan, 1.0, 2.0], 0, [2]),
        ([-np.inf] * 3, 0, []),
        ([-np.inf, np.nan, -np.inf], 0, []),
        ([np.nan] * 3, 0, []),
    ],
)
def test_where_the_two_gradients_are_not_adjoint(whose, window, gets, takes):
    """<backward(dy), v> is <dy, forward(v)> unless a window begins with NaN or has no number above -infinity."""
    backward, forward = GRADIENTS[whose]
    x, v = np.float32(window).reshape(1, 1, 3, 1), np.float32([[[[5], [7], [9]]]])
    y = tf.nn.max_pool2d(x, [1, 3], 1, "VALID")
    dx = np.ravel(backward(x, y, np.float32([[[[2]]]])))
    taken = np.ravel(forward(x, y, v))
    np.testing.assert_array_equal(dx, 2 * np.eye(3)[gets])
    np.testing.assert_array_equal(taken, [v.ravel()[takes].sum()])
    assert (dx @ v.ravel() == 2 * taken.item()) == ([gets] == takes)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("shape, ksize, strides, padding", POOLINGS)
def test_averages_are_those_of_tensorflow(mode, dtype, shape, ksize, strides, padding):
    """And so are their gradients, with fewer pixels in the windows at the border."""
    sizes = ksize, strides, padding
    x = tf.random.stateless_normal(shape, [1, 2], dtype=dtype)
    results = []
    for pool in (
        mode(lambda x: avg_pool(x, *sizes)),
        lambda x: tf.nn.avg_pool2d(x, *sizes),
    ):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = pool(x)
        results.append([y, tape.gradient(y, x, y**2)])
    for ours, stock in zip(*results):
        close = np.finfo(dtype.as_numpy_dtype).eps
        largest = np.abs(stock).max(initial=0)
        np.testing.assert_allclose(ours, stock, rtol=4 * close, atol=close * largest)


def test_an_average_is_differentiated_twice():
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(avg_pool(x, **SIZES) ** 2)
        return tape.gradient(loss, x)

    x = tf.constant(distinct(1, 5, 6, 2))
    analytical, numerical = tf.test.compute_gradient(slope, [x])
    np.testing.assert_allclose(analytical, numerical, atol=1e-10)


def test_a_plain_loop_gives_the_same_bits(mode):
    for shape, *sizes in POOLINGS:
        x = awkward(shape, tf.float32)
        assert bits(mode(max_pool_plain)(x, *sizes)) == bits(max_pool(x, *sizes))


def test_the_simple_op_gives_the_same_bits(mode):
    for shape, ksize, strides, padding in POOLINGS:
        if isinstance(ksize, int):
            x, sizes = awkward(shape, tf.float32), (ksize, strides, padding)
            assert bits(mode(max_pool_simple)(x, *sizes)) == bits(max_pool(x, *sizes))


@pytest.mark.parametrize(
    "shape, ksize, strides, padding, message",
    [
        ([3, 3, 2], 2, 1, "SAME", "input must have shape|rank 4 but is rank 3"),
        ([1, 3, 5, 2], 4, 2, "VALID", "input must have at least 4 rows|[Nn]egative"),
        ([1, 5, 3, 2], 4, 2, "VALID", "input must have at least 4 rows|[Nn]egative"),
        ([1, 3, 3, 2], 0, 1, "SAME", "ksize.* minimum 1"),
        ([1, 3, 3, 2], 2, 0, "SAME", "strides.* minimum 1"),
    ],
)
def test_the_simple_op_refuses_what_does_not_fit(
    mode, shape, ksize, strides, padding, message
):
    with pytest.raises(REFUSED, match=message):
        mode(lambda x: max_pool_simple(x, ksize, strides, padding))(tf.zeros(shape))


@pytest.mark.parametrize(
    "shape, sizes, pooled",
    [
        (None, (3, 2, "SAME"), [None] * 4),
        ([None, None, 7, 3], (3, 2, "SAME"), [None, None, 4, 3]),
        ([2, 7, 8, None], (3, 2, "VALID"), [2, 3, 3, None]),
    ],
)
def test_static_shapes_of_the_simple_op(shape, sizes, pooled):
    function = tf.function(lambda x: max_pool_simple(x, *sizes))
    traced = function.get_concrete_function(tf.TensorSpec(shape))
    assert traced.outputs[0].shape.as_list() == pooled


def test_patches_give_the_same_of_finite_numbers(mode):
    for shape, *sizes in POOLINGS:
        x = tf.cast(distinct(*shape), tf.float32)
        patches = mode(max_pool_patches)(x, *sizes)
        assert bits(patches) == bits(max_pool(x, *sizes))


@pytest.mark.parametrize(
    "op, reference, count",
    [
        (max_pool, max_pool_reference, 1),
        (max_pool_with_argmax, max_pool_with_argmax_reference, 1),
        (max_pool_grad, max_pool_grad_reference, 3),
        (max_pool_grad_grad, max_pool_grad_grad_reference, 3),
    ],
)
def test_a_window_may_be_much_larger_than_the_image(mode, op, reference, count):
    """Its numbers, counted for the cost, would overflow, which the sanitizer finds."""
    inputs = [SAMPLE, max_pool_reference(SAMPLE, 99, 1, "SAME"), SAMPLE][:count]
    expected = reference(*inputs, 99, 1, "SAME")
    results = mode(op)(*inputs, 2**31 - 1, 1, "SAME")
    for result, right in zip(tf.nest.flatten(results), tf.nest.flatten(expected)):
        np.testing.assert_array_equal(result, right)


def test_denormal_numbers_are_numbers():
    """TensorFlow's own op takes them for zeros."""
    x = tf.reshape(tf.constant([1e-40, 3e-40, 2e-40, 0.0]), [1, 2, 2, 1])
    assert max_pool(x, 2, 2, "VALID").numpy().item() == np.float32(3e-40)
    assert max_pool_with_argmax(x, 2, 2, "VALID").argmax.numpy().item() == 1


@pytest.mark.parametrize("size", [3, (16, 16), 17])
def test_places_that_the_forward_pass_noted_give_the_same_gradient(mode, size):
    """As those that MaxPoolGrad finds itself, and beyond 256 pixels it must."""

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = max_pool(x, size, 2, "SAME")
        return y, tape.gradient(y, x, y)

    for shape, dtype in product([[2, 5, 7, 3], [1, 20, 19, 83]], DTYPES):
        x = awkward(shape, dtype)
        y, dx = mode(slope)(x)
        assert bits(y) == bits(max_pool(x, size, 2, "SAME"))
        assert bits(dx) == bits(max_pool_grad(x, y, y, size, 2, "SAME"))


@pytest.mark.parametrize(
    "place, ksize, message",
    [((1, 2, 2, 1), 2, "place must have shape"), ((1, 3, 3, 2), 17, "must be empty")],
)
def test_places_that_do_not_fit_are_refused(place, ksize, message):
    import max_pool as module

    attrs = dict(ksize=[1, ksize, ksize, 1], strides=[1] * 4, padding="SAME")
    with pytest.raises(REFUSED, match=message):
        module._library.op_by_op_max_pool_grad(
            orig_input=IMAGE,
            orig_output=IMAGE,
            grad=IMAGE,
            place=np.zeros(place, np.uint8),
            **attrs,
        )


def digest():
    """Of the results of all ops, which `with_threads` asks for."""
    shape, sizes = [3, 50, 60, 41], (5, 2, "SAME")
    x = tf.random.stateless_uniform(shape, [1, 2], 0, 9, tf.int32)
    x = tf.cast(x, tf.float32)
    given = tf.random.stateless_normal([3, 25, 30, 41], [3, 4])
    y = max_pool(x, *sizes)
    results = [
        y,
        *max_pool_with_argmax(x, *sizes),
        max_pool_grad(x, y, given, *sizes),
        max_pool_grad_grad(x, y, x, *sizes),
    ]
    return hashlib.sha256(b"".join(x.numpy().tobytes() for x in results)).hexdigest()


def test_the_bits_do_not_depend_on_the_number_of_threads(with_threads):
    assert with_threads(1, digest) == with_threads(7, digest)


@pytest.mark.parametrize("op", [max_pool, lambda *x: max_pool_with_argmax(*x).output])
def test_gradients_are_those_that_differences_give(op):
    x = tf.constant(distinct(1, 5, 5, 2))
    analytical, numerical = tf.test.compute_gradient(lambda x: op(x, 3, 1, "SAME"), [x])
    np.testing.assert_allclose(analytical, numerical, atol=1e-6)


@pytest.mark.parametrize("op", [max_pool, lambda *x: max_pool_with_argmax(*x).output])
def test_further_derivatives(mode, op):
    """By Euler's theorem: the loss is homogeneous of degree 4."""

    def derivatives(x):
        with tf.GradientTape() as third:
            third.watch(x)
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    loss = tf.reduce_sum(op(x, 3, 2, "SAME") ** 4)
                dx = first.gradient(loss, x)
                along = tf.reduce_sum(dx * x)
            ddx = second.gradient(along, x)
            again = tf.reduce_sum(ddx * x)
        return dx, ddx, third.gradient(again, x)

    dx, ddx, dddx = mode(derivatives)(tf.constant(distinct(2, 5, 6, 3)))
    np.testing.assert_allclose(ddx, 4 * dx, rtol=1e-12)
    np.testing.assert_allclose(dddx, 16 * dx, rtol=1e-12)


def test_the_gradient_in_cpp_is_the_same(cpp_gradient):
    for dtype in DTYPES:
        x, given = tf.cast(SAMPLE, dtype), tf.cast(POOLED, dtype)
        (dx,) = cpp_gradient(lambda x: max_pool(x, **SIZES), [x], [given])
        y = max_pool(x, **SIZES)
        assert bits(dx) == bits(max_pool_grad(x, y, given, **SIZES))


@pytest.mark.parametrize(
    "shape, sizes, pooled",
    [
        (None, (3, 2, "SAME"), [None] * 4),
        ([None, None, 7, 3], (3, 2, "SAME"), [None, None, 4, 3]),
        ([2, None, None, None], (3, 1, "SAME"), [2, None, None, None]),
        ([2, 7, 8, None], (3, 2, "VALID"), [2, 3, 3, None]),
    ],
)
def test_static_shapes(shape, sizes, pooled):
    function = tf.function(lambda x: max_pool_with_argmax(x, *sizes))
    traced = function.get_concrete_function(tf.TensorSpec(shape))
    assert [output.shape.as_list() for output in traced.outputs] == [pooled] * 2


@pytest.mark.parametrize("pooled", [[2, 4, 4, 3], [2, None, 4, None], None])
def test_static_shapes_of_a_second_derivative(pooled):
    """That of orig_output, where the image is unknown."""
    function = tf.function(lambda *x: max_pool_grad_grad(*x, 3, 2, "SAME"))
    unknown = tf.TensorSpec([None] * 4)
    traced = function.get_concrete_function(unknown, tf.TensorSpec(pooled), unknown)
    assert traced.outputs[0].shape.as_list() == (pooled or [None] * 4)


REFUSED = ValueError, tf.errors.InvalidArgumentError, tf.errors.UnimplementedError
IMAGE = np.ones([1, 3, 3, 2], np.float32)


@pytest.mark.parametrize(
    "image, ksize, strides, padding, message",
    [
        (IMAGE[0], 2, 1, "SAME", "input must have shape|rank 4 but is rank 3"),
        (IMAGE, 0, 1, "SAME", r"ksize must be 4 positive numbers, got \[1, 0, 0, 1\]"),
        (IMAGE, 2, -1, "SAME", "strides must be 4 positive numbers"),
        (IMAGE, 2**31, 1, "SAME", "out of range for an int32"),
        (IMAGE, [4, 2], 1, "VALID", "at least 4 rows, as many as the window"),
        (IMAGE, [2, 4], 1, "VALID", "at least 4 columns"),
        (IMAGE, 2, 1, "EXPLICIT", "not in the list of allowed values|not in"),
        (np.ones([1, 2**16, 2**15, 0]), 2, 1, "SAME", "at most 2147483647 pixels"),
    ],
)
@pytest.mark.parametrize("op", [max_pool, max_pool_with_argmax])
def test_what_does_not_fit_is_refused(
    mode, op, image, ksize, strides, padding, message
):
    with pytest.raises(REFUSED, match=message):
        mode(lambda x: op(x, ksize, strides, padding))(tf.constant(image))


@pytest.mark.parametrize("name", ["ksize", "strides"])
@pytest.mark.parametrize("sizes", [[2, 1, 1, 1], [1, 1, 1, 2], [1, 1, 1, 1, 1]])
def test_only_the_image_is_pooled(mode, name, sizes):
    import max_pool as module

    attrs = {"ksize": [1] * 4, "strides": [1] * 4, "padding": "VALID"} | {name: sizes}
    message = f"{name} must be (1 for the batch and the channels|4 positive numbers)"
    with pytest.raises(REFUSED, match=message):
        mode(lambda x: module._library.op_by_op_max_pool(input=x, **attrs))(IMAGE)


@pytest.mark.parametrize("op", [max_pool_grad, max_pool_grad_grad])
@pytest.mark.parametrize(
    "wrong, message",
    [
        (0, "input must have shape|must be rank 4|equal rank"),
        (1, "orig_output must have shape|must be equal"),
        (2, "grad must have shape|must be equal"),
    ],
)
def test_gradients_that_do_not_fit_are_refused(mode, op, wrong, message):
    shapes = [[1, 3, 3, 2], [1, 2, 2, 2], [1, 2, 2, 2]]
    if op == max_pool_grad_grad:
        shapes[2] = shapes[0]
    shapes[wrong] = shapes[wrong][1:] if wrong == 0 else [1, 2, 3, 2]
    inputs = [tf.zeros(shape) for shape in shapes]
    with pytest.raises(REFUSED, match=message):
        mode(lambda *x: op(*x, 2, 1, "VALID"))(*inputs)


@pytest.mark.parametrize("op", [max_pool_grad, max_pool_grad_grad])
def test_gradients_name_the_image_that_is_too_small(mode, op):
    x = tf.zeros([1, 3, 3, 2])
    message = "orig_input must have at least 4 rows, as many as the window"
    with pytest.raises(REFUSED, match=message):
        mode(lambda *x: op(*x, 4, 1, "VALID"))(x, x, x)


def _library():
    import max_pool as module

    return module._library


UNFIT = dict(ksize=[1, 2, 2, 2], strides=[1, 0, 2, 1], padding="VALID")
HALVES = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")


@pytest.mark.parametrize(
    "op, shape, message",
    [
        (lambda x: avg_pool_grad([1, 4, 4, 1], x, 2, 2, "VALID"), [3], "equal rank"),
        (
            lambda x: avg_pool_grad([1, 4, 4, 1], x, 2, 2, "VALID"),
            [1, 3, 2, 1],
            "must be equal",
        ),
        (
            lambda x: _library().op_by_op_avg_pool_grad(
                orig_input_shape=[1, 4, 4, 1], grad=x, **UNFIT
            ),
            [1, 2, 2, 1],
            "ksize must be 1 for the batch|strides must be 4 positive",
        ),
        (
            lambda x: _library().op_by_op_max_pool_grad(
                orig_input=tf.ones([1, 4, 4, 1]),
                orig_output=tf.ones([1, 2, 2, 1]),
                grad=tf.ones([1, 2, 2, 1]),
                place=tf.cast(x, tf.uint8),
                **HALVES,
            ),
            [7],
            "equal rank",
        ),
        (lambda x: max_pool_nan(x, 2, 0, "VALID"), [1, 4, 4, 3], "strides must be 4"),
    ],
)
def test_known_shapes_that_do_not_fit_are_refused_in_a_graph(op, shape, message):
    with pytest.raises(REFUSED, match=message):
        tf.function(op).get_concrete_function(tf.TensorSpec(shape))


@pytest.mark.parametrize("place", [[0], [None], None, [1, 2, None, 1]])
def test_places_that_may_fit_are_traced(place):
    one = tf.ones([1, 2, 2, 1])
    function = tf.function(
        lambda place: _library().op_by_op_max_pool_grad(
            orig_input=tf.ones([1, 4, 4, 1]),
            orig_output=one,
            grad=one,
            place=place,
            **HALVES,
        )
    )
    traced = function.get_concrete_function(tf.TensorSpec(place, tf.uint8))
    assert traced.output_shapes == [1, 4, 4, 1]


def test_numbers_of_numpy_are_sizes(mode):
    x, two = tf.constant(SAMPLE), np.int64(2)
    found = mode(lambda x: max_pool(x, two, two, "VALID"))(x)
    np.testing.assert_array_equal(found, max_pool(x, 2, 2, "VALID"))


def test_the_solution_of_the_exercise(mode):
    x = awkward([2, 6, 7, 35], tf.float32)
    for sizes in (2, 2, "VALID"), (3, 1, "SAME"):
        y = mode(max_pool_nan)(x, *sizes)
        expected = max_pool_nan_reference(x.numpy(), *sizes)
        np.testing.assert_array_equal(y, expected)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="of oneDNN on x86-64")
def test_onednn_starts_from_minus_infinity_in_bfloat16():
    program = """
import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
context.enable_run_metadata()
image = tf.cast(np.full([1, 1, 3, 1], -np.inf), tf.bfloat16)
pooled = tf.function(lambda x: tf.nn.max_pool2d(x, [1, 3], 1, "VALID"))(image)
graphs = context.export_run_metadata().partition_graphs
[op] = [node.op for graph in graphs for node in graph.node if "MaxPool" in node.op]
print("Mkl" in op, tf.math.is_inf(pooled).numpy().item())
"""
    command = [sys.executable, "-c", program]
    settings = os.environ | {"TF_ENABLE_ONEDNN_OPTS": "1"}
    run = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert run.stdout in ("True True\n", "False False\n"), run.stderr


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="of oneDNN on x86-64")
def test_onednn_ends_the_process_where_the_window_does_not_fit():
    program = """
import tensorflow as tf
image = tf.zeros([1, 4, 4, 1])
print("begun", flush=True)
print(tf.nn.max_pool2d(image, 5, 1, "VALID"))
"""
    command = [sys.executable, "-c", program]
    settings = os.environ | {"TF_ENABLE_ONEDNN_OPTS": "1"}
    run = subprocess.run(command, env=settings, capture_output=True, text=True)
    if int(tf.__version__.split(".")[1]) < 22:
        assert run.returncode < 0 and run.stdout == "begun\n", run.stderr
    else:
        assert "value 5) is larger than the input" in run.stderr


def test_pixels_without_channels_take_no_time():
    """Of 64 thousand million windows; one after the other, they would take minutes."""
    code = """
import tensorflow as tf
from max_pool import max_pool
print(max_pool(tf.zeros([2**18, 2**18, 1, 0]), 1, 1, "VALID").shape)
"""
    assert forked.run(code, timeout=60).stdout == "(262144, 262144, 1, 0)\n"
