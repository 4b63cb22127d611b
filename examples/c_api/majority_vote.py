"""A vote of several models, for TensorFlow."""

from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

_library = load_op_library(
    Path(__file__).with_name("libmajority_vote.so"), "majority_vote"
)


def majority_vote(votes: Sequence, name: str | None = None) -> tf.Tensor:
    """For each element, the value that most of the tensors have.

    Args:
      votes: At least one tensor of int32, all of one shape.
      name: Of the op in the graph.

    Returns:
      A tensor of int32 of the same shape. Where two values have equally many votes, the one whose first vote is
      earlier in the list wins.

    Raises:
      ValueError: There is no tensor, or the shapes differ, while a `tf.function` is traced.
      tf.errors.InvalidArgumentError: Likewise, eagerly.
    """
    return _library.majority_vote(votes=votes, name=name)


tf.no_gradient("MajorityVote")
