import tensorflow as tf

example = tf.train.Example()
example.features.feature["x"].float_list.value.append(1.0)
# [wrong]
name = "X"
# [cured]
name = "x"
# [both]
features = {name: tf.io.FixedLenFeature([], tf.float32)}
tf.io.parse_single_example(example.SerializeToString(), features)
