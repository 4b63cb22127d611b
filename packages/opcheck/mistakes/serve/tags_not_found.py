import tensorflow as tf

tf.saved_model.save(tf.Module(), "model")
# [wrong]
tf.saved_model.load("model", tags=["train"])
# [cured]
tf.saved_model.load("model", tags=["serve"])
