"""Tests of PreserveIndex and of what TensorFlow makes of attrs: `pytest examples/attrs`."""

import inspect
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from attrs_reference import DEFAULTS, preserve_index_reference
from op_library import load_op_library
from preserve_index import preserve_index

from opcheck.testing import op_test

HERE = Path(__file__).parent
KINDS = load_op_library(
    HERE / "libevery_attr.so",
    "every_attr",
    "constrained_attrs",
    "end_with",
    "own_name",
    "live_instances",
)
GENERATED = load_op_library(HERE / "libattrs.so", "preserve_index").preserve_index
REFUSED = (tf.errors.InvalidArgumentError, TypeError, ValueError)


test_preserve_index_keeps_its_promises = op_test(
    preserve_index,
    np.float32([[3, 4], [5, 6]]),
    index=2,
    reference=preserve_index_reference,
)


@pytest.mark.parametrize(
    "shape, index",
    [((), 0), ((7,), 6), ((2, 3), 0), ((2, 3), 4), ((3, 1, 4, 1, 5), 59)],
)
def test_equals_the_reference(shape, index):
    to_zero = np.random.default_rng(0).normal(size=shape)
    zeroed = preserve_index(to_zero, index)
    np.testing.assert_array_equal(
        zeroed, preserve_index_reference(np.asarray(to_zero), index), strict=True
    )


def test_the_index_is_zero_unless_said(mode):
    np.testing.assert_array_equal(mode(preserve_index)([5.0, 4.0]), [5, 0])


def test_two_nodes_of_one_graph_keep_their_own_index():
    both = tf.function(lambda x: (preserve_index(x, 0), preserve_index(x, 1)))
    np.testing.assert_array_equal(both(tf.constant([5.0, 4.0])), [[5, 0], [0, 4]])


@pytest.mark.parametrize("index", [-1, -(2**40)])
def test_a_negative_index_is_refused(mode, index):
    error = (tf.errors.InvalidArgumentError, ValueError)
    with pytest.raises(error, match=f"index must be at least 0, but is {index}"):
        mode(preserve_index)([5.0, 4.0], index)


def test_a_negative_index_is_refused_where_the_shape_is_unknown():
    function = tf.function(lambda x: preserve_index(x, -1), autograph=False)
    with pytest.raises(ValueError, match="index must be at least 0, but is -1"):
        function.get_concrete_function(tf.TensorSpec(None, tf.float32))


@pytest.mark.parametrize(
    "shape, index", [((), 1), ((2, 3), 6), ((0,), 0), ((3,), 2**40)]
)
def test_an_index_beyond_the_end_is_refused(mode, shape, index):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError),
        match=f"less than the size of to_zero, {np.prod(shape):.0f}, but is {index}",
    ):
        mode(preserve_index)(np.zeros(shape, np.float32), index)


def test_an_index_beyond_the_end_of_an_unknown_shape_is_refused_when_run():
    function = tf.function(lambda x: preserve_index(x, 3), autograph=False)
    traced = function.get_concrete_function(tf.TensorSpec(None, tf.float32))
    np.testing.assert_array_equal(traced(tf.fill([4], 1.0)), [0, 0, 0, 1])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="size of to_zero, 3, but is 3"
    ):
        traced(tf.fill([3], 1.0))


def test_a_refused_index_leaves_the_next_call_alone():
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="but is -1"):
            preserve_index([5.0, 4.0], -1)
        np.testing.assert_array_equal(preserve_index([5.0, 4.0], 1), [0, 4])


@pytest.mark.parametrize("index", [1.5, "1", None])
def test_an_index_that_is_no_integer_is_refused(mode, index):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        mode(preserve_index)([5.0, 4.0], index)


def test_a_tensor_is_no_index_in_a_graph():
    traced = tf.function(preserve_index, autograph=False)
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        traced([5.0, 4.0], tf.constant(1))
    traced = tf.function(lambda i: GENERATED([5.0, 4.0], i), autograph=False)
    with pytest.raises(TypeError, match="Expected int for argument 'index' not <tf.T"):
        traced(tf.constant(1))


def test_the_generated_function_truncates(mode):
    zeroed = mode(lambda: GENERATED([5.0, 4.0, 3.0], index=1.9))()
    np.testing.assert_array_equal(zeroed, [0, 4, 0])


def every_attr(**attrs):
    """The text of each attr, from a graph, as a dictionary."""
    text = tf.function(lambda: KINDS.every_attr(**attrs), autograph=False)()
    return dict(line.split(": ", 1) for line in text.numpy().decode().split("\n"))


def test_every_default_reaches_the_kernel():
    assert every_attr() == DEFAULTS
    assert list(inspect.signature(KINDS.every_attr).parameters) == [*DEFAULTS, "name"]


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
        ("a_tensor", [1.5], "Don't know how to convert .* to a TensorProto"),
        ("ints", 3, "Expected list for 'ints' argument to 'every_attr' Op, not 3"),
    ],
)
def test_another_type_is_refused(mode, name, value, message):
    with pytest.raises(TypeError, match=message):
        mode(lambda: KINDS.every_attr(**{name: value}))()


def test_a_tensor_attr_fails_in_eager_execution():
    with pytest.raises(
        tf.errors.UnimplementedError, match="Attr a_tensor has unhandled type 6"
    ):
        KINDS.every_attr()


CONSTRAINED = {
    "fruit": ("orange", "orange", "kiwi", 'allowed values: "apple"|not in: "apple"'),
    "one_of": (tf.bool, "bool", tf.float64, "allowed values: int32, float"),
    "number": (tf.complex64, "complex64", tf.string, "allowed values: float"),
    "real": (tf.bfloat16, "bfloat16", tf.complex64, "allowed values: float"),
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


@pytest.mark.parametrize("name, count", [("number", 19), ("real", 12)])
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


def test_a_keyword_as_the_name_of_an_attr_does_not_load():
    with pytest.raises(SyntaxError, match="invalid syntax") as raised:
        tf.load_op_library(str(HERE / "libwrong_attr_name.so"))
    assert '"lambda", lambda)' in raised.value.text


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
def test_a_wrong_declaration_compiles_and_does_not_load(tmp_path, attr, error, message):
    source, library = tmp_path / "wrong.cc", tmp_path / "wrong.so"
    source.write_text(
        '#include "tensorflow/core/framework/op.h"\n'
        f'REGISTER_OP("WrongDeclaration").Attr("{attr}");\n'
    )
    command = ["c++", "-w", "-shared", "-fPIC", source, "-o", library]
    command += tf.sysconfig.get_compile_flags() + tf.sysconfig.get_link_flags()
    subprocess.run(command, check=True)
    with pytest.raises(error, match=message):
        tf.load_op_library(str(library))


@pytest.mark.skipif(tf.__version__ < "2.20", reason="not deprecated before")
def test_the_old_check_is_deprecated():
    flags = [
        flag.replace("-I", "-isystem") for flag in tf.sysconfig.get_compile_flags()
    ]
    run = subprocess.run(
        ["c++", *flags, "-DNDEBUG", "-fsyntax-only", HERE / "wrong_old_check.cc"],
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
        check=True,
    )
    assert "deprecated: Use absl::InvalidArgumentError() instead" in run.stderr


@pytest.fixture(scope="module")
def keep_at():
    return load_op_library(HERE / "libsolution_keep_at.so", "keep_at").keep_at


@pytest.mark.parametrize("shape, index", [((), 0), ((4,), 3), ((2, 3), 4)])
def test_the_solution_of_the_exercise(mode, keep_at, shape, index):
    to_zero = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    zeroed = mode(keep_at)(to_zero, tf.constant(index, tf.int64))
    np.testing.assert_array_equal(
        zeroed, preserve_index_reference(np.asarray(to_zero), index), strict=True
    )


@pytest.mark.parametrize("shape, index", [((2,), -1), ((2,), 2), ((0,), 0)])
def test_the_solution_refuses_an_index_outside(mode, keep_at, shape, index):
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=rf"size of to_zero, {shape[0]}, but is {index}",
    ):
        mode(keep_at)(tf.zeros(shape), tf.constant(index, tf.int64))


def test_the_solution_refuses_an_index_that_is_no_scalar(mode, keep_at):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError),
        match=r"index must be a scalar, but has shape \[1\]|must be rank 0 but is rank 1",
    ):
        mode(keep_at)(tf.zeros([2]), tf.constant([1], tf.int64))


@pytest.mark.parametrize("shape", [None, [2, None], [2, 3]])
def test_the_solution_s_static_shape(keep_at, shape):
    traced = tf.function(keep_at, autograph=False).get_concrete_function(
        tf.TensorSpec(shape, tf.float32), tf.TensorSpec(None, tf.int64)
    )
    assert traced.output_shapes == tf.TensorShape(shape)


def test_an_input_can_change_without_a_new_trace(keep_at):
    by_attr = tf.function(preserve_index, autograph=False)
    by_input = tf.function(keep_at, autograph=False)
    for index in range(3):
        by_attr([5.0, 4.0, 3.0], index)
        by_input(tf.constant([5.0, 4.0, 3.0]), tf.constant(index, tf.int64))
    assert by_attr.experimental_get_tracing_count() == 3
    assert by_input.experimental_get_tracing_count() == 1
