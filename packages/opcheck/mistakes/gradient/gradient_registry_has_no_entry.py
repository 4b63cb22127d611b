import tensorflow as tf
from your_ops import your_op

x = tf.ones([3])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = your_op(x)


# [wrong]
tape.gradient(y, x)


# [cured]
@tf.RegisterGradient("YourOp")
def gradient(op, grad):
    return grad


tape.gradient(y, x)
