import tensorflow as tf

dataset = tf.data.Dataset.range(6).batch(2)
# [wrong]
next(dataset)
# [cured]
next(iter(dataset))
