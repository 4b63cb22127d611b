import tensorflow as tf
from your_ops import your_sum


@tf.function
def f(x):
    return tf.gradients(your_sum(x, x), x)


# [wrong]
@tf.RegisterGradient("YourSum")
def gradient(op, grad):
    return grad


# [cured]
@tf.RegisterGradient("YourSum")
def gradient(op, grad):
    return grad, grad


# [both]
f(tf.ones([3]))
