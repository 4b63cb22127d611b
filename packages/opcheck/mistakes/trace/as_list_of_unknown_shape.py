import tensorflow as tf
from your_ops import your_unshaped_op

x = tf.ones([2, 3])


# [wrong]
@tf.function
def f(x):
    y = your_unshaped_op(x)
    return tf.reshape(y, [-1, y.shape.as_list()[-1]])


# [cured]
@tf.function
def f(x):
    y = your_unshaped_op(x)
    y.set_shape([None, 3])
    return tf.reshape(y, [-1, y.shape.as_list()[-1]])


# [both]
f(x)
