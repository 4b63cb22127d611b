import tensorflow as tf

# [wrong]
tf.ones([3])
tf.config.set_visible_devices([], "CPU")
# [cured]
tf.config.set_visible_devices(tf.config.list_physical_devices("CPU"), "CPU")
tf.ones([3])
