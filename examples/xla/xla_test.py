"""Tests of ExponentialAverage, with and without XLA: `pytest examples/xla`.

What is about the XLA kernel runs in processes of its own: the kernel counts only where it was loaded before the first
tensor, and other tests have made some.
"""

import functools
import json
import os
import traceback
from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
import xla
from solution_discounted_returns import discounted_returns
from xla import blocked, called, composed, exponential_average
from xla_reference import exponential_average_reference

from opcheck.testing import op_test

HERE = Path(__file__).parent
BUILT = (HERE / "libxla_kernel.so").exists()
RANDOM = np.random.default_rng(3)
SIGNAL = RANDOM.normal(size=(2, 10)).astype(np.float32)
SHAPES = [(1,), (2,), (7,), (8,), (0,), (3, 33), (2, 0), (0, 5), (2, 3, 17), (64,)]
SHAPES += [(2, 65), (3, 1, 400)]

test_exponential_average_keeps_its_promises = op_test(
    exponential_average, SIGNAL, reference=exponential_average_reference, decay=0.8
)


def compiled(function, **options):
    return tf.function(function, jit_compile=True, autograph=False, **options)


def assert_equal(actual, desired) -> None:
    """Up to rounding, which the order of the additions changes."""
    desired = np.asarray(desired)
    digits = 2e-6 if desired.dtype == np.float32 else 2e-15
    largest = abs(desired).max(initial=0)
    assert np.shape(actual) == desired.shape
    assert np.all(abs(actual - desired) <= digits * largest)


def hlo(function, *arguments) -> str:
    return function.experimental_get_compiler_ir(*arguments)(stage="hlo")


def gradient(function, signal, decay):
    """Of the sum of squares, by the signal."""
    with tf.GradientTape() as tape:
        tape.watch(signal)
        loss = tf.reduce_sum(tf.square(function(signal, decay)))
    return tape.gradient(loss, signal)


def test_composed_is_the_op():
    """The values, and the gradient inside the compiled function."""
    signal = tf.constant(np.random.default_rng(1).normal(size=(3, 20)), tf.float32)
    under_xla = tf.function(xla.composed, jit_compile=True)
    np.testing.assert_allclose(
        under_xla(signal, 0.8), exponential_average(signal, 0.8), rtol=1e-5, atol=1e-6
    )
    under_xla = tf.function(gradient, jit_compile=True)
    np.testing.assert_allclose(
        under_xla(xla.composed, signal, 0.8),
        gradient(exponential_average, signal, 0.8),
        rtol=1e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize("function", [composed, blocked, called])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_under_xla_it_computes_the_same(function, dtype, shape):
    signal = RANDOM.normal(size=shape).astype(dtype)
    expected = exponential_average_reference(signal, 0.7)
    both = function(signal, 0.7), compiled(function)(signal, 0.7)
    exact = function is called
    for result in both:
        assert_equal(result, expected)
        assert not exact or np.array_equal(result, exponential_average(signal, 0.7))


def assert_infinity_stays(function) -> None:
    """In a row so long that weights become 0."""
    signal = np.ones([4000], np.float32)
    signal[5] = np.inf
    for decay in 0.5, 0.9:
        average = compiled(function)(signal, decay).numpy()
        assert_equal(average[:5], exponential_average_reference(signal[:5], decay))
        np.testing.assert_array_equal(average[5:], np.inf)


@pytest.mark.parametrize("function", [composed, called])
def test_infinity_stays(function):
    assert_infinity_stays(function)


def test_in_products_infinity_makes_what_is_before_it_nan():
    signal = np.ones([300], np.float32)
    signal[200] = np.inf
    average = compiled(blocked)(signal).numpy()
    assert not np.isfinite(average).any() and np.isnan(average[:200]).all()


def test_the_gradient_of_the_products():
    signal = tf.constant(RANDOM.normal(size=(2, 150)), tf.float32)
    expected = gradient(exponential_average, signal, 0.5)
    assert_equal(compiled(gradient)(blocked, signal, 0.5), expected)


def test_a_called_loop_is_a_call_in_the_program_and_has_a_gradient():
    function = compiled(lambda signal: called(2 * signal, 0.5))
    text = hlo(function, tf.constant(SIGNAL))
    assert text.count("custom-call(") == 1 and 'backend_config="0.5 2 10"' in text
    expected = gradient(exponential_average, tf.constant(SIGNAL), 0.5)
    inside = compiled(gradient)(called, tf.constant(SIGNAL), 0.5)
    outside = gradient(compiled(called), tf.constant(SIGNAL), 0.5)
    for result in inside, outside:
        assert_equal(result, expected)


def test_a_call_that_was_traced_under_xla_runs_nowhere_else():
    inner = tf.function(called, autograph=False)
    compiled(lambda signal: inner(signal))(tf.constant(SIGNAL))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Op 'XlaCustomCallV2'"):
        inner(tf.constant(SIGNAL))


def test_python_must_know_the_shape():
    spec = [tf.TensorSpec([2, None], tf.float32)]
    for function in composed, blocked, called:
        traced = compiled(functools.partial(function, decay=0.9), input_signature=spec)
        with pytest.raises(ValueError, match="known while tracing, got \\(.*None"):
            traced(SIGNAL)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: exponential_average(SIGNAL, 1.0), "decay must be greater than 0"),
        (lambda: exponential_average(SIGNAL, 0.0), "decay must be greater than 0"),
        (lambda: exponential_average(SIGNAL, -0.1), "decay must be greater than 0"),
        (lambda: exponential_average(SIGNAL, np.nan), "decay must be greater than 0"),
        (lambda: exponential_average(1.0), "at least one dim|at least rank 1"),
    ],
)
def test_what_is_wrong_is_refused(mode, wrong, message):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        mode(wrong)()


@pytest.mark.parametrize("function", [composed, blocked, called])
@pytest.mark.parametrize("decay", [1.0, 0.0, -0.1, np.nan])
def test_a_wrong_decay_is_refused_under_xla_too(function, decay):
    with pytest.raises(ValueError, match="decay must be greater than 0"):
        compiled(function)(SIGNAL, decay)


@pytest.mark.parametrize("function", [composed, blocked, called])
def test_a_wrong_signal_is_refused_under_xla_too(function):
    for dtype in tf.int32, tf.half, tf.complex64:
        with pytest.raises(TypeError, match=f"float64, got {dtype.name}"):
            compiled(function)(tf.ones([2], dtype))
    with pytest.raises(ValueError, match="at least one dimension, got a scalar"):
        compiled(function)(1.0)


@pytest.mark.parametrize("discount", [0.9, 0.9999])
def test_the_solution_is_the_sum_of_what_follows(discount):
    rewards = RANDOM.normal(size=(2, 6)).astype(np.float32)
    expected, after = np.zeros_like(rewards), 0
    for t in reversed(range(6)):
        expected[:, t] = after = rewards[:, t] + discount * after
    np.testing.assert_allclose(
        discounted_returns(rewards, discount), expected, rtol=1e-5, atol=1e-5
    )


# ---- in processes of their own


def refuses(function, *arguments) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="No registered 'Expon"):
        function(*arguments)


class Model(tf.Module):
    """What is saved: nothing in it is compiled."""

    @tf.function(input_signature=[tf.TensorSpec([2, None], tf.float32)])
    def average(self, signal):
        return exponential_average(signal)

    @tf.function(input_signature=[tf.TensorSpec([2, 10], tf.float32)])
    def composed(self, signal):
        return composed(signal)


def averaging_model(layer):
    """A model for `fit`, and something to fit it to."""
    model = tf.keras.Sequential([tf.keras.Input([10]), layer, tf.keras.layers.Dense(1)])
    return model, SIGNAL, np.float32([[0], [1]])


class Averaging(tf.keras.layers.Layer):
    def call(self, signal):
        return exponential_average(signal)


class LeftOut(Averaging):
    def __init__(self):
        super().__init__()
        self.supports_jit = False


def without_the_kernel_xla_refuses_the_op() -> None:
    refuses(compiled(exponential_average), SIGNAL)
    refuses(compiled(discounted_returns), SIGNAL)
    inner = tf.function(exponential_average, jit_compile=False)
    refuses(compiled(lambda x: 2 * inner(x)), SIGNAL)
    either = compiled(
        lambda x: tf.cond(x[0, 0] > 9, lambda: exponential_average(x), lambda: x)
    )
    refuses(either, SIGNAL)


def without_the_kernel_it_stays_between_compiled_parts() -> None:
    before, after = compiled(lambda x: 2 * x), compiled(lambda x: x + 1)
    whole = tf.function(lambda x: after(exponential_average(before(x))))
    expected = exponential_average_reference(2 * SIGNAL) + 1
    assert_equal(whole(SIGNAL), expected)


def without_the_kernel_keras_leaves_out_a_model_that_says_so() -> None:
    model, x, y = averaging_model(LeftOut())
    with pytest.warns(UserWarning, match="Proceeding with `jit_compile=False`"):
        model.compile(loss="mse", jit_compile=True)
    model.fit(x, y, verbose=0)
    model, x, y = averaging_model(Averaging())
    model.compile(loss="mse", jit_compile=True)
    refuses(lambda: model.fit(x, y, verbose=0))


def without_the_kernel_keras_asks_only_the_layers_that_there_are() -> None:
    class Around(tf.keras.layers.Layer):
        def build(self, shape):
            self.inner = LeftOut()

        def call(self, signal):
            return self.inner(signal)

    late = tf.keras.Sequential([Around(), tf.keras.layers.Dense(1)])
    model, x, y = averaging_model(Around())
    for one in late, model:
        one.compile(loss="mse", jit_compile=True)
    refuses(lambda: late.fit(x, y, verbose=0))
    model.fit(x, y, verbose=0)


def without_the_kernel_what_was_traced_before_keeps_its_op() -> None:
    model = Model()
    model.composed(SIGNAL)
    refuses(compiled(model.composed.get_concrete_function()), SIGNAL)
    refuses(compiled(lambda signal: model.composed(signal)), SIGNAL)


def without_the_kernel_a_later_one_does_not_count() -> None:
    tf.constant(1)
    import xla_kernel  # noqa: F401

    refuses(compiled(exponential_average), SIGNAL)


def with_the_kernel_it_computes_the_same() -> None:
    for dtype in "float32", "float64":
        for shape in SHAPES:
            for decay in 0.1, 0.5, 0.99:
                signal = RANDOM.normal(size=shape).astype(dtype)
                assert_equal(
                    compiled(exponential_average)(signal, decay),
                    exponential_average_reference(signal, decay),
                )


def with_the_kernel_infinity_stays() -> None:
    assert_infinity_stays(exponential_average)


def with_the_kernel_it_becomes_instructions() -> None:
    for length, rounds in (1, 0), (2, 1), (8, 3), (9, 4), (1000, 10):
        text = hlo(compiled(lambda x: exponential_average(x)), tf.zeros([2, length]))
        assert text.count(" pad(") == rounds and "custom-call" not in text


def with_the_kernel_its_gradient_is_compiled_too() -> None:
    expected = gradient(exponential_average, tf.constant(SIGNAL), 0.5)
    inside = compiled(gradient)(exponential_average, tf.constant(SIGNAL), 0.5)
    outside = gradient(compiled(exponential_average), tf.constant(SIGNAL), 0.5)
    for result in inside, outside:
        assert_equal(result, expected)


def with_the_kernel_python_need_not_know_the_shape() -> None:
    function = compiled(Model().average)
    for length in 3, 5:
        signal = RANDOM.normal(size=(2, length)).astype(np.float32)
        expected = exponential_average_reference(signal)
        assert_equal(function(signal), expected)


def with_the_kernel_a_saved_model_compiles() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Model(), folder)
        loaded = tf.saved_model.load(folder)
        expected = exponential_average_reference(SIGNAL)
        result = compiled(loaded.average)(tf.constant(SIGNAL))
        assert_equal(result, expected)


def with_the_kernel_the_solution_is_compiled() -> None:
    assert_equal(compiled(discounted_returns)(SIGNAL), discounted_returns(SIGNAL))


def with_the_kernel_keras_fits_it() -> None:
    model, x, y = averaging_model(Averaging())
    model.compile(loss="mse", jit_compile=True)
    model.fit(x, y, verbose=0)


def with_the_kernel_bad_arguments_are_errors() -> None:
    for wrong in (
        lambda: exponential_average(SIGNAL, 1.0),
        lambda: exponential_average(1.0),
    ):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            compiled(wrong)()


def without_the_kernel_what_is_called_compiles_in_keras() -> None:
    class Called(tf.keras.layers.Layer):
        def call(self, signal):
            return composed(signal)

    model, x, y = averaging_model(Called())
    model.compile(loss="mse", jit_compile=True)
    model.fit(x, y, verbose=0)


CASES = {
    prefix: [name for name in globals() if name.startswith(f"{prefix}_the_kernel")]
    for prefix in ("with", "without")
}


def run(prefix: str) -> None:
    """In a process of its own: runs the cases, and prints from their names to what is wrong."""
    if prefix == "with":
        import xla_kernel  # noqa: F401
    outcomes = {}
    for name in CASES[prefix]:
        try:
            globals()[name]()
            outcomes[name] = ""
        except BaseException:
            outcomes[name] = traceback.format_exc()
    print(f"\n{json.dumps(outcomes)}")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """What is wrong with the cases."""
    found = {}
    for prefix in CASES:
        code = f"import xla_test; xla_test.run({prefix!r})"
        done = forked.run(code)
        assert done.returncode == 0, done.stderr[-2000:]
        found |= json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.xdist_group("xla")
@pytest.mark.parametrize("case", [name for names in CASES.values() for name in names])
def test_in_a_process_of_its_own(case, request):
    if not BUILT:
        advice = (
            "the XLA kernel is not built, for want of headers: "
            "sudo apt-get install libhighwayhash-dev, then make xla"
        )
        (pytest.fail if os.environ.get("CI") else pytest.skip)(advice)
    assert request.getfixturevalue("outcomes")[case] == ""


LONE = "import sys, tensorflow as tf; tf.load_library(sys.argv[1]); tf.constant(1)"


@pytest.mark.skipif(not BUILT, reason="the XLA kernel is not built")
def test_a_kernel_without_its_op_ends_the_process():
    run = forked.run(LONE, HERE / "libxla_kernel.so")
    assert run.returncode < 0
    assert "Op type not registered 'ExponentialAverage'" in run.stderr
    if int(tf.__version__.split(".")[1]) >= 21:
        assert "lookup_status is OK (NOT_FOUND: Op type not" in run.stderr
