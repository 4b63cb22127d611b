import tensorflow as tf

with tf.Graph().as_default() as graph:
    tf.constant(1.0, name="x")
graph_def = graph.as_graph_def()
# [wrong]
with tf.Graph().as_default() as loaded:
    tf.import_graph_def(graph_def)
loaded.get_tensor_by_name("x:0")
# [cured]
with tf.Graph().as_default() as loaded:
    tf.import_graph_def(graph_def, name="")
loaded.get_tensor_by_name("x:0")
