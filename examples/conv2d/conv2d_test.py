"""Tests of OpByOp>Conv2D and its gradients: `pytest examples/conv2d`."""

import functools
import os
import platform
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
import tensorflow as tf
from conv2d import conv2d, conv2d_backprop_filter, conv2d_backprop_input
from conv2d_im2col import eigen_conv2d, eigen_patches, naive_conv2d
from conv2d_loops import (
    loop_conv2d,
    loop_conv2d_backprop_filter,
    loop_conv2d_backprop_input,
)
from conv2d_reference import (
    conv2d_backprop_filter_reference,
    conv2d_backprop_input_reference,
    conv2d_reference,
    image_patches,
    output_size,
)
from solution_blur import blur
from solution_conv2d_transpose import conv2d_transpose
from tensorflow.python.framework import kernels

from opcheck.testing import op_test


def values(*shape, dtype=np.float64):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


SAMPLE = {"strides": 2, "padding": "SAME", "dilations": [1, 2]}
test_conv2d_keeps_its_promises = op_test(
    conv2d,
    values(2, 5, 6, 2),
    values(2, 3, 2, 3),
    **SAMPLE,
    reference=conv2d_reference,
)
test_conv2d_backprop_input_keeps_its_promises = op_test(
    conv2d_backprop_input,
    np.int32([2, 5, 6, 2]),
    values(2, 3, 2, 3),
    values(2, 3, 3, 3),
    **SAMPLE,
    reference=conv2d_backprop_input_reference,
)
test_conv2d_backprop_filter_keeps_its_promises = op_test(
    conv2d_backprop_filter,
    values(2, 5, 6, 2),
    np.int32([2, 3, 2, 3]),
    values(2, 3, 3, 3),
    **SAMPLE,
    reference=conv2d_backprop_filter_reference,
)


def patches_reference(x, rows, columns, stride=1, padding="VALID"):
    layout = {"strides": stride, "padding": padding}
    patches = image_patches(x, (rows, columns), **layout)
    return patches.reshape(len(x), -1, rows, columns, x.shape[-1])


FLOATS = values(2, 5, 6, 2, dtype=np.float32), values(2, 3, 2, 3, dtype=np.float32)
test_naive_conv2d_keeps_its_promises = pytest.mark.slow(
    op_test(naive_conv2d, *FLOATS, reference=conv2d_reference)
)
test_eigen_conv2d_keeps_its_promises = pytest.mark.slow(
    op_test(
        eigen_conv2d,
        *FLOATS,
        stride=2,
        padding="SAME",
        reference=lambda x, filter, stride, padding: conv2d_reference(
            x, filter, strides=stride, padding=padding
        ),
    )
)
test_eigen_patches_keeps_its_promises = op_test(
    eigen_patches, FLOATS[0], rows=2, columns=3, reference=patches_reference
)


def with_pairs(reference):
    """A reference, for ops whose attrs are single numbers."""
    return lambda *inputs, stride, dilation: reference(
        *inputs, strides=stride, dilations=dilation
    )


LOOP = {"stride": 2, "dilation": 3}
test_loop_conv2d_keeps_its_promises = pytest.mark.slow(
    op_test(
        loop_conv2d,
        values(2, 6, 8, 2),
        values(2, 3, 2, 3),
        **LOOP,
        reference=with_pairs(conv2d_reference),
    )
)
test_loop_conv2d_backprop_input_keeps_its_promises = op_test(
    loop_conv2d_backprop_input,
    np.int32([2, 6, 8, 2]),
    values(2, 3, 2, 3),
    values(2, 2, 1, 3),
    **LOOP,
    reference=with_pairs(conv2d_backprop_input_reference),
)
test_loop_conv2d_backprop_filter_keeps_its_promises = op_test(
    loop_conv2d_backprop_filter,
    values(2, 6, 8, 2),
    np.int32([2, 3, 2, 3]),
    values(2, 2, 1, 3),
    **LOOP,
    reference=with_pairs(conv2d_backprop_filter_reference),
)

# strides, padding, dilations
LAYOUTS = [
    (1, "SAME", 1),
    (1, "VALID", 1),
    (2, "SAME", 1),
    (3, "VALID", 1),
    (1, "SAME", 2),
    ([1, 2], "VALID", [2, 1]),
    (2, "SAME", 2),
    (1, [[0, 3], [4, 1]], 1),
    (2, [[5, 0], [1, 6]], 2),
]
ONE_BY_ONE = [(1, "VALID"), (2, "VALID"), (1, [[0, 1], [0, 0]]), (1, [[1, 1], [2, 2]])]
layouts = pytest.mark.parametrize("layout", LAYOUTS, ids=str)


def stock(x, filter, strides, padding, dilations):
    """TensorFlow's own op, which wants zeros for batch and channels."""
    if not isinstance(padding, str):
        padding = [[0, 0], *padding, [0, 0]]
    return tf.nn.conv2d(x, filter, strides, padding, dilations=dilations)


@layouts
def test_as_tensorflow_s_op(layout):
    x, filter = values(2, 7, 8, 3), values(3, 2, 3, 4)
    expected = stock(x, filter, *layout)
    np.testing.assert_allclose(
        conv2d(x, filter, *layout), expected, rtol=1e-12, atol=1e-12
    )


def test_simple_ones_as_tensorflow_s_op():
    x, filter = (
        values(*shape, dtype=np.float32) for shape in ([2, 7, 8, 3], [3, 2, 3, 4])
    )
    for op, layout in [
        (naive_conv2d, ()),
        (eigen_conv2d, ()),
        (eigen_conv2d, (2, "SAME")),
        (eigen_conv2d, (3, "VALID")),
    ]:
        stride, padding = layout or (1, "VALID")
        expected = tf.nn.conv2d(x, filter, stride, padding)
        np.testing.assert_allclose(
            op(x, filter, *layout), expected, rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("op", [naive_conv2d, eigen_conv2d])
def test_simple_ones_refuse_what_does_not_fit(op, mode):
    for x, filter in [((1, 4, 4, 2), (3, 3, 3, 1)), ((1, 2, 4, 1), (3, 3, 1, 1))]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="not larger than x"):
            mode(op)(tf.ones(x), tf.ones(filter))


@pytest.mark.parametrize("op", [naive_conv2d, eigen_conv2d])
def test_simple_ones_give_zeros_where_there_is_nothing_to_add(op, mode):
    for x, filter in [((2, 4, 4, 0), (3, 3, 0, 2)), ((0, 4, 4, 3), (1, 1, 3, 2))]:
        y = mode(op)(tf.zeros(x), tf.zeros(filter))
        side = 5 - filter[0]
        np.testing.assert_array_equal(y, np.zeros([x[0], side, side, 2]))


def test_simple_ones_refuse_more_than_a_tensor_holds():
    large, wide = tf.zeros([2**31, 2**31, 1, 0]), tf.zeros([1, 1, 0, 2**40])
    for call in [
        lambda: naive_conv2d(large, wide),
        lambda: eigen_conv2d(large, wide),
        lambda: eigen_patches(tf.zeros([2**31 - 1, 2**31, 1, 0]), 2**30, 1),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="overflow"):
            call()
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM"):
        naive_conv2d(tf.zeros([1, 2**24, 1, 1]), tf.zeros([2**23, 1, 1, 1]))


@pytest.mark.parametrize("op", [loop_conv2d, conv2d])
@pytest.mark.parametrize("stride, dilation", [(1, 1), (2, 1), (1, 2), (2, 3)])
def test_gradients(op, stride, dilation):
    x, filter = values(2, 7, 8, 2), values(3, 2, 2, 4)

    def call(x, filter):
        dilated = {"dilation" if op is loop_conv2d else "dilations": dilation}
        return op(x, filter, stride, **dilated)

    found, expected = tf.test.compute_gradient(call, [x, filter])
    for each, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(each, wanted, rtol=1e-10, atol=1e-10)


@layouts
def test_gradients_are_those_that_differences_give(mode, layout):
    x, filter = values(1, 5, 6, 2), values(2, 3, 2, 2)
    pairs = tf.test.compute_gradient(
        mode(lambda x, filter: conv2d(x, filter, *layout)), [x, filter]
    )
    np.testing.assert_allclose(*map(np.hstack, pairs), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("layout", [a for a in LAYOUTS if a[2] == 1], ids=str)
def test_gradients_are_tensorflow_s(cpp_gradient, layout):
    """Without dilations, of which TensorFlow has no gradient in float64; the C++ ones are of the same ops."""
    x, filter = map(tf.constant, (values(2, 7, 8, 3), values(3, 2, 3, 4)))
    with tf.GradientTape() as tape:
        tape.watch([x, filter])
        y = stock(x, filter, *layout)
    dy = values(*y.shape)
    expected = tape.gradient(y, [x, filter], dy)
    found = cpp_gradient(lambda *inputs: conv2d(*inputs, *layout), [x, filter], [dy])
    for gradient, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(gradient, wanted, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("layout", [(2, "SAME", 1), (1, "VALID", 2)], ids=str)
def test_second_gradients(mode, layout):
    """Of the square of a gradient, in which all three ops are."""
    x, filter = values(1, 5, 4, 1), values(3, 2, 1, 2)

    def squares(x, filter):
        with tf.GradientTape() as tape:
            tape.watch([x, filter])
            loss = tf.reduce_sum(conv2d(x, filter, *layout) ** 2)
        return [tf.reduce_sum(g**2) for g in tape.gradient(loss, [x, filter])]

    for i in 0, 1:
        function = mode(lambda x, filter, i=i: squares(x, filter)[i])
        pairs = tf.test.compute_gradient(function, [x, filter])
        np.testing.assert_allclose(*map(np.hstack, pairs), rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("shape", [(3, 40, 37, 2), (2, 5, 600, 2)], ids=str)
@pytest.mark.parametrize("layout", [*LAYOUTS, (1, "SAME", 9)], ids=str)
def test_many_parts(shape, layout):
    """Some thousand windows: more than a part of the work, and more than one sum has."""
    layout = dict(zip(["strides", "padding", "dilations"], layout))
    if shape[1] == 5 and layout["padding"] == "VALID":
        layout["dilations"] = 1
    x, filter = values(*shape), values(3, 2, 2, 3)
    y = conv2d_reference(x, filter, **layout)
    np.testing.assert_allclose(conv2d(x, filter, **layout), y, rtol=1e-12, atol=1e-12)
    dy = values(*y.shape)
    dx = conv2d_backprop_input(shape, filter, dy, **layout)
    expected = conv2d_backprop_input_reference(shape, filter, dy, **layout)
    np.testing.assert_allclose(dx, expected, rtol=1e-12, atol=1e-12)
    dfilter = conv2d_backprop_filter(x, filter.shape, dy, **layout)
    expected = conv2d_backprop_filter_reference(x, filter.shape, dy, **layout)
    np.testing.assert_allclose(dfilter, expected, rtol=1e-10, atol=1e-10)


def different_gradients():
    """How many different bits many calls give, in which bands of rows of one image meet at their edges."""
    shape, filter = (1, 64, 33, 2), values(5, 3, 2, 3)
    x, dy = values(*shape), values(1, 64, 33, 3)
    gradients = {
        conv2d_backprop_input(shape, filter, dy, 1, "SAME").numpy().tobytes()
        + conv2d_backprop_filter(x, filter.shape, dy, 1, "SAME").numpy().tobytes()
        for _ in range(200)
    }
    return len(gradients)


def test_gradients_by_many_threads_are_the_same_each_time(with_threads):
    assert with_threads(8, different_gradients) == "1"


def bits_of_gradients():
    """Of one cut into as many tiles as there are threads, and of one with many tiles anyway."""
    x, dy = values(2, 5, 6, 3), values(2, 5, 6, 70)
    few = conv2d_backprop_filter(x, [1, 1, 3, 70], dy).numpy()
    many = conv2d_backprop_filter(x, [3, 3, 3, 70], dy, padding="SAME").numpy()
    dx = conv2d_backprop_input(x.shape, values(3, 3, 3, 70), dy, padding="SAME")
    return few.tobytes().hex() + many.tobytes().hex() + dx.numpy().tobytes().hex()


def test_gradients_have_the_same_bits_on_any_number_of_threads(with_threads):
    assert len({with_threads(threads, bits_of_gradients) for threads in (1, 2, 8)}) == 1


def one_by_one_is_right():
    """A filter with fewer blocks of rows than there are threads, and with some panels of columns."""
    x, dy = values(2, 5, 6, 3), values(2, 5, 6, 70)
    found = conv2d_backprop_filter(x, [1, 1, 3, 70], dy).numpy()
    expected = conv2d_backprop_filter_reference(x, [1, 1, 3, 70], dy)
    return np.allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_filters_of_one_pixel_with_many_threads(with_threads):
    assert with_threads(8, one_by_one_is_right) == "True"


@pytest.mark.parametrize("strides, padding", ONE_BY_ONE)
def test_filters_of_one_pixel(strides, padding):
    layout = {"strides": strides, "padding": padding}
    x, filter = values(2, 7, 8, 3), values(1, 1, 3, 4)
    y = conv2d_reference(x, filter, **layout)
    np.testing.assert_allclose(conv2d(x, filter, **layout), y, rtol=1e-12, atol=1e-12)
    dfilter = conv2d_backprop_filter(x, filter.shape, y, **layout)
    expected = conv2d_backprop_filter_reference(x, filter.shape, y, **layout)
    np.testing.assert_allclose(dfilter, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", [tf.half, tf.bfloat16])
def test_sixteen_bits_are_added_as_floats(dtype):
    """In float16, 2048 + 1 is 2048; in bfloat16, 256 + 1 is 256."""
    image, pixel = (tf.ones([1, n, n, 1], dtype) for n in (64, 1))
    assert conv2d(image, tf.ones([64, 64, 1, 1], dtype)).numpy() == 4096
    dfilter = conv2d_backprop_filter(image, [1, 1, 1, 1], image)
    assert dfilter.dtype == dtype and dfilter.numpy() == 4096
    many = tf.ones([1, 1, 1, 4096], dtype)
    assert conv2d_backprop_input(pixel.shape, many, many).numpy() == 4096


MANY = 2**15


@pytest.mark.parametrize(
    "shape, dilation", [((MANY, 1), 1), ((1, MANY), 1), ((1, MANY), 2)], ids=str
)
def test_long_sums_keep_their_digits(shape, dilation):
    """2^24 + 1 is 2^24 in float32, and so is the sum if all ones are added one after the other."""
    numbers = np.ones([MANY], np.float32)
    numbers[0] = 2**24
    rows, columns = shape
    large, ones = numbers.reshape(1, *shape, 1), tf.ones([*shape, 1, 1])
    spread = np.zeros([1, rows, dilation * columns, 1], np.float32)
    spread[:, :, ::dilation] = large
    pixel, many = [1, 1, 1, MANY], numbers.reshape(1, 1, 1, MANY)
    for total in (
        conv2d(spread, ones, dilations=[1, dilation])[0, 0, 0, 0],
        conv2d_backprop_filter(large, [1, 1, 1, 1], tf.ones([1, *shape, 1])),
        conv2d_backprop_input([1, 1, 1, 1], tf.ones(pixel), many),
    ):
        assert abs(total.numpy().item() - numbers.sum(dtype=float)) <= 1024


def with_layout(op, layout, *inputs):
    return op(*inputs, *layout)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_gradients_of_the_gradients_in_cpp(cpp_gradient, layout):
    x, filter = map(tf.constant, (values(1, 7, 8, 1), values(3, 2, 1, 2)))
    dy = tf.constant(values(*conv2d(x, filter, *layout).shape))
    x_sizes, filter_sizes = tf.shape(x), tf.shape(filter)
    for op, inputs, up in [
        (conv2d_backprop_input, [x_sizes, filter, dy], x),
        (conv2d_backprop_filter, [x, filter_sizes, dy], filter),
    ]:
        function = functools.partial(with_layout, op, layout)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            result = function(*inputs)
        expected = tape.gradient(result, inputs, up)
        found = cpp_gradient(function, inputs, [up])
        for wanted, gradient in zip(expected, found, strict=True):
            wanted = np.zeros(4) if wanted is None else wanted
            np.testing.assert_allclose(gradient, wanted, rtol=1e-12, atol=1e-12)


SMALL = [*product(range(9), range(1, 5), range(1, 4), range(1, 3))]


@pytest.mark.parametrize("padding", ["SAME", "VALID", "EXPLICIT"])
def test_sizes_of_all_small_cases(padding):
    """Of the shape function and of the reference; the rows and the columns of one call are two cases."""
    for rows, columns in zip(SMALL, SMALL[::-1], strict=True):
        pads = [[1, 2], [0, 3]] if padding == "EXPLICIT" else padding
        sides = [*zip(rows, columns)]
        expected = []
        for side, pad in zip(
            (rows, columns), pads if padding == "EXPLICIT" else [pads] * 2
        ):
            try:
                expected.append(output_size(*side, pad)[0])
            except ValueError:
                expected = None
                break
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32, [1, *sides[0], 1])
            filter = tf.compat.v1.placeholder(tf.float32, [*sides[1], 1, 1])
            if expected is None:
                with pytest.raises(ValueError, match="Negative dimension"):
                    conv2d(x, filter, sides[2], pads, sides[3])
            else:
                y = conv2d(x, filter, sides[2], pads, sides[3])
                assert y.shape == [1, *expected, 1], (rows, columns)


@pytest.mark.parametrize(
    "x, filter, y",
    [
        ([None, 8, 8, 3], [3, 3, 3, 4], [None, 4, 4, 4]),
        ([2, None, 8, 3], [3, 3, 3, None], [2, None, 4, None]),
        ([2, 8, 8, None], [None, 3, 3, 4], [2, 4, 4, 4]),
        (None, None, [None] * 4),
    ],
)
def test_static_shapes(x, filter, y):
    specs = [tf.TensorSpec(shape) for shape in (x, filter)]
    traced = tf.function(lambda *inputs: conv2d(*inputs, 2, "SAME"))
    found = traced.get_concrete_function(*specs).output_shapes
    assert found.as_list() == y


def test_static_shapes_of_gradients():
    @tf.function
    def gradients(x, filter, dy):
        assert conv2d_backprop_input([1, 4, 4, 1], filter, dy).shape == [1, 4, 4, 1]
        assert conv2d_backprop_filter(x, [2, 2, 1, 3], dy).shape == [2, 2, 1, 3]
        with pytest.raises(ValueError, match="must be equal, but are 3 and 2"):
            conv2d_backprop_input([1, 4, 4, 1], filter, tf.zeros([1, 2, 3, 3]))
        return conv2d_backprop_input(tf.shape(x), filter, dy)

    shapes = [[None, 4, 4, 1], [2, 2, 1, 3], [None, 3, 3, 3]]
    traced = gradients.get_concrete_function(*map(tf.TensorSpec, shapes))
    assert traced.output_shapes.as_list() == [None, 4, 4, 1]


@pytest.mark.parametrize(
    "x, filter",
    [
        ([0, 4, 4, 2], [3, 3, 2, 4]),
        ([1, 4, 4, 0], [3, 3, 0, 4]),
        ([1, 4, 4, 2], [3, 3, 2, 0]),
        ([1, 0, 4, 2], [3, 3, 2, 4]),
    ],
)
def test_nothing_sums_to_zeros(mode, x, filter):
    y = mode(lambda *inputs: conv2d(*inputs, 1, "SAME"))(tf.ones(x), tf.ones(filter))
    np.testing.assert_array_equal(y, np.zeros([*x[:3], filter[3]]))
    dx = mode(conv2d_backprop_input)(x, tf.ones(filter), y, padding="SAME")
    np.testing.assert_array_equal(dx, np.zeros(x))
    dfilter = mode(conv2d_backprop_filter)(tf.ones(x), filter, y, padding="SAME")
    np.testing.assert_array_equal(dfilter, np.zeros(filter))


X, FILTER = [1, 5, 5, 2], [3, 3, 2, 4]
REFUSED = [
    (
        X,
        [3, 3, 3, 4],
        {},
        r"the same channels, got shapes \[1,5,5,2\] and|must be equal",
    ),
    (X[:3], FILTER, {}, r"x must be \[batch, rows|must be rank 4"),
    (X, FILTER[1:], {}, r"x must be \[batch, rows|must be rank 4"),
    (X, [6, 3, 2, 4], {}, "got 5 rows and a filter that reaches over 6|Negative dim"),
    (X, [0, 3, 2, 4], {}, "filter must have at least one row and one column"),
    (X, FILTER, {"strides": 0}, "strides must be from 1 to 16777216, got 0"),
    (X, FILTER, {"strides": [1]}, "strides must have 2 numbers, got 1"),
    (X, FILTER, {"dilations": 2**40}, "dilations must be from 1 to 16777216"),
    (X, FILTER, {"padding": [[0, -1], [0, 0]]}, "explicit_paddings must be from 0"),
    (X, FILTER, {"padding": [[0, 1]]}, "explicit_paddings must have 4 numbers"),
]


@pytest.mark.parametrize("x, filter, layout, message", REFUSED)
def test_bad_input_is_refused(mode, x, filter, layout, message):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
        mode(lambda *inputs: conv2d(*inputs, **layout))(tf.ones(x), tf.ones(filter))


def test_loops_refuse_what_does_not_fit(mode):
    errors = tf.errors.InvalidArgumentError, ValueError
    x, filter = tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 4])
    for layout in {"dilation": 3}, {"dilation": 2**62}:
        with pytest.raises(errors, match="must fit into x with its dilation"):
            mode(loop_conv2d)(x, filter, **layout)
    with pytest.raises(errors, match="with the channels of x"):
        mode(loop_conv2d)(x[..., :1], filter)
    for stride, dy in (1, [1, 3, 3, 3]), (2**62, [1, 2, 2, 4]):
        with pytest.raises(errors, match="dy must have the shape of the result"):
            mode(loop_conv2d_backprop_input)([1, 5, 5, 2], filter, tf.ones(dy), stride)
        with pytest.raises(errors, match="dy must have the shape of the result"):
            mode(loop_conv2d_backprop_filter)(x, [3, 3, 2, 4], tf.ones(dy), stride)


def test_sizes_and_gradients_that_do_not_fit_are_refused(mode):
    errors = tf.errors.InvalidArgumentError, ValueError
    filter, dy = tf.ones(FILTER), tf.ones([1, 3, 3, 4])
    with pytest.raises(
        errors, match=r"dy must have the shape \[1,4,3,4\]|must be equal"
    ):
        mode(conv2d_backprop_input)([1, 6, 5, 2], filter, dy)
    with pytest.raises(
        errors, match=r"dy must have the shape \[1,4,3,4\]|must be equal"
    ):
        mode(conv2d_backprop_filter)(tf.ones(X), [2, 3, 2, 4], dy)
    with pytest.raises(errors, match="x_sizes must be a vector of four|Invalid value"):
        mode(conv2d_backprop_input)([1, -6, 5, 2], filter, dy)


def test_too_many_elements_are_refused():
    huge = [[2**24 - 6, 0], [2**24 - 6, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="overflow"):
        conv2d(tf.ones([2**20, 1, 1, 0]), tf.ones([1, 1, 0, 1]), padding=huge)
    with pytest.raises(tf.errors.InvalidArgumentError, match="with its padding"):
        conv2d(tf.ones(X), tf.ones(FILTER), padding=[[2**24, 0], [0, 0]])
    reach = 2**24 + 1
    message = f"got {reach} columns for a filter that reaches over {reach}"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        pixel, filter = tf.ones([1, 1, 1, 1]), tf.ones([3, 3, 1, 1])
        conv2d(pixel, filter, padding="SAME", dilations=[1, 2**23])


def test_numbers_of_numpy_are_strides_and_dilations(mode):
    x, filter = values(2, 7, 8, 3), values(3, 2, 3, 4)
    two = np.int64(2)
    found = mode(lambda *inputs: conv2d(*inputs, two, dilations=two))(x, filter)
    np.testing.assert_array_equal(found, conv2d(x, filter, 2, dilations=2))


def test_the_solution_of_the_exercise(mode):
    y, filter = values(2, 3, 4, 3), values(4, 3, 2, 3)
    expected = tf.nn.conv2d_transpose(y, filter, [2, 6, 8, 2], 2)
    found = mode(conv2d_transpose)(y, filter, 2)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_the_solution_of_the_exercise_on_blurring(mode):
    images = values(2, 5, 6, 3)
    ninths = np.full([3, 3, 3, 1], 1 / 9)
    expected = tf.nn.depthwise_conv2d(images, ninths, [1] * 4, "SAME")
    np.testing.assert_allclose(mode(blur)(images), expected, rtol=1e-12, atol=1e-12)
    images[0, 2, 2, 1] = np.nan
    np.testing.assert_array_equal(np.isnan(mode(blur)(images))[0, 2, 2], [0, 1, 0])


@pytest.mark.parametrize("op", ["Conv2DBackpropInput", "Conv2DBackpropFilter"])
def test_tensorflow_has_two_kernels_for_each_gradient(op):
    found = kernels.get_registered_kernels_for_op(op).kernel
    labels = {kernel.label for kernel in found if kernel.device_type == "CPU"}
    assert labels == {"", "custom", "eigen_tensor"}, "one of them also without a label"


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="of oneDNN on x86-64")
def test_onednn_gives_pixels_where_the_filter_does_not_fit():
    program = """
import tensorflow as tf
small, filter = tf.zeros([1, 4, 4, 1]), tf.zeros([3, 3, 1, 1])
print(*tf.nn.conv2d(small, filter, 1, "VALID", dilations=2).shape)
"""
    command = [sys.executable, "-c", program]
    settings = os.environ | {"TF_ENABLE_ONEDNN_OPTS": "1"}
    run = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert run.stdout == "1 4 4 1\n", run.stderr
