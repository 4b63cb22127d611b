import tensorflow as tf

# [wrong]
with open("records", "wb") as file:
    file.write(b"one record to a line\n")
# [cured]
with tf.io.TFRecordWriter("records") as file:
    file.write(b"one record")
# [both]
list(tf.data.TFRecordDataset("records"))
