"""Tests of the shape functions, from Python and from C++: `pytest examples/shape_functions`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from infer import infer, parse
from op_library import load_op_library
from shape_functions import (
    crop_or_pad,
    direct_sum,
    elementwise_median,
    kronecker_product,
    mat_vec,
    rgb_to_gray,
    unit_impulse,
)
from shape_functions_reference import (
    crop_or_pad_reference,
    direct_sum_reference,
    elementwise_median_reference,
    every_other_row_reference,
    kronecker_product_reference,
    mat_vec_reference,
    rgb_to_gray_reference,
    unit_impulse_reference,
)

from opcheck.testing import op_test

HERE = Path(__file__).parent
every_other_row = load_op_library(
    HERE / "libevery_other_row.so", "every_other_row", "lying_every_other_row"
)
wrong_shapes = load_op_library(
    HERE / "libwrong_shapes.so",
    "crashing_kronecker_product",
    "lazy_median",
    "silent_median",
)


def median(*inputs):
    return elementwise_median(inputs)


def impulse(position):
    return unit_impulse(position, size=4)


SHAPES = [
    (mat_vec, "[2,3];[3]", "[2]"),
    (mat_vec, "[?,3];[3]", "[?]"),
    (mat_vec, "[2,?];?", "[2]"),
    (mat_vec, "?;?", "[?]"),
    (rgb_to_gray, "[4,5,3]", "[4,5,1]"),
    (rgb_to_gray, "[?,?]", "[?,1]"),
    (rgb_to_gray, "?", "?"),
    (direct_sum, "[2,3];[3,4]", "[5,7]"),
    (direct_sum, "[2,?];[3,4]", "[5,?]"),
    (direct_sum, "?;?", "[?,?]"),
    (kronecker_product, "[2,3];[3,4]", "[6,12]"),
    (kronecker_product, "[2,?];[3,4]", "[6,?]"),
    (kronecker_product, "?;?", "[?,?]"),
    (median, "[?,3];[2,?];?", "[2,3]"),
    (median, "[?]", "[?]"),
    (median, "?;?", "?"),
    (every_other_row.every_other_row, "[5,2]", "[3,2]"),
    (every_other_row.every_other_row, "[4]", "[2]"),
    (every_other_row.every_other_row, "[0,?]", "[0,?]"),
    (every_other_row.every_other_row, "[?,2]", "[?,2]"),
    (every_other_row.every_other_row, "?", "?"),
]


@pytest.mark.parametrize("function, inputs, output", SHAPES)
def test_infers(function, inputs, output):
    assert infer(function, inputs) == output


REFUSED = [
    (mat_vec, "[2,3];[4]", "Dimensions must be equal, but are 3 and 4"),
    (mat_vec, "[3];[3]", "must be rank 2 but is rank 1"),
    (mat_vec, "?;[3,1]", "must be rank 1 but is rank 2"),
    (rgb_to_gray, "[4,5,4]", "Dimension must be 3 but is 4"),
    (rgb_to_gray, "[]", "must be at least rank 1 but is rank 0"),
    (direct_sum, "[2];?", "must be rank 2 but is rank 1"),
    (direct_sum, "?;[]", "must be rank 2 but is rank 0"),
    (direct_sum, f"[{2**62},0];[{2**62},0]", "Dimension size overflow from adding"),
    (kronecker_product, "[2,1,1];?", "must be rank 2 but is rank 3"),
    (kronecker_product, "?;[]", "must be rank 2 but is rank 0"),
    (kronecker_product, f"[{2**40},0];[{2**40},0]", "overflow when multiplying"),
    (median, "[?,3];[2,?];[2,4]", r"(?s)are 4 and 3.*inputs\[2\] does not fit"),
    (median, "[2];[2,1]", "must be equal rank, but are 2 and 1"),
    (every_other_row.every_other_row, "[]", "must be at least rank 1"),
]


@pytest.mark.parametrize("function, inputs, message", REFUSED)
def test_refuses_when_traced(function, inputs, message):
    with pytest.raises(ValueError, match=message):
        infer(function, inputs)


@pytest.mark.parametrize(
    "inputs, output", [("[2]", "[4,4]"), ("[0]", "[]"), ("[?]", "?"), ("?", "?")]
)
def test_unit_impulse_has_a_dimension_for_each_element(inputs, output):
    assert infer(impulse, inputs, tf.int64) == output


@pytest.mark.parametrize(
    "inputs, message",
    [("[255]", "at most 254 elements, got 255"), ("[]", "must be rank 1")],
)
def test_unit_impulse_refuses_when_traced(inputs, message):
    with pytest.raises(ValueError, match=message):
        infer(impulse, inputs, tf.int64)


def to_shape_of(function):
    """Crops or pads the first tensor to a shape computed from that of the second."""
    return lambda x, y: crop_or_pad(x, function(tf.shape(y)))


@pytest.mark.parametrize(
    "function, inputs, output",
    [
        (lambda x: crop_or_pad(x, [2, 3]), "?", "[2,3]"),
        (lambda x: crop_or_pad(x, np.array([2, 3])), "[?,?]", "[2,3]"),
        (to_shape_of(lambda shape: shape), "?;[?,7]", "[?,7]"),
        (to_shape_of(lambda shape: [2, shape[1]]), "?;[?,7]", "[2,7]"),
        (to_shape_of(lambda shape: [2, 2 * shape[1]]), "?;[?,7]", "[2,14]"),
        (to_shape_of(lambda shape: 2 * shape), "?;[5,7]", "[10,14]"),
        (to_shape_of(lambda shape: 2 * shape), "?;[?,7]", "[?,?]"),
        (to_shape_of(lambda shape: shape), "[5];?", "[?]"),
        (to_shape_of(lambda shape: shape), "?;?", "?"),
    ],
)
def test_crop_or_pad_finds_the_shape_in_the_graph(function, inputs, output):
    assert infer(function, inputs) == output


@pytest.mark.parametrize(
    "shape, inferred", [([2], "[?,?]"), ([None], "?"), (None, "?")]
)
def test_of_a_shape_that_comes_with_the_call_the_length_may_be_known(shape, inferred):
    traced = tf.function(crop_or_pad, autograph=False).get_concrete_function(
        tf.TensorSpec(None, tf.float32), tf.TensorSpec(shape, tf.int32)
    )
    assert traced.output_shapes == parse(inferred)


@pytest.mark.parametrize(
    "shape, message",
    [
        ([2, -1], r"(?s)Dimension -1 must be >= 0.*shape must hold sizes"),
        ([2, 3, 4], "must be rank 2 but is rank 3"),
        ([[2, 3]], "must be rank 1 but is rank 2"),
    ],
)
def test_crop_or_pad_refuses_when_traced(shape, message):
    with pytest.raises(ValueError, match=message):
        infer(lambda x: crop_or_pad(x, shape), "[?,?]")


def random(*shape):
    return np.asarray(np.random.default_rng(0).integers(-9, 9, shape), np.float32)


test_mat_vec_keeps_its_promises = op_test(
    mat_vec, random(5, 7), random(7), reference=mat_vec_reference
)
test_rgb_to_gray_keeps_its_promises = op_test(
    rgb_to_gray, random(2, 4, 3), reference=rgb_to_gray_reference
)


def test_gray_is_what_tensorflow_takes_for_it():
    """The weights stand in the op and in its reference; these are others' than ours."""
    rgb = np.random.default_rng(0).random((2, 5, 3), np.float32)
    gray = tf.image.rgb_to_grayscale(rgb)
    np.testing.assert_allclose(rgb_to_gray(rgb), gray, rtol=1e-5)


test_direct_sum_keeps_its_promises = op_test(
    direct_sum, random(2, 3), random(4, 5), reference=direct_sum_reference
)
test_kronecker_product_keeps_its_promises = op_test(
    kronecker_product, random(2, 3), random(4, 5), reference=kronecker_product_reference
)
test_elementwise_median_keeps_its_promises = op_test(
    elementwise_median,
    list(random(4, 2, 3)),
    reference=elementwise_median_reference,
)
test_unit_impulse_keeps_its_promises = op_test(
    unit_impulse, np.int64([1, 2]), size=4, reference=unit_impulse_reference
)
test_crop_or_pad_keeps_its_promises = op_test(
    crop_or_pad, random(2, 3), np.int64([3, 2]), reference=crop_or_pad_reference
)


def cropping(shape, dtype):
    return (
        lambda x: crop_or_pad(x, np.array(shape, dtype)),
        lambda x: crop_or_pad_reference(x, np.array(shape, dtype)),
    )


VALUES = [
    (mat_vec, mat_vec_reference, [random(5, 7), random(7)]),
    (mat_vec, mat_vec_reference, [random(0, 3), random(3)]),
    (mat_vec, mat_vec_reference, [random(2, 0), random(0)]),
    (direct_sum, direct_sum_reference, [random(2, 3), random(4, 5)]),
    (direct_sum, direct_sum_reference, [random(2, 0), random(0, 3)]),
    (direct_sum, direct_sum_reference, [random(0, 0), random(0, 0)]),
    (kronecker_product, kronecker_product_reference, [random(2, 3), random(4, 5)]),
    (kronecker_product, kronecker_product_reference, [random(1, 4), random(3, 1)]),
    (kronecker_product, kronecker_product_reference, [random(0, 2), random(3, 3)]),
    (median, lambda *inputs: elementwise_median_reference(inputs), [*random(1, 4)]),
    (median, lambda *inputs: elementwise_median_reference(inputs), [*random(4, 2, 3)]),
    (median, lambda *inputs: elementwise_median_reference(inputs), [*random(9, 2, 3)]),
    (median, lambda *inputs: elementwise_median_reference(inputs), [*random(3, 0, 2)]),
    (
        median,
        lambda *inputs: elementwise_median_reference(inputs),
        [*np.float32([[1, 2], [np.nan, 3], [0, 9]])],
    ),
    (*cropping([], np.int32), [random()]),
    (*cropping([5], np.int32), [random(3)]),
    (*cropping([0], np.int64), [random(3)]),
    (*cropping([3, 2], np.int64), [random(2, 3)]),
    (*cropping([2, 5, 2], np.int32), [random(4, 3, 2)]),
    (*cropping([2, 2], np.int32), [random(0, 3)]),
    (*cropping([4, 3, 2], np.int64), [random(4, 3, 2)]),
    (*cropping([6, 3, 2], np.int64), [random(4, 3, 2)]),
    (*cropping([3, 3, 2], np.int64), [random(4, 3, 2)]),
    (*cropping([4, 2, 2], np.int64), [random(4, 3, 2)]),
    (*cropping([6, 4, 2], np.int64), [random(4, 3, 2)]),
    (*cropping([2, 2, 5], np.int64), [random(4, 3, 2)]),
    (*cropping([3, 4], np.int64), [random(2, 6)]),
    (*cropping([1] * 64, np.int64), [random(*[1] * 63, 2)]),
    (every_other_row.every_other_row, every_other_row_reference, [random(1)]),
    (every_other_row.every_other_row, every_other_row_reference, [random(4, 2, 3)]),
    (every_other_row.every_other_row, every_other_row_reference, [random(5, 2)]),
    (every_other_row.every_other_row, every_other_row_reference, [random(0, 2)]),
    (every_other_row.every_other_row, every_other_row_reference, [random(3, 0)]),
]


@pytest.mark.parametrize("function, reference, inputs", VALUES)
def test_equals_the_reference(mode, function, reference, inputs):
    output = mode(function)(*map(tf.constant, inputs))
    np.testing.assert_array_equal(output, reference(*inputs), strict=True)


@pytest.mark.parametrize("position", [[], [3], [0, 2], [1, 2, 3]])
def test_unit_impulse_equals_the_reference(mode, position):
    expected = unit_impulse_reference(np.array(position, np.int64), size=4)
    output = mode(impulse)(tf.constant(position, tf.int64))
    np.testing.assert_array_equal(output, expected, strict=True)


INPUTS = [(function, inputs) for function, _, inputs in VALUES] + [
    (rgb_to_gray, [random(2, 4, 3)]),
    (rgb_to_gray, [random(0, 3)]),
    (impulse, [np.int64([1, 2])]),
    (impulse, [np.zeros([0], np.int64)]),
]


@pytest.mark.parametrize("function, inputs", INPUTS)
def test_the_shape_that_comes_out_is_one_that_was_inferred(function, inputs):
    """Whatever is known: nothing, the rank, all sizes but the first, or all."""
    for known in [
        lambda shape: None,
        lambda shape: [None] * len(shape),
        lambda shape: [None, *shape[1:]] if shape else [],
        lambda shape: shape,
    ]:
        specs = [tf.TensorSpec(known(x.shape), x.dtype) for x in inputs]
        traced = tf.function(function, autograph=False).get_concrete_function(*specs)
        output = traced(*map(tf.constant, inputs))
        assert traced.output_shapes.is_compatible_with(output.shape)
    assert traced.output_shapes == output.shape


def zeros(*shape):
    return tf.zeros(shape)


REFUSED_BY_THE_KERNEL = [
    (mat_vec, [zeros(3), zeros(3)], r"matrix must have rank 2, got shape \[3\]"),
    (mat_vec, [zeros(1, 3), zeros(3, 1)], "vector must have rank 1, got shape"),
    (
        mat_vec,
        [zeros(2, 3), zeros(4)],
        "as many elements as matrix has columns, 3, got",
    ),
    (rgb_to_gray, [zeros(4, 5, 4)], r"must be 3, got shape \[4,5,4\]"),
    (rgb_to_gray, [zeros()], r"last dimension of rgb must be 3, got shape \[\]"),
    (direct_sum, [zeros(2), zeros(2, 2)], r"a must have rank 2, got shape \[2\]"),
    (direct_sum, [zeros(2, 2), zeros()], r"b must have rank 2, got shape \[\]"),
    (direct_sum, [zeros(2**62, 0)] * 2, "direct sum must have dimensions below 2.63"),
    (kronecker_product, [zeros(2), zeros(2, 2)], "a must have rank 2, got"),
    (kronecker_product, [zeros(2, 2), zeros()], "b must have rank 2, got"),
    (kronecker_product, [zeros(2**40, 0)] * 2, "product must have dimensions below 2"),
    (median, [zeros(2), zeros(2), zeros(3)], r"inputs\[2\] must have the shape of in"),
    (
        every_other_row.every_other_row,
        [zeros()],
        "at least one dimension, got a scalar",
    ),
    (
        lambda x: crop_or_pad(x, hidden([2, -1])),
        [zeros(2, 2)],
        "shape must hold sizes: Dimension -1 must be >= 0",
    ),
    (
        lambda x: crop_or_pad(x, hidden([[2, 2]])),
        [zeros(2, 2)],
        r"shape must hold sizes: shape must be a vector of .*, got shape \[1,2\]",
    ),
    (
        lambda x: crop_or_pad(x, hidden([2, 2])),
        [zeros(2)],
        "one element for each dimension of input, 1, got 2",
    ),
    (
        lambda x: unit_impulse(tf.cast(x, tf.int64), 4),
        [zeros(2, 2)],
        r"position must have rank 1, got shape \[2,2\]",
    ),
    (
        lambda x: unit_impulse(tf.cast(x, tf.int64), 4),
        [tf.constant([0.0, 4.0])],
        r"position\[1\] must be from 0 to 3, got 4",
    ),
    (
        lambda x: unit_impulse(tf.cast(x, tf.int64), 4),
        [tf.constant([-1.0])],
        r"position\[0\] must be from 0 to 3, got -1",
    ),
    (
        lambda x: unit_impulse(tf.cast(x, tf.int64), 1),
        [zeros(255)],
        "position must have at most 254 elements, got 255",
    ),
    (
        lambda x: unit_impulse(tf.cast(x, tf.int64), 2**40),
        [zeros(2)],
        "size must leave fewer than",
    ),
]


def hidden(value):
    """A tensor of which tracing knows nothing, not even the shape."""
    return tf.raw_ops.PlaceholderWithDefault(input=value, shape=None)


@pytest.mark.parametrize("function, inputs, message", REFUSED_BY_THE_KERNEL)
def test_the_kernel_refuses_what_tracing_did_not_know(function, inputs, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function(*inputs)
    signature = [tf.TensorSpec(None, tf.float32)] * len(inputs)
    traced = tf.function(function, input_signature=signature, autograph=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        traced(*inputs)


def test_other_dtypes_are_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="float tensor|float32"
    ):
        mode(rgb_to_gray)(tf.constant([1, 2, 3]))


def test_attrs_are_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError),
        match="(at least|less than) minimum 1",
    ):
        mode(lambda: unit_impulse(tf.constant([0], tf.int64), 0))()


def test_a_weaker_shape_function_knows_less():
    def lazy(*inputs):
        return wrong_shapes.lazy_median(inputs)

    def silent(*inputs):
        return wrong_shapes.silent_median(inputs)

    assert infer(median, "[?,3];[2,?]") == "[2,3]"
    assert infer(lazy, "[?,3];[2,?]") == "[?,3]"
    assert infer(silent, "[?,3];[2,?]") == "?"
    assert infer(lazy, "[2];[3]") == "[2]"


def test_importing_a_graph_calls_the_shape_function_again():
    unknown = [tf.TensorSpec(None), tf.TensorSpec(None)]
    traced = tf.function(mat_vec, autograph=False).get_concrete_function(*unknown)
    graph_def = traced.graph.as_graph_def()
    with tf.Graph().as_default():
        known = {"matrix:0": tf.zeros([2, 3]), "vector:0": tf.zeros([4])}
        with pytest.raises(ValueError, match="must be equal, but are 3 and 4"):
            tf.graph_util.import_graph_def(graph_def, known)


def test_dim_does_not_check_its_index():
    """Out of range it reads foreign memory: nothing to try, so this reads the header."""
    folder = Path(tf.sysconfig.get_include(), "tensorflow/core/framework")
    header = (folder / "shape_inference.h").read_text()
    body = re.search(r" DimensionHandle DimKnownRank\(.*?\n  }", header, re.S)[0]
    assert "return s->dims_[idx];" in body
    assert re.findall(r"\b(?:CHECK\w*|if) \(?.*", body) == ["if (idx < 0) {"]


def test_a_shape_function_that_lies_makes_results_wrong():
    def mean(rows):
        kept = every_other_row.lying_every_other_row(rows)
        return tf.reduce_sum(kept) / tf.size(kept, tf.float32)

    rows = tf.ones([5, 2])
    assert mean(rows) == 1.0
    np.testing.assert_allclose(tf.function(mean, autograph=False)(rows), 0.6)


def test_arithmetic_on_unknown_dimensions_is_wrong_or_fatal():
    crashing = wrong_shapes.crashing_kronecker_product
    assert infer(crashing, "[2,3];[3,4]") == "[6,12]"
    assert infer(crashing, "[?,2];[?,4]") == "[1,8]"
    with pytest.raises(ValueError, match="must be rank 2 but is rank 1"):
        infer(crashing, "[2];[3,4]")
    script = """if True:
        import sys, tensorflow as tf
        sys.path.append(sys.argv[1])
        from infer import infer
        library = tf.load_op_library(sys.argv[1] + "/libwrong_shapes.so")
        infer(library.crashing_kronecker_product, "[?,2];[3,4]")"""
    run = subprocess.run(
        [sys.executable, "-c", script, HERE], capture_output=True, text=True
    )
    assert run.returncode < 0
    assert "Expected shape dimensions to be non-negative, got -3" in run.stderr


def test_parse():
    assert parse("?").rank is None
    assert parse("[]").as_list() == []
    assert parse("[?,3]").as_list() == [None, 3]


CPP_TESTS = re.findall(
    r"^TEST\((\w+), (\w+)\)", (HERE / "shape_functions_test.cc").read_text(), re.M
)


@pytest.mark.parametrize("test", [".".join(names) for names in CPP_TESTS])
def test_in_cpp(test):
    program = HERE / "shape_functions_test"
    if not program.exists():
        advice = (
            f"{program.name} is not built, for want of GoogleTest: "
            "sudo apt-get install libgtest-dev, then make clean examples"
        )
        (pytest.fail if os.environ.get("CI") else pytest.skip)(advice)
    run = subprocess.run(
        [program, f"--gtest_filter={test}"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout
    assert "[  PASSED  ] 1 test." in run.stdout
