"""The numbers of keys with TensorFlow's own hash table: several ops, with and without a critical section."""

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


class GuardedKeyTable:
    """As KeyTable of strings, for any number of threads."""

    def __init__(self) -> None:
        self.table, self.section = StockKeyTable(), tf.CriticalSection()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def __call__(self, keys) -> tf.Tensor:
        """The number of each key of a vector; new keys are added."""
        return self.section.execute(lambda: self.table(keys))

    def keys(self) -> tf.Tensor:
        """All keys, in any order."""
        return self.table.keys()


def call_from_four_threads(table, first: int = 0) -> None:
    """Makes 80 calls from four threads, each with 1000 keys, which are as strings the integers from `first` on."""

    def call(number: int) -> None:
        begin = first + 1000 * number
        table(tf.strings.as_string(tf.range(begin, begin + 1000)))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(call, range(80)))


def numbers_given_twice(table) -> int:
    """How many of 80,000 new keys got a number that another one had, in calls from four threads."""
    table(tf.constant([], tf.string))  # traces once, not in each thread
    call_from_four_threads(table)
    keys = table.keys()
    return len(keys) - len(set(table(keys).numpy()))
