"""The solution of the exercise on queues: a shuffled iterator."""

from collections.abc import Iterable, Iterator

import tensorflow as tf


def shuffled(values: Iterable[int], capacity: int, seed: int) -> Iterator[int]:
    """Yields numbers in another order, of which a queue holds at most so many at a time.

    Args:
      values: Each of int64.
      capacity: Of the queue, at least 1.
      seed: Of the order.
    """
    queue = tf.queue.RandomShuffleQueue(capacity, 0, [tf.int64], [[]], seed=seed)
    for value in values:
        if queue.size() == capacity:
            yield int(queue.dequeue())
        queue.enqueue(value)
    while queue.size() > 0:
        yield int(queue.dequeue())
