import tensorflow as tf
from your_ops import your_unshaped_op

x = tf.keras.Input([3])
# [wrong]
y = tf.keras.layers.Lambda(your_unshaped_op)(x)
# [cured]
y = tf.keras.layers.Lambda(your_unshaped_op, output_shape=(3,))(x)
