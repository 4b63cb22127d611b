"""Extremes and its gradient without C++, to compare with."""

import tensorflow as tf


def stock_extremes(values: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """The results of Extremes, by four ops that TensorFlow has."""
    return (
        tf.reduce_min(values, -1),
        tf.reduce_max(values, -1),
        tf.argmin(values, -1),
        tf.argmax(values, -1),
    )


def one_hot_gradient(
    minimum_grad: tf.Tensor,
    maximum_grad: tf.Tensor,
    argmin: tf.Tensor,
    argmax: tf.Tensor,
    columns: tf.Tensor,
) -> tf.Tensor:
    """The result of ExtremesGrad, as first_gradient.py has it."""

    def place(grad: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
        size = tf.cast(columns, tf.int32)
        there = tf.one_hot(index, size, on_value=True, off_value=False)
        return tf.where(there, grad[..., tf.newaxis], tf.zeros([], grad.dtype))

    return place(minimum_grad, argmin) + place(maximum_grad, argmax)


def scattered_gradient(
    minimum_grad: tf.Tensor,
    maximum_grad: tf.Tensor,
    argmin: tf.Tensor,
    argmax: tf.Tensor,
    columns: tf.Tensor,
) -> tf.Tensor:
    """The result of ExtremesGrad, by the op of TensorFlow that adds numbers at given indices."""
    index = tf.stack([argmin, argmax])
    begins = columns * tf.reshape(tf.range(tf.size(argmin, tf.int64)), tf.shape(argmin))
    places = (index + begins)[..., tf.newaxis]
    grads = tf.stack([minimum_grad, maximum_grad])
    size = columns * tf.size(argmin, tf.int64)
    rows = tf.scatter_nd(places, grads, size[tf.newaxis])
    shape = tf.concat([tf.shape(argmin, tf.int64), columns[tf.newaxis]], 0)
    return tf.reshape(rows, shape)
