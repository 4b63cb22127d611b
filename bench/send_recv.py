"""How long small ops take on one device, and on two CPU devices in turn, with a Send and a Recv between any two ops."""

from collections.abc import Callable, Iterator

import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from turns import Case, run_turns, traced

OPS = 64


def chain(devices: list[str]) -> Callable:
    """So many sines one after the other, on the devices in turn."""

    def sines(x: tf.Tensor) -> tf.Tensor:
        for i in range(OPS):
            with tf.device(devices[i % len(devices)]):
                x = tf.sin(x)
        with tf.device(devices[0]):
            return tf.identity(x)

    return traced(sines, tf.constant([0.5, 1.0, 2.0]))


def cases() -> Iterator[Case]:
    [processor] = tf.config.list_physical_devices("CPU")
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(processor, two)
    ways = {
        "one device": chain(["CPU:0"]),
        "two devices": chain(["CPU:0", "CPU:1"]),
    }
    yield Case({"pairs": OPS}, ways)


if __name__ == "__main__":
    notes = [
        f"milliseconds: of a call of a tf.function with {OPS} ops on three numbers, the median of the rounds",
        "pairs: of Send and Recv, if there are two devices, which are logical CPU devices of one process",
    ]
    run_turns(cases, notes)
