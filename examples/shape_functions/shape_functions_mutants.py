"""Wrong variants of RgbToGray, on which the test that the page shows must fail."""

import tensorflow as tf
from shape_functions import rgb_to_gray


def knows_no_shape(rgb):
    return tf.numpy_function(lambda rgb: rgb_to_gray(rgb).numpy(), [rgb], "float32")


def infers_a_wrong_shape(rgb):
    gray = knows_no_shape(rgb)
    gray.set_shape([9])
    return gray


MUTANTS = {
    "test_the_shape_that_comes_out_is_one_that_was_inferred": {
        "shape_functions.rgb_to_gray": [knows_no_shape, infers_a_wrong_shape]
    }
}
