import tensorflow as tf
from your_ops import your_sum


# [wrong]
@tf.RegisterGradient("YourSum")
def your_sum_grad(grad):
    return grad


# [cured]
@tf.RegisterGradient("YourSum")
def your_sum_grad(op, grad):
    return grad, grad


# [both]
x = tf.constant([1.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = your_sum(x, x)
tape.gradient(y, x)
