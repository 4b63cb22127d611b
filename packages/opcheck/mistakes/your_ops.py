"""The ops of `your_ops.cc`."""

import os
from pathlib import Path

import tensorflow as tf

PATH = Path(os.environ["YOUR_OPS"])
library = tf.load_op_library(str(PATH))

your_async_op = library.your_async_op
your_concat = library.your_concat
your_sum = library.your_sum
your_unshaped_op = library.your_unshaped_op


def your_op(x, size=1, mode="linear"):
    """A function that uses the library, as your package has one."""
    return library.your_op(x, size=size, mode=mode)
