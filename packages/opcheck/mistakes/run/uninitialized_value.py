import tensorflow.compat.v1 as tf

with tf.Graph().as_default() as graph:
    x = tf.Variable(1.0)
    start = tf.global_variables_initializer()
session = tf.Session(graph=graph)
# [wrong]
session.run(x)
# [cured]
session.run(start)
session.run(x)
