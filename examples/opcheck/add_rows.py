"""Adds rows to those of a variable: the op takes the variable's handle."""

import tensorflow as tf

from opcheck.subject import on_variables


def scatter_add(handle, indices, rows):
    """TensorFlow's op, whose wrapper wants names; a graph needs what it returns."""
    return tf.raw_ops.ResourceScatterAdd(resource=handle, indices=indices, updates=rows)


def add_rows(table, indices, rows):
    """The values of a variable that held `table`, after the op."""
    return on_variables(scatter_add, [table, indices, rows])
