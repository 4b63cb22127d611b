"""The pictures of the chapter on max pooling: drawn from what the ops return and from what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import Row, number, read, span, text_of
from pictures.drawing import bold, line, picture, rectangle, small
from pictures.layout import at, column, grids, layers
from pictures.windows import on_pixels


def unclear() -> list[list[str]]:
    """What TensorFlow's two ops make of windows of three pixels whose largest number is not clear."""
    nan, inf = float("nan"), float("inf")
    rows = []
    with_nan = [[1.0, nan, 2.0], [nan, 1.0, 2.0], [nan, nan, nan]]
    for window in [*with_nan, [-inf] * 3, [1.0, 3.0, 3.0], [-0.0, 0.0, -1.0]]:
        pixels = tf.reshape(tf.constant(window), [1, 1, 3, 1])
        sizes = [1, 3], [1, 3], "VALID"
        stock = tf.nn.max_pool_with_argmax(pixels, *sizes)
        stock = tf.nn.max_pool2d(pixels, *sizes), *stock
        rows.append([f"{window}", *(f"{x.numpy().item():g}" for x in stock)])
    return rows


LAYERS = ["3 × 3, stride 2", "2 × 2, stride 2", "3 × 3, stride 1"]
TRAINING = "forward and gradient"
COMPARED = {
    "with argmax: `tf.nn.max_pool_with_argmax`": {"task": "with argmax"},
    "with argmax: slices and XLA": {"task": "with argmax", "way": "slices, XLA"},
    "forward": {"task": "forward"},
    "forward, `bfloat16`": {"task": "forward", "type": "bfloat16"},
    "forward, `float16`": {"task": "forward", "type": "float16"},
    "forward and gradient": {"task": TRAINING},
    "forward and gradient, oneDNN off": {"task": TRAINING, "setting": "oneDNN off"},
    "forward and gradient: slices and XLA": {"task": TRAINING, "way": "slices, XLA"},
}
FORWARD = {"forward": "float32", "half": "float16", "brain": "bfloat16"}
CHANGES = {
    "registers (`max_pool_plain`)": {"task": "forward", "way": "plain"},
    "wide vectors": {"task": "forward", "way": "without wide vectors"},
}


def measured(layer: str, **fields: str) -> Row:
    """The row of eight images on one thread: float32, TensorFlow at its default, unless fields say otherwise."""
    case = {"type": "float32", "setting": "default", "way": "TensorFlow"}
    case |= {"threads": "1", "batch": "8", "layer": layer} | fields
    [row] = read("max_pool").where(**case)
    return row


def with_middle(row: Row) -> str:
    """A ratio and the middle half of the rounds."""
    ratio, q1, q3 = (text_of(row, name) for name in ("ratio", "q1", "q3"))
    return f"{ratio} ({q1}–{q3})"


def times(compared: Mapping[str, Mapping[str, str]]) -> list[list[str]]:
    """How many times as long as our op others take, by layer."""
    return [
        [name, *(with_middle(measured(layer, **fields)) for layer in LAYERS)]
        for name, fields in compared.items()
    ]


def changes() -> list[list[str]]:
    """How many times as long our op takes without each change, and on one thread instead of two."""
    one, two = (took(task="forward", way="MaxPool", threads=n) for n in "12")
    shared = [number(x / y) for x, y in zip(one, two)]
    return [*times(CHANGES), ["a second thread", *shared]]


def took(**fields: str) -> list[float]:
    """Milliseconds by layer."""
    return [float(measured(each, **fields)["milliseconds"]) for each in LAYERS]


def figures() -> dict[str, str]:
    """The ratios in the text: spans over the layers."""
    asked, unasked = took(task="with argmax"), took(task="forward")
    longer = [x / y for x, y in zip(asked, unasked)]
    close = [layer for layer in LAYERS if layer.startswith("3 × 3")]
    return {
        "asked": f"{number(min(longer))} to {number(max(longer))}",
        "argmax": span([measured(layer, task="with argmax") for layer in LAYERS]),
        "training": span([measured(layer, task=TRAINING) for layer in close]),
        "apart": text_of(measured("2 × 2, stride 2", task=TRAINING), "ratio"),
    } | {
        name: span([measured(each, task="forward", type=of) for each in LAYERS])
        for name, of in FORWARD.items()
    }


def windows_picture(size: int, window: int, ways: Sequence[tuple[str, int]]) -> HTML:
    """Where windows lie on a row of pixels, for each padding and stride, and how far they reach over its edges."""
    drawn = []
    for padding, stride in ways:
        ends = list(zip(*windows_of((1, size), (1, window), (1, stride), padding)))
        starts = [end + 1 - window if begin == 0 else begin for begin, end in ends]
        windows = [range(start, start + window) for start in starts]
        title = f"{padding}, stride {stride}"
        pixels = on_pixels(size, windows, lambda i: f"{i + 1}", outside=False)
        inside = ", ".join(f"{begin + 1} to {end + 1}" for begin, end in ends)
        drawn.append(column(bold(title), pixels).tells(f"{title}: pixels {inside}"))
    label = f"Windows of {window} on a row of {size} pixels."
    return picture(column(*drawn, gap=14), label)


def windows_of(
    shape: tuple[int, int],
    ksize: tuple[int, int],
    strides: tuple[int, int],
    padding: str,
) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last pixel of each window: where the maximum of falling and of rising numbers is."""
    import max_pool

    size = shape[0] * shape[1]
    rising = tf.reshape(tf.range(size, dtype=tf.float32), [1, *shape, 1])
    return tuple(
        max_pool.max_pool_with_argmax(x, ksize, strides, padding).argmax.numpy().ravel()
        for x in (-rising, rising)
    )


def shares_picture(size: int, window: int, stride: int, blocks: Sequence[int]) -> HTML:
    """Rows of a gradient, by the thread whose block they are in, and the windows that each thread has to look at."""
    begins, ends = windows_of((size, 1), (window, 1), (stride, 1), "VALID")
    shapes, high = [], 24
    threads = np.searchsorted(blocks, np.arange(size), "right") - 1
    for row, thread in enumerate(threads):
        shapes.append(at(0, high * row, rectangle(150, high, 0.25, thread)))
        shapes.append(at(-8, high * (row + 0.5), small(f"row {row}"), "e"))
    for index, (begin, end) in enumerate(zip(begins, ends)):
        x, top, bottom = 20 + 32 * index, high * begin + 2, high * (end + 1) - 2
        of = set(threads[begin : end + 1])
        shapes.append(line((x, top), (x, bottom), width=3 * len(of)))
        shapes.append(at(x + 6, (top + bottom) / 2, small(f"{index}"), "w"))
    for thread, (first, end) in enumerate(zip(blocks, [*blocks[1:], size]), 1):
        seen = [i for i in range(len(begins)) if begins[i] < end and ends[i] >= first]
        name = at(162, high * (first + end) / 2, f"thread {thread}", "w")
        name.tells(f"thread {thread}: rows {first} to {end - 1}, windows {seen}")
        shapes.append(name)
    label = f"The rows of a gradient, and windows of {window} rows."
    return picture(layers(*shapes), label)


def maxima(image: tf.Tensor, output: tf.Tensor, argmax: tf.Tensor) -> HTML:
    """The image of the chapter, its maxima and where they are."""
    shown = channels(image=image, output=output, argmax=argmax)
    chosen = np.isin(np.arange(16).reshape(4, 4), argmax)
    return grids(shown, {"image": chosen, "output": 1, "argmax": 0})


def gradient(
    image: tf.Tensor, output: tf.Tensor, given: tf.Tensor, dx: tf.Tensor
) -> HTML:
    """Where the gradient of each maximum goes."""
    shown = channels(image=image, output=output, given=given, dx=dx)
    return grids(shown, {"image": shown["dx"], "output": 0, "given": 0})


def channels(**tensors: tf.Tensor) -> dict[str, np.ndarray]:
    """The first image of each tensor, without its only channel."""
    return {name: tensor.numpy()[0, :, :, 0] for name, tensor in tensors.items()}
