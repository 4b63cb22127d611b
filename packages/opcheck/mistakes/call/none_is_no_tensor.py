import tensorflow as tf
from your_ops import your_op

# [wrong]
your_op(None)
# [cured]
your_op(tf.zeros([0]))
