import tensorflow as tf
from your_ops import your_op

f = tf.function(your_op).get_concrete_function(tf.TensorSpec([3]))
converter = tf.lite.TFLiteConverter.from_concrete_functions([f])
converter.allow_custom_ops = True
model = converter.convert()
# [wrong]
tf.lite.Interpreter(model_content=model).allocate_tensors()
