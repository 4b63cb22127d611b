import tensorflow as tf


@tf.function
def f(a, b):
    # One dtype for all of them.
    return tf.raw_ops.AddN(inputs=[a, b])


# [wrong]
f(tf.constant([1.0]), tf.constant([2]))
# [cured]
f(tf.constant([1.0]), tf.constant([2.0]))
