import tensorflow as tf

path = tf.train.Checkpoint(weights=tf.Variable(1.0)).write("checkpoint")
reader = tf.train.load_checkpoint(path)
# [wrong]
reader.get_tensor("weights")
# [cured]
reader.get_tensor("weights/.ATTRIBUTES/VARIABLE_VALUE")
