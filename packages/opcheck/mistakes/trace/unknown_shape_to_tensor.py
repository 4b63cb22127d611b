import tensorflow as tf
from your_ops import your_unshaped_op

x = tf.ones([2, 3])
# [wrong]
tf.function(lambda x: tf.ones(your_unshaped_op(x).shape))(x)
# [cured]
tf.function(lambda x: tf.ones(tf.shape(your_unshaped_op(x))))(x)
