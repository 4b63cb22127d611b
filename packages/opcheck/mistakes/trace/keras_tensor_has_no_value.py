import numpy as np
import tensorflow as tf

x = tf.keras.Input([3])
# [wrong]
y = np.exp(x)
# [cured]
y = tf.keras.ops.exp(x)
