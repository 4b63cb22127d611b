import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([3])])
def f(x):
    return 2 * x


converter = tf.lite.TFLiteConverter.from_concrete_functions([f.get_concrete_function()])
interpreter = tf.lite.Interpreter(model_content=converter.convert())
interpreter.allocate_tensors()
# [wrong]
x = interpreter.tensor(interpreter.get_input_details()[0]["index"])()
x[:] = 1
# [cured]
x = interpreter.tensor(interpreter.get_input_details()[0]["index"])
x()[:] = 1
# [both]
interpreter.invoke()
