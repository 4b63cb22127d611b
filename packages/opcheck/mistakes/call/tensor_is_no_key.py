import tensorflow as tf

x = tf.ones([3])
# [wrong]
names = {x: "x"}
# [cured]
names = {x.ref(): "x"}
