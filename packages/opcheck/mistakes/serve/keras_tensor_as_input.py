import tensorflow as tf
from your_ops import your_op

# [wrong]
y = your_op(tf.keras.Input([3]))


# [cured]
class YourLayer(tf.keras.Layer):
    def call(self, x):
        return your_op(x)


y = YourLayer()(tf.keras.Input([3]))
