import tensorflow as tf
from your_ops import your_op

tf.compat.v1.disable_eager_execution()
with tf.device("/GPU:7"):
    y = your_op(tf.ones([3]))
# [wrong]
tf.compat.v1.Session().run(y)
# [cured]
config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
tf.compat.v1.Session(config=config).run(y)
