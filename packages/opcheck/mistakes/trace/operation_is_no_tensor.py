import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
operation = tf.no_op()
x = tf.ones([3])
# [wrong]
tf.identity(operation)
# [cured]
with tf.control_dependencies([operation]):
    tf.identity(x)
