import tensorflow as tf

x, y = tf.Variable(3.0), tf.Variable(4.0)
with tf.GradientTape() as tape:
    z = x * y
# [wrong]
tape.gradient(z, x)
tape.gradient(z, y)
# [cured]
tape.gradient(z, [x, y])
