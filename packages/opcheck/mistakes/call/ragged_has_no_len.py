import tensorflow as tf
from your_ops import your_op

ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
# [wrong]
your_op(ragged)
# [cured]
your_op(ragged.flat_values)
