import tensorflow as tf
from your_ops import library

# [wrong]
library.YourOp(tf.ones([3]))
# [cured]
library.your_op(tf.ones([3]))
