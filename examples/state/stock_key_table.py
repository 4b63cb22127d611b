"""The numbers of keys with TensorFlow's own hash table: several ops, between which other threads run."""

from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf


class StockKeyTable:
    """As KeyTable of strings, for one thread."""

    def __init__(self) -> None:
        self.numbers = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def __call__(self, keys) -> tf.Tensor:
        """The number of each key of a vector; new keys are added."""
        unknown = tf.where(self.numbers.lookup(keys) < 0)[:, 0]
        new, _ = tf.unique(tf.gather(keys, unknown))
        size = self.numbers.size()
        self.numbers.insert(new, tf.range(size, size + tf.size(new, tf.int64)))
        return self.numbers.lookup(keys)

    def keys(self) -> tf.Tensor:
        """All keys, in any order."""
        return self.numbers.export()[0]


def numbers_given_twice(table) -> int:
    """How many keys got a number that another one had, in 80 calls from four threads, each with 1000 new keys."""

    def call(number: int) -> None:
        table(tf.strings.as_string(tf.range(1000 * number, 1000 * (number + 1))))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(call, range(80)))
    keys = table.keys()
    return len(keys) - len(set(table(keys).numpy()))
