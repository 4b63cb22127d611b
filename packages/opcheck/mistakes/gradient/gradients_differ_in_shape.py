import tensorflow as tf
from your_ops import your_sum

x = tf.ones([2, 2])


# [wrong]
@tf.RegisterGradient("YourSum")
def gradient(op, grad):
    return grad, tf.reduce_sum(grad)


# [cured]
@tf.RegisterGradient("YourSum")
def gradient(op, grad):
    return grad, tf.ones_like(op.inputs[1]) * grad


# [both]
with tf.GradientTape() as tape:
    tape.watch(x)
    y = your_sum(x, x)
tape.gradient(y, x)
