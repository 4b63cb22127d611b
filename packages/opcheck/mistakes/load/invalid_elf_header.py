from pathlib import Path

import tensorflow as tf
from your_ops import PATH

# [wrong]
Path("text.so").write_text("version https://git-lfs.github.com/spec/v1\n" * 9)
tf.load_op_library("./text.so")
# [cured]
tf.load_op_library(str(PATH))
