import tensorflow as tf
from your_ops import your_op

graph = tf.function(your_op).get_concrete_function(tf.TensorSpec([3])).graph
graph_def = graph.as_graph_def()
node = next(node for node in graph_def.node if node.op == "YourOp")
# [wrong]
node.attr["from_a_newer_op"].i = 3
# [cured]
node.attr["size"].i = 3
# [both]
with tf.Graph().as_default() as imported:
    tf.import_graph_def(graph_def, name="")
with tf.compat.v1.Session(graph=imported) as session:
    session.run(f"{node.name}:0", {f"{graph_def.node[0].name}:0": [1.0, 2.0, 3.0]})
