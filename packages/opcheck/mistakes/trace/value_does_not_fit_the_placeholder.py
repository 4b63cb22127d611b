import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
session = tf.Session()
x = tf.placeholder(tf.float32, shape=[None, 3], name="x")
# [wrong]
session.run(2 * x, feed_dict={x: [1, 2, 3]})
# [cured]
session.run(2 * x, feed_dict={x: [[1, 2, 3]]})
