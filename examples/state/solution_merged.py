"""The solution of the exercise: one random sample of what several workers have seen."""

from collections.abc import Sequence

import tensorflow as tf
from state_sample import Sample, library


def merged(samples: Sequence[Sample], capacity: int) -> tf.Tensor:
    """Returns a random sample of all values that the samples have seen."""
    parts = [library.read_sample(sample.resource_handle) for sample in samples]
    for part in parts:
        kept, seen = len(part.values), int(part.seen)
        if kept < min(capacity, seen):
            raise ValueError(f"{kept} of {seen} values are too few for {capacity}")
    values = tf.concat([part.values for part in parts], 0)
    priorities = tf.concat([part.priorities for part in parts], 0)
    return tf.gather(values, tf.argsort(priorities)[:capacity])
