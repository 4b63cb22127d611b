import tensorflow as tf
from your_ops import your_op

rows = tf.ones([4, 3])
# [wrong]
tf.vectorized_map(your_op, rows, fallback_to_while_loop=False)
# [cured]
tf.vectorized_map(your_op, rows)
