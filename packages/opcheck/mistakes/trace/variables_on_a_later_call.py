import tensorflow as tf


# [wrong]
@tf.function
def f(x):
    return x * tf.Variable(2.0)


# [cured]
v = tf.Variable(2.0)


@tf.function
def f(x):
    return x * v


# [both]
f(tf.constant(1.0))
