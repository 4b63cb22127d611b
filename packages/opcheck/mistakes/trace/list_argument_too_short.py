import tensorflow as tf
from your_ops import your_concat

x = tf.ones([3])
# [wrong]
tf.function(lambda x: your_concat([x]))(x)
# [cured]
tf.function(lambda x: your_concat([x, x]))(x)
