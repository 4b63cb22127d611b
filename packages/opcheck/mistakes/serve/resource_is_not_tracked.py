import tensorflow as tf

module = tf.Module()
table = tf.Variable([1.0, 2.0])
# [wrong]
# [cured]
module.table = table


# [both]
@tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
def row(i):
    return table[i]


module.row = row
tf.saved_model.save(module, "model")
