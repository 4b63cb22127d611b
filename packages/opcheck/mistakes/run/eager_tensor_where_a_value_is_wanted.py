import tensorflow as tf

name = tf.constant("circle")
# [wrong]
tf.train.BytesList(value=[name])
# [cured]
tf.train.BytesList(value=[name.numpy()])
