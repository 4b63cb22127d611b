import tensorflow as tf
from your_ops import your_op

# [wrong]
tf.function(lambda x: your_op(x, mode="nearst"))(tf.ones([3]))
# [cured]
tf.function(lambda x: your_op(x, mode="nearest"))(tf.ones([3]))
