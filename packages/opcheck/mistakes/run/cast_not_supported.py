import tensorflow as tf

x = tf.constant("1.5")
# [wrong]
tf.cast(x, tf.float32)
# [cured]
tf.strings.to_number(x)
