import tensorflow as tf
from your_ops import your_op

x = tf.ones([3])


# [wrong]
@tf.RegisterGradient("YourOp")
def gradient(op, grad):
    return grad * op.get_attr("sise")


# [cured]
@tf.RegisterGradient("YourOp")
def gradient(op, grad):
    return grad * op.get_attr("size")


# [both]
with tf.GradientTape() as tape:
    tape.watch(x)
    y = your_op(x)
tape.gradient(y, x)
