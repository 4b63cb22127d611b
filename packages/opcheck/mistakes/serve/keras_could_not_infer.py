import tensorflow as tf
from your_ops import your_op


class YourLayer(tf.keras.Layer):
    def call(self, x):
        return your_op(x)


x = tf.keras.Input([3])
# [wrong]
y = YourLayer(dtype="mixed_float16")(x)
# [cured]
y = YourLayer(dtype="float32")(x)
