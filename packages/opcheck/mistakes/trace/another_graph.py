import tensorflow.compat.v1 as tf

first, second = tf.Graph(), tf.Graph()
with first.as_default():
    x = tf.ones([3])
with second.as_default():
    y = tf.ones([3])
session = tf.Session(graph=second)
# [wrong]
session.run(x)
# [cured]
session.run(y)
