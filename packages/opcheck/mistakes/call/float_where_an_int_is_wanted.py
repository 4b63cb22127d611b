import tensorflow as tf

rows = 8
# [wrong]
tf.reshape(tf.range(8), [rows / 2, 2])
# [cured]
tf.reshape(tf.range(8), [rows // 2, 2])
