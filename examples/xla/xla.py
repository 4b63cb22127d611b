"""The Python side of ExponentialAverage: the op, its gradient, and two functions that stand in for it under XLA."""

from pathlib import Path

import numpy as np
import tensorflow as tf
from op_library import load_op_library
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.python.ops import control_flow_util

_HERE = Path(__file__).parent
_BLOCK = 64
_library = load_op_library(_HERE / "libxla.so", "exponential_average")

tf.load_library(str(_HERE / "libxla_call.so"))


def exponential_average(
    signal, decay: float = 0.9, name: str | None = None
) -> tf.Tensor:
    """The moving average of each row, in which newer values weigh more.

    Args:
      signal: A tensor of float32 or float64 of at least one dimension. The rows are along the last one.
      decay: How much of the average before a value stays: greater than 0, less than 1.
      name: Of the op in the graph.

    Returns:
      A tensor like the signal, `average[t] = decay * average[t - 1] + (1 - decay) * signal[t]`. Before the first
      value, the average is 0. SciPy has it as `lfilter([1 - decay], [1, -decay], signal)`.

    Raises:
      ValueError: The decay is not in its range, or the signal is a scalar, while a `tf.function` is traced.
      tf.errors.InvalidArgumentError: Likewise, eagerly.
    """
    return _library.exponential_average(signal=signal, decay=decay, name=name)


@tf.RegisterGradient("ExponentialAverage")
def _exponential_average_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """The same average, from the end to the beginning."""
    return _backwards(exponential_average, grad, op.get_attr("decay"))


def _backwards(average, signal: tf.Tensor, decay: float) -> tf.Tensor:
    return tf.reverse(average(tf.reverse(signal, [-1]), decay), [-1])


def under_xla() -> bool:
    """Whether a function with `jit_compile=True` is being traced, directly or through another one."""
    return control_flow_util.GraphOrParentsInXlaContext(
        tf.compat.v1.get_default_graph()
    )


def composed(signal, decay: float = 0.9) -> tf.Tensor:
    """The op, but a composition of TensorFlow's own ops under XLA. The length of the rows must be known there."""
    if not under_xla():
        return exponential_average(signal, decay)
    signal, decay = _checked(signal, decay)
    [length] = _known(signal.shape[-1:])
    average, step = (1 - decay) * signal, 1
    while step < length:
        beginning = [[0, 0]] * (average.shape.rank - 1) + [[step, 0]]
        earlier = tf.pad(average, beginning)[..., :-step]
        # Infinity stays infinity, even where the weight has become 0.
        decayed = decay**step * earlier
        average += tf.where(tf.math.is_finite(earlier), decayed, earlier)
        step *= 2
    return average


def blocked(signal, decay: float = 0.9) -> tf.Tensor:
    """The op, but two products with constant matrices under XLA. The length of the rows must be known there.

    A value that is not finite makes those before it NaN, too.
    """
    if not under_xla():
        return exponential_average(signal, decay)
    signal, decay = _checked(signal, decay)
    [length] = _known(signal.shape[-1:])
    blocks, dtype = max(1, -(-length // _BLOCK)), signal.dtype.as_numpy_dtype
    ends = [[0, 0]] * (signal.shape.rank - 1) + [[0, blocks * _BLOCK - length]]
    x = tf.pad(signal, ends)

    # Within each block: what a value adds to those after it.
    place = np.arange(_BLOCK)
    weight = np.triu((1 - decay) * decay ** np.maximum(place - place[:, None], 0))
    y = tf.reshape(x, [-1, _BLOCK]) @ weight.astype(dtype)
    y = tf.reshape(y, [-1, blocks, _BLOCK])

    # From block to block: what the last average of one adds to the later ones.
    block = np.arange(blocks)
    apart = np.maximum(block - block[:, None] - 1, 0)
    before = y[:, :, -1] @ np.triu(decay ** (_BLOCK * apart), 1).astype(dtype)
    y += before[:, :, None] * (decay ** (place + 1)).astype(dtype)
    return tf.reshape(y, tf.shape(x))[..., :length]


def called(signal, decay: float = 0.9) -> tf.Tensor:
    """The op, but a call of its loop from the compiled program under XLA, on the CPU. The shape must be known there."""
    if not under_xla():
        return exponential_average(signal, decay)
    signal, decay = _checked(signal, decay)

    @tf.custom_gradient
    def call(signal: tf.Tensor):
        *outer, length = _known(signal.shape)
        [average] = gen_xla_ops.xla_custom_call_v2(
            [signal],
            call_target_name=f"exponential_average_{signal.dtype.name}",
            backend_config=f"{decay!r} {np.prod(outer, dtype=int)} {length}",
            has_side_effect=False,
            result_dtypes=[signal.dtype],
            result_shapes=[signal.shape],
        )
        return average, lambda grad: _backwards(called, grad, decay)

    return call(signal)


def _checked(signal, decay: float) -> tuple[tf.Tensor, float]:
    """As the op gets and checks them."""
    signal, decay = tf.convert_to_tensor(signal), float(np.float32(decay))
    if signal.dtype not in (tf.float32, tf.float64):
        raise TypeError(f"signal must be float32 or float64, got {signal.dtype.name}")
    if signal.shape.rank == 0:
        raise ValueError("signal must have at least one dimension, got a scalar")
    if not 0 < decay < 1:
        raise ValueError(f"decay must be greater than 0 and less than 1, got {decay}")
    return signal, decay


def _known(shape: tf.TensorShape) -> list[int]:
    """The sizes."""
    if not shape.is_fully_defined():
        raise ValueError(
            f"under XLA the shape must be known while tracing, got {shape}"
        )
    return shape.as_list()
