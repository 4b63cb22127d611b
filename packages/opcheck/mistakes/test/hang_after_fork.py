# [ends] timeout
import os

import tensorflow as tf
from your_ops import your_op

f = tf.function(your_op)
# [wrong]
f(tf.ones([3]))  # starts TensorFlow's threads, which a fork does not have
if os.fork() == 0:
    f(tf.ones([3]))
    os._exit(0)
os.wait()
# [cured]
if os.fork() == 0:
    f(tf.ones([3]))
    os._exit(0)
os.wait()
