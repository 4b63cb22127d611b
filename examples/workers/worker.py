"""A worker: `python worker.py LIBRARY NAME:PORT`, with the name of this machine."""

import sys

import tensorflow as tf

library, address = sys.argv[1:]
tf.load_op_library(library)
cluster = tf.train.ClusterSpec({"worker": [address]})
server = tf.distribute.Server(cluster, job_name="worker", task_index=0)
server.join()  # waits forever
