import tensorflow as tf

# [wrong]
bound = None
# [cured]
bound = 8


# [both]
@tf.function(jit_compile=True)
def gradient(x, n):
    i, y = tf.while_loop(
        lambda i, y: i < n,
        lambda i, y: (i + 1, y * y),
        (0, x),
        maximum_iterations=bound,
    )
    return tf.gradients(y, x)


gradient(tf.constant(2.0), tf.constant(3))
