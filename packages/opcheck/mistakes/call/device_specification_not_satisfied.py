import tensorflow as tf
from your_ops import your_op

# [wrong]
tf.config.set_soft_device_placement(False)
with tf.device("GPU:7"):
    your_op(tf.ones([3]))
# [cured]
tf.config.set_soft_device_placement(True)
with tf.device("GPU:7"):
    your_op(tf.ones([3]))
