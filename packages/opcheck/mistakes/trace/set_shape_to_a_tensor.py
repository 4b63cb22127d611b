import tensorflow as tf


# [wrong]
@tf.function
def resized(image, size):
    image.set_shape(size)
    return image


# [cured]
@tf.function
def resized(image, size):
    return tf.reshape(image, size)


# [both]
resized(tf.zeros([4, 4]), tf.constant([4, 4]))
