# [ends] the old library
import os
import shutil

import tensorflow as tf
from your_ops import PATH

shutil.copy(PATH, "your_op.so")
old = tf.load_op_library("./your_op.so")
shutil.copy(PATH, "rebuilt.so")
# [wrong]
os.replace("rebuilt.so", "your_op.so")
new = tf.load_op_library("./your_op.so")
assert new is not old, "the old library"
