import tensorflow as tf
from your_ops import your_op

# [wrong]
tf.function(your_op)(tf.constant([1.0, 2.0], tf.float64))
# [cured]
tf.function(your_op)(tf.constant([1.0, 2.0], tf.float32))
