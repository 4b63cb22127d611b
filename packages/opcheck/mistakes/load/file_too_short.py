from pathlib import Path

import tensorflow as tf
from your_ops import PATH

# [wrong]
Path("empty.so").touch()
tf.load_op_library("./empty.so")
# [cured]
tf.load_op_library(str(PATH))
