import tensorflow as tf
from your_ops import your_op

graph = (
    tf.function(lambda x: your_op(your_op(x)))
    .get_concrete_function(tf.TensorSpec([3]))
    .graph
)
graph_def = graph.as_graph_def()
node = [node for node in graph_def.node if node.op == "YourOp"][-1]
# [wrong]
node.input[0] += ":1"
# [cured]
assert ":" not in node.input[0]
# [both]
with tf.Graph().as_default():
    tf.import_graph_def(graph_def, name="")
