"""Tests of MedianFilter and of what TensorFlow makes of attrs: `pytest examples/attrs`."""

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import precompiled
import pytest
import tensorflow as tf
from attrs_reference import (
    DEFAULTS,
    TENSOR_DEFAULTS,
    median_filter_reference,
    quantile_filter_reference,
)
from median_filter import median_filter, stock_median_filter
from op_library import load_op_library

from opcheck.testing import op_test

HERE = Path(__file__).parent
KINDS = load_op_library(
    HERE / "libevery_attr.so",
    "every_attr",
    "attr_recipes",
    "tensor_attrs",
    "constrained_attrs",
    "end_with",
    "own_name",
    "live_instances",
)
GENERATED = load_op_library(HERE / "libattrs.so", "median_filter").median_filter
REFUSED = (tf.errors.InvalidArgumentError, TypeError, ValueError)
SIGNAL = [5.0, 4.0, 9.0, 2.0, 1.0]
MINOR = int(tf.__version__.split(".")[1])


test_median_filter_keeps_its_promises = op_test(
    median_filter,
    np.float32([[3, 1, 4, 15, 9, 2], [-2, 7, 1, 8, 28, 18]]),
    window=3,
    ends="drop",
    reference=median_filter_reference,
)
test_median_filter_that_repeats_the_ends_keeps_its_promises = op_test(
    median_filter,
    np.float64([3, 1, 4, 15, 9, 2, 6]),
    window=5,
    reference=median_filter_reference,
)


@pytest.mark.parametrize("ends", ["repeat", "drop"])
@pytest.mark.parametrize(
    "shape, window", [((1,), 1), ((7,), 7), ((2, 5), 3), ((3, 1, 8), 5), ((0, 4), 3)]
)
def test_equals_the_reference(mode, shape, window, ends):
    signal = np.random.default_rng(0).normal(size=shape)
    filtered = mode(median_filter)(signal, window, ends)
    expected = median_filter_reference(signal, window, ends)
    np.testing.assert_array_equal(filtered, expected, strict=True)


@pytest.mark.parametrize("ends", ["repeat", "drop"])
@pytest.mark.parametrize("shape, window", [((7,), 7), ((2, 5), 3), ((3, 1, 8), 1)])
def test_stock_ops_compute_the_same(mode, shape, window, ends):
    signal = np.random.default_rng(0).normal(size=shape)
    filtered = mode(stock_median_filter)(signal, window, ends)
    expected = median_filter_reference(signal, window, ends)
    np.testing.assert_array_equal(filtered, expected, strict=True)


def test_a_spike_is_dropped_and_a_step_stays(mode):
    signal = [0.0, 0.0, 9.0, 0.0, 0.0, 5.0, 5.0, 5.0]
    np.testing.assert_array_equal(mode(median_filter)(signal), [0, 0, 0, 0, 0, 5, 5, 5])


def test_a_nan_reaches_every_window_that_has_it(mode):
    signal = [1.0, 2.0, np.nan, np.inf, 3.0, -np.inf, 4.0]
    filtered = mode(median_filter)(signal)
    np.testing.assert_array_equal(filtered, [1, np.nan, np.nan, np.nan, 3, 3, 4])


def test_subnormal_numbers_are_not_zero(mode):
    signal = np.float32([3e-40, 1e-40, 2e-40])
    np.testing.assert_array_equal(
        mode(median_filter)(signal), np.float32([3e-40, 2e-40, 2e-40])
    )


def test_two_nodes_of_one_graph_keep_their_own_window():
    both = tf.function(lambda x: (median_filter(x, 1), median_filter(x, 3)))
    np.testing.assert_array_equal(
        both(tf.constant([5.0, 4.0, 9.0])), [[5, 4, 9], [5, 5, 9]]
    )


@pytest.mark.parametrize("window", [2, 2**40])
def test_an_even_window_is_refused(mode, window):
    error = (tf.errors.InvalidArgumentError, ValueError)
    with pytest.raises(error, match=f"window must be odd, but is {window}"):
        mode(median_filter)([5.0, 4.0, 3.0], window)


def test_an_even_window_is_refused_where_the_shape_is_unknown():
    function = tf.function(lambda x: median_filter(x, 4))
    with pytest.raises(ValueError, match="window must be odd, but is 4"):
        function.get_concrete_function(tf.TensorSpec(None, tf.float32))


@pytest.mark.parametrize("window", [0, -1, -(2**63)])
def test_a_window_without_elements_is_refused_by_the_interface(mode, window):
    with pytest.raises(REFUSED, match="minimum 1"):
        mode(median_filter)(SIGNAL, window)


@pytest.mark.parametrize("ends", ["", "mirror", "Repeat"])
def test_an_unknown_word_is_refused_by_the_interface(mode, ends):
    with pytest.raises(REFUSED, match='(allowed values|not in): "repeat", "drop"'):
        mode(median_filter)(SIGNAL, ends=ends)


@pytest.mark.parametrize("ends", ["repeat", "drop"])
@pytest.mark.parametrize("shape, window", [((2,), 3), ((4, 0), 1), ((5,), 2**63 - 1)])
def test_a_window_longer_than_the_signal_is_refused(mode, shape, window, ends):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError),
        match=f"at most the length of signal, {shape[-1]}, but is {window}",
    ):
        mode(median_filter)(np.zeros(shape, np.float32), window, ends)


@pytest.mark.parametrize("shape", [None, [None], [2, None]])
def test_a_window_longer_than_an_unknown_length_is_refused_when_run(shape):
    function = tf.function(lambda x: median_filter(x, 5))
    traced = function.get_concrete_function(tf.TensorSpec(shape, tf.float32))
    signal = tf.zeros([2, 4] if shape == [2, None] else [4])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="length of signal, 4, but is 5"
    ):
        traced(signal)


def test_a_scalar_is_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError),
        match="at least one axis, but is a scalar|at least rank 1 but is rank 0",
    ):
        mode(median_filter)(5.0)


def test_a_scalar_of_unknown_shape_is_refused_when_run():
    traced = tf.function(median_filter).get_concrete_function(
        tf.TensorSpec(None, tf.float32)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="but is a scalar"):
        traced(tf.constant(5.0))


@pytest.mark.parametrize("dtype", [tf.int32, tf.half])
def test_another_dtype_is_refused(mode, dtype):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="allowed values: float"
    ):
        mode(median_filter)(tf.cast(SIGNAL, dtype))


@pytest.mark.parametrize(
    "shape, ends, static",
    [
        (None, "drop", None),
        ([None], "drop", [None]),
        ([2, 7], "drop", [2, 5]),
        ([None, 7], "drop", [None, 5]),
        ([None, 7], "repeat", [None, 7]),
    ],
)
def test_the_static_shape(shape, ends, static):
    traced = tf.function(lambda x: median_filter(x, 3, ends)).get_concrete_function(
        tf.TensorSpec(shape, tf.float32)
    )
    assert traced.output_shapes == tf.TensorShape(static)


def test_a_refused_window_leaves_the_next_call_alone():
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="but is 4"):
            median_filter(SIGNAL, 4)
        np.testing.assert_array_equal(median_filter(SIGNAL, 3), [5, 5, 4, 2, 1])


@pytest.mark.parametrize("ends", ["repeat", "drop"])
def test_the_gradient_takes_indexed_slices(mode, ends):
    signal = tf.constant(SIGNAL)

    def gradient(signal):
        with tf.GradientTape() as tape:
            tape.watch(signal)
            chosen = tf.gather(median_filter(signal, 3, ends), [1, 2])
        return tape.gradient(chosen, signal)

    expected = [1, 1, 0, 0, 0] if ends == "repeat" else [0, 1, 0, 1, 0]
    np.testing.assert_array_equal(mode(gradient)(signal), expected)


@pytest.mark.parametrize("window", [1.5, "1", None])
def test_a_window_that_is_no_integer_is_refused(mode, window):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        mode(lambda: median_filter(SIGNAL, window))()


@pytest.mark.parametrize("window", [np.int64(3), tf.constant(3)])
def test_a_tensor_is_no_window_in_a_graph(window):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        tf.function(median_filter)(tf.constant(SIGNAL), window)
    with pytest.raises(TypeError, match="Expected int for argument 'window' not <tf.T"):
        tf.function(GENERATED)(tf.constant(SIGNAL), window)


def test_the_generated_function_truncates(mode):
    filtered = mode(lambda: GENERATED(SIGNAL, window=3.9))()
    np.testing.assert_array_equal(filtered, median_filter(SIGNAL, 3))


@pytest.mark.parametrize("function", [median_filter, median_filter_reference])
def test_the_defaults_are_those_of_the_interface(function):
    ours, generated = (
        inspect.signature(each).parameters for each in (function, GENERATED)
    )
    for name in ("window", "ends"):
        assert ours[name].default == generated[name].default


def test_none_is_the_default(mode):
    filtered = mode(lambda: GENERATED(SIGNAL, window=None, ends=None))()
    np.testing.assert_array_equal(filtered, median_filter(SIGNAL))


@pytest.mark.parametrize("window", [2**63, 2**64 + 3, -(2**63) - 1])
@pytest.mark.parametrize("signal", [SIGNAL, np.array(SIGNAL), tf.constant(SIGNAL)])
def test_a_window_beyond_64_bits_is_refused(mode, window, signal):
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=f"must fit into an int64, but is {window}",
    ):
        mode(lambda: median_filter(signal, window))()


@pytest.mark.parametrize("window", [2**63, 2**64 + 3, -(2**63) - 1])
def test_the_generated_function_makes_minus_one_of_it(window):
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="'window' of -1 must be at least"
    ):
        GENERATED(SIGNAL, window)
    with pytest.raises(ValueError, match="Value out of range"):
        tf.function(lambda: GENERATED(SIGNAL, window))()


@pytest.mark.slow
@pytest.mark.skipif(MINOR > 21, reason="ends the process: see docs/changes.md")
@pytest.mark.skipif(MINOR < 18, reason="raises an OverflowError, as it should")
def test_without_a_minimum_an_int_beyond_64_bits_is_minus_one():
    """After ops on other numbers, so in a process of its own: if one of these has been a tensor, it ends here."""
    code = """
import numpy as np, pytest, tensorflow as tf
tf.raw_ops.Pack(values=[3.5, 4.5], axis=0)
packed = tf.raw_ops.Pack(values=[1.5, 2.5], axis=2**63)
np.testing.assert_array_equal(packed, [1.5, 2.5])
with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid batch_dim -1"):
    tf.raw_ops.ReverseSequence(
        input=[[1.5], [2.5]], seq_lengths=[1, 1], seq_dim=1, batch_dim=2**63
    )
with pytest.raises(OverflowError, match="int too big to convert"):
    tf.raw_ops.RandomUniform(shape=[2], dtype=tf.float32, seed=2**63)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_input_of_a_fixed_type_is_cut():
    def count(arr):
        return tf.raw_ops.Bincount(arr=arr, size=4, weights=tf.zeros([0]))

    for arr in (2**40 + 2, np.float32(2.7), np.array([2.7])):
        np.testing.assert_array_equal(count(arr), [0, 0, 1, 0])
    with pytest.raises(TypeError, match="Cannot convert 2.7 to EagerTensor of dtype"):
        count(2.7)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="a int32 tensor but is a int64 tensor"
    ):
        count(tf.constant(2, tf.int64))
    numbers = np.array([0, 2], np.uint8)
    np.testing.assert_array_equal(tf.raw_ops.LogicalNot(x=numbers), [True, False])


def every_attr(**attrs):
    """The text of each attr, as a dictionary; of tensors from a graph."""
    of_tensors = attrs.keys() & TENSOR_DEFAULTS.keys()
    op = KINDS.tensor_attrs if of_tensors else KINDS.every_attr
    call = tf.function(autograph=False)(lambda: op(**attrs)) if of_tensors else op
    text = (call() if of_tensors else call(**attrs)).numpy().decode()
    return dict(line.split(": ", 1) for line in text.split("\n"))


@pytest.mark.parametrize(
    "op, defaults",
    [(KINDS.every_attr, DEFAULTS), (KINDS.tensor_attrs, TENSOR_DEFAULTS)],
)
def test_every_default_reaches_the_kernel(op, defaults):
    in_graph = tf.function(lambda: op(), autograph=False)
    lines = in_graph().numpy().decode().split("\n")
    assert lines == [f"{name}: {text}" for name, text in defaults.items()]
    assert list(inspect.signature(op).parameters) == [*defaults, "name"]


def test_eagerly_the_defaults_are_the_same():
    assert every_attr() == DEFAULTS


@pytest.mark.parametrize(
    "name, value, text",
    [
        ("a_string", "kiwi", "kiwi"),
        ("an_int", -(2**63), str(-(2**63))),
        ("a_float", 3, "3"),
        ("a_bool", False, "false"),
        ("a_type", tf.complex64, "complex64"),
        ("a_type", "float32", "float"),
        ("a_type", np.int8, "int8"),
        ("a_shape", [None, 4], "[?,4]"),
        ("a_shape", [], "[]"),
        (
            "a_tensor",
            tf.make_tensor_proto([1.5]),
            "Tensor<type: float shape: [1] values: 1.5>",
        ),
        ("strings", [], ""),
        ("ints", [7], "7"),
        ("floats", (1, 2.5), "1, 2.5"),
        ("bools", [False], "false"),
        ("types", [tf.string], "string"),
        ("shapes", [[None, 2]], "[?,2]"),
        ("tensors", [], ""),
    ],
)
def test_every_type_takes_another_value(name, value, text):
    assert every_attr(**{name: value})[name] == text


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("a_string", 3, "Expected string for argument 'a_string' not 3"),
        ("an_int", "3", "Expected int for argument 'an_int' not '3'"),
        ("a_float", "3", "Expected float for argument 'a_float' not '3'"),
        ("a_bool", 3, "Expected bool for argument 'a_bool' not 3"),
        ("a_type", "kiwi", "Expected DataType for argument 'a_type' not 'kiwi'"),
        ("a_shape", "kiwi", "Error converting a_shape to a TensorShape"),
        ("ints", 3, "Expected list for 'ints' argument to 'every_attr' Op, not 3"),
    ],
)
def test_another_type_is_refused(mode, name, value, message):
    with pytest.raises(TypeError, match=message):
        mode(lambda: KINDS.every_attr(**{name: value}))()


def test_a_tensor_attr_takes_no_list(mode):
    with pytest.raises(TypeError, match="Don't know how to convert .* to a TensorPr"):
        mode(lambda: KINDS.tensor_attrs(a_tensor=[1.5]))()


def test_a_tensor_attr_fails_in_eager_execution():
    with pytest.raises(
        tf.errors.UnimplementedError, match="Attr a_tensor has unhandled type 6"
    ):
        KINDS.tensor_attrs()


CONSTRAINED = {
    "fruit": ("orange", "orange", "kiwi", 'allowed values: "apple"|not in: "apple"'),
    "one_of": (tf.bool, "bool", tf.float64, "allowed values: int32, float"),
    "number": (tf.complex64, "complex64", tf.string, "allowed values: float"),
    "numeric": (tf.complex64, "complex64", tf.string, "allowed values: float"),
    "real": (tf.bfloat16, "bfloat16", tf.complex64, "allowed values: float"),
    "quantized": (tf.quint8, "quint8", tf.uint8, "allowed values: qint8"),
    "mixed": (tf.bool, "bool", tf.complex64, "allowed values: float"),
    "count": (2, "2", 1, "at least minimum 2|less than minimum 2"),
    "types": (
        3 * [tf.int32],
        "int32, int32, int32",
        2 * [tf.int32],
        "at least minimum 3|less than minimum 3",
    ),
}


@pytest.mark.parametrize("name", CONSTRAINED)
def test_a_constraint_accepts(mode, name):
    value, text, _, _ = CONSTRAINED[name]
    lines = mode(lambda: KINDS.constrained_attrs(**{name: value}))().numpy().decode()
    assert f"{name}: {text}" in lines.split("\n")


@pytest.mark.parametrize("name", CONSTRAINED)
def test_a_constraint_refuses(mode, name):
    _, _, value, message = CONSTRAINED[name]
    with pytest.raises(REFUSED, match=message):
        mode(lambda: KINDS.constrained_attrs(**{name: value}))()


def test_a_constraint_holds_for_each_element_of_a_list(mode):
    with pytest.raises(REFUSED, match="allowed values: int32, float"):
        mode(lambda: KINDS.constrained_attrs(types=[tf.int32, tf.int32, tf.bool]))()


@pytest.mark.parametrize("name, count", [("number", 19), ("numeric", 19), ("real", 12)])
def test_the_short_forms_stand_for_this_many_types(name, count):
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="not in the list of allowed values"
    ) as raised:
        KINDS.constrained_attrs(**{name: tf.string})
    listed = raised.value.message.splitlines()[0].partition("allowed values: ")[2]
    assert len(listed.split(", ")) == count


STATUSES = {
    1: tf.errors.CancelledError,
    2: tf.errors.UnknownError,
    3: tf.errors.InvalidArgumentError,
    4: tf.errors.DeadlineExceededError,
    5: tf.errors.NotFoundError,
    6: tf.errors.AlreadyExistsError,
    7: tf.errors.PermissionDeniedError,
    8: tf.errors.ResourceExhaustedError,
    9: tf.errors.FailedPreconditionError,
    10: tf.errors.AbortedError,
    11: tf.errors.OutOfRangeError,
    12: tf.errors.UnimplementedError,
    13: tf.errors.InternalError,
    14: tf.errors.UnavailableError,
    15: tf.errors.DataLossError,
    16: tf.errors.UnauthenticatedError,
}


@pytest.mark.parametrize("code", STATUSES)
def test_python_raises_the_status(mode, code):
    graph_of_unavailable = code == 14 and mode(tf.executing_eagerly)() is not True
    expected = tf.errors.InternalError if graph_of_unavailable else STATUSES[code]
    with pytest.raises(tf.errors.OpError, match="said by the kernel") as raised:
        mode(lambda: KINDS.end_with(code=code))()
    assert type(raised.value) is expected


def test_an_ok_status_raises_nothing(mode):
    assert mode(lambda: KINDS.end_with(code=0))().shape == (0,)


def test_an_attr_without_a_default_must_be_given():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'co"):
        KINDS.end_with()


def test_in_python_an_attr_without_a_default_comes_first():
    assert list(inspect.signature(KINDS.end_with).parameters)[:2] == ["code", "message"]


@pytest.mark.parametrize("gain", [0.0, -1.0, float("nan")])
def test_a_float_is_checked_in_the_constructor(mode, gain):
    assert b"gain: 0.5" in mode(lambda: KINDS.attr_recipes(gain=0.5))().numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="gain must be positive"):
        mode(lambda: KINDS.attr_recipes(gain=gain))()


def test_a_default_with_an_unknown_dim_fails_in_a_graph():
    text = KINDS.unknown_dim_default().numpy()
    assert text == b"a_shape: [2,?]\nany_shape: <unknown>"
    default = inspect.signature(KINDS.unknown_dim_default).parameters["a_shape"].default
    assert default == [2, -1]
    with pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
        tf.function(lambda: KINDS.unknown_dim_default(), autograph=False)()


def test_an_unknown_rank_becomes_the_default_in_a_graph():
    def call():
        return KINDS.unknown_dim_default(a_shape=tf.TensorShape(None))

    assert call().numpy().startswith(b"a_shape: <unknown>\n")
    in_graph = tf.function(call, autograph=False)
    assert in_graph().numpy().startswith(b"a_shape: [2,?]\n")


@pytest.mark.parametrize(
    "value, text",
    [
        ([3, None], b"[3,?]"),
        (tf.TensorShape(None), b"<unknown>"),
        (None, b"<unknown>"),
    ],
)
def test_a_default_of_unknown_rank_takes_all(mode, value, text):
    shapes = {"a_shape": [None], "any_shape": value}
    described = mode(lambda: KINDS.unknown_dim_default(**shapes))()
    assert described.numpy() == b"a_shape: [?]\nany_shape: " + text


def test_a_keyword_as_the_name_of_an_input_gets_an_underscore(mode):
    text = mode(lambda: KINDS.own_name(in_=1.0, own_name="orange"))()
    assert text.numpy() == b"own_name: orange"


def test_an_attr_with_the_name_of_the_function_hides_the_error():
    with pytest.raises(tf.errors.InvalidArgumentError, match="allowed values"):
        KINDS.own_name(1.0, "kiwi")
    with pytest.raises(AttributeError, match="no attribute '_tf_fallback_dispatchers'"):
        tf.function(lambda: KINDS.own_name(1.0, "kiwi"), autograph=False)()


def test_eager_instances_are_kept_for_each_value():
    def count(value):
        return int(KINDS.live_instances(value=value))

    before = count(0)
    assert [count(value) for value in (-1, -2, -1, -2)] == [
        before + more for more in (1, 2, 2, 2)
    ]


def test_each_node_of_a_graph_has_its_instance():
    @tf.function(autograph=False)
    def graph():
        first = KINDS.live_instances(value=0)
        with tf.control_dependencies([first]):
            return KINDS.live_instances(value=0)

    before = int(KINDS.live_instances(value=0))
    assert graph() == before + 2


@pytest.fixture(scope="module")
def declaring(tmp_path_factory):
    """A library that declares an op with the attr in $ATTR: a compiler takes seconds for each."""
    folder = tmp_path_factory.mktemp("declaring")
    source, library = folder / "declaring.cc", folder / "declaring.so"
    source.write_text(
        '#include <cstdlib>\n#include "tensorflow/core/framework/op.h"\n'
        'REGISTER_OP("WrongDeclaration").Attr(std::getenv("ATTR"));\n'
    )
    command = ["c++", "-w", *precompiled.flags(), "-shared", source, "-o", library]
    command += tf.sysconfig.get_link_flags()
    subprocess.run(command, check=True)
    return library


@pytest.mark.xdist_group("wrong declarations")
@pytest.mark.parametrize(
    "attr, error, message",
    [
        (
            "a_shape: shape = { dim { size: 2 }",
            tf.errors.InvalidArgumentError,
            "Could not parse default value",
        ),
        ("name: string", SyntaxError, "duplicate argument 'name'"),
    ],
)
def test_a_wrong_declaration_compiles_and_does_not_load(
    declaring, tmp_path, monkeypatch, attr, error, message
):
    library = shutil.copy(declaring, tmp_path)  # of one path there is one library
    monkeypatch.setenv("ATTR", attr)
    with pytest.raises(error, match=message):
        tf.load_op_library(str(library))


@pytest.fixture(scope="module")
def quantile_filter():
    path = HERE / "libsolution_quantile_filter.so"
    return load_op_library(path, "quantile_filter").quantile_filter


@pytest.mark.parametrize("window, quantile", [(1, 0.5), (3, 0), (4, 1), (5, 0.25)])
def test_the_solution_of_the_exercise(mode, quantile_filter, window, quantile):
    signal = np.random.default_rng(0).normal(size=9).astype(np.float32)
    filtered = mode(lambda: quantile_filter(signal, window, quantile))()
    expected = quantile_filter_reference(signal, window, quantile)
    np.testing.assert_array_equal(filtered, expected, strict=True)


@pytest.mark.parametrize("window, quantile, place", [(6, 0.7, 4), (11, 0.45, 5)])
def test_the_solution_takes_the_larger_of_two(quantile_filter, window, quantile, place):
    signal = np.arange(window, dtype=np.float32)
    assert quantile_filter(signal, window, quantile)[window // 2] == place


@pytest.mark.parametrize("quantile", [-0.1, 1.1, float("nan")])
def test_the_solution_refuses_what_is_no_quantile(quantile_filter, quantile):
    message = f"quantile must be at least 0 and at most 1, but is {quantile}"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        quantile_filter(SIGNAL, quantile=quantile)
    with pytest.raises(ValueError, match=message):
        tf.function(quantile_filter)(SIGNAL, quantile=quantile)


@pytest.mark.parametrize("shape", [(), (1, 5)])
def test_the_solution_refuses_another_shape(quantile_filter, shape):
    signal = np.zeros(shape, np.float32)
    match = f"signal must be a vector, but has {describe(shape)}"
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        quantile_filter(signal)
    with pytest.raises(ValueError, match="Shape must be rank 1"):
        tf.function(quantile_filter)(signal)


def test_the_solution_refuses_a_window_longer_than_the_signal(quantile_filter):
    message = "window must be at most the length of signal, 2, but is 3"
    signal = np.zeros(2, np.float32)
    unknown = tf.function(quantile_filter, input_signature=[tf.TensorSpec(None)])
    for call in quantile_filter, unknown:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            call(signal)
    with pytest.raises(ValueError, match=message):
        tf.function(quantile_filter)(signal)


def test_the_solution_tells_subnormal_numbers_apart(mode, quantile_filter):
    signal = np.float32([3e-40, 1e-40, 2e-40])
    expected = quantile_filter_reference(signal, 3, 0.5)
    np.testing.assert_array_equal(mode(quantile_filter)(signal), expected)


def describe(shape):
    return re.escape(f"shape [{','.join(map(str, shape))}]")


def test_an_attr_is_traced_again_and_an_input_is_not():
    by_attr, by_input = tf.function(median_filter), tf.function(tf.roll)
    for number in (1, 3, 5):
        by_attr(tf.constant(SIGNAL), number)
        by_input(tf.constant(SIGNAL), tf.constant(number), 0)
    assert by_attr.experimental_get_tracing_count() == 3
    assert by_input.experimental_get_tracing_count() == 1


def test_a_float_attr_has_32_bits_in_an_op_on_doubles():
    y = tf.nn.leaky_relu(tf.constant(-1.0, tf.float64), alpha=0.1)
    assert y.dtype == tf.float64 and float(y) == float(np.float32(-0.1)) != -0.1
