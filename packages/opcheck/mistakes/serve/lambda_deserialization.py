import tensorflow as tf
from your_ops import your_op

layer = tf.keras.layers.Lambda(lambda x: your_op(x), output_shape=(3,))
model = tf.keras.Sequential([tf.keras.Input([3]), layer])
model.save("model.keras")
# [wrong]
tf.keras.models.load_model("model.keras")
# [cured]
tf.keras.models.load_model("model.keras", safe_mode=False)
