"""Tests of the C++ gradients: `pytest examples/cc_gradients`."""

import ctypes
import functools
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from unittest import mock

import forked
import numpy as np
import pytest
import tensorflow as tf
from cc_gradients import (
    cpp_gradient,
    cyclic_encoding,
    round_to_step,
    squared_relu,
)
from cc_gradients_reference import (
    cyclic_encoding_reference,
    round_through_reference,
    round_to_step_reference,
    squared_relu_reference,
)
from gradient_registries import (
    described_gradient,
    registries,
    saved_graph,
    tried,
    wrapped_gradient,
)
from gradient_registries import imported_gradient as imported_graph_gradient
from op_library import load_op_library
from tensorflow.python.framework import function

from opcheck import tolerance
from opcheck.testing import op_test

HERE = Path(__file__).parent
DTYPES = [np.float32, np.float64]
REFUSED = (tf.errors.InvalidArgumentError, ValueError)


def values(*shape, dtype=np.float64):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


test_squared_relu_keeps_its_promises = op_test(
    squared_relu, values(2, 3), reference=squared_relu_reference
)
test_cyclic_encoding_keeps_its_promises = op_test(
    cyclic_encoding,
    100 * values(2, 3),
    period=7.0,
    reference=cyclic_encoding_reference,
)
test_round_to_step_keeps_its_promises = op_test(
    round_to_step,
    10 * values(2, 3),
    step=0.5,
    reference=round_to_step_reference,
)


def test_cyclic_encoding_is_exact_after_many_periods():
    near, far = tf.constant([5.0], tf.float64), tf.constant([5 + 7e12], tf.float64)
    np.testing.assert_array_equal(cyclic_encoding(far, 7.0), cyclic_encoding(near, 7.0))


def test_round_to_step_takes_halfway_cases_to_even_multiples():
    np.testing.assert_array_equal(round_to_step([0.5, 1.5, -2.5]), [0.0, 2.0, -2.0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_to_step_keeps_what_is_too_large_for_the_step(dtype):
    largest = np.finfo(dtype).max
    x = np.array([largest, -largest, np.inf, np.nan, 1], dtype)
    rounded = round_to_step(x, 2.0**-10)
    np.testing.assert_array_equal(rounded, x)
    assert rounded.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [0.3, 0.7, 3.0, 1.2083020210266113])
def test_round_to_step_finds_the_nearest_multiple_of_large_numbers(dtype, step):
    largest = np.finfo(dtype).max
    x = np.float32(2) ** np.arange(1, 24, 0.25, np.float32) * 1.2345
    x = np.append(x, [2501019.5, 5386506.0, largest, -largest]).astype(dtype)
    exact = Fraction(np.float32(step).item())
    expected = [float(round(Fraction(each.item()) / exact) * exact) for each in x]
    np.testing.assert_array_equal(round_to_step(x, step), np.array(expected, dtype))


def test_a_period_and_a_step_may_be_subnormal(mode):
    x = np.float32([1e-40, 2.6e-40, -1e-38, 1.0])
    rounded = mode(lambda x: round_to_step(x, 1e-40))(x)
    np.testing.assert_array_equal(rounded, round_to_step_reference(x, 1e-40))
    found = mode(lambda x: cyclic_encoding(x, 1e-38))(x)
    for ours, expected in zip(found, cyclic_encoding_reference(x, 1e-38)):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [None, [None], [2, None], [2, 3], []])
def test_static_shapes_of_the_elementwise_ops(shape):
    def all_of_them(x):
        return squared_relu(x), *cyclic_encoding(x, 1.0), round_to_step(x)

    traced = tf.function(all_of_them).get_concrete_function(
        tf.TensorSpec(shape, tf.float32)
    )
    assert [str(output.shape) for output in traced.outputs] == 4 * [
        str(tf.TensorShape(shape))
    ]


@pytest.mark.parametrize("number", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize(
    "op, attr", [(cyclic_encoding, "period"), (round_to_step, "step")]
)
def test_a_period_or_step_that_is_not_above_0_is_refused(mode, op, attr, number):
    message = f"{attr} must be finite and greater than 0, got"
    with pytest.raises(REFUSED, match=message):
        mode(lambda x: op(x, number))(tf.constant([1.0]))


@pytest.mark.parametrize("op", [squared_relu, round_to_step])
def test_other_dtypes_are_refused(mode, op):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError),
        match="allowed values: float",
    ):
        mode(op)(tf.constant([1]))


def assert_gradient_is_right(function, inputs):
    analytical, numerical = tf.test.compute_gradient(function, inputs)
    assert all(np.any(gradient) for gradient in numerical)
    for left, right in zip(analytical, numerical):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)


def by_cpp_gradient(function):
    """The same function, differentiated by cpp_gradient and nothing else."""

    @tf.custom_gradient
    def wrapped(*inputs):
        return function(*inputs), lambda *dys: cpp_gradient(function, inputs, dys)

    return wrapped


FUNCTIONS = {
    "squared_relu": squared_relu,
    "sine": lambda x: cyclic_encoding(x, 7.0).sine,
    "cosine": lambda x: cyclic_encoding(x, 7.0).cosine,
    "product": lambda x: tf.multiply(*cyclic_encoding(x, 7.0)),
}
functions = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


@functions
def test_gradient_through_the_bridge(mode, function):
    assert_gradient_is_right(mode(function), [values(2, 3)])


@functions
def test_gradient_by_cpp_gradient_alone(function):
    x = tf.constant([-1.5, 0.3, 2.0], tf.float64)
    ours, differences = tf.test.compute_gradient(by_cpp_gradient(function), [x])
    np.testing.assert_allclose(ours, differences, rtol=1e-5, atol=1e-6)


def test_gradient_of_a_composition_with_tensorflow_s_ops():
    def composition(a, b):
        # From 2.22 on, tf.tanh of float64 adds an IdentityN, which has no gradient in C++.
        return tf.raw_ops.Tanh(x=squared_relu(tf.matmul(a, b)))

    function = by_cpp_gradient(composition)
    assert_gradient_is_right(function, [values(2, 3), values(3, 4) + 1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_outputs_bring_their_gradient(mode, dtype):
    x, dsine, dcosine = values(3, 5, dtype=dtype)
    (dx,) = mode(
        lambda *dys: cpp_gradient(lambda x: cyclic_encoding(x, 7.0), [x], dys)
    )(dsine, dcosine)
    angle = 2 * np.pi * x / 7
    expected = 2 * np.pi / 7 * (dsine * np.cos(angle) - dcosine * np.sin(angle))
    assert dx.dtype == dtype
    np.testing.assert_allclose(dx, expected, *tolerance(x.dtype))


ENDLESS = [np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dy", ENDLESS)
def test_a_flat_part_gets_zero_whatever_comes_in(mode, dy, dtype):
    """As tf.where does it in Python: 0 * inf would be NaN."""

    @tf.custom_gradient
    def in_python(x):
        return tf.square(tf.nn.relu(x)), lambda dy: tf.where(x > 0, 2 * x * dy, 0)

    x = tf.constant([-np.inf, -2, -0.0, 0, 0.5, np.inf], dtype)
    dys = tf.fill(x.shape, tf.constant(dy, dtype))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = in_python(x)
    (dx,) = mode(lambda x: cpp_gradient(squared_relu, [x], [dys]))(x)
    np.testing.assert_array_equal(dx, tape.gradient(y, x, dys))
    np.testing.assert_array_equal(dx[:4], np.zeros(4))


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3)])
def test_gradient_of_an_empty_tensor(mode, shape):
    (dx,) = mode(lambda x: cpp_gradient(squared_relu, [x], [x]))(tf.zeros(shape))
    assert dx.shape == shape


def test_gradient_has_the_static_shape_of_the_input():
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def gradient(x):
        (dx,) = cpp_gradient(squared_relu, [x], [x])
        assert dx.shape.as_list() == [None, 3]
        return dx

    np.testing.assert_array_equal(gradient(tf.ones([2, 3])), np.full([2, 3], 2.0))


def test_registered_as_without_gradient_gives_zeros(mode):
    x = tf.constant([0.4, 1.7])
    (dx,) = mode(lambda x: cpp_gradient(round_to_step, [x], [tf.ones(2)]))(x)
    np.testing.assert_array_equal(dx, [0.0, 0.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = round_to_step(x)
    np.testing.assert_array_equal(tape.gradient(y, x), [0.0, 0.0])


@pytest.fixture
def no_meta_optimizer():
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    yield
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


def test_a_function_needs_the_passes_that_improve_graphs(no_meta_optimizer):
    with pytest.raises(tf.errors.NotFoundError, match="SymbolicGradient"):
        cpp_gradient(squared_relu, [tf.ones(2)], [tf.ones(2)])


def test_eagerly_symbolic_gradient_fails_though_its_function_is_there():
    x = tf.ones(2)
    forward = tf.function(squared_relu).get_concrete_function(tf.TensorSpec([2]))
    (y,) = tf.raw_ops.PartitionedCall(args=[x], Tout=[x.dtype], f=forward)
    np.testing.assert_array_equal(y, [1.0, 1.0])
    with pytest.raises(tf.errors.NotFoundError, match=r"\}\} SymbolicGradient \[Op:"):
        tf.raw_ops.SymbolicGradient(input=[x, x], Tout=[x.dtype], f=forward)


def saved(step):
    """A graph that calls a function, as a file would hold it."""
    step = tf.function(step, autograph=False)
    specs = [tf.TensorSpec([None])]
    model = tf.function(lambda x: 10 * step(x), autograph=False, input_signature=specs)
    return model.get_concrete_function().graph.as_graph_def()


def imported_gradient(graph_def, x, *options):
    """The gradient of what is called Identity in an imported graph, and the types of its ops."""
    config = tf.compat.v1.ConfigProto()
    for option in options:
        setattr(config.graph_options.rewrite_options, option, True)
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(config=config) as run:
        x = tf.constant(x)
        [y] = tf.import_graph_def(graph_def, {"x": x}, ["Identity:0"])
        gradients = tf.gradients(y, x)
        return run.run(gradients)[0], {op.type for op in graph.get_operations()}


@pytest.mark.parametrize("options", [(), ("disable_meta_optimizer",)])
def test_an_imported_graph_asks_cpp(options):
    graph_def = saved(squared_relu)
    dx, types = imported_gradient(graph_def, [-1.0, 1.0, 2.0], *options)
    np.testing.assert_array_equal(dx, [0.0, 20.0, 40.0])
    assert "SymbolicGradient" in types


def test_a_function_in_a_function_needs_the_passes_that_improve_graphs():
    inner = tf.function(squared_relu, autograph=False)
    graph_def = saved(lambda x: inner(x))
    dx, _ = imported_gradient(graph_def, [-1.0, 1.0, 2.0])
    np.testing.assert_array_equal(dx, [0.0, 20.0, 40.0])
    with pytest.raises(tf.errors.NotFoundError, match="for op: PartitionedCall"):
        imported_gradient(graph_def, [1.0], "disable_meta_optimizer")


def test_a_saved_model_in_a_session_asks_cpp(tmp_path):
    keras = tf.keras.Sequential(
        [
            tf.keras.Input([3]),
            tf.keras.layers.Dense(2),
            tf.keras.layers.Lambda(squared_relu),
        ]
    )
    keras.export(tmp_path, verbose=False)
    x = values(4, 3, dtype=np.float32)
    with tf.GradientTape() as tape:
        tape.watch(inputs := tf.constant(x))
        outputs = keras(inputs)
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        loaded = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path))
        signature = loaded.signature_def["serving_default"]
        [start], [end] = (
            [graph.get_tensor_by_name(tensor.name) for tensor in tensors.values()]
            for tensors in (signature.inputs, signature.outputs)
        )
        dx = session.run(tf.gradients(end, start)[0], {start: x})
    np.testing.assert_allclose(dx, tape.gradient(outputs, inputs), rtol=1e-5)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: tf.while_loop(lambda y: False, lambda y: 2 * y, [x])[0],
        tf.nn.silu,  # a tf.custom_gradient
        lambda x: tf.function(tf.tanh)(x),
        lambda x: x * tf.random.stateless_uniform([4], [1, 0]),
        lambda x: x * tf.one_hot(1, 4),
    ],
)
def test_in_wrap_function_more_fails_than_in_a_session(f):
    x = values(3, 4, dtype=np.float32)
    assert not tried(f, x).startswith("none for")
    with pytest.raises(tf.errors.NotFoundError, match="SymbolicGradient"):
        wrapped_gradient(f, x)
    wrapped_gradient(tf.tanh, x)


@pytest.mark.parametrize(
    "f",
    [lambda x: tf.add_n([x, x, x]), lambda x: tf.raw_ops.IdentityN(input=[x, x])[0]],
)
def test_a_session_may_remove_an_op_without_a_gradient(f):
    x = values(3, 4, dtype=np.float32)
    assert tried(f, x) == "as in Python"
    assert tried(f, x, wrapped_gradient) == "SymbolicGradient"
    assert tried(tf.tanh, x, wrapped_gradient) == "as in Python"


@pytest.mark.parametrize("gradient", [imported_graph_gradient, wrapped_gradient])
@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_mean])
def test_a_sum_needs_an_axis_that_is_not_negative(gradient, reduce):
    x = values(3, 4, dtype=np.float32)
    assert tried(lambda x: reduce(x, axis=1), x, gradient) == "as in Python"
    said = tried(lambda x: reduce(x, axis=-1), x, gradient)
    assert said == "indices[0] is out of range"


def test_a_loaded_model_of_tensorflow_2_asks_python(tmp_path):
    def f(x):
        return tf.reduce_sum(tf.nn.elu(x), axis=-1)

    x = values(3, 4, dtype=np.float32)
    assert tried(f, x) != "as in Python"
    module = tf.Module()
    module.f = tf.function(f, input_signature=[tf.TensorSpec([None, 4])])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    slopes = []
    for each in (f, loaded.f):
        with tf.GradientTape() as tape:
            tape.watch(start := tf.constant(x))
            end = each(start)
        slopes.append(tape.gradient(end, start))
    np.testing.assert_allclose(*slopes, rtol=1e-6)


def test_a_model_of_tensorflow_1_asks_cpp(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None])
        y = tf.identity(tf.function(tf.nn.leaky_relu)(x))
        folder = str(tmp_path / "model")
        tf.compat.v1.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
    loaded = tf.saved_model.load(folder).signatures["serving_default"]
    with tf.GradientTape() as tape:
        tape.watch(x := tf.constant([-1.0, 2.0]))
        y = loaded(x=x)["y"]
    with pytest.raises(tf.errors.NotFoundError, match="SymbolicGradient"):
        tape.gradient(y, x)


def test_the_bridge_keeps_what_it_has_traced():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x := tf.constant(x))
            y = squared_relu(x)
        return tape.gradient(y, x).numpy().tolist()

    with mock.patch("cc_gradients.cpp_gradient", side_effect=cpp_gradient) as traced:
        assert gradient([1.0, 2.0, 3.0, 4.0, 5.0]) == [2.0, 4.0, 6.0, 8.0, 10.0]
        assert gradient([5.0, 4.0, 3.0, 2.0, 1.0]) == [10.0, 8.0, 6.0, 4.0, 2.0]
    assert traced.call_count == 1


def test_registries():
    found = registries()
    assert found["Tanh"] == ("gradient", "gradient", "gradient")
    assert found["Shape"] == ("none", "none", "none")
    assert found["Erf"] == ("gradient", "", "gradient")
    assert found["PartitionedCall"] == ("", "", "gradient")
    assert found["SquaredRelu"] == ("gradient", "gradient", "")
    assert found["RoundToStep"] == ("gradient", "none", "")
    assert {answer for answers in found.values() for answer in answers} == {
        *("gradient", "none", "")
    }


def test_registries_name_the_ops_of_a_library_that_is_loaded_later():
    code = """
import sys
import tensorflow as tf
from gradient_registries import registries
print("GradientForgotten" in registries())
tf.load_op_library(sys.argv[1])
print("GradientForgotten" in registries())
"""
    run = forked.run(code, HERE / "libwrong_gradients.so")
    assert run.stdout == "False\nTrue\n", run.stderr


def test_gradient_function_of_an_op():
    found = described_gradient(lambda x: cyclic_encoding(x, 7.0), [1.0])
    assert [arg.name for arg in found.signature.input_arg] == ["x", "dsine", "dcosine"]
    [speed] = (node for node in found.node_def if node.name == "speed")
    assert tf.make_ndarray(speed.attr["value"].tensor) == np.float32(2 * np.pi / 7)


@pytest.mark.parametrize(
    "node, message",
    [
        (["a", "b"], r"NodeDef, got shape \[2\]|must be rank 0"),
        ([], r"NodeDef, got shape \[0\]|must be rank 0"),
        ("no NodeDef", "NodeDef, got 10 bytes that do not parse"),
    ],
)
def test_gradient_function_takes_one_node(mode, node, message):
    library = load_op_library(HERE / "libgradient_registries.so", "gradient_function")
    with pytest.raises(REFUSED, match=message):
        mode(library.gradient_function)(tf.constant(node, tf.string))


def test_tensorflow_s_gradient_of_a_convolution_forgets_dilations():
    x, w = tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1])
    found = described_gradient(
        lambda x, w: tf.nn.conv2d(x, w, 1, "SAME", dilations=2), x, w
    )
    assert all("dilations" not in node.attr for node in found.node_def)


def test_the_op_in_its_own_gradient_is_merged_with_the_forward_call():
    graph_def = saved(lambda x: cyclic_encoding(x, 24.0).sine)
    options = tf.compat.v1.RunOptions(
        trace_level=tf.compat.v1.RunOptions.SOFTWARE_TRACE
    )
    ran = tf.compat.v1.RunMetadata()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None])
        [y] = tf.import_graph_def(graph_def, {"x": x}, ["Identity:0"])
        fetches = [y, tf.gradients(y, x)]
        session.run(fetches, {x: [1.0]}, options=options, run_metadata=ran)
    nodes = [node for device in ran.step_stats.dev_stats for node in device.node_stats]
    assert sum(" = CyclicEncoding(" in node.timeline_label for node in nodes) == 1


def test_there_is_no_second_order():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        outer.watch(x)
        inner.watch(x)
        y = squared_relu(x)
        with pytest.raises(LookupError, match="op type: SymbolicGradient"):
            inner.gradient(y, x)


def test_python_does_not_find_a_gradient_that_only_cpp_has():
    library = load_op_library(HERE / "libsolution_round_through.so", "round_through")
    x = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = library.round_through(x)
    with pytest.raises(LookupError, match="registry has no entry for: RoundThrough"):
        tape.gradient(y, x)


def test_functions_of_tensorflow_1_ask_cpp():
    library = load_op_library(HERE / "libsolution_round_through.so", "round_through")
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        rounded = function.Defun(tf.float32, func_name="Rounded")(
            lambda x: library.round_through(x)
        )
        x = tf.constant([0.6, 9.0])
        (dx,) = tf.gradients(rounded(x), x)
        assert "SymbolicGradient" in [op.type for op in graph.get_operations()]
        np.testing.assert_array_equal(session.run(dx), [1.0, 0.0])


def test_the_solution_of_the_exercise(mode):
    library = load_op_library(HERE / "libsolution_round_through.so", "round_through")
    x = tf.constant([-5.0, -4.0, 0.6, 3.5, 4.1])
    np.testing.assert_array_equal(
        mode(library.round_through)(x), round_through_reference(x)
    )
    (dx,) = mode(lambda x: cpp_gradient(library.round_through, [x], [x + 1]))(x)
    np.testing.assert_array_equal(dx, (x + 1) * [0.0, 1.0, 1.0, 1.0, 0.0])
    for dy in ENDLESS:
        (dx,) = cpp_gradient(library.round_through, [x], [tf.fill(x.shape, dy)])
        np.testing.assert_array_equal(dx, [0.0, dy, dy, dy, 0.0])


def test_the_gradient_of_a_loop_is_wrong_once_its_op_is_replaced():
    def loop(x):
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), [0, x])[1]

    x = np.float32([1, 2])
    assert tried(loop, x) == "wrong, without an exception"
    graph_def = saved_graph(loop, x)
    for inner in graph_def.library.function:
        for node in inner.node_def:
            node.attr.pop("_lower_using_switch_merge", None)
    with mock.patch("gradient_registries.saved_graph", return_value=graph_def):
        assert tried(loop, x) == "none for `StatelessWhile`"


def test_a_custom_gradient_is_ignored_once_its_op_is_removed(monkeypatch):
    custom = tf.custom_gradient(lambda x: (tf.tanh(x), lambda dy: 7 * dy))
    x = np.float32([1, 2])
    assert tried(custom, x) == "wrong, without an exception"
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_model_pruning = True
    session = functools.partial(tf.compat.v1.Session, config=config)
    monkeypatch.setattr(tf.compat.v1, "Session", session)
    assert tried(custom, x) == "none for `IdentityN`"


@pytest.mark.slow
def test_the_log_names_the_loop_that_has_no_gradient():
    code = (
        "import numpy as np, tensorflow as tf, gradient_registries\n"
        "loop = lambda x: tf.while_loop(lambda y: y[0] < 9, lambda y: (y * x,), [x])[0]\n"
        "print(gradient_registries.tried(loop, np.float32([2, 3])))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ
        | {"TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert ran.stdout == "wrong, without an exception\n"
    assert "No gradient defined for op: StatelessWhile" in ran.stderr


def test_random_numbers_with_a_seed_agree_until_one_is_computed_alone():
    x = np.ones([4], np.float32)
    saved = saved_graph(lambda x: x * tf.random.uniform([4], seed=3), x)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        start = tf.constant(x)
        [end] = tf.import_graph_def(saved, {"x": start}, ["Identity:0"])
        both = [end, tf.gradients(end, start)[0]]
        for _ in range(2):
            np.testing.assert_array_equal(*session.run(both))
        session.run(end)
        assert not np.array_equal(*session.run(both))


@pytest.mark.skipif(
    not list(Path(tf.__file__).parent.glob("libtensorflow_cc.*")),
    reason="this TensorFlow has no libtensorflow_cc",
)
class TestGraphGradients:
    def run(self, library):
        return subprocess.run(
            [HERE / "graph_gradients", library], capture_output=True, text=True
        )

    def test_agrees_with_the_other_gradient(self):
        run = self.run(HERE / "libcc_gradients.so")
        assert run.returncode == 0, run.stderr
        y, dx, dx_of_infinity, ddx = [
            list(map(float, line.split())) for line in run.stdout.splitlines()
        ]
        x = tf.constant([-1.0, 1.0, 2.0])
        (expected,) = cpp_gradient(lambda x: squared_relu(3.0 * x), [x], [tf.ones(3)])
        assert y == [0, 9, 36]
        assert dx == dx_of_infinity == list(expected.numpy())
        assert ddx == [0, 18, 18]

    def test_the_library_exports_sessions_but_not_client_sessions(self):
        (path,) = Path(tf.__file__).parent.glob("libtensorflow_cc.*")
        library = ctypes.CDLL(str(path))
        assert hasattr(library, "_ZN10tensorflow10NewSessionERKNS_14SessionOptionsE")
        client_session = "_ZN10tensorflow13ClientSessionC1ERKNS_5ScopeE"
        assert not hasattr(library, client_session) or tf.__version__ < "2.19"

    def test_fails_without_the_library(self):
        run = self.run(HERE / "libnone.so")
        assert run.returncode == 1
        assert "libnone.so" in run.stderr


@pytest.mark.parametrize("kind", [tf.Variable, tf.constant])
def test_what_f_takes_from_outside_is_refused(kind):
    outside = kind(3.0)
    with pytest.raises(ValueError, match="f must compute with its inputs"):
        cpp_gradient(lambda x: x * outside, [tf.constant(2.0)], [tf.constant(1.0)])
