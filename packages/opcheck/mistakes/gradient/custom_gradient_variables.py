import tensorflow as tf

v = tf.Variable(2.0)
x = tf.constant(1.0)


# [wrong]
@tf.custom_gradient
def f(x):
    return x * v, lambda grad: grad * v


# [cured]
@tf.custom_gradient
def f(x):
    def grad(upstream, variables):
        return upstream * v, [upstream * x]

    return x * v, grad


# [both]
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
tape.gradient(y, x)
