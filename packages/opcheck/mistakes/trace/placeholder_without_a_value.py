import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
session = tf.Session()
x = tf.placeholder(tf.float32, name="x")
# [wrong]
session.run(2 * x)
# [cured]
session.run(2 * x, feed_dict={x: 1})
