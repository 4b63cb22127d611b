import tensorflow as tf

w = tf.Variable([1.0, 2.0])
optimizer = tf.keras.optimizers.SGD()


# [wrong]
def loss():
    return tf.reduce_sum(tf.constant(w.numpy() ** 2))


# [cured]
def loss():
    return tf.reduce_sum(w**2)


# [both]
with tf.GradientTape() as tape:
    value = loss()
optimizer.apply_gradients([(tape.gradient(value, w), w)])
