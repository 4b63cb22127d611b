import tensorflow as tf

scale, offset = tf.Variable(2.0), tf.Variable(1.0)
x = tf.constant(3.0)


# [wrong]
@tf.custom_gradient
def scaled(x):
    def gradient(dy, variables=(scale, offset)):
        return dy * scale, [dy * x, dy]

    return scale * x, gradient


# [cured]
@tf.custom_gradient
def scaled(x):
    def gradient(dy, variables=()):
        known = {scale.ref(): dy * x, offset.ref(): dy}
        return dy * scale, [known[one.ref()] for one in variables]

    return scale * x, gradient


# [both]
with tf.GradientTape() as tape:
    tape.watch(x)
    y = scaled(x)
tape.gradient(y, x)
