import tensorflow as tf

dataset = tf.data.Dataset.range(1, 3).map(lambda n: tf.ones([n]))
# [wrong]
dataset = dataset.batch(2)
# [cured]
dataset = dataset.padded_batch(2)
# [both]
list(dataset)
