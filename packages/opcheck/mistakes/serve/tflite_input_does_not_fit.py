import numpy as np
import tensorflow as tf

double = tf.function(lambda x: 2 * x).get_concrete_function(tf.TensorSpec([3]))
converter = tf.lite.TFLiteConverter.from_concrete_functions([double])
interpreter = tf.lite.Interpreter(model_content=converter.convert())
interpreter.allocate_tensors()
[details] = interpreter.get_input_details()
x = np.ones(3)
# [wrong]
interpreter.set_tensor(details["index"], x)
# [cured]
interpreter.set_tensor(details["index"], x.astype(np.float32))
