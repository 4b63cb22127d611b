"""Tensors of arrays, and arrays of tensors."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf


def tensors_of(result) -> list[tf.Tensor]:
    """What a call of the op has returned, flat: no None, and no tf.Operation, which has no value."""
    return [
        tf.convert_to_tensor(one)
        for one in tf.nest.flatten(result, expand_composites=True)
        if one is not None and not isinstance(one, tf.Operation)
    ]


def is_opaque(tensor: tf.Tensor) -> bool:
    """Whether NumPy has nothing to hold the tensor's value."""
    return tensor.dtype in (tf.variant, tf.resource)


def constant(array) -> tf.Tensor:
    """A tensor of the array's very dtype, with memory of its own."""
    array = np.asarray(array)
    if array.dtype == object:
        return tf.constant(array.tolist(), tf.string, shape=array.shape)
    return tf.constant(np.array(array), tf.as_dtype(array.dtype))


def copied(tensor: tf.Tensor) -> tf.Tensor:
    """A tensor in a graph whose memory nobody else holds."""
    if not tensor.dtype.is_quantized:
        return tf.raw_ops.DeepCopy(x=tensor)
    integers = tf.as_dtype(f"int{8 * tensor.dtype.size}")  # DeepCopy takes these
    return tf.bitcast(tf.raw_ops.DeepCopy(x=tf.bitcast(tensor, integers)), tensor.dtype)


def arrays(tensors: Sequence) -> list[np.ndarray]:
    """Copies of tensors as arrays; strings become arrays of bytes.

    Raises:
      MemoryError: A tensor has no elements, and more columns than an array can have.
    """
    return list(map(_array, tensors))


def _array(tensor: tf.Tensor) -> np.ndarray:
    if is_opaque(tensor):
        return np.zeros(tensor.shape)
    try:
        return np.array(tensor.numpy(), tensor.dtype.as_numpy_dtype)
    except tf.errors.InvalidArgumentError:
        if tensor.shape.num_elements():
            raise
        raise MemoryError(f"no array has the shape {tensor.shape}") from None
