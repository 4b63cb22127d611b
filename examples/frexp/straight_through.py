"""Rounding that lets the gradient through, and a layer of Keras that uses it."""

import tensorflow as tf


@tf.custom_gradient
def straight_through(x: tf.Tensor) -> tf.Tensor:
    """The nearest whole numbers, with the gradient of `x` itself."""

    def backward(grad):
        return grad

    return tf.round(x), backward


@tf.keras.utils.register_keras_serializable("op_by_op")
class RoundedDense(tf.keras.layers.Layer):
    """A dense layer whose weights are multiples of a step.

    Args:
      units: How many outputs it has.
      step: The distance of two weights; None leaves the weights as they are.
      activation: The name of a function, or a function that Keras knows.
      **options: Those of each layer, such as `name`.
    """

    def __init__(self, units: int, step: float | None, activation=None, **options):
        super().__init__(**options)
        self.units, self.step = units, step
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape):
        shapes = {"kernel": (input_shape[-1], self.units), "bias": (self.units,)}
        for name, shape in shapes.items():
            initial = tf.keras.initializers.RandomNormal(stddev=1.0)
            setattr(self, name, self.add_weight(shape, initial, name=name))

    def call(self, inputs):
        return self.activation(
            inputs @ self.rounded(self.kernel) + self.rounded(self.bias)
        )

    def rounded(self, weight):
        if self.step is None:
            return tf.convert_to_tensor(weight)
        return self.step * straight_through(weight / self.step)

    def get_config(self):
        activation = tf.keras.activations.serialize(self.activation)
        own = {"units": self.units, "step": self.step, "activation": activation}
        return super().get_config() | own
