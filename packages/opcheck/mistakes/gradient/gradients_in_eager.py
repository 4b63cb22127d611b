import tensorflow as tf

x = tf.constant(3.0)
# [wrong]
tf.gradients(x * x, x)
# [cured]
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
tape.gradient(y, x)
