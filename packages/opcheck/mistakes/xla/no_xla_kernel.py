import tensorflow as tf
from your_ops import your_op

# [wrong]
tf.function(your_op, jit_compile=True)(tf.ones([3]))
# [cured]
tf.function(your_op, jit_compile=False)(tf.ones([3]))
