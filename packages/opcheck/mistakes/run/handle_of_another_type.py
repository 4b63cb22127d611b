import tensorflow as tf
from your_ops import library

# [wrong]
handle = tf.Variable(1.0).handle
# [cured]
handle = library.your_handle(shared_name="table")
library.your_create(handle)
# [both]
library.your_lookup(handle)
