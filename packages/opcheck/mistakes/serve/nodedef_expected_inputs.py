import tensorflow as tf
from your_ops import your_op

graph = tf.function(your_op).get_concrete_function(tf.TensorSpec([3])).graph
graph_def = graph.as_graph_def()
node = next(node for node in graph_def.node if node.op == "YourOp")
# [wrong]
node.input.append(node.input[0])
# [cured]
assert len(node.input) == 1
# [both]
with tf.Graph().as_default():
    tf.import_graph_def(graph_def, name="")
