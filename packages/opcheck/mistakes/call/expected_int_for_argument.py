import tensorflow as tf
from your_ops import your_op


# [wrong]
@tf.function
def f(x, size):
    return your_op(x, size=size)


f(tf.ones([3]), tf.constant(2))


# [cured]
@tf.function
def f(x, size):
    return your_op(x, size=size)


f(tf.ones([3]), 2)
