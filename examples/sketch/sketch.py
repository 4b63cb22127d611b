"""The Python side: sketches."""

import ctypes
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_path = Path(__file__).with_name("libsketch.so")
library = load_op_library(_path, "sketch_hashes", "count_sketch")
_copy = ctypes.CDLL(str(_path)).CopyLikeADevice


def sketch(keys, precision: int = 12) -> tf.Tensor:
    """A sketch of keys, by which `count` estimates how many different ones there are.

    Sketches of one precision are merged by `tf.add_n`.

    Args:
      keys: A tensor, or what converts to one: any shape; strings, or integers, which become int64.
      precision: From 4 to 16; the sketch has `2**precision` registers of a byte.

    Returns:
      variant, a scalar.

    Raises:
      tf.errors.InvalidArgumentError: Another precision, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    return library.sketch_hashes(hashes_of(keys), precision=precision)


def hashes_of(keys) -> tf.Tensor:
    """A hash of each key, which is the same on every machine.

    Args:
      keys: As for `sketch`.

    Returns:
      uint64, a vector.
    """
    keys = tf.reshape(tf.convert_to_tensor(keys), [-1])
    if keys.dtype.is_integer:
        keys = tf.cast(keys, tf.int64)
    return tf.bitcast(tf.fingerprint(keys), tf.uint64)


def count(sketch) -> tf.Tensor:
    """About how many different keys a sketch has seen.

    Args:
      sketch: variant, any shape.

    Returns:
      float64, of the shape of `sketch`.

    Raises:
      tf.errors.InvalidArgumentError: Something else than a sketch.
    """
    return library.count_sketch(sketch)


def count_hashes(hashes, precision: int = 12) -> tf.Tensor:
    """About how many different hashes there are, by a sketch.

    Args:
      hashes: uint64, any shape.
      precision: As for `sketch`.

    Returns:
      float64, a scalar.

    Raises:
      tf.errors.InvalidArgumentError: Another precision, in eager execution.
      ValueError: The same in a `tf.function`.
    """
    return count(library.sketch_hashes(hashes, precision=precision))


def copied_like_a_device(direction: int) -> bool:
    """Whether what TensorFlow calls to copy a sketch makes a second, equal one.

    Args:
      direction: 1 from the host to a GPU, 2 back, 3 between GPUs.
    """
    return bool(_copy(direction))


for op in ("SketchHashes", "CountSketch"):
    tf.no_gradient(op)
