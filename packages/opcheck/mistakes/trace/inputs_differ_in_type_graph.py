import tensorflow as tf
from your_ops import your_sum

a, b = tf.constant([1.0]), tf.constant([1])
# [wrong]
tf.function(your_sum)(a, b)
# [cured]
tf.function(your_sum)(a, tf.cast(b, a.dtype))
