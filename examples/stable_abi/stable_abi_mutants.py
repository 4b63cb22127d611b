"""Wrong variants of RowMedian, on which the test that the page shows must fail."""

import tensorflow as tf
from stable_abi import row_median


def takes_the_mean(x, upper=False):
    found = row_median(x, upper)
    return found._replace(median=found.median + tf.cast(1, found.median.dtype))


def counts_from_one(x, upper=False):
    found = row_median(x, upper)
    return found._replace(index=found.index + 1)


MUTANTS = {
    "test_row_median_equals_the_reference": {
        "stable_abi.row_median": [takes_the_mean, counts_from_one]
    }
}
