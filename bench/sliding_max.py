"""How long the maximum of each window takes: the op, its step with plain loops, and TensorFlow's compositions.

TensorFlow is as it comes, on all cores. `--only REGEX` measures some of the cases again and keeps the others of the
same machine: `--only "random, 4"`.
"""

import re
from itertools import product

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from measure import command_line, heading_of, kept, settings, traced, turns, write
from sliding_max import sliding_max
from sliding_max_steps import composition, doubled, step_6

SIZE = 64, 16_384
WINDOWS = [4, 32, 256]
SIGNALS = ["random", "falling"]


def pooled(x: tf.Tensor, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    """By max pooling over an image of one row for each signal; the position is in the whole image."""
    image = x[:, tf.newaxis, :, tf.newaxis]
    size = [1, 1, window, 1]
    y, position = tf.nn.max_pool_with_argmax(image, size, [1, 1, 1, 1], "VALID")
    return y[:, 0, :, 0], position[:, 0, :, 0]


WAYS = {
    "op": sliding_max,
    "plain loops": step_6,
    "frames": composition,
    "max_pool_with_argmax": pooled,
    "doubled, XLA": doubled,
}


def signal(kind: str, rows: int, columns: int) -> np.ndarray:
    random = np.random.default_rng(0).normal(size=(rows, columns))
    ramp = np.arange(columns, dtype=np.float64) * np.ones([rows, 1])
    return {"random": random, "falling": -ramp}[kind].astype(np.float32)


def named(case: dict) -> str:
    return f"{case['signal']}, {case['window']}"


def measure(kind: str, window: int, rounds: int, span: float) -> list[dict]:
    """The rows of the table for a case, after a check that all ways give the same."""
    x = tf.constant(signal(kind, *SIZE))
    y, position = sliding_max(x, window)
    runs = {}
    for name, way in WAYS.items():
        result = way(x, window)
        np.testing.assert_array_equal(result[0], y, err_msg=name)
        np.testing.assert_array_equal(result[1], position, err_msg=name)
        runs[name] = traced(lambda x, way=way: way(x, window), x)
    case = dict(zip(("rows", "columns"), SIZE))
    return turns(case | {"signal": kind, "window": window}, runs, rounds, span)


def main() -> None:
    parser = command_line(__file__, __doc__, rounds=41)
    parser.add_argument("--only", default="", help="a regular expression for cases")
    options = parser.parse_args()
    notes = [
        "milliseconds: of a call in a tf.function, the median of the rounds",
        "ratio: to the op in the same round, with median, q1 and q3",
        "ways: SlidingMax; its step 6, two plain loops on one core; tf.signal.frame with reduce_max and argmax; "
        "tf.nn.max_pool_with_argmax; windows of twice the length in each step, with jit_compile=True",
        f"settings: {settings()}",
    ]
    first_lines = heading_of(__file__, options, notes)
    order = [f"{kind}, {window}" for kind, window in product(SIGNALS, WINDOWS)]
    chosen = [name for name in order if re.search(options.only, name)]
    rows = kept(options.output, first_lines, lambda row: named(row) in chosen)
    for kind, window in product(SIGNALS, WINDOWS):
        if f"{kind}, {window}" in chosen:
            rows += measure(kind, window, options.rounds, options.span)
    rows = sorted(rows, key=lambda row: order.index(named(row)))
    write(options.output, first_lines, rows)
    print(options.output.read_text(), end="")


if __name__ == "__main__":
    main()
