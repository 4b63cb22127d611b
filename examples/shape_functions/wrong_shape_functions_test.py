"""Shape functions that lie, crash or say nothing: `pytest examples/shape_functions`."""

from pathlib import Path

import forked
import numpy as np
import pytest
import tensorflow as tf
from infer import infer
from op_library import load_op_library

HERE = Path(__file__).parent
library = load_op_library(
    HERE / "libshape_functions.so", "crashing_cross_features", "silent_cross_features"
)
rows_library = load_op_library(HERE / "libevery_other_row.so", "lying_every_other_row")


def test_without_a_shape_function_nothing_is_known():
    assert infer(library.silent_cross_features, "[2,3];[2,4]") == "?"


def test_a_shape_function_that_lies_makes_results_wrong():
    def mean(rows):
        kept = rows_library.lying_every_other_row(rows)
        return tf.reduce_sum(kept) / tf.size(kept, tf.float32)

    rows = tf.ones([5, 2])
    assert mean(rows) == 1.0
    np.testing.assert_allclose(tf.function(mean, autograph=False)(rows), 0.6)


def test_arithmetic_on_unknown_dimensions_is_wrong_or_fatal():
    crashing = library.crashing_cross_features
    assert infer(crashing, "[2,3];[2,4]") == "[2,12]"
    assert infer(crashing, "[2,?];[2,?]") == "[2,1]"
    with pytest.raises(ValueError, match="must be rank 2 but is rank 1"):
        infer(crashing, "[2];[3,4]")
    script = """if True:
        import sys, tensorflow as tf
        sys.path.append(sys.argv[1])
        from infer import infer
        library = tf.load_op_library(sys.argv[1] + "/libshape_functions.so")
        infer(library.crashing_cross_features, "[2,?];[2,4]")"""
    run = forked.run(script, HERE)
    assert run.returncode < 0
    assert "Expected shape dimensions to be non-negative, got -4" in run.stderr
