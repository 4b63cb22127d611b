from pathlib import Path

import tensorflow as tf
from your_ops import PATH

path = Path(PATH)
# [wrong]
tf.load_op_library(path)
# [cured]
tf.load_op_library(str(path))
