import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UbPadToMultiple")
    def _grad(op, grad):
        return tf.slice(grad, [0, 0, 0, 0], tf.shape(op.inputs[0]))

    def pad_to_multiple(images, *, multiple=32):
        """Zero-pads uint8 or float [batch, height, width, channels] images at the bottom and right."""
        return lib.ub_pad_to_multiple(images, multiple=multiple)

    return pad_to_multiple


def sample():
    return [np.arange(1, 16, dtype=np.float32).reshape(1, 3, 5, 1)], {"multiple": 4}


def reference(images, *, multiple=32):
    images = np.asarray(images)
    if images.ndim != 4 or multiple < 1:
        raise ValueError("images must have rank 4")
    pad = [
        (0, 0),
        (0, -images.shape[1] % multiple),
        (0, -images.shape[2] % multiple),
        (0, 0),
    ]
    return np.pad(images, pad)
