from pathlib import Path

import tensorflow as tf
from your_ops import PATH

# [wrong]
library = bytearray(Path(PATH).read_bytes())
library[4] = 1  # in the header: 32 bits
Path("narrow.so").write_bytes(library)
tf.load_op_library("./narrow.so")
# [cured]
tf.load_op_library(str(PATH))
