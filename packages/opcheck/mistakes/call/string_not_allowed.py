import tensorflow as tf
from your_ops import your_op

# [wrong]
your_op(tf.ones([3]), mode="nearst")
# [cured]
your_op(tf.ones([3]), mode="nearest")
