import ctypes
import shutil

import tensorflow as tf
from your_ops import PATH

shutil.copy(PATH, "copy.so")
# [wrong]
ctypes.CDLL("./copy.so")
# [cured]
tf.load_op_library("./copy.so")
