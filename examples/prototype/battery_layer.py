"""A layer of Keras with a weight, around an op."""

import tensorflow as tf
from battery import battery


@tf.keras.utils.register_keras_serializable("op_by_op")
class Battery(tf.keras.layers.Layer):
    """The levels of a battery whose capacity is learned.

    Args:
      initial_capacity: Where the training begins.
      **options: Of every layer, such as its name.
    """

    def __init__(self, initial_capacity: float = 1.0, **options):
        super().__init__(**options)
        self.supports_jit = False  # XLA has no kernel for Battery
        self.initial_capacity = initial_capacity
        self.capacity = self.add_weight(
            name="capacity",
            shape=(),
            initializer=tf.keras.initializers.Constant(initial_capacity),
            constraint="non_neg",
            autocast=False,  # the op has no kernel for 16 bits
        )

    def call(self, flow: tf.Tensor) -> tf.Tensor:
        level = battery(tf.cast(flow, self.capacity.dtype), self.capacity)
        return tf.cast(level, self.compute_dtype)

    def get_config(self) -> dict:
        return {**super().get_config(), "initial_capacity": self.initial_capacity}
