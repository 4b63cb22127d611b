import tensorflow as tf

graph_def = tf.Graph().as_graph_def()
# [wrong]
tf.compat.v1.GraphDef.FromString(str(graph_def).encode())
# [cured]
tf.compat.v1.GraphDef.FromString(graph_def.SerializeToString())
