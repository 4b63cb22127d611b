import tensorflow as tf
from your_ops import your_unshaped_op


def f(x, shape):
    return tf.while_loop(
        lambda x: tf.size(x) < 3,
        lambda x: [your_unshaped_op(x)],
        [x],
        shape_invariants=[tf.TensorShape(shape)],
    )


# [wrong]
tf.function(f)(tf.ones([3]), [3])
# [cured]
tf.function(f)(tf.ones([3]), None)
