"""Inputs that are made of several dense tensors."""

import forked
import numpy as np
import pytest
import tensorflow as tf
from python_ops import result

import opcheck


def row_sums(rows, scale=1.0):
    return tf.reduce_sum(rows, -1) * scale


def sums_of_rows_but_empty_ones_at_the_end(rows):
    return tf.math.segment_sum(rows.flat_values, rows.value_rowids())


def row_sums_reference(values, splits, scale=1.0):
    if splits.ndim != 1 or splits[0] or (np.diff(splits) < 0).any():
        raise ValueError("splits must begin with 0 and never fall")
    rows = [values[i:k].sum(0) for i, k in zip(splits, splits[1:])]
    return np.float32(np.reshape(rows, [len(rows), *values.shape[1:]]) * scale)


def names(subject, found):
    return " ".join(subject.parameters())


def doubled(x):
    return x * 2


def dense(slices):
    return tf.convert_to_tensor(slices)


ROWS = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
DEEP_ROWS = tf.ragged.constant([[[1.0, 2.0], []], [[3.0]]])
SPARSE = tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]])
SLICES = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([1, 0]), tf.constant([4, 3]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "x", "checks", "options"),
    [
        (
            row_sums,
            ROWS,
            ["reference", "bad_input"],
            {"reference": row_sums_reference, "scale": 2.0},
        ),
        (row_sums, DEEP_ROWS, "static_shape", {}),
        (tf.sparse.to_dense, SPARSE, "eager_vs_graph", {}),
        (dense, SLICES, "empty", {}),
    ],
)
def test_no_false_alarm(op, x, checks, options):
    report = opcheck.check(op, x, checks=checks, **options)
    assert report.ok, report


@pytest.mark.slow
def test_a_wrong_result_and_its_line():
    wrong = sums_of_rows_but_empty_ones_at_the_end
    found = result("reference", wrong, ROWS, reference=row_sums_reference)
    assert found.seen == "the output has shape [1] instead of [2]"
    printed = forked.run(found.line)
    assert printed.stdout.startswith("tf.Tensor([3.], shape=(1,)")


@pytest.mark.parametrize(
    ("op", "x", "label"),
    [
        (row_sums, ROWS, "rows_row_splits"),
        (row_sums, DEEP_ROWS, "rows_row_splits1"),
        (doubled, SPARSE, "x_indices"),
    ],
)
def test_a_part_has_a_name(op, x, label):
    report = opcheck.check(op, x, checks="names", extra=[names])
    assert label in report["names"].detail
