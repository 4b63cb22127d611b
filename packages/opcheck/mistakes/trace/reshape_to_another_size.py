import tensorflow as tf

x = tf.ones([2, 3])
# [wrong]
tf.reshape(x, [4])
# [cured]
tf.reshape(x, [-1])
