import tensorflow as tf
from your_ops import your_op

module = tf.Module()
module.f = tf.function(your_op)
module.f(tf.ones([3]))
tf.saved_model.save(module, "model")
model = tf.saved_model.load("model")
# [wrong]
model.f(tf.ones([4]))
# [cured]
model.f(tf.ones([3]))
