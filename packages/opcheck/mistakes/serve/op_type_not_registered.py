import tensorflow as tf

graph_def = tf.compat.v1.GraphDef()
graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
graph_def.node.add(name="y", op="YourOp", input=["x"]).attr["T"].type = 1
# [wrong]
# [cured]
import your_ops  # loads the library  # noqa: E402, F401

# [both]
with tf.Graph().as_default():
    tf.import_graph_def(graph_def, name="")
