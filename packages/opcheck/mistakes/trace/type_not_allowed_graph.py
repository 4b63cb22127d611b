import tensorflow as tf
from your_ops import your_op

x = tf.constant([1.0], tf.float16)
# [wrong]
tf.function(your_op)(x)
# [cured]
tf.function(your_op)(tf.cast(x, tf.float32))
