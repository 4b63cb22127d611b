import tensorflow as tf
from your_ops import PATH

# [wrong]
tf.load_op_library(str(PATH.parent))
# [cured]
tf.load_op_library(str(PATH))
