import tensorflow as tf

rows = [tf.ones([2]), tf.ones([3])]
# [wrong]
tf.stack(rows)
# [cured]
tf.stack([rows[0], rows[1][:2]])
