# [ends] SIGBUS
import os
import shutil

import tensorflow as tf

PATH = os.environ["YOUR_OPS"]
shutil.copy(PATH, "your_op.so")
shutil.copy(PATH, "rebuilt.so")
library = tf.load_op_library("./your_op.so")
# [wrong]
os.truncate("your_op.so", 0)  # what cp and a linker begin with
# [cured]
os.replace("rebuilt.so", "your_op.so")
# [both]
library.your_op(tf.ones([3]))
