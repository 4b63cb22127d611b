"""How long a tensor takes to another device, in this process and in another one, and what reading rows there saves."""

from collections.abc import Callable, Iterator

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from machines import Machine
from serve import load, serve
from turns import Case, run_turns
from workers import LIBRARY, file_rows

SIZES = [4, 4 * 2**10, 2**16, 2**20, 2**24, 2**28]
WAYS = {
    "same device": "/job:localhost/device:CPU:0",
    "other device": "/job:localhost/device:CPU:1",
    "other process": "/job:worker/device:CPU:0",
}
COLUMNS, WANTED = 64, 32
TABLE_ROWS = 2**26 // (4 * COLUMNS)  # 64 MiB


def one_element(device: str, x: tf.Tensor) -> Callable:
    """Takes one element of a tensor on a device, to which all of the tensor has to come, and brings that one back."""

    @tf.function(autograph=False)
    def function(x):
        with tf.device(device):
            return [x[0]]

    return lambda: function(x)[0].numpy()


def table_elsewhere(machine: Machine) -> Case:
    """Some rows of a table that is on another machine: the op goes there, or the table comes here."""
    table = np.random.default_rng(0).random([TABLE_ROWS, COLUMNS], np.float32)
    table.tofile(machine.folder / "table.f32")
    wanted = tf.range(WANTED, dtype=tf.int64) * (TABLE_ROWS // WANTED)

    @tf.function(autograph=False)
    def rows_there():
        with tf.device(WAYS["other process"]):
            return [file_rows("table.f32", wanted, COLUMNS)]

    @tf.function(autograph=False)
    def table_here():
        with tf.device(WAYS["other process"]):
            whole = tf.reshape(
                tf.io.decode_raw(tf.io.read_file("table.f32"), tf.float32),
                [-1, COLUMNS],
            )
        return [tf.gather(whole, wanted)]

    ways = {
        "rows there": lambda: rows_there()[0].numpy(),
        "table here": lambda: table_here()[0].numpy(),
    }
    case = {"task": "table", "bytes": table.nbytes}
    return Case(case, ways, expected=table[wanted.numpy()])


def cases() -> Iterator[Case]:
    [processor] = tf.config.list_physical_devices("CPU")
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(processor, two)
    machine = Machine()
    machine.call(load, str(LIBRARY))
    tf.config.experimental_connect_to_host(machine.call(serve))
    for size in SIZES:
        x = tf.ones([size // 4])
        ways = {name: one_element(device, x) for name, device in WAYS.items()}
        yield Case({"task": "crossing", "bytes": size}, ways, expected=np.float32(1))
    yield table_elsewhere(machine)


if __name__ == "__main__":
    notes = [
        "milliseconds: of a call of a tf.function, the median of the rounds",
        "crossing: a float32 tensor of so many bytes is an argument on CPU:0; one element of it is taken on the device "
        "and comes back",
        "other device: CPU:1 of the same process; other process: on the same machine, by gRPC",
        f"table: {WANTED} rows of {COLUMNS} numbers from a file of {TABLE_ROWS} rows, which the other process reads; "
        "it sends them, or the whole table of so many bytes",
    ]

    run_turns(cases, notes, rounds=15)
