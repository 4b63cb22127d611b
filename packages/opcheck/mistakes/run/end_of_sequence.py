import tensorflow as tf

iterator = iter(tf.data.Dataset.range(1))
next(iterator)
# [wrong]
iterator.get_next()
# [cured]
iterator.get_next_as_optional().has_value()
