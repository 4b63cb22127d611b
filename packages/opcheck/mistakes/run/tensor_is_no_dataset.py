import tensorflow as tf

dataset = tf.data.Dataset.range(3)
# [wrong]
variant = tf.raw_ops.EmptyTensorList(
    element_shape=-1, max_num_elements=3, element_dtype=tf.int64
)
# [cured]
variant = dataset._variant_tensor
# [both]
tf.raw_ops.DatasetCardinality(input_dataset=variant)
