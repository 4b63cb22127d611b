import numpy as np
import tensorflow as tf
from your_ops import your_op

# [wrong]
x = np.array([np.ones(2), np.ones(3)], dtype=object)
# [cured]
x = np.array([np.ones(2), np.ones(2)], dtype=np.float32)
# [both]
your_op(tf.convert_to_tensor(x))
