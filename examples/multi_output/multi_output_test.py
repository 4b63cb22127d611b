"""Tests of Extremes, and of custom gradients: `pytest examples/multi_output`."""

import logging
from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
from multi_output import extremes, extremes_grad
from multi_output_reference import (
    extremes_grad_reference,
    extremes_reference,
)
from stock_extremes import one_hot_gradient, scattered_gradient, stock_extremes

from opcheck.testing import op_test

REFUSED = (tf.errors.InvalidArgumentError, ValueError)


test_extremes_keeps_its_promises = op_test(
    extremes, np.float32([[1, -2, 3], [0, 5, -4]]), reference=extremes_reference
)
test_the_gradient_op_keeps_its_promises = op_test(
    extremes_grad,
    np.float32([3, 4]),
    np.float32([5, 6]),
    np.int64([0, 2]),
    np.int64([1, 0]),
    np.int64(3),
    reference=extremes_grad_reference,
)


def gradient(function, inputs):
    """The gradient by a tape, of a function of one tensor."""
    inputs = tf.convert_to_tensor(inputs)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(inputs)
    return tape.gradient(result, inputs)


def assert_gradient(function, inputs, atol=1e-7):
    analytical, numerical = tf.test.compute_gradient(function, inputs)
    assert any(np.any(a) for a in analytical)
    for a, n in zip(analytical, numerical):
        np.testing.assert_allclose(a, n, atol=atol)


DTYPES = [np.float32, np.float64, np.int32]
SHAPES = [(1,), (7,), (2, 3), (3, 1, 4, 5), (0, 3), (2, 0, 3), (300, 200)]


def numbers(shape, dtype, seed=0):
    return np.array(np.random.default_rng(seed).integers(-9, 9, shape), dtype)


@pytest.mark.parametrize("call", [extremes, tf.function(extremes)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_extremes_equal_the_reference(call, dtype, shape):
    values = numbers(shape, dtype)
    results = call(values)
    assert results._fields == ("minimum", "maximum", "argmin", "argmax")
    for result, expected in zip(results, extremes_reference(values)):
        np.testing.assert_array_equal(result, np.asarray(expected), strict=True)


@pytest.mark.parametrize(
    "row",
    [
        [1, np.nan, -1, np.nan],
        [np.nan, 2],
        [np.inf, -np.inf, np.inf],
        [0.0, -0.0],
        [1e-40, -1e-40, -3e-40, 0.0],
    ],
)
@pytest.mark.parametrize("before", [0, 1, 3, 4, 8, 21])
def test_extremes_of_special_values(row, before):
    """At all places of a vector register, and in what remains of a row."""
    values = np.array([0.5] * before + row, np.float32)
    for result, expected in zip(extremes(values), extremes_reference(values)):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "function, shape, expected",
    [
        (extremes, None, [None] * 4),
        (extremes, [None], [[]] * 4),
        (extremes, [2, None, 3], [[2, None]] * 4),
    ],
)
def test_static_shapes(function, shape, expected):
    spec = tf.TensorSpec(shape, tf.float32)
    traced = tf.function(function, autograph=False).get_concrete_function(spec)
    static = traced.outputs
    assert [
        s.shape.as_list() if s.shape.rank is not None else None for s in static
    ] == expected
    known = [3 if size is None else size for size in shape or []] or (
        [] if shape == [] else [3]
    )
    for result, symbolic in zip(traced(tf.zeros(known)), static):
        assert symbolic.shape.is_compatible_with(result.shape)


@pytest.mark.parametrize("shape", [None, [None, 4], [2, 4]])
def test_static_shape_of_the_gradient(shape):
    traced = tf.function(
        lambda x: gradient(lambda x: extremes(x).maximum, x), autograph=False
    )
    traced = traced.get_concrete_function(tf.TensorSpec(shape, tf.float32))
    assert (
        traced.outputs[0].shape.as_list() == shape
        if shape
        else traced.outputs[0].shape.rank is None
    )
    np.testing.assert_array_equal(
        traced(tf.constant([[1.0, 4, 2, 4], [0, 0, 0, 0]])),
        [[0, 1, 0, 0], [1, 0, 0, 0]],
    )


@pytest.mark.parametrize(
    "function, shape, message",
    [
        (extremes, [], "at least one dimension|at least rank 1"),
        (
            extremes,
            [2, 0],
            r"last dimension of values must not be empty, got (shape )?\[2,0\]",
        ),
    ],
)
def test_bad_values_are_refused(mode, function, shape, message):
    with pytest.raises(REFUSED, match=message):
        mode(function)(tf.zeros(shape))


def test_the_kernel_refuses_what_tracing_could_not_see():
    traced = tf.function(extremes, autograph=False).get_concrete_function(
        tf.TensorSpec(None, tf.float32)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="must not be empty"):
        traced(tf.zeros([2, 0]))


def test_other_dtypes_are_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="allowed values: float"
    ):
        mode(extremes)(tf.constant([1], tf.int8))


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"maximum_grad": [1.0, 2, 3]},
            r"maximum_grad must have the shape of minimum_grad, \[2\], got \[3\]|must be equal",
        ),
        (
            {"argmax": [[1, 1]]},
            r"argmax must have the shape of minimum_grad, \[2\], got \[1,2\]|Shapes must be equal rank",
        ),
        (
            {"columns": [4]},
            r"columns must be a scalar, got shape \[1\]|Input must be scalar but has rank 1",
        ),
        ({"columns": -4}, "-4"),
        ({"argmin": [0, 4]}, r"argmin and argmax must be in \[0, 4\), got 4"),
        ({"argmax": [-1, 0]}, r"argmin and argmax must be in \[0, 4\), got -1"),
        ({"columns": 2**62}, "overflow|too large|Encountered|OOM"),
    ],
)
def test_the_gradient_op_refuses_what_does_not_fit(mode, change, message):
    good = {
        "minimum_grad": [1.0, 2],
        "maximum_grad": [3.0, 4],
        "argmin": [0, 1],
        "argmax": [3, 1],
        "columns": 4,
    }
    np.testing.assert_array_equal(
        mode(extremes_grad)(**good), [[1, 0, 0, 3], [0, 6, 0, 0]]
    )
    with pytest.raises((*REFUSED, tf.errors.ResourceExhaustedError), match=message):
        mode(extremes_grad)(**good | change)


@pytest.mark.parametrize("changed", ["maximum_grad", "argmin", "argmax"])
def test_the_shape_function_of_the_gradient_op_wants_one_shape(changed):
    specs = {name: tf.TensorSpec([2]) for name in ("minimum_grad", "maximum_grad")}
    specs |= {name: tf.TensorSpec([2], tf.int64) for name in ("argmin", "argmax")}
    specs["columns"] = tf.TensorSpec([], tf.int64)
    specs[changed] = tf.TensorSpec([3], specs[changed].dtype)
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal"):
        tf.function(extremes_grad, autograph=False).get_concrete_function(**specs)


@pytest.mark.parametrize("shape", [(4,), (2, 1, 3)])
def test_three_orders_of_gradients_of_extremes(mode, shape):
    values = np.random.default_rng(0).normal(size=shape)
    loss = mode(lambda x: extremes(x).minimum * extremes(x).maximum ** 2)
    first = mode(lambda x: gradient(loss, x))
    second = mode(lambda x: gradient(first, x))
    for function in (loss, first, second):
        assert_gradient(function, [values], 2e-6)


def test_gradient_of_the_gradient_op(mode):
    argmin, argmax = [[1, 0], [2, 2]], [[0, 0], [1, 2]]
    random = np.random.default_rng(0)
    grads = [random.normal(size=(2, 2)) for _ in range(2)]
    scatter = mode(lambda low, high: extremes_grad(low, high, argmin, argmax, 3))
    assert_gradient(scatter, grads)
    assert_gradient(lambda low, high: scatter(low, high) ** 3, grads, 1e-5)


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
@pytest.mark.parametrize("columns", [0, 3])
def test_gradient_of_the_gradient_op_without_rows(mode, shape, columns):
    """A reshape to [-1, columns] cannot find out the number of rows if there are no columns."""
    none = tf.zeros(shape, tf.int64)
    scatter = mode(
        lambda x: gradient(lambda x: extremes_grad(x, x, none, none, columns), x)
    )
    assert scatter(tf.zeros(shape)).shape == shape


def test_tf_one_hot_would_have_no_second_derivative():
    one_hot = lambda value: tf.one_hot(0, 3, on_value=value, off_value=0.0)  # noqa: E731
    assert gradient(one_hot, 2.0) is None


def test_integers_have_no_gradient():
    assert gradient(lambda x: extremes(x).maximum, [1, 2, 3]) is None
    argmax = lambda x: tf.cast(extremes(x).argmax, tf.float32)  # noqa: E731
    assert gradient(argmax, [1.0, 2, 3]) is None


def test_two_outputs_of_equal_origin_add_their_gradients(mode):
    grad = mode(
        lambda x: gradient(
            lambda x: 2 * extremes(x).minimum + 3 * extremes(x).maximum, x
        )
    )(tf.constant([[5.0, 5]]))
    np.testing.assert_array_equal(grad, [[5, 0]])


def graph_gradient(function):
    """tf.gradients in a graph: what a tape around a tf.function ends in."""
    return tf.function(lambda x: tf.gradients(function(x), x)[0], autograph=False)


def test_an_unused_float_output_brings_zeros(mode, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "multi_output.extremes_grad",
        lambda **inputs: calls.append(inputs) or extremes_grad(**inputs),
    )
    mode(lambda x: gradient(lambda x: extremes(x).maximum, x))(tf.constant([[1.0, 2]]))
    graph_gradient(lambda x: extremes(x).maximum)(tf.constant([[1.0, 2]]))
    assert len(calls) == 2
    for call in calls:
        assert call["minimum_grad"].dtype == tf.float32
        assert call["minimum_grad"].shape == [1]
    np.testing.assert_array_equal(
        graph_gradient(lambda x: extremes(x).maximum)(tf.constant([[1.0, 2]])), [[0, 1]]
    )


def jacobian(function, inputs, **options):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(inputs)
        result = function(inputs)
    return tape.jacobian(result, inputs, **options)


def op_types(function, inputs):
    traced = tf.function(function, autograph=False).get_concrete_function(inputs)
    return {op.type for op in traced.graph.get_operations()}


def test_vectorization_without_a_rule_is_a_loop(caplog):
    matrices = tf.constant(np.random.default_rng(0).normal(size=(4, 2, 3)))

    def both(matrix):
        return extremes(matrix).minimum * extremes(matrix).maximum

    def mapped(matrices, **options):
        return tf.vectorized_map(
            lambda matrix: gradient(both, matrix), matrices, **options
        )

    def check():
        np.testing.assert_array_equal(mapped(matrices), gradient(both, matrices))
        by_loop = jacobian(both, matrices[0], experimental_use_pfor=False)
        np.testing.assert_array_equal(jacobian(both, matrices[0]), by_loop)
        assert np.any(by_loop)

    with pytest.raises(ValueError, match="No pfor vectorization defined for Extremes"):
        mapped(matrices, fallback_to_while_loop=False)
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        check()
    assert "Using a while_loop for converting Extremes" in caplog.text
    assert "StatelessWhile" in op_types(lambda x: jacobian(both, x), matrices[0])


def test_gradient_of_gathered_outputs(mode):
    """It arrives as IndexedSlices, and an op converts these."""

    def loss(x):
        return tf.gather(extremes(x).maximum, [0, 2, 2])

    values = tf.constant(np.random.default_rng(0).normal(size=(3, 4)))
    expected = gradient(lambda x: extremes(x).maximum * [1.0, 0, 2], values)
    np.testing.assert_array_equal(mode(lambda x: gradient(loss, x))(values), expected)


def test_the_first_gradient_is_that_of_the_second_op():
    script = Path(__file__).with_name("first_gradient.py")
    code = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"
    run = forked.run(code, script)
    assert run.stdout.split() == "[[0. 3. 1. 0.] [0. 2. 0. 4.]]".split(), run.stderr


def test_the_first_gradient_keeps_an_infinite_one_where_it_belongs():
    script = Path(__file__).with_name("first_gradient.py")
    code = """
import runpy, sys, tensorflow as tf
extremes = runpy.run_path(sys.argv[1])["library"].extremes
values = tf.constant([[0.0, 3, 1]])
with tf.GradientTape() as tape:
    tape.watch(values)
    loss = tf.sqrt(extremes(values).minimum)
print(tape.gradient(loss, values).numpy())
"""
    run = forked.run(code, script)
    assert run.stdout.split() == "[[inf 0. 0.]]".split(), run.stderr


def test_the_solution_of_the_exercise(mode):
    from solution_extremes_along import extremes_along

    values = np.random.default_rng(0).normal(size=(2, 3, 4))
    for axis in (-3, -2, -1, 0, 1, 2):
        along = mode(lambda x, axis=axis: extremes_along(x, axis))
        expected = extremes_reference(np.moveaxis(values, axis, -1))
        for result, one in zip(along(tf.constant(values)), expected):
            np.testing.assert_array_equal(result, one)
        assert_gradient(lambda x, along=along: along(x).maximum ** 2, [values], 1e-5)
    for axis in (-4, 3):
        with pytest.raises(ValueError, match=rf"axis must be in \[-3, 3\), got {axis}"):
            mode(lambda x, axis=axis: extremes_along(x, axis))(tf.constant(values))


def test_stock_extremes_equal_ours(mode):
    values = tf.constant(numbers((5, 2, 7), np.float32))
    for ours, stock in zip(extremes(values), mode(stock_extremes)(values)):
        np.testing.assert_array_equal(ours, stock)


def test_xla_takes_the_gradient_alone():
    argmin, argmax = np.int64([0]), np.int64([2])
    compiled = tf.function(one_hot_gradient, jit_compile=True)
    grads = np.float32([3]), np.float32([4])
    np.testing.assert_array_equal(compiled(*grads, argmin, argmax, 3), [[3, 0, 4]])
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="No registered 'Extremes' OpKernel for XLA",
    ):
        tf.function(extremes, jit_compile=True)(tf.constant([1.0, 2.0]))


@pytest.mark.parametrize("stock", [one_hot_gradient, scattered_gradient])
@pytest.mark.parametrize("shape", [(2,), (3, 4), (0,), ()])
def test_stock_gradients_equal_ours(mode, stock, shape):
    grads = numbers((2, *shape), np.float32)
    indices = np.random.default_rng(0).integers(0, 3, (2, *shape))
    inputs = *map(tf.constant, (*grads, *indices)), tf.constant(3, tf.int64)
    expected = extremes_grad_reference(*grads, *indices, 3)
    np.testing.assert_array_equal(mode(stock)(*inputs), expected)
