"""Wrong variants of what the files of version 1 become, on which the tests of the page must fail."""

from types import SimpleNamespace

import tensorflow as tf

load = tf.saved_model.load


def gives_another_result(path):
    function = load(path).signatures["serving_default"]

    def louder(signal):
        return {name: 1.001 * output for name, output in function(signal).items()}

    return SimpleNamespace(signatures={"serving_default": louder})


MUTANTS = {
    "test_the_model_of_version_1_gives_its_output": {
        "tensorflow.saved_model.load": [gives_another_result],
    }
}
