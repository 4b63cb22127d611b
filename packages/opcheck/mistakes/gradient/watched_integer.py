import tensorflow as tf

# [wrong]
x = tf.constant([1, 2])
# [cured]
x = tf.constant([1.0, 2.0])
# [both]
with tf.GradientTape() as tape:
    tape.watch(x)
