"""Tests of Frexp, its gradient, and what gradient functions are given: `pytest examples/frexp`."""

import weakref
from types import SimpleNamespace

import frexp as module
import numpy as np
import pytest
import tensorflow as tf
from addresses import addresses
from device_log2 import device_log2
from frexp import frexp
from frexp_copies import library
from frexp_reference import frexp_reference
from tensorflow.python.eager.backprop import _MockOp

from opcheck.testing import op_test

test_frexp_keeps_its_promises = op_test(
    frexp, np.float32([[3, 5], [-0.1, 6]]), reference=frexp_reference
)


def gradient(function, inputs):
    """The gradient by a tape, of a function of one tensor."""
    inputs = tf.convert_to_tensor(inputs)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(inputs)
    return tape.gradient(result, inputs)


def graph_gradient(function):
    """tf.gradients in a graph: what a tape around a tf.function ends in."""
    return tf.function(lambda x: tf.gradients(function(x), x)[0], autograph=False)


def mantissa(values):
    return frexp(values).mantissa


def mantissa_of(name):
    return lambda values: getattr(library, name)(values).mantissa


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_frexp_equals_numpy(mode, dtype, shape):
    values = np.asarray(np.random.default_rng(0).normal(scale=100, size=shape), dtype)
    for result, expected in zip(mode(frexp)(values), frexp_reference(values)):
        np.testing.assert_array_equal(result, np.asarray(expected), strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_subnormal_and_special_numbers(mode, dtype):
    """TensorFlow lets kernels take subnormal numbers as zero."""
    about = np.finfo(dtype)
    least, tiny = about.smallest_subnormal, about.tiny
    numbers = [least, 3 * least, tiny - least, tiny, about.max, 0.0, np.inf]
    values = np.array([*numbers, *np.negative(numbers), np.nan], dtype)
    for result, expected in zip(mode(frexp)(values), frexp_reference(values)):
        np.testing.assert_array_equal(result, expected, strict=True)
    np.testing.assert_array_equal(
        np.signbit(mode(frexp)(values)[0]), np.signbit(values)
    )


def test_other_ops_still_take_subnormal_numbers_as_zero():
    values = tf.constant([1e-40] * 8)
    assert np.all(frexp(values).mantissa.numpy() > 0)
    assert not np.any(values * tf.ones(8))


@pytest.mark.parametrize("shape", [None, [None, 3]])
def test_static_shapes(shape):
    spec = tf.TensorSpec(shape, tf.float32)
    traced = tf.function(frexp, autograph=False).get_concrete_function(spec)
    for output in traced.outputs:
        assert output.shape.rank == (shape and 2)
        assert shape is None or output.shape.as_list() == shape


def test_other_dtypes_are_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="allowed values: float"
    ):
        mode(frexp)(tf.constant([1]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gradient_is_a_power_of_two(mode, dtype):
    """That of 0, where there is no derivative, is 1."""
    values = np.array([3, -0.1, 40, 0, 2, np.inf, np.nan], dtype)
    expected = 2.0 ** -frexp_reference(values)[1]
    for way in (
        mode(lambda x: gradient(mantissa, x)),
        graph_gradient(mantissa),
    ):
        grad = way(tf.constant(values))
        np.testing.assert_array_equal(grad, expected.astype(dtype), strict=True)


def test_the_logarithm_of_a_device_is_near_and_so_is_its_slope(mode):
    x = tf.constant(np.geomspace(1e-6, 1e6, 1001), tf.float32)
    np.testing.assert_allclose(mode(device_log2)(x), np.log2(x), atol=0.008)
    slope = mode(lambda x: gradient(device_log2, x))(x)
    np.testing.assert_allclose(slope * x * np.log(2), np.ones(1001), atol=0.1)


@tf.RegisterGradient("FrexpWithNumpy")
def with_numpy(op, mantissa_grad, exponent_grad):
    return tf.constant(mantissa_grad.numpy() * 2.0 ** -op.outputs[1].numpy())


def test_numpy_in_a_gradient_function_fails_in_a_graph():
    function = mantissa_of("frexp_with_numpy")
    np.testing.assert_array_equal(gradient(function, [3.0]), [0.25])
    with pytest.raises(AttributeError, match="has no attribute 'numpy'"):
        tf.function(lambda x: gradient(function, x))(tf.constant([3.0]))


def test_the_gradient_equals_differences(mode):
    square = mode(lambda x: frexp(x).mantissa ** 2)
    for function in (square, mode(lambda x: gradient(square, x))):
        [analytical], [numerical] = tf.test.compute_gradient(
            function, [np.array([3.0, -0.1, 40])]
        )
        np.testing.assert_allclose(analytical, numerical, atol=1e-5)
        assert np.any(analytical)


def test_the_gradient_of_a_gathered_mantissa(mode):
    """It arrives as IndexedSlices."""
    gathered = mode(
        lambda x: gradient(lambda x: tf.gather(frexp(x).mantissa, [0, 2, 2]), x)
    )
    np.testing.assert_array_equal(gathered(tf.constant([3.0, 5, 9])), [0.25, 0, 0.125])


def test_the_gradient_beyond_float32():
    grad = gradient(mantissa, np.float32([1e-40, 3e38, 2**125, 2**126]))
    np.testing.assert_array_equal(grad, [np.inf, 0, 2.0**-126, 0])


def test_the_factor_is_mantissa_divided_by_value_where_that_is_no_nan():
    x = tf.constant([3.0, -2.0, 1e-40, 3e38, 0.0, -np.inf])
    mantissa = frexp(x).mantissa
    found = gradient(lambda x: frexp(x).mantissa, x)
    np.testing.assert_array_equal(found, [0.25, 0.25, np.inf, 0, 1, 1])
    np.testing.assert_array_equal(mantissa / x, [0.25, 0.25, np.inf, 0] + 2 * [np.nan])


def test_a_limited_exponent_makes_the_gradient_of_a_subnormal_number_finite():
    exponent = tf.maximum(frexp(np.float32(1e-40)).exponent, -127)
    factor = 2.0 ** -tf.cast(exponent, tf.float32)
    assert factor == 2.0**127 and np.isinf(2.0 * factor)


def test_zero_is_no_number_for_the_logarithm_of_a_device():
    zero, less, more = device_log2([0.0, 1e-6, 0.1])
    assert less < more < zero


def test_exponents_have_no_gradient():
    received.clear()
    assert gradient(lambda x: tf.cast(frexp(x).exponent, tf.float32), [3.0]) is None
    assert gradient(lambda x: frexp(x).exponent, [3.0]) == 0
    assert gradient(lambda x: library.frexp_with_report(x).exponent, [3.0]) == 0
    [(mantissa_grad, exponent_grad)] = received
    assert mantissa_grad == 0 and exponent_grad == 1


def test_mantissa_takes_over_memory_that_nobody_else_needs():
    def build(x, keep):
        before = tf.multiply(x, 3.0, name="before")
        result = frexp(before, name="apart")
        return [*result, before] if keep else [*result]

    alone = addresses(lambda x: build(x, keep=False))
    assert alone["apart"][0] == alone["before"][0] != 0
    shared = addresses(lambda x: build(x, keep=True))
    assert shared["apart"][0] != shared["before"][0]


@tf.RegisterGradient("FrexpByInputs")
def by_inputs(op, mantissa_grad, exponent_grad):
    return mantissa_grad * op.outputs[0] / op.inputs[0]


def test_a_gradient_that_uses_inputs_keeps_their_memory():
    def build(x, override):
        graph = tf.compat.v1.get_default_graph()
        before = tf.multiply(x, 3.0, name="before")
        with graph.gradient_override_map(override):
            result = frexp(before, name="apart")
        return tf.gradients(result.mantissa, x)

    with_outputs = addresses(lambda x: build(x, {}))
    assert with_outputs["apart"][0] == with_outputs["before"][0]
    with_inputs = addresses(lambda x: build(x, {"Frexp": "FrexpByInputs"}))
    assert with_inputs["apart"][0] != with_inputs["before"][0]


def test_eagerly_a_tape_keeps_the_inputs_whatever_the_gradient_uses():
    x = tf.ones(4)
    with tf.GradientTape() as tape:
        tape.watch(x)
        for_ours, for_tensorflow_s = x * 3.0, x * 3.0
        results = frexp(for_ours), tf.exp(for_tensorflow_s)
    ours, tensorflow_s = weakref.ref(for_ours), weakref.ref(for_tensorflow_s)
    del for_ours, for_tensorflow_s
    assert results and ours() is not None and tensorflow_s() is None
    del tape
    assert ours() is None


@pytest.mark.parametrize(
    "name, eagerly, in_a_graph",
    [
        (
            "frexp_without_gradient",
            (LookupError, "gradient registry has no entry for: FrexpWithoutGradient"),
            (
                LookupError,
                "(?s)No gradient defined for operation ?'FrexpWithoutGradient'.*tf.stop_gradient",
            ),
        ),
        (
            "frexp_with_one_argument",
            (TypeError, "takes 2 positional arguments but 3 were given"),
            (TypeError, "takes 2 positional arguments but 3 were given"),
        ),
        (
            "frexp_with_two_gradients",
            (tf.errors.InternalError, "Expected 1 but received 2"),
            (ValueError, "(?s)Num gradients 2 .* do not match num inputs 1"),
        ),
    ],
)
def test_wrong_registrations(name, eagerly, in_a_graph):
    values = tf.constant([3.0])
    with pytest.raises(eagerly[0], match=eagerly[1]):
        gradient(mantissa_of(name), values)
    with pytest.raises(in_a_graph[0], match=in_a_graph[1]):
        graph_gradient(mantissa_of(name))(values)


@tf.RegisterGradient("FrexpWithOneArgument")
def one_argument(op, grad):
    return grad


@tf.RegisterGradient("FrexpWithTwoGradients")
def two_gradients(op, mantissa_grad, exponent_grad):
    return mantissa_grad, exponent_grad


def test_a_second_registration_is_refused():
    with pytest.raises(KeyError, match="Registering two gradient with name 'Frexp'"):
        tf.RegisterGradient("Frexp")(module._frexp_grad)


def test_no_gradient_makes_an_op_a_constant():
    tf.no_gradient("FrexpIsConstant")
    assert gradient(mantissa_of("frexp_is_constant"), [3.0]) is None
    both = gradient(lambda x: x + mantissa_of("frexp_is_constant")(x), [3.0])
    np.testing.assert_array_equal(both, [1.0])


received = []


@tf.RegisterGradient("FrexpWithReport")
def report(op, *grads):
    received.append(grads)
    return tf.convert_to_tensor(grads[0])


def test_what_arrives_for_outputs():
    function = mantissa_of("frexp_with_report")
    received.clear()
    gradient(function, [3.0])
    tf.function(lambda x: gradient(function, x), autograph=False)(tf.constant([3.0]))
    gradient(tf.function(function, autograph=False), [3.0])
    gradient(lambda x: tf.gather(function(x), [0]), [3.0])
    branch = lambda x: tf.cond(x[0] > 0, lambda: function(x), lambda: x)  # noqa: E731
    tf.function(lambda x: gradient(branch, x), autograph=False)(tf.constant([3.0]))
    eager, tape_inside, tape_outside, _, in_a_branch = [grads[1] for grads in received]
    assert eager.dtype == tape_inside.dtype == tf.int32
    np.testing.assert_array_equal(eager, [0])
    assert tape_outside is None and in_a_branch is None
    assert isinstance(received[3][0], tf.IndexedSlices)


def test_what_an_operation_and_its_stand_in_both_have():
    stand_in = _MockOp((), [], [], "Frexp", [])
    public = {name for name in dir(stand_in) if not name.startswith("_")}
    both = {"inputs", "outputs", "type", "get_attr"}
    assert public & {*dir(tf.Operation)} == both


def test_the_solution_of_the_exercise():
    from solution_sparse_gradient import sparse_gradient

    op = SimpleNamespace(outputs=frexp([3.0, 5, 0.1]))
    slices = tf.IndexedSlices(
        tf.constant([1.0, 2, 3]), tf.constant([2, 0, 2]), tf.constant([3])
    )
    grad = sparse_gradient(op, slices, None)
    assert isinstance(grad, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(grad), [0.5, 0, 32])
