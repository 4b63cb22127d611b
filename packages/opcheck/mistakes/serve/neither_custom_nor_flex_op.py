import tensorflow as tf
from your_ops import your_op

f = tf.function(your_op).get_concrete_function(tf.TensorSpec([3]))
converter = tf.lite.TFLiteConverter.from_concrete_functions([f])
# [wrong]
converter.convert()
# [cured]
converter.allow_custom_ops = True
converter.convert()
