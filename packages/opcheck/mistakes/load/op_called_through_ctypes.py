import ctypes

import tensorflow as tf
from your_ops import PATH

# [wrong]
library = ctypes.CDLL(str(PATH))
# [cured]
library = tf.load_op_library(str(PATH))
# [both]
library.your_op([1.0])
