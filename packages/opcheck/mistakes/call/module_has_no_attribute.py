import tensorflow as tf
from your_ops import library

# [wrong]
library.Yourop(tf.ones([3]))
# [cured]
print([name for name in dir(library) if "your" in name])
library.your_op(tf.ones([3]))
