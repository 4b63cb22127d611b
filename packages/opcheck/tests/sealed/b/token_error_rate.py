import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)
    tf.no_gradient("UbTokenErrorRate")

    def token_error_rate(hypothesis, hypothesis_length, reference, reference_length):
        """Edit distance over reference length for each row of padded int32 token matrices."""
        return lib.ub_token_error_rate(
            hypothesis, hypothesis_length, reference, reference_length
        )

    return token_error_rate


def sample():
    hypothesis = np.array([[7, 3, 9, 4, 0], [5, 5, 2, 0, 0], [1, 2, 3, 4, 5]], np.int32)
    reference = np.array([[7, 3, 4, 0, 0], [5, 2, 2, 6, 0], [1, 2, 3, 4, 5]], np.int32)
    return [
        hypothesis,
        np.array([4, 3, 5], np.int32),
        reference,
        np.array([3, 4, 5], np.int32),
    ], {}


def reference(hypothesis, hypothesis_length, reference, reference_length):
    hyp, hyp_len = np.asarray(hypothesis), np.asarray(hypothesis_length)
    ref, ref_len = np.asarray(reference), np.asarray(reference_length)
    if hyp.ndim != 2 or ref.ndim != 2 or hyp.shape[0] != ref.shape[0]:
        raise ValueError("hypothesis and reference must be matrices of as many rows")
    if hyp_len.shape != hyp.shape[:1] or ref_len.shape != hyp.shape[:1]:
        raise ValueError("lengths must be vectors of length batch")
    if (
        np.any(hyp_len < 0)
        or np.any(hyp_len > hyp.shape[1])
        or np.any(ref_len < 0)
        or np.any(ref_len > ref.shape[1])
    ):
        raise ValueError("lengths out of range")
    out = np.zeros(hyp.shape[0], np.float32)
    for b in range(hyp.shape[0]):
        x, y = hyp[b, : hyp_len[b]], ref[b, : ref_len[b]]
        d = np.zeros((len(x) + 1, len(y) + 1), np.int64)
        d[:, 0], d[0, :] = np.arange(len(x) + 1), np.arange(len(y) + 1)
        for i in range(len(x)):
            for j in range(len(y)):
                d[i + 1, j + 1] = min(
                    d[i, j] + (x[i] != y[j]), d[i, j + 1] + 1, d[i + 1, j] + 1
                )
        if len(y):
            out[b] = np.float32(d[-1, -1]) / np.float32(len(y))
        else:
            out[b] = np.inf if len(x) else 0.0
    return out
