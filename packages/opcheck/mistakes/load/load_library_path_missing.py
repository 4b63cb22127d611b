import tensorflow as tf
from your_ops import PATH

# [wrong]
tf.load_library("no_such_folder")
# [cured]
tf.load_library(str(PATH))
