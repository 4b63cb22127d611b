import tensorflow as tf

with tf.Graph().as_default() as graph:
    x = tf.compat.v1.placeholder(tf.float32)
    node = tf.add(x, x, name="tower_0/Add_4").op
# [wrong]
graph.op_def_for_type(node.name)
# [cured]
graph.op_def_for_type(node.type)
