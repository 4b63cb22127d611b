import tensorflow as tf
from your_ops import your_op


# [wrong]
@tf.function(autograph=False)
def f(x):
    return your_op(x) if x[0] > 0 else x


# [cured]
@tf.function(autograph=False)
def f(x):
    return tf.cond(x[0] > 0, lambda: your_op(x), lambda: x)


# [both]
f(tf.ones([3]))
