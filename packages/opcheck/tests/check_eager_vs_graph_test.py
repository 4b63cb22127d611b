"""The check `eager_vs_graph`."""

import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import normal, result

import opcheck

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "reverse_matrix_static_size": "unknown rank",
    "prefix_sum_keeps_total": "the second call",
    "difference_forwarded": "owns its inputs",
}
test_a_broken_op_is_caught = caught("eager_vs_graph", CAUGHT)


def in_a_dataset():
    return "Dataset" in getattr(tf.compat.v1.get_default_graph(), "name", "")


def has_unknown_dimensions(x):
    return x.shape.rank and not x.shape.is_fully_defined()


@pytest.mark.parametrize(
    ("mode", "is_odd"),
    [
        ("tf.function", lambda x: not tf.executing_eagerly()),
        ("tf.function with unknown dimensions", has_unknown_dimensions),
        ("tf.function with unknown rank", lambda x: x.shape.rank is None),
        ("tf.data.Dataset.map", lambda x: in_a_dataset()),
        (
            "a v1 graph",
            lambda x: not tf.compat.v1.executing_eagerly_outside_functions(),
        ),
    ],
)
def test_eager_execution_is_compared_with(mode, is_odd):
    def op(x):
        return x + 1 if is_odd(x) else tf.identity(x)

    found = result("eager_vs_graph", op, normal(2))
    assert found.detail.split(";")[0] == f"in {mode}"


def where_equal(x):
    return tf.where(x == tf.identity(x), x, 0.0)


def test_in_a_v1_graph_tensors_are_compared_as_objects():
    found = result("eager_vs_graph", where_equal, normal(2))
    assert "tf.equal" in found.cause, found.explanation()


def is_odd_beyond_2_if_it_owns_x(x):
    owned = not tf.executing_eagerly() and x.op.type == "DeepCopy"
    return tf.where(x > 2, x + 1, x) if owned else tf.identity(x)


def test_an_op_owns_other_numbers_than_the_sample_s():
    x = np.float32([1, -0.5, 0.25])
    found = result("eager_vs_graph", is_odd_beyond_2_if_it_owns_x, x, fast=False)
    where = "in tf.function whose op owns its inputs, with other values in x"
    assert found.detail == where, found.explanation()
    assert "forward_input" in found.cause and "DeepCopy" in found.line


def test_a_forgotten_return_is_noted():
    found = result("eager_vs_graph", lambda x: None, normal(2))
    assert "is a `return` missing?" in found.detail


def first_bytes(path, stateful=True):
    """Of a file."""

    def run(name):
        with open(np.asarray(name).item(), "rb") as file:
            return file.read(8)

    y = tf.numpy_function(run, [path], tf.string, stateful=stateful)
    return tf.ensure_shape(y, path.shape)


def first_bytes_of_old(path):
    """TensorFlow calls it once for a constant."""
    return first_bytes(path, stateful=False)


@pytest.mark.parametrize("op", [first_bytes, first_bytes_of_old])
def test_a_graph_reads_a_file_that_has_changed(op, tmp_path):
    file = tmp_path / "some"
    file.write_text("one two three")
    found = result("eager_vs_graph", op, np.array(str(file)))
    assert (found.verdict == "fail") == (op is first_bytes_of_old), found.explanation()
    if found.verdict == "fail":
        assert "which then changes" in found.detail and "SetIsStateful" in found.cause


def keeps_in_a_variable(x):
    return tf.Variable(x).assign_add(tf.ones_like(x))


def test_a_function_that_cannot_be_traced_is_told_once():
    report = opcheck.check(
        keeps_in_a_variable, normal(2), fast=True, raise_on_failure=False
    )
    assert report["eager_vs_graph"].verdict == "fail"
    skipped = [x.check for x in report.results if "see eager_vs_graph" in x.detail]
    assert {"reference", "dtypes", "concurrency", "bad_input"} - {*skipped} <= {
        "reference"
    }, str(report)
    others = {x.check for x in report.failures}
    assert others <= {"eager_vs_graph", "static_shape", "saved_model"}, str(report)
