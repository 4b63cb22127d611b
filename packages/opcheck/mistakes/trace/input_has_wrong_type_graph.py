import tensorflow as tf
from your_ops import your_unshaped_op

x = tf.constant([1.0], tf.float64)
# [wrong]
tf.function(your_unshaped_op)(x)
# [cured]
tf.function(your_unshaped_op)(tf.cast(x, tf.float32))
