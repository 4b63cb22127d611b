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


def keep_first_bounded(values, count=1):
    """As the version before, and a kernel that stays in its memory."""
    return _library.keep_first_bounded(values=values, count=count)


@tf.RegisterGradient("KeepFirstBounded")
def _keep_first_bounded_grad(op, grad):
    return keep_first_bounded(grad)


def keep_first_sloped(values, count=1):
    """As the version before, and another gradient."""
    return _library.keep_first_sloped(values=values, count=count)


@tf.RegisterGradient("KeepFirstSloped")
def _keep_first_sloped_grad(op, grad):
    return keep_first_sloped(grad, op.get_attr("count"))


def keep_first_local(values, count=1):
    """As the version before, and a kernel without state; the attr is documented in C++."""
    return _library.keep_first_local(values=values, count=count)


@tf.RegisterGradient("KeepFirstLocal")
def _keep_first_local_grad(op, grad):
    return keep_first_local(grad, op.get_attr("count"))
