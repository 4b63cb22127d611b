import tensorflow as tf

tf.saved_model.save(tf.Module(), "models/1")
# [wrong]
tf.saved_model.load("models")
# [cured]
tf.saved_model.load("models/1")
