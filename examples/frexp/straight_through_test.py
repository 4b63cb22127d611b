"""Gradients without C++: rounding that lets them through, lengths, and a loss: `pytest examples/frexp`."""

import numpy as np
import pytest
import tensorflow as tf
from length import length
from softmax_cross_entropy import simplified
from solution_reverse_gradient import reverse_gradient
from straight_through import RoundedDense, straight_through


def gradient(function, inputs):
    """The gradient by a tape, of a function of one tensor."""
    inputs = tf.convert_to_tensor(inputs)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(inputs)
    return tape.gradient(result, inputs)


def assert_gradient(function, inputs, atol=1e-5):
    """The gradient equals differences of nearby values, and is not zero."""
    [computed], [estimated] = tf.test.compute_gradient(function, inputs)
    np.testing.assert_allclose(computed, estimated, atol=atol)
    assert np.any(computed)


def test_rounding_lets_the_gradient_through(mode):
    x = tf.constant([0.4, -1.7, 2.6])
    np.testing.assert_array_equal(mode(straight_through)(x), [0, -2, 3])
    loss = mode(lambda x: gradient(lambda x: straight_through(x) ** 2, x))
    np.testing.assert_array_equal(loss(x), [0, -4, 6])
    assert gradient(tf.round, x) is None


def test_one_line_does_the_same():
    x = tf.constant(np.random.default_rng(0).normal(0, 30, 100_000), tf.float32)
    one_line = x + tf.stop_gradient(tf.round(x) - x)
    np.testing.assert_array_equal(one_line, straight_through(x))
    infinity = tf.constant(np.inf)
    assert np.isnan(infinity + tf.stop_gradient(tf.round(infinity) - infinity))
    assert np.isinf(straight_through(infinity))


def test_all_weights_of_a_rounded_layer_get_a_gradient():
    layer = RoundedDense(3, 0.5, "tanh")
    with tf.GradientTape() as tape:
        outputs = layer(tf.ones([2, 4]))
    assert all(x is not None for x in tape.gradient(outputs, layer.trainable_variables))
    weights = [layer.rounded(weight) for weight in layer.weights]
    assert all(np.all(weight % 0.5 == 0) for weight in weights)
    np.testing.assert_allclose(
        outputs, tf.tanh(tf.ones([2, 4]) @ weights[0] + weights[1])
    )


@pytest.mark.parametrize("step", [0.5, None])
def test_a_saved_layer_is_the_same(tmp_path, step):
    model = tf.keras.Sequential([RoundedDense(3, step, "tanh", name="rounded")])
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 4)), tf.float32)
    outputs = model(x)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(x), outputs)
    assert loaded.layers[0].step == step


def test_the_solution_of_the_exercise(mode):
    x = tf.constant([1.0, -2.0])
    np.testing.assert_array_equal(mode(reverse_gradient)(x), x)
    reversed_ = mode(lambda x: gradient(lambda x: reverse_gradient(x) ** 2, x))
    np.testing.assert_array_equal(reversed_(x), [-2, 4])
    gathered = mode(lambda x: gradient(lambda x: tf.gather(reverse_gradient(x), 1), x))
    np.testing.assert_array_equal(tf.convert_to_tensor(gathered(x)), [0, -1])


def test_too_few_gradients_are_refused():
    @tf.custom_gradient
    def product(a, b):
        return a * b, lambda grad: grad * b

    with pytest.raises(ValueError, match="return 2 gradients, but returned 1 instead"):
        gradient(lambda a: product(a, a), [2.0])


def test_a_keyword_argument_gets_no_gradient():
    @tf.custom_gradient
    def product(a, b=None):
        return a * b, lambda grad: grad * b

    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        result = product(a, b=b)
    assert [*map(type, tape.gradient(result, [a, b]))] == [type(a), type(None)]


def test_a_tensor_that_is_no_argument_gets_no_gradient():
    x, y = tf.constant(2.0), tf.constant(3.0)

    def of_y(watched):
        product = tf.custom_gradient(lambda x: (x * y, lambda grad: grad * y))
        with tf.GradientTape() as tape:
            tape.watch(watched)
            result = product(x)
        return tape.gradient(result, y)

    assert of_y([x, y]) is None
    assert of_y(y) == 2  # what TensorFlow derives
    for watched in [x, y], y:
        assert tf.function(lambda each=watched: of_y(each))() is None


def test_without_positional_arguments_the_function_itself_is_differentiated():
    @tf.custom_gradient
    def product(a, b):
        return a * b, lambda grad: (None, None)

    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        result = product(a=a, b=b)
    assert tape.gradient(result, [a, b]) == [3, 2]


def test_so_it_is_where_no_positional_argument_is_watched():
    @tf.custom_gradient
    def product(a, b=None):
        return a * b, lambda grad: None

    b = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(b)
        result = product(tf.constant(2.0), b=b)
    assert tape.gradient(result, b) == 2


def random_vectors(shape=(4, 5)):
    return np.random.default_rng(0).normal(size=shape)


def test_lengths_equal_tensorflow_s(mode):
    x = random_vectors((2, 4, 3))
    np.testing.assert_array_equal(mode(length)(x), tf.norm(x, axis=-1), strict=True)


def test_gradients_of_lengths(mode):
    cube = mode(lambda x: length(x) ** 3)
    assert_gradient(cube, [random_vectors()])
    assert_gradient(mode(lambda x: gradient(cube, x)), [random_vectors()])


def test_the_gradient_of_a_zero_length_is_zero(mode):
    x = tf.constant([[0.0, 0.0], [3.0, 4.0]])
    found = mode(lambda x: gradient(length, x))(x)
    np.testing.assert_allclose(found, [[0, 0], [0.6, 0.8]], rtol=1e-6)
    slope = gradient(lambda x: tf.norm(x, axis=-1), x)
    assert np.all(np.isnan(slope[0]))


def test_gradients_of_gathered_lengths(mode):
    """A gathered length has IndexedSlices as its gradient."""
    x, picks = tf.constant(random_vectors()), [2, 0, 2]
    gathered = mode(lambda x: gradient(lambda x: tf.gather(length(x), picks), x))
    expected = np.float64([[1], [0], [2], [0]]) * x / tf.norm(x, axis=-1, keepdims=True)
    np.testing.assert_allclose(gathered(x), expected, 1e-12, 1e-12)


def labels_and_logits():
    labels = np.random.default_rng(0).dirichlet(np.ones(5), 4)
    return labels, random_vectors()


def test_the_loss_equals_tensorflow_s(mode):
    labels, logits = map(tf.constant, labels_and_logits())
    expected = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
    np.testing.assert_allclose(mode(simplified)(labels, logits), expected, rtol=1e-12)


def test_gradients_of_the_loss(mode):
    labels, logits = labels_and_logits()
    square = mode(lambda logits: simplified(tf.constant(labels), logits) ** 2)
    assert_gradient(square, [logits])
    assert_gradient(mode(lambda logits: gradient(square, logits)), [logits])
    slope = gradient(lambda x: simplified(tf.constant(labels), x), logits)
    np.testing.assert_allclose(slope, tf.nn.softmax(logits) - labels, 1e-12, 1e-12)


def test_gradients_of_gathered_losses(mode):
    labels, logits = map(tf.constant, labels_and_logits())
    gathered = mode(
        lambda x: gradient(lambda x: tf.gather(simplified(labels, x), [2, 0, 2]), x)
    )
    expected = np.float64([[1], [0], [2], [0]]) * (tf.nn.softmax(logits) - labels)
    np.testing.assert_allclose(gathered(logits), expected, 1e-12, 1e-12)


def test_the_loss_does_not_overflow(mode):
    labels, logits = tf.constant([[0.0, 1], [1, 0]]), tf.constant([[0.0, 100]] * 2)
    np.testing.assert_array_equal(mode(simplified)(labels, logits), [0, 100])
    grad = mode(lambda x: gradient(lambda x: simplified(labels, x), x))(logits)
    np.testing.assert_allclose(grad, [[0, 0], [-1, 1]], atol=1e-30)
