import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
model.export("model", verbose=False)
# [wrong]
tf.keras.models.load_model("model")
# [cured]
tf.keras.layers.TFSMLayer("model", call_endpoint="serve")
