"""Tests of Battery, in NumPy and in C++, and of the layer around it: `pytest examples/prototype`."""

from pathlib import Path

import battery as in_cpp
import battery_in_numpy as in_numpy
import forked
import numpy as np
import pytest
import tensorflow as tf
from battery_layer import Battery
from battery_reference import battery_grad_reference, battery_reference

from opcheck.testing import op_test

HERE = Path(__file__).parent
REFUSED = (tf.errors.InvalidArgumentError, ValueError)

test_battery_keeps_its_promises = op_test(
    in_cpp.battery,
    np.float32([[1, 2, -4, 0.5], [3, -1, 4, -2]]),
    np.float32(3.5),
    reference=battery_reference,
)
test_the_gradient_op_keeps_its_promises = op_test(
    in_cpp._library.battery_grad,
    np.float32([[1, 2, 3], [4, 5, 6]]),
    np.float32([[1, 3.5, 2], [0, 1, 3.5]]),
    np.float32(3.5),
    reference=battery_grad_reference,
)


def flows(shape, dtype):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


@pytest.fixture(params=[in_numpy.battery, in_cpp.battery], ids=["NumPy", "C++"])
def battery(request):
    return request.param


@pytest.fixture(params=[lambda op: op, tf.function], ids=["eager", "tf.function"])
def mode(request):
    return request.param


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (50,), (3, 24), (2, 0), (0, 4), (2, 3, 4)])
def test_equals_the_reference(mode, battery, dtype, shape):
    flow, capacity = flows(shape, dtype), np.array(1.5, dtype)
    level = mode(battery)(tf.constant(flow), tf.constant(capacity))
    expected = battery_reference(flow, capacity)
    np.testing.assert_array_equal(level, expected, strict=True)


def test_the_gradient_equals_differences(mode, battery):
    flow = flows((3, 24), np.float64)
    function = mode(lambda flow, capacity: battery(flow, capacity) ** 2)
    computed, estimated = tf.test.compute_gradient(function, [flow, np.float64(1.5)])
    for one, other in zip(computed, estimated, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
        assert np.any(one)


def test_the_gradient_of_gathered_levels(mode, battery):
    def gradient(flow):
        with tf.GradientTape() as tape:
            tape.watch(flow)
            level = tf.gather(battery(flow, 2.0), [1, 0])
        return tape.gradient(level, flow)

    np.testing.assert_array_equal(mode(gradient)(tf.constant([3.0, -1, 2])), [0, 1, 0])


def test_the_gradient_of_the_capacity_counts_every_hour(battery):
    """More of them than float32 can count one by one."""
    capacity, hours = tf.constant(0.5), 2**24 + 64
    with tf.GradientTape() as tape:
        tape.watch(capacity)
        level = battery(tf.ones([hours, 1]), capacity)
    assert tape.gradient(level, capacity) == hours


def test_there_is_no_second_derivative():
    def second(battery, flow):
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            outer.watch(flow)
            inner.watch(flow)
            level = battery(flow, 1.5)
            slope = inner.gradient(level**2, flow)
        return outer.gradient(slope, flow)

    flow = tf.constant([1.0, 2])
    with pytest.raises(LookupError, match="BatteryGrad"):
        second(in_cpp.battery, flow)
    assert second(in_numpy.battery, flow) is None


@pytest.mark.parametrize("flow, capacity", [(1.0, 1.0), ([1.0], [1.0])])
def test_shapes_are_refused(mode, flow, capacity):
    with pytest.raises(REFUSED, match="at least one dimension|rank"):
        mode(in_cpp.battery)(tf.constant(flow), tf.constant(capacity))


def test_the_gradient_op_wants_one_shape(mode):
    with pytest.raises(REFUSED, match="as level|must be equal"):
        mode(in_cpp._library.battery_grad)([1.0, 2], [1.0], 1.0)


@pytest.mark.parametrize("capacity", [-1.0, np.nan])
def test_a_negative_capacity_is_refused(mode, battery, capacity):
    with pytest.raises(REFUSED, match="capacity must not be negative"):
        mode(battery)(tf.constant([1.0]), tf.constant(capacity, tf.float32))


def test_the_static_shape_is_that_of_the_flow(battery):
    spec = tf.TensorSpec([None, 3])
    traced = tf.function(lambda flow: battery(flow, 1.0), autograph=False)
    shape = traced.get_concrete_function(spec).output_shapes
    assert shape.as_list() == [None, 3]


@pytest.mark.parametrize("stateful, expected", [(True, 3), (False, 0)])
def test_without_state_an_unused_call_is_dropped(stateful, expected):
    calls = []

    @tf.function(autograph=False)
    def unused(x):
        tf.numpy_function(calls.append, [x], [], stateful=stateful)
        return x + 1

    for _ in range(3):
        unused(tf.constant(1.0))
    assert len(calls) == expected


@pytest.mark.parametrize("stateful, expected", [(True, 3), (False, 1)])
def test_without_state_a_call_with_constants_runs_once(stateful, expected):
    calls = []

    def count(array):
        calls.append(1)
        return array

    @tf.function(autograph=False)
    def constant():
        return 1 + tf.numpy_function(
            count, [tf.constant(1.0)], tf.float32, stateful=stateful
        )

    for _ in range(3):
        constant()
    assert len(calls) == expected


def trained(battery):
    flow = tf.constant(flows((8, 48), np.float32))
    level = battery(flow, 1.5)
    capacity = tf.Variable(4.0)
    for _ in range(100):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((battery(flow, capacity) - level) ** 2)
        capacity.assign_sub(0.3 * tape.gradient(loss, capacity))
    return capacity.numpy()


def test_the_capacity_is_found(battery):
    np.testing.assert_allclose(trained(battery), 1.5, rtol=1e-6)


def test_the_layer_is_saved_and_loaded_in_a_new_process(tmp_path):
    flow = flows((2, 5), np.float32)
    model = tf.keras.Sequential([tf.keras.Input([None]), Battery(3.0, name="house")])
    model.layers[0].capacity.assign(0.7)
    expected = model(flow)
    np.testing.assert_allclose(expected, battery_reference(flow, np.float32(0.7)))
    file = str(tmp_path / "battery.keras")
    model.save(file)
    script = """
import sys, numpy as np, tensorflow as tf, battery_layer
model = tf.keras.models.load_model(sys.argv[1])
[layer] = model.layers
print(layer.name, layer.initial_capacity, float(layer.capacity))
np.testing.assert_allclose(model(np.load(sys.argv[2])), np.load(sys.argv[3]))
"""
    arrays = [str(tmp_path / name) for name in ("flow.npy", "level.npy")]
    for array, value in zip(arrays, (flow, expected)):
        np.save(array, value)
    run = forked.run(script, file, *arrays)
    assert run.stdout.startswith("house 3.0 0.69"), run.stderr


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float64"])
def test_the_layer_follows_the_policy(mode, policy):
    layer = Battery(1.25, dtype=policy)
    level = mode(layer)(tf.constant([[1.0, 0.5]]))
    assert level.dtype == layer.compute_dtype
    np.testing.assert_array_equal(tf.cast(level, tf.float32), [[1, 1.25]])
    assert layer(tf.keras.Input([3])).dtype == layer.compute_dtype


def test_keras_leaves_xla_off_for_the_layer():
    model = tf.keras.Sequential([tf.keras.Input([None]), Battery()])
    with pytest.warns(UserWarning, match="doesn't support `jit_compile=True`"):
        model.compile(loss="mse", jit_compile=True)
    assert not model.jit_compile
    assert model.evaluate(np.ones([1, 3]), np.ones([1, 3]), verbose=0) == 0


def test_the_op_in_a_saved_model_needs_its_library_alone(tmp_path):
    module = tf.Module()
    spec = [tf.TensorSpec([None]), tf.TensorSpec([])]
    module.battery = tf.function(in_cpp.battery, input_signature=spec)
    tf.saved_model.save(module, str(tmp_path))
    script = (
        "import sys, tensorflow as tf; tf.load_op_library(sys.argv[1]);"
        "print(tf.saved_model.load(sys.argv[2]).battery([1., 1.], 1.5).numpy())"
    )
    library = str(HERE / "libprototype.so")
    run = forked.run(script, library, tmp_path)
    assert run.stdout.strip() == "[1.  1.5]", run.stderr


def test_xla_has_no_kernel_for_numpy():
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="No registered 'PyFuncStateless' OpKernel for XLA",
    ):
        tf.function(in_numpy.battery, jit_compile=True)(tf.ones([2]), tf.constant(1.0))
