"""Wrong variants of Extremes, on which the test that the page shows must fail."""

from typing import NamedTuple

import tensorflow as tf
from multi_output import extremes


class Renamed(NamedTuple):
    least: tf.Tensor
    most: tf.Tensor
    argmin: tf.Tensor
    argmax: tf.Tensor


def names_its_outputs_otherwise(values):
    return Renamed(*extremes(values))


def swaps_the_extremes(values):
    found = extremes(values)
    return found._replace(minimum=found.maximum, maximum=found.minimum)


MUTANTS = {
    "test_extremes_equal_the_reference": {
        "multi_output.extremes": [names_its_outputs_otherwise, swaps_the_extremes]
    }
}
