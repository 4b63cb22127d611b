# [ends] []
import shutil

import tensorflow as tf
from your_ops import PATH

# [wrong]
shutil.copy(PATH, "copy.so")
copy = tf.load_op_library("./copy.so")
print([name for name in dir(copy) if "your" in name])
