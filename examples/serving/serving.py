"""The Python side of ByteNgrams: the op, and a Keras layer around it."""

from pathlib import Path

import keras
import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libserving.so"), "byte_ngrams")


def byte_ngrams(
    texts, n: int = 3, buckets: int = 64, name: str | None = None
) -> tf.Tensor:
    """How often each run of n bytes occurs in each text, in hashed buckets.

    Args:
      texts: A tensor of strings of any shape.
      n: The length of a run, at least 1.
      buckets: How many counts there are for a text, at least 1. Runs with the same hash share one.
      name: Of the op in the graph.

    Returns:
      A tensor of float32, `[*texts.shape, buckets]`. A count stops at 2**24.

    Raises:
      ValueError: An attr is less than 1, while a `tf.function` is traced.
      tf.errors.InvalidArgumentError: Likewise, eagerly.
    """
    return _library.byte_ngrams(texts=texts, n=n, buckets=buckets, name=name)


tf.no_gradient("ByteNgrams")  # texts have none


@keras.saving.register_keras_serializable("op_by_op")
class ByteNgrams(keras.layers.Layer):
    """The op as a layer."""

    def __init__(self, n: int = 3, buckets: int = 64, **options):
        super().__init__(**options)
        self.n = n
        self.buckets = buckets
        self.supports_jit = False  # the op has no kernel for XLA

    def call(self, texts):
        """Counts, in the dtype in which the model computes."""
        return tf.cast(byte_ngrams(texts, self.n, self.buckets), self.compute_dtype)

    def compute_output_shape(self, input_shape):
        """What Keras asks before there is a tensor."""
        return (*input_shape, self.buckets)

    def get_config(self):
        """What goes into a `.keras` file and comes back as arguments."""
        return {**super().get_config(), "n": self.n, "buckets": self.buckets}
