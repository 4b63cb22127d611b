import tensorflow as tf

x = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    y = tf.gather(x, [0, 2])
grad = tape.gradient(y, x)
# [wrong]
grad.numpy()
# [cured]
tf.convert_to_tensor(grad).numpy()
