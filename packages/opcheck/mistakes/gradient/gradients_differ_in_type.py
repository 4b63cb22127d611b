import tensorflow as tf
from your_ops import your_sum

x = tf.ones([2, 2])


# [wrong]
@tf.RegisterGradient("YourSum")
def gradient(op, grad):
    return grad, tf.cast(grad, tf.float64)


# [cured]
@tf.RegisterGradient("YourSum")
def gradient(op, grad):
    return grad, tf.cast(grad, op.inputs[1].dtype)


# [both]
with tf.GradientTape() as tape:
    tape.watch(x)
    y = your_sum(x, x)
tape.gradient(y, x)
