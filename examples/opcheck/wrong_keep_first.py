"""The versions of KeepFirst before it was right, in the order of the chapter's repairs."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libwrong_keep_first.so"), "keep_first_draft"
)


def keep_first_draft(values, count=1):
    """Keeps the first elements of a tensor."""
    return _library.keep_first_draft(values=values, count=count)


@tf.RegisterGradient("KeepFirstDraft")
def _keep_first_draft_grad(op, grad):
    return keep_first_draft(grad)


def keep_first_shaped(values, count=1):
    """As the draft, with another shape function."""
    return _library.keep_first_shaped(values=values, count=count)


@tf.RegisterGradient("KeepFirstShaped")
def _keep_first_shaped_grad(op, grad):
    return keep_first_shaped(grad)


def keep_first_repaired(values, count=1):
    """With all that the checks have found repaired; the attr is documented in C++."""
    return _library.keep_first_repaired(values=values, count=count)


@tf.RegisterGradient("KeepFirstRepaired")
def _keep_first_repaired_grad(op, grad):
    return keep_first_repaired(grad, op.get_attr("count"))
