"""The Python side of version 2: who called that of version 1 can go on as before."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libbackward_compatibility_v2.so"), "mu_law"
)


def mu_law(
    signal, mode: str, mu: float = 255.0, name: str | None = None, gain: float = 1.0
) -> tf.Tensor:
    """Compresses the size of each number by a logarithm, or undoes it.

    Args:
      signal: A float32 or float64 tensor of any shape; what is no tensor becomes float32.
      mode: "encode" or "decode".
      mu: How much, above 0.
      name: Of the op in the graph.
      gain: What the signal is multiplied by first.

    Returns:
      A tensor of that dtype and shape.

    Raises:
      tf.errors.InvalidArgumentError: `mode` is another word, or `mu` is not above 0 and finite.
      ValueError: `mode` is another word, while a `tf.function` is traced.
    """
    if not tf.is_tensor(signal):
        signal = tf.convert_to_tensor(signal, tf.float32)
    return _library.mu_law(signal, mode=mode, mu=mu, gain=gain, name=name)
