import tensorflow as tf

x = tf.zeros([3])
# [wrong]
y = x / x
# [cured]
y = tf.math.divide_no_nan(x, x)
# [both]
tf.debugging.check_numerics(y, "y")
