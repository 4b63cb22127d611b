import tensorflow as tf

# [wrong]
from tensorflow.python.training.tracking import base

# [cured]
base = tf.Module
