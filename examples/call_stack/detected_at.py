"""A node that fails when its graph runs, called in four ways: `python detected_at.py`."""

import tensorflow as tf


@tf.function
def loss(x, name="finite"):
    logarithm = tf.math.log(x)
    return tf.debugging.check_numerics(logarithm, "the logarithm", name=name)


if __name__ == "__main__":
    x = tf.constant([-1.0])
    ways = {
        "a tf.function": lambda: loss(x),
        "a lambda": tf.function(lambda: loss.python_function(x)),
        "a pipeline": lambda: list(tf.data.Dataset.from_tensors(x).map(loss)),
        "a name with >": lambda: loss(x, "Addons>Finite"),
    }
    for way, call in ways.items():
        try:
            call()
        except tf.errors.InvalidArgumentError as error:
            print(f"-- {way}: {error.message}", end="\n\n")
