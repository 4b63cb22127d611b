import tensorflow as tf
from your_ops import library

# [wrong]
library.your_tensor_attr()
# [cured]
tf.function(lambda: library.your_tensor_attr())()
