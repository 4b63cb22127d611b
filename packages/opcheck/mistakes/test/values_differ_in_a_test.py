import numpy as np
import tensorflow as tf

x = tf.constant([1.0, 2.0, 3.0])
print("TensorFlow", tf.__version__)
# [wrong]
expected = [1, 4, 6]
# [cured]
expected = [1, 4, 9]
# [both]
np.testing.assert_allclose(tf.square(x), expected, rtol=1e-6)
