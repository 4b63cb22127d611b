"""The same of TensorFlow's own ops: its random numbers, and how one would round with them."""

import tensorflow as tf


def numbers_of(seed, shape) -> tf.Tensor:
    """Random numbers of 32 bits.

    Args:
      seed: `[2]`, int32 or int64.
      shape: Of the result.

    Returns:
      uint32.
    """
    return tf.random.stateless_uniform(shape, seed, None, None, tf.uint32, "philox")


def stock_stochastic_round(x: tf.Tensor, seed) -> tf.Tensor:
    """Rounds float32 to bfloat16 by chance: adds a random number to the bits that go, and cuts them off.

    Args:
      x: float32, no NaN.
      seed: `[2]`, int32 or int64.

    Returns:
      bfloat16, of the shape of `x`.
    """
    return _rounded(x, numbers_of(seed, tf.shape(x)))


def stock_stochastic_round_to_half(x: tf.Tensor, seed) -> tf.Tensor:
    """The same to half, which drops 13 bits.

    Args:
      x: float32, from half's smallest normal number to its largest.
      seed: `[2]`, int32 or int64.
    """
    bits = tf.bitcast(x, tf.uint32) + _shifted(numbers_of(seed, tf.shape(x)), 19)
    cut = tf.bitwise.bitwise_and(bits, tf.constant(2**32 - 2**13, tf.uint32))
    return tf.cast(tf.bitcast(cut, tf.float32), tf.half)


def hashed_stochastic_round(x: tf.Tensor, seed) -> tf.Tensor:
    """The same with weaker random numbers, hashes of the places: for XLA, which makes one loop of it.

    Args:
      x: float32, no NaN, with less than 2^31 elements.
      seed: `[2]`, int32.
    """
    place = tf.bitcast(tf.reshape(tf.range(tf.size(x)), tf.shape(x)), tf.uint32)
    first, second = tf.unstack(tf.bitcast(tf.convert_to_tensor(seed), tf.uint32))
    key = _mixed(_mixed(first) + second)
    return _rounded(x, _mixed(_mixed(place) ^ key))


def _mixed(bits: tf.Tensor) -> tf.Tensor:
    """What MurmurHash3 does at the end: each bit that comes in changes about half of those that go out."""
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        bits = (bits ^ _shifted(bits, shift)) * tf.constant(factor, tf.uint32)
    return bits


def _rounded(x: tf.Tensor, numbers: tf.Tensor) -> tf.Tensor:
    """Adds the upper half of each number to the bits that go, and cuts them off."""
    bits = tf.bitcast(x, tf.uint32) + _shifted(numbers, 16)
    return tf.bitcast(tf.bitcast(bits, tf.uint16)[..., 1], tf.bfloat16)


def _shifted(bits: tf.Tensor, places: int) -> tf.Tensor:
    return tf.bitwise.right_shift(bits, tf.constant(places, tf.uint32))
