"""A LogCosh with another gradient in C++, which a graph asks, on which the test that the page shows must fail."""

import tensorflow as tf
from elementwise import log_cosh


def doubles_in_a_graph(x):
    y = log_cosh(x)
    return y if tf.executing_eagerly() else y + y


MUTANTS = {
    "test_the_gradient_is_the_same_in_both_languages": {
        "elementwise.log_cosh": [doubles_in_a_graph]
    }
}
