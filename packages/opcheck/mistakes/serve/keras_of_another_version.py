import tensorflow as tf
from your_ops import your_op


# [wrong]
class YourLayer(tf.keras.Layer):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def call(self, x):
        return your_op(x)


# [cured]
class YourLayer(tf.keras.Layer):
    def __init__(self, n, **options):
        super().__init__(**options)
        self.n = n

    def call(self, x):
        return your_op(x)


# [both]
model = tf.keras.Sequential([tf.keras.Input([3]), YourLayer(2)])
model.save("model.keras")
tf.keras.models.load_model("model.keras", {"YourLayer": YourLayer})
