"""Tests of Snake, in NumPy and in C++: `pytest examples/prototype`."""

import importlib
from pathlib import Path

import forked
import numpy as np
import pytest
import snake as in_cpp
import snake_in_numpy as in_numpy
import tensorflow as tf
from addresses import addresses
from snake_reference import snake_reference

from opcheck.testing import op_test

HERE = Path(__file__).parent
DTYPES = [np.float32, np.float64]

test_snake_keeps_its_promises = op_test(
    in_cpp.snake, np.float32([[0.5, -1, 3], [2, 7, -4]]), reference=snake_reference
)


@pytest.fixture(params=["snake_in_numpy", "snake"])
def snake(request):
    return importlib.import_module(request.param).snake


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (7,), (2, 3), (0, 4)])
def test_equals_the_reference(mode, snake, dtype, shape):
    x = np.random.default_rng(0).normal(scale=3, size=shape).astype(dtype)
    y = mode(snake)(tf.constant(x))
    assert y.dtype == dtype
    np.testing.assert_allclose(y, snake_reference(x), rtol=100 * np.finfo(dtype).eps)


def test_the_gradient_equals_differences(mode, snake):
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = snake(x) ** 2
        return tape.gradient(y, x)

    x = np.array([0.5, -1, 3])
    for function in mode(snake), mode(gradient):
        [computed], [estimated] = tf.test.compute_gradient(function, [x])
        np.testing.assert_allclose(computed, estimated, atol=3e-5)
        assert np.all(np.diag(computed))


def test_snake_takes_over_memory_that_nobody_else_needs():
    at = addresses(lambda x: in_cpp.snake(tf.multiply(x, 3.0, name="before")))
    assert at["Snake"][0] == at["before"][0] != 0


def test_the_static_shape_is_that_of_the_input(snake):
    spec = tf.TensorSpec([None, 3])
    traced = tf.function(snake, autograph=False).get_concrete_function(spec)
    assert traced.output_shapes.as_list() == [None, 3]


def test_other_dtypes_are_refused(mode, snake):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="x must be|allowed values"
    ):
        mode(snake)(tf.constant([1, 2]))


@pytest.mark.slow
@pytest.mark.parametrize("run_eagerly", [True, False])
def test_a_layer_learns_with_it(snake, run_eagerly):
    tf.keras.utils.set_random_seed(0)
    x = np.linspace(-6, 6, 50, dtype=np.float32)[:, None]
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(8, snake), tf.keras.layers.Dense(1)]
    )
    model.compile(
        tf.keras.optimizers.Adam(0.05),
        "mse",
        run_eagerly=run_eagerly,
        jit_compile=False,
    )
    before = model.evaluate(x, np.sin(x), verbose=0)
    model.fit(
        tf.data.Dataset.from_tensors((x, np.sin(x))).repeat(100),
        shuffle=False,
        verbose=0,
    )
    assert model.evaluate(x, np.sin(x), verbose=0) < before / 2


def test_snake_goes_on_with_a_wave_and_relu_does_not():
    x = np.linspace(-12, 12, 400, dtype=np.float32)[:, None]
    seen = x[100:300]
    steps = tf.data.Dataset.from_tensors((seen, np.sin(seen))).repeat(500)

    def error(activation):
        tf.keras.utils.set_random_seed(0)
        layers = [tf.keras.layers.Dense(32, activation), tf.keras.layers.Dense(1)]
        model = tf.keras.Sequential(layers)
        model.compile(tf.keras.optimizers.Adam(0.01), "mse", jit_compile=False)
        model.fit(steps, shuffle=False, verbose=0)
        return model.evaluate(x, np.sin(x), batch_size=400, verbose=0)

    assert error(in_cpp.snake) < 0.2
    assert error("relu") > 1


def test_the_gradient_of_a_py_function_cannot_be_differentiated():
    call = tf.function(lambda x: tf.py_function(tf.sin, [x], x.dtype))
    x = tf.constant(0.5)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        slope = tape.gradient(y, x)
    assert slope == tf.cos(x)
    assert outer.gradient(slope, x) is None


def test_a_process_that_has_not_traced_it_cannot_run_the_prototype(tmp_path):
    module = tf.Module()
    spec = tf.TensorSpec([None])
    module.snake = tf.function(in_numpy.snake, input_signature=[spec])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    np.testing.assert_allclose(loaded.snake(tf.ones([2])), in_numpy.snake(tf.ones([2])))
    script = "import sys, tensorflow as tf; tf.saved_model.load(sys.argv[1]).snake(tf.ones([2]))"
    run = forked.run(script, tmp_path)
    assert run.returncode
    assert "Could not find callback with key=pyfunc_" in run.stderr


def test_xla_has_no_kernel_for_numpy():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="No registered 'PyFunc' OpKernel for XLA"
    ):
        tf.function(in_numpy.snake, jit_compile=True)(tf.ones([2]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_solution_of_the_exercise(dtype):
    from solution_pinball import pinball

    truth = tf.constant([3.0, 1.0], dtype)
    forecast = tf.Variable([2.0, 2.0], dtype=dtype)
    with tf.GradientTape(persistent=True) as tape:
        losses = pinball(0.9)(truth, forecast)
        second = tf.gather(losses, [1])
    close = 100 * np.finfo(losses.numpy().dtype).eps
    np.testing.assert_allclose(losses, [0.9, 0.1], close)
    np.testing.assert_allclose(tape.gradient(losses, forecast), [-0.9, 0.1], close)
    np.testing.assert_allclose(tape.gradient(second, forecast), [0, 0.1], close)


def test_a_composition_and_its_gradients_run_on_the_gpu(gpu):
    @tf.custom_gradient
    def composed(x):
        return x + tf.square(tf.sin(x)), lambda grad: grad * (1 + tf.sin(2 * x))

    x = tf.constant([0.5, -1, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = composed(x)
    slope = tape.gradient(y, x)
    assert "GPU" in y.device and "GPU" in slope.device
    np.testing.assert_allclose(slope, 1 + np.sin(2 * x.numpy()), rtol=1e-5)
