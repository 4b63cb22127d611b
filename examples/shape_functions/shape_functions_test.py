"""Tests of the shape functions, from Python and from C++: `pytest examples/shape_functions`."""

import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from infer import infer, parse
from op_library import load_op_library
from shape_functions import crop_or_pad, cross_features
from shape_functions_reference import (
    crop_or_pad_reference,
    cross_features_reference,
    every_other_row_reference,
)

from opcheck.testing import op_test

HERE = Path(__file__).parent
every_other_row = load_op_library(HERE / "libevery_other_row.so", "every_other_row")
calls = load_op_library(HERE / "libshape_calls.so", "shape_calls", "times_asked")

SHAPES = [
    (cross_features, "[2,3];[2,4]", "[2,12]"),
    (cross_features, "[?,3];[?,4]", "[?,12]"),
    (cross_features, "[?,3];[2,?]", "[2,?]"),
    (cross_features, "[?,0];[?,?]", "[?,0]"),
    (cross_features, "?;[2,4]", "[2,?]"),
    (cross_features, "?;?", "[?,?]"),
    (every_other_row.every_other_row, "[5,2]", "[3,2]"),
    (every_other_row.every_other_row, "[4]", "[2]"),
    (every_other_row.every_other_row, f"[{2**63 - 1}]", f"[{2**62}]"),
    (every_other_row.every_other_row, "[0,?]", "[0,?]"),
    (every_other_row.every_other_row, "[?,2]", "[?,2]"),
    (every_other_row.every_other_row, "?", "?"),
]


@pytest.mark.parametrize("function, inputs, output", SHAPES)
def test_infers(function, inputs, output):
    assert infer(function, inputs) == output


REFUSED = [
    (cross_features, "[2,3];[5,4]", "Dimensions must be equal, but are 2 and 5"),
    (cross_features, "[3];?", "must be rank 2 but is rank 1"),
    (cross_features, "?;[2,2,2]", "must be rank 2 but is rank 3"),
    (cross_features, f"[0,{2**40}];[0,{2**40}]", "overflow when multiplying"),
    (every_other_row.every_other_row, "[]", "must be at least rank 1"),
]


@pytest.mark.parametrize("function, inputs, message", REFUSED)
def test_refuses_when_traced(function, inputs, message):
    with pytest.raises(ValueError, match=message):
        infer(function, inputs)


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
        (to_shape_of(lambda shape: tf.cast(shape, tf.int64)), "?;[?,7]", "[?,7]"),
        (to_shape_of(lambda shape: tf.concat([shape[:1], [9]], 0)), "?;[?,7]", "[?,9]"),
        (to_shape_of(lambda shape: shape[1:0:-1]), "[5];[?,7]", "[7]"),
        (to_shape_of(lambda shape: tf.slice(shape, [0], [2])), "?;[?,7]", "[?,?]"),
        (to_shape_of(lambda shape: tf.gather(shape, [0, 1])), "?;[?,7]", "[?,?]"),
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


MOST = 64 if np.__version__ >= "2" else 32  # dimensions of an array of NumPy's


def random(*shape):
    return np.asarray(np.random.default_rng(0).integers(-9, 9, shape), np.float32)


test_cross_features_keeps_its_promises = op_test(
    cross_features, random(5, 3), random(5, 4), reference=cross_features_reference
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
    (cross_features, cross_features_reference, [random(5, 3), random(5, 4)]),
    (cross_features, cross_features_reference, [random(2, 1), random(2, 1)]),
    (cross_features, cross_features_reference, [random(0, 3), random(0, 4)]),
    (cross_features, cross_features_reference, [random(2, 0), random(2, 4)]),
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
    (*cropping([1] * MOST, np.int64), [random(*[1] * (MOST - 1), 2)]),
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


INPUTS = [(function, inputs) for function, _, inputs in VALUES]


@pytest.mark.parametrize("function, inputs", INPUTS)
def test_the_shape_that_comes_out_is_one_that_was_inferred(function, inputs):
    """Whatever is known of each input: nothing, the rank, all sizes but the first, or all."""
    known = {
        "nothing": lambda shape: None,
        "rank": lambda shape: [None] * len(shape),
        "tail": lambda shape: [None, *shape[1:]] if shape else [],
        "all": lambda shape: shape,
    }
    for how_much, spec_shape in known.items():
        specs = [tf.TensorSpec(spec_shape(x.shape), x.dtype) for x in inputs]
        traced = tf.function(function, autograph=False).get_concrete_function(*specs)
        output = traced(*map(tf.constant, inputs))
        assert traced.output_shapes.is_compatible_with(output.shape)
        if how_much == "all":
            assert traced.output_shapes == output.shape


def zeros(*shape):
    return tf.zeros(shape)


REFUSED_BY_THE_KERNEL = [
    (
        cross_features,
        [zeros(2, 3), zeros(5, 4)],
        r"users and items must be matrices .* got shapes \[2,3\] and \[5,4\]",
    ),
    (
        cross_features,
        [zeros(3), zeros(3, 1)],
        r"must be matrices .* \[3\] and \[3,1\]",
    ),
    (
        cross_features,
        [zeros(3, 1), zeros()],
        r"must be matrices .* \[3,1\] and \[\]",
    ),
    (
        cross_features,
        [zeros(0, 2**40)] * 2,
        "fewer than 2.63 columns, got 1099511627776 times 1099511627776",
    ),
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
        mode(cross_features)(tf.constant([[1]]), tf.constant([[2]]))


def test_importing_a_graph_calls_the_shape_function_again():
    unknown = [tf.TensorSpec(None), tf.TensorSpec(None)]
    function = tf.function(cross_features, autograph=False)
    traced = function.get_concrete_function(*unknown)
    graph_def = traced.graph.as_graph_def()
    with tf.Graph().as_default():
        known = {"users:0": tf.zeros([2, 3]), "items:0": tf.zeros([5, 4])}
        with pytest.raises(ValueError, match="must be equal, but are 2 and 5"):
            tf.graph_util.import_graph_def(graph_def, known)


def test_dim_does_not_check_its_index():
    """Out of range it reads foreign memory: nothing to try, so this reads the header."""
    folder = Path(tf.sysconfig.get_include(), "tensorflow/core/framework")
    header = (folder / "shape_inference.h").read_text()
    body = re.search(r" DimensionHandle DimKnownRank\(.*?\n  }", header, re.S)[0]
    assert "return s->dims_[idx];" in body
    assert re.findall(r"\b(?:CHECK\w*|if) \(?.*", body) == ["if (idx < 0) {"]


def test_it_is_asked_when_traced_and_when_optimized_but_not_eagerly():
    x = tf.constant(0.0)
    counts = [int(calls.times_asked(x)), int(calls.times_asked(x))]
    two = tf.function(
        lambda x: calls.times_asked(x) + calls.times_asked(x), autograph=False
    )
    traced = two.get_concrete_function(x)
    counts.append(int(calls.times_asked(x)))
    for _ in range(2):
        traced(x)
        counts.append(int(calls.times_asked(x)))
    eager, tracing, first, second = np.diff(counts)
    assert (eager, tracing, second) == (0, 2, 0)
    assert first > 0


def test_the_tables_of_shape_calls():
    def row(table, call):
        rows = calls.shape_calls(table=table).numpy().tolist()
        [found] = [row for row in rows if row[0].decode() == call]
        return [text.decode() for text in found[1:]]

    assert row("demand", "WithRank(s, 2, &out)") == ["shape", "[2,3]", "[?,3]", "[?,?]"]
    assert row("combine", "Multiply(d, 4, &out)") == ["dimension", "8", "?", "?"]
    assert row("ask", "Value(d)") == ["int64_t", "2", "-1", "-1"]
    assert row("make", "Vector(d)") == ["shape", "[2]", "[?]", "[?]"]
    part = row("value", "call").index("(2, ?)")
    assert row("value", "input_tensor(1)")[part] == "nullptr"
    assert row("value", "MakeShapeFromShapeTensor(1, &out)")[part] == "[2,?]"
    ready = [row[0] for row in calls.shape_calls(table="ready").numpy().tolist()]
    assert any(b"tensorflow::shape_inference::UnchangedShape(" in x for x in ready)


LOADED_LATER = f"""
import tensorflow as tf
calls = tf.load_op_library("{HERE}/libshape_calls.so")
for _ in range(2):
    rows = calls.shape_calls(table="ready").numpy().tolist()
    print(any(b"CumulativeMax" in row[1].split() for row in rows))
    tf.load_op_library("{HERE.parent}/types/libsolution_cumulative_max.so")
"""


def test_a_library_that_is_loaded_later_is_in_the_table(in_process):
    assert in_process(LOADED_LATER) == "False\nTrue\n"


@pytest.mark.parametrize("who", ["tape", "tf.gradients", "tape over a function"])
def test_a_tape_in_a_graph_does_not_tell_the_shape_of_a_gradient(who):
    @tf.custom_gradient
    def same(x):
        def gradient(upstream):
            return tf.numpy_function(lambda x: x, [upstream], tf.float32)

        return tf.identity(x), gradient

    def differentiate(x):
        if who == "tf.gradients":
            return tf.gradients(same(x), x)[0]
        function = same if who == "tape" else tf.function(same, autograph=False)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    told = infer(differentiate, "[?,3]")
    assert told == ("?" if who == "tape" else "[?,3]")


def test_parse():
    assert parse("?").rank is None
    assert parse("[]").as_list() == []
    assert parse("[?,3]").as_list() == [None, 3]


CPP_TESTS = re.findall(
    r"^TEST\((\w+), (\w+)\)", (HERE / "shape_functions_test.cc").read_text(), re.M
)


@pytest.mark.parametrize("test", [".".join(names) for names in CPP_TESTS])
def test_in_cpp(test, in_cpp):
    assert "[  PASSED  ] 1 test." in in_cpp(test)
