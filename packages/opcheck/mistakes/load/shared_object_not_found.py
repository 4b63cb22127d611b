import tensorflow as tf
from your_ops import PATH

# [wrong]
tf.load_op_library("libyour_op.so")
# [cured]
tf.load_op_library(str(PATH))  # an absolute path
