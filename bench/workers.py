"""How long a tensor takes to another device, in this process and in another one, and what reading rows there saves."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from machines import Machine
from measure import run_turns, turns
from serve import load, serve
from workers import LIBRARY, file_rows

SIZES = [4, 4 * 2**10, 2**16, 2**20, 2**24, 2**28]
WAYS = {
    "same device": "/job:localhost/device:CPU:0",
    "other device": "/job:localhost/device:CPU:1",
    "other process": "/job:worker/device:CPU:0",
}
COLUMNS, WANTED = 64, 32
TABLE_ROWS = 2**26 // (4 * COLUMNS)  # 64 MiB


def compared(
    case: Mapping,
    ways: Mapping[str, Callable],
    expected: np.ndarray,
    rounds: int,
    span: float,
) -> list[dict]:
    """The rows of ways that compute the same, which is checked."""
    for name, way in ways.items():
        np.testing.assert_array_equal(way()[0], expected, err_msg=name)
    read = {name: lambda way=way: way()[0].numpy() for name, way in ways.items()}
    return turns(case, read, rounds, span)


def one_element(device: str) -> Callable:
    """Takes one element of a tensor on a device, to which all of the tensor has to come, and brings that one back."""

    @tf.function(autograph=False)
    def function(x):
        with tf.device(device):
            return [x[0]]

    return function


def crossings(rounds: int, span: float) -> list[dict]:
    """The rows for tensors of each size."""
    rows = []
    for size in SIZES:
        x = tf.ones([size // 4])
        ways = {name: partial(one_element(device), x) for name, device in WAYS.items()}
        case = {"task": "crossing", "bytes": size}
        rows += compared(case, ways, np.float32(1), rounds, span)
    return rows


def table_elsewhere(machine: Machine, rounds: int, span: float) -> list[dict]:
    """The rows for some rows of a table that is on another machine: the op goes there, or the table comes here."""
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

    ways = {"rows there": rows_there, "table here": table_here}
    case = {"task": "table", "bytes": 0}
    size = {"rows there": WANTED * COLUMNS * 4, "table here": table.nbytes}
    return [
        row | {"bytes": size[row["way"]]}
        for row in compared(case, ways, table[wanted.numpy()], rounds, span)
    ]


def main() -> None:
    notes = [
        "milliseconds: of a call of a tf.function, the median of the rounds",
        "ratio: to same device or rows there in the same round, with median, q1 and q3",
        "crossing: a float32 tensor of so many bytes is an argument on CPU:0; one element of it is taken on the device "
        "and comes back",
        "other device: CPU:1 of the same process; other process: on the same machine, by gRPC",
        f"table: {WANTED} rows of {COLUMNS} numbers from a file of {TABLE_ROWS} rows, which the other process reads; "
        "it sends them, or the whole table",
    ]

    def rows(rounds: int, span: float) -> list[dict]:
        [processor] = tf.config.list_physical_devices("CPU")
        two = [tf.config.LogicalDeviceConfiguration()] * 2
        tf.config.set_logical_device_configuration(processor, two)
        machine = Machine()
        machine.call(load, str(LIBRARY))
        tf.config.experimental_connect_to_host(machine.call(serve))
        return crossings(rounds, span) + table_elsewhere(machine, rounds, span)

    run_turns(__file__, __doc__, notes, rows, rounds=15)


if __name__ == "__main__":
    main()
