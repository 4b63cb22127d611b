import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
session = tf.Session()
x = tf.constant([1.0, 2.0])
# [wrong]
y = tf.argmax(x)
# [cured]
y = tf.reduce_max(x)
# [both]
session.run(tf.gradients(y, x)[0])
