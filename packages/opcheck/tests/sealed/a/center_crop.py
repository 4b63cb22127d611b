"""Crops the middle of a batch of images."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UaCenterCrop")
    def _grad(op, g):
        size = tf.shape(op.inputs[0])[1:3]
        kept = tf.stack([op.get_attr("height"), op.get_attr("width")])
        before = (size - kept) // 2
        after = size - kept - before
        zero = [0, 0]
        return tf.pad(
            g, tf.stack([zero, [before[0], after[0]], [before[1], after[1]], zero])
        )

    def center_crop(images, *, height, width):
        """Returns the middle [batch, height, width, channels] of images."""
        return lib.ua_center_crop(images, height=height, width=width)

    return center_crop


def sample():
    """A typical call."""
    return [np.arange(30, dtype=np.float32).reshape(1, 5, 6, 1)], {
        "height": 2,
        "width": 2,
    }


def reference(images, *, height, width):
    """The same in NumPy."""
    images = np.asarray(images)
    if (
        images.ndim != 4
        or not 1 <= height <= images.shape[1]
        or not 1 <= width <= images.shape[2]
    ):
        raise ValueError(
            "images must be [batch, rows, columns, channels] and large enough"
        )
    top, left = (images.shape[1] - height) // 2, (images.shape[2] - width) // 2
    return images[:, top : top + height, left : left + width]
