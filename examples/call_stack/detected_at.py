"""A node that fails when its graph runs, under two names: `python detected_at.py`."""

import tensorflow as tf


@tf.function
def loss(x, name):
    logarithm = tf.math.log(x)
    return tf.debugging.check_numerics(logarithm, "the logarithm", name=name)


if __name__ == "__main__":
    for name in "finite", "Addons>Finite":
        try:
            loss(tf.constant([-1.0]), name)
        except tf.errors.InvalidArgumentError as error:
            print(error.message, end="\n\n")
