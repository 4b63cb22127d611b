import tensorflow as tf

x = tf.ones([3], tf.int32)
# [wrong]
x * 0.5
# [cured]
tf.cast(x, tf.float32) * 0.5
