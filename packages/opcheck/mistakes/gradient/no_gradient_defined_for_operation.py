import tensorflow as tf
from your_ops import your_op


@tf.function
def f(x):
    return tf.gradients(your_op(x), x)


# [wrong]
f(tf.ones([3]))
# [cured]
tf.RegisterGradient("YourOp")(lambda op, grad: grad)
f(tf.ones([3]))
