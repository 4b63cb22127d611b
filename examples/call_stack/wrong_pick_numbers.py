"""A program that its op kills: `python wrong_pick_numbers.py`."""

from pathlib import Path

import tensorflow as tf

tf.config.threading.set_inter_op_parallelism_threads(2)
library = tf.load_op_library(str(Path(__file__).with_name("libpick_numbers.so")))


@tf.function
def pick(x, indices):
    return library.pick_numbers(x, indices)


if __name__ == "__main__":
    x = tf.constant([5.0, 4.0, 3.0])
    print(pick(x, tf.constant([2, 0])).numpy())
    print(pick(x, tf.constant([2, 2_000_000_000])).numpy())
