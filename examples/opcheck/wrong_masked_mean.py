"""The versions of MaskedMean before it was right."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libwrong_masked_mean.so"), "masked_mean_draft"
)


def masked_mean_draft(values, mask):
    """The mean of each row, over the elements that a mask keeps."""
    return _library.masked_mean_draft(values=values, mask=mask)


@tf.RegisterGradient("MaskedMeanDraft")
def _masked_mean_draft_grad(op, grad):
    mask = tf.cast(op.inputs[1], grad.dtype)
    count = tf.cast(tf.shape(mask)[1], grad.dtype)
    return tf.expand_dims(grad, 1) * mask / count, None


def masked_mean_repaired(values, mask):
    """With all that the checks have found repaired."""
    return _library.masked_mean_repaired(values=values, mask=mask)


@tf.RegisterGradient("MaskedMeanRepaired")
def _masked_mean_repaired_grad(op, grad):
    mask = tf.cast(op.inputs[1], grad.dtype)
    count = tf.reduce_sum(mask, axis=1, keepdims=True)
    return tf.expand_dims(grad, 1) * mask / count, None
