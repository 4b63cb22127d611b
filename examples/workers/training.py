"""Train one model on one device and under three strategies: our op reads the rows."""

import json
import os

import tensorflow as tf
from workers import file_rows

ROWS, COLUMNS, PARTS, RATE, STEPS = 64, 4, 2, 0.5, 40


def gradient(weights, filename) -> tf.Tensor:
    """What the rows of one part add to the gradient of the mean loss over all parts.

    Args:
      weights: [3], a variable.
      filename: The file of the part. The model is to compute its last column from the others.

    Returns:
      [3].
    """
    table = file_rows(filename, tf.range(ROWS, dtype=tf.int64), COLUMNS)
    with tf.GradientTape() as tape:
        errors = tf.linalg.matvec(table[:, :-1], weights) - table[:, -1]
        loss = tf.reduce_sum(errors**2) / (ROWS * PARTS)
    return tape.gradient(loss, weights)


def on_one_device(filenames) -> list[float]:
    """Trains on all parts, and returns the weights."""
    weights = tf.Variable(tf.zeros([COLUMNS - 1]))

    @tf.function
    def step():
        parts = [gradient(weights, filename) for filename in filenames]
        weights.assign_sub(RATE * tf.add_n(parts))

    for _ in range(STEPS):
        step()
    return weights.numpy().tolist()


def under(strategy, filenames) -> list[float]:
    """Trains each replica on one part, all with the sum of their gradients, and returns the weights."""
    with strategy.scope():
        weights = tf.Variable(
            tf.zeros([COLUMNS - 1]), aggregation=tf.VariableAggregation.SUM
        )
    filename = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(filenames[context.replica_id_in_sync_group])
    )

    @tf.function
    def step():
        strategy.run(
            lambda name: weights.assign_sub(RATE * gradient(weights, name)), [filename]
        )

    for _ in range(STEPS):
        step()
    return weights.numpy().tolist()


def mirrored(filenames) -> list[float]:
    """Trains on two devices of one process."""
    [processor] = tf.config.list_physical_devices("CPU")
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(processor, two)
    return under(tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]), filenames)


def be_worker(addresses, index) -> None:
    """Says to TensorFlow which of the processes at these addresses this one is."""
    task = {"type": "worker", "index": index}
    cluster = {"worker": addresses}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": task})


def multi_worker(addresses, index, filenames) -> list[float]:
    """Trains on one of the processes at these addresses, all of which call this at the same time."""
    be_worker(addresses, index)
    return under(tf.distribute.MultiWorkerMirroredStrategy(), filenames)


def parameter_server(addresses, filenames) -> list[float]:
    """Trains with the weights on the first of these servers, while the others compute gradients."""
    cluster = tf.train.ClusterSpec({"ps": addresses[:1], "worker": addresses[1:]})
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        cluster, rpc_layer="grpc"
    )
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        weights = tf.Variable(tf.zeros([COLUMNS - 1]))

    @tf.function
    def part(filename):
        return gradient(weights, filename)

    for _ in range(STEPS):
        parts = [
            coordinator.schedule(part, [tf.constant(filename)])
            for filename in filenames
        ]
        weights.assign_sub(RATE * tf.add_n(coordinator.fetch(parts)))
    return weights.numpy().tolist()
