import numpy as np
import tensorflow as tf
from your_ops import your_op

x = tf.ones([3])
# [wrong]
tf.function(lambda x: np.sum(your_op(x)))(x)
# [cured]
tf.function(lambda x: tf.reduce_sum(your_op(x)))(x)
