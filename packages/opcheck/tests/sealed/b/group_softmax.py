import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)

    @tf.RegisterGradient("UbGroupSoftmax")
    def _grad(op, grad):
        return lib.ub_group_softmax_grad(grad, op.outputs[0], op.inputs[1]), None

    def group_softmax(scores, group_ids):
        """Softmax within runs of equal ids; scores float [n], group_ids int64 [n] ascending."""
        return lib.ub_group_softmax(scores, group_ids)

    return group_softmax


def sample():
    scores = np.array([1.5, 0.2, -0.7, 2.1, 2.1, -1.0, 0.4], np.float32)
    return [scores, np.array([0, 0, 0, 1, 1, 4, 4], np.int64)], {}


def reference(scores, group_ids):
    scores, group_ids = np.asarray(scores), np.asarray(group_ids)
    if scores.ndim != 1 or group_ids.shape != scores.shape:
        raise ValueError("scores and group_ids must be vectors of one length")
    if np.any(group_ids < 0) or np.any(np.diff(group_ids) < 0):
        raise ValueError("group_ids must be ascending and not negative")
    out = np.zeros_like(scores)
    with np.errstate(all="ignore"):
        for g in np.unique(group_ids):
            x = scores[group_ids == g]
            e = np.exp(x - np.max(x))
            out[group_ids == g] = e / np.sum(e)
    return out
