import tensorflow as tf
from your_ops import your_sum

x = tf.ones([3])


# [wrong]
@tf.RegisterGradient("YourSum")
def gradient(op, grad):
    return grad


# [cured]
@tf.RegisterGradient("YourSum")
def gradient(op, grad):
    return grad, grad


# [both]
with tf.GradientTape() as tape:
    tape.watch(x)
    y = your_sum(x, x)
tape.gradient(y, x)
