"""The check `static_shape`."""

import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught, noted
from python_ops import normal, result

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "every_second_row_rounding": "(2, 3)",
    "every_second_row_unknown_dim": "(0, 3)",
}
test_a_broken_op_is_caught = caught("static_shape", CAUGHT)
# What is worth a note, and no more.
NOTED = {
    "every_second_row_no_shape": "unknown",
}
test_what_is_not_wrong_is_noted = noted("static_shape", NOTED)


@pytest.mark.parametrize(
    ("label", "known"),
    [
        ("known shapes", ([2, 3], [4])),
        ("dimension 0 of x unknown", ([None, 3], [4])),
        ("dimension 1 of x unknown", ([2, None], [4])),
        ("rank of x unknown", (None, [4])),
        ("dimension 0 of y unknown", ([2, 3], [None])),
        ("rank of y unknown", ([2, 3], None)),
        ("all dimensions unknown", ([None, None], [None])),
        ("all ranks unknown", (None, None)),
    ],
)
def test_shapes_are_inferred_from(label, known):
    def op(x, y):
        z = tf.numpy_function(lambda x, y: x, [x, y], x.dtype)
        shapes = [x.shape, y.shape]
        if not tf.executing_eagerly() and shapes == list(map(tf.TensorShape, known)):
            equal = [repr(s) == repr(tf.TensorShape(k)) for s, k in zip(shapes, known)]
            z.set_shape([9] if all(equal) else None)
        return z

    found = result("static_shape", op, normal(2, 3), normal(4))
    assert found.detail.split(";")[0] == label


def test_a_shape_that_is_needlessly_unknown_is_noted():
    def op(x):
        return tf.numpy_function(lambda x: x, [x], x.dtype)

    found = result("static_shape", op, normal(2))
    assert found.verdict == "note"
    assert "output 0: <unknown>: needless unless" in found.detail


def of_rows(x):
    if x.shape.rank is None:
        raise ValueError("the rank of x must be known")
    return tf.reduce_sum(x, len(x.shape) - 1)


def of_rows_of_any_rank(x):
    return tf.reduce_sum(x, len(x.shape) - 1)


def cosines(x):
    return tf.signal.mdct(x, 4, pad_end=True)


def luminance(x):
    return tf.image.rgb_to_yuv(x)[..., 0]


@pytest.mark.slow
@pytest.mark.parametrize("check", ["static_shape", "eager_vs_graph", "gradient"])
@pytest.mark.parametrize("op", [of_rows, of_rows_of_any_rank, cosines, luminance])
def test_a_function_may_say_that_it_needs_a_known_rank(check, op):
    """One that fails without does not say so, unless it is TensorFlow's Python code that fails."""
    found = result(check, op, normal(2, 3))
    fails = op is of_rows_of_any_rank and check != "gradient"
    assert found.verdict == ("fail" if fails else "note"), found.explanation()
    assert "rank" in f"{found.detail} {found.seen}"


LAYER = tf.keras.layers.LayerNormalization()
LAYER.build((None, 3))


def layer(x):
    return LAYER(x)


@pytest.mark.parametrize("check", ["static_shape", "eager_vs_graph"])
def test_a_layer_of_keras_may_need_a_known_size(check):
    found = result(check, layer, normal(2, 3))
    assert found.verdict == "note", found.explanation()
    assert "LayerNormalization" in found.detail


@pytest.mark.parametrize("swapped", [False, True])
def test_sizes_that_are_constants_and_equal_in_the_sample(swapped):
    def filled(size):
        static = tf.get_static_value(size)
        y = tf.numpy_function(lambda n: np.zeros(n, np.float32), [size], tf.float32)
        if static is not None and not tf.executing_eagerly():
            y.set_shape(static[::-1] if swapped else static)
        return y

    found = result("static_shape", filled, np.int32([4, 4]))
    assert (found.verdict == "fail") == swapped, found.explanation()
    assert not swapped or found.detail == "constant inputs, size = [4, 5]"


@pytest.mark.parametrize("literally", [False, True])
def test_a_constant_0_that_stands_for_another_size(literally):
    def filled(size):
        static = tf.get_static_value(size)
        y = tf.numpy_function(
            lambda n: np.zeros(n or 7, np.float32), [size], tf.float32
        )
        if static is not None and not tf.executing_eagerly():
            y.set_shape([static if static or literally else None])
        return y

    found = result("static_shape", filled, np.int32(4))
    assert (found.verdict == "fail") == literally, found.explanation()
