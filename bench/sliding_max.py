"""How long the maximum of each window takes: the op, its step with plain loops, and TensorFlow's compositions.

TensorFlow is as it comes, on all cores.
"""

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import compiled_by_xla, run_turns, traced, turns
from sliding_max import sliding_max
from sliding_max_steps import composition, step_6

SIZES = [(64, 16_384)]
WINDOWS = [4, 32, 256]
SIGNALS = ["random", "rising", "falling"]


def pooled(x: tf.Tensor, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    """By max pooling over an image of one row for each signal; the position is in the whole image."""
    image = x[:, tf.newaxis, :, tf.newaxis]
    size = [1, 1, window, 1]
    y, position = tf.nn.max_pool_with_argmax(image, size, [1, 1, 1, 1], "VALID")
    return y[:, 0, :, 0], position[:, 0, :, 0]


def slices(x: tf.Tensor, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    """By comparing as many slices as a window has numbers, one after the other."""
    count = x.shape[1] - window + 1
    y = x[:, :count]
    first = position = tf.broadcast_to(tf.range(count, dtype=tf.int64), y.shape)
    for k in range(1, window):
        following = x[:, k : k + count]
        larger = following > y
        y = tf.where(larger, following, y)
        position = tf.where(larger, first + k, position)
    return y, position


WAYS = {
    "op": sliding_max,
    "plain loops": step_6,
    "frames": composition,
    "max_pool_with_argmax": pooled,
    "slices, XLA": compiled_by_xla(slices),
}


def signal(kind: str, rows: int, columns: int) -> np.ndarray:
    random = np.random.default_rng(0).normal(size=(rows, columns))
    ramp = np.arange(columns, dtype=np.float64) * np.ones([rows, 1])
    ways = {"random": random, "rising": ramp, "falling": -ramp}
    return ways[kind].astype(np.float32)


def measure(rounds: int, span: float) -> list[dict]:
    """The rows of the table, after a check that all ways give the same."""
    rows = []
    for shape in SIZES:
        for kind in SIGNALS:
            x = tf.constant(signal(kind, *shape))
            for window in WINDOWS:
                y, position = sliding_max(x, window)
                runs = {}
                for name, way in WAYS.items():
                    result = way(x, window)
                    np.testing.assert_array_equal(result[0], y, err_msg=name)
                    np.testing.assert_array_equal(result[1], position, err_msg=name)
                    runs[name] = traced(lambda x, way=way, w=window: way(x, w), x)
                case = {"rows": shape[0], "columns": shape[1]}
                case |= {"signal": kind, "window": window}
                rows += turns(case, runs, rounds, span)
    return rows


def main() -> None:
    notes = [
        "milliseconds: of a call in a tf.function, the median of the rounds",
        "ratio: to the op in the same round, with median, q1 and q3",
        "ways: SlidingMax; its step 6, two plain loops on one core; tf.signal.frame with reduce_max and argmax; "
        "tf.nn.max_pool_with_argmax; slices compared one after the other, with jit_compile=True",
    ]
    run_turns(__file__, __doc__, notes, measure)


if __name__ == "__main__":
    main()
