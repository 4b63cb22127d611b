"""MedianPool, and the same of TensorFlow's functions."""

from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(Path(__file__).with_name("libmedian_pool.so"), "median_pool")


def median_pool(images, ksize: int, name: str | None = None) -> tf.Tensor:
    """The median of each window of ksize x ksize pixels, of an even number the upper one.

    Windows lie side by side, and pixels that fill none are left out. A window with a NaN has the median NaN.

    Args:
      images: `[batch, height, width, channels]`, float32.
      ksize: A Python integer, at least 1. Above height or width there is no window.
      name: Of the op in the graph.

    Returns:
      `[batch, height // ksize, width // ksize, channels]`, float32.

    Raises:
      tf.errors.InvalidArgumentError: `ksize` is below 1, or `images` has not 4 axes or another dtype.
    """
    return _library.median_pool(images=images, ksize=ksize, name=name)


def stock_median_pool(images: tf.Tensor, ksize: int) -> tf.Tensor:
    """What `median_pool` computes, of TensorFlow's functions and without its checks; not for NaN."""
    sizes, count = [1, ksize, ksize, 1], ksize * ksize
    patches = tf.image.extract_patches(images, sizes, sizes, [1] * 4, "VALID")
    places = tf.unstack(tf.shape(patches))[:3]  # batch, rows, columns
    windows = tf.reshape(patches, [*places, count, images.shape[-1]])
    windows = tf.transpose(windows, [0, 1, 2, 4, 3])
    return tf.math.top_k(windows, (count + 1) // 2).values[..., -1]


def network_median_pool(images: tf.Tensor, ksize: int) -> tf.Tensor:
    """What `median_pool` computes, by minima and maxima of whole images, without its checks; not for NaN.

    Height and width must be known when a graph is traced.
    """
    middle = ksize * ksize // 2
    rows, columns = (size // ksize * ksize for size in images.shape[1:3])
    pixels = [
        images[:, i:rows:ksize, j:columns:ksize]
        for i in range(ksize)
        for j in range(ksize)
    ]
    needed, network = {middle}, []
    for pair in reversed(list(_sorting_network(len(pixels)))):
        if needed & set(pair):
            needed |= set(pair)
            network.append(pair)
    for i, j in reversed(network):
        x, y = pixels[i], pixels[j]
        pixels[i], pixels[j] = tf.minimum(x, y), tf.maximum(x, y)
    return pixels[middle]


def _sorting_network(count: int) -> Iterator[tuple[int, int]]:
    """The pairs of places that sort any `count` numbers if the smaller one of each pair goes first.

    Batcher's merge exchange: Knuth, The Art of Computer Programming, volume 3, algorithm 5.2.2M.
    """
    first = 1 << (count - 1).bit_length() >> 1
    bit = first
    while bit:
        distance, later, value = bit, first, 0
        while True:
            for i in range(count - distance):
                if i & bit == value:
                    yield i, i + distance
            if later == bit:
                break
            distance, later, value = later - bit, later // 2, bit
        bit //= 2
