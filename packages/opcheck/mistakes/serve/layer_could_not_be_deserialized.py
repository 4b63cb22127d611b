import tensorflow as tf
from your_ops import your_op


class YourLayer(tf.keras.Layer):
    def call(self, x):
        return your_op(x)


# [wrong]
model = tf.keras.Sequential([tf.keras.Input([3]), YourLayer()])
# [cured]
YourLayer = tf.keras.utils.register_keras_serializable("your_package")(YourLayer)
model = tf.keras.Sequential([tf.keras.Input([3]), YourLayer()])
# [both]
model.save("model.keras")
tf.keras.models.load_model("model.keras")
