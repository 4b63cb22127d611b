import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UbSparseRowNormalize")
    def _grad(op, grad):
        indices, values, _ = op.inputs
        rows = tf.unique(indices[:, 0]).idx
        size = tf.size(values)
        norm = tf.gather(tf.math.unsorted_segment_sum(tf.abs(values), rows, size), rows)
        dot = tf.gather(
            tf.math.unsorted_segment_sum(grad * op.outputs[0], rows, size), rows
        )
        kept = tf.equal(norm, 0)
        scaled = (grad - tf.sign(values) * dot) / tf.where(
            kept, tf.ones_like(norm), norm
        )
        return None, tf.where(kept, grad, scaled), None

    def sparse_row_normalize(indices, values, dense_shape):
        """Values of a sparse matrix (int64 indices, float values, int64 shape) with rows scaled to norm 1."""
        return lib.ub_sparse_row_normalize(indices, values, dense_shape)

    return sparse_row_normalize


def sample():
    indices = np.array([[0, 1], [0, 3], [2, 0], [2, 1], [2, 4]], np.int64)
    return [
        indices,
        np.array([1.0, 3.0, 0.5, 0.25, 1.25], np.float32),
        np.array([3, 5], np.int64),
    ], {}


def reference(indices, values, dense_shape):
    indices, values, dense_shape = (
        np.asarray(indices),
        np.asarray(values),
        np.asarray(dense_shape),
    )
    if (
        indices.ndim != 2
        or indices.shape[1] != 2
        or values.shape != indices.shape[:1]
        or dense_shape.shape != (2,)
    ):
        raise ValueError("wrong shapes")
    if np.any(dense_shape < 0) or np.any(indices < 0) or np.any(indices >= dense_shape):
        raise ValueError("indices out of range")
    rows, inverse = np.unique(indices[:, 0], return_inverse=True)
    norms = np.zeros(len(rows))
    sizes = np.abs(values)
    np.add.at(
        norms,
        inverse,
        np.where(sizes < np.finfo(values.dtype).tiny, 0, sizes).astype(np.float64),
    )
    norm = norms[inverse]
    with np.errstate(all="ignore"):
        return np.where(
            norm == 0, values, values / np.where(norm == 0, 1, norm)
        ).astype(values.dtype)
