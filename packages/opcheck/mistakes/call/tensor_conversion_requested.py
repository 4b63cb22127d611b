import tensorflow as tf

x = tf.ones([3], tf.float64)
# [wrong]
tf.convert_to_tensor(x, tf.float32)
# [cured]
tf.cast(x, tf.float32)
