"""Wrong variants of CrossFeatures, on which the test that the page shows must fail."""

import tensorflow as tf
from shape_functions import cross_features


def knows_no_shape(users, items):
    def cross(users, items):
        return cross_features(users, items).numpy()

    return tf.numpy_function(cross, [users, items], "float32")


def infers_a_wrong_shape(users, items):
    products = knows_no_shape(users, items)
    products.set_shape([9, 9])
    return products


MUTANTS = {
    "test_the_shape_that_comes_out_is_one_that_was_inferred": {
        "shape_functions.cross_features": [knows_no_shape, infers_a_wrong_shape]
    }
}
