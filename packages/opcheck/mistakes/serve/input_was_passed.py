import tensorflow as tf
from your_ops import your_op

graph = tf.function(your_op).get_concrete_function(tf.TensorSpec([3])).graph
graph_def = graph.as_graph_def()
node = next(node for node in graph_def.node if node.op == "Placeholder")
# [wrong]
node.attr["dtype"].type = tf.string.as_datatype_enum
# [cured]
assert node.attr["dtype"].type == tf.float32.as_datatype_enum
# [both]
with tf.Graph().as_default():
    tf.import_graph_def(graph_def, name="")
