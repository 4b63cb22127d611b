import tensorflow as tf
from your_ops import your_op

kept = []


# [wrong]
@tf.function
def f(x):
    kept.append(your_op(x))
    return x


f(tf.ones([3]))
kept[0] + 1


# [cured]
@tf.function
def f(x):
    return x, your_op(x)


_, y = f(tf.ones([3]))
y + 1
