import tensorflow as tf
from your_ops import PATH

# [wrong]
try:
    your_ops = tf.load_op_library("./your_ops.so")
except tf.errors.NotFoundError:
    your_ops = None
# [cured]
your_ops = tf.load_op_library(str(PATH))
# [both]
your_ops.your_op([1.0])
