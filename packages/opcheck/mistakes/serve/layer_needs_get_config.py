import tensorflow as tf
from your_ops import your_op


# [wrong]
class YourLayer(tf.keras.Layer):
    def __init__(self, table):
        super().__init__()
        self.table = table

    def call(self, x):
        return your_op(x)


# [cured]
class YourLayer(tf.keras.Layer):
    def __init__(self, table, **options):
        super().__init__(**options)
        self.table = table

    def call(self, x):
        return your_op(x)

    def get_config(self):
        return {**super().get_config(), "table": sorted(self.table)}


# [both]
layer = YourLayer({1, 2})
layer.get_config()
