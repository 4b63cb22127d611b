import tensorflow as tf
from your_ops import your_op

# [wrong]
your_op(tf.ones([3]), size=0)
# [cured]
your_op(tf.ones([3]), size=1)
