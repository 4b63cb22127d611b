import tensorflow as tf


class Rows:
    def __init__(self, x):
        self.x = x


# [wrong]
@tf.function
def rows(x):
    return Rows(x + 1)


rows(tf.ones([3]))


# [cured]
@tf.function
def rows(x):
    return x + 1


Rows(rows(tf.ones([3])))
