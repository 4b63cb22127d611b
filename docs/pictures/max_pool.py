"""The pictures of the chapter on max pooling: drawn from what the ops return and from what was measured."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import bar_of, bars, bars_of, legend_of, read, span
from pictures.figures import (
    BOLD,
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    SMALL,
    box,
    drawing,
    grids,
    text,
)

WAYS = {"MaxPool": "MaxPool", "TensorFlow": "TensorFlow"}


def times(layer: str, batch: int) -> HTML:
    """Milliseconds of each task for one layer, from `bench/max_pool.csv`."""
    table = read("max_pool")
    tasks = dict.fromkeys(row["task"] for row in table.rows)
    groups = {
        task: bars_of(
            table,
            WAYS,
            "milliseconds",
            type="float32",
            task=task,
            layer=layer,
            batch=str(batch),
        )
        for task in tasks
    }
    label = f"Milliseconds for {batch} images, windows of {layer}, by task."
    return bars(groups, label, "milliseconds", legend_of(table), names_width=90)


def ratios(task: str, way: str = "TensorFlow", dtype: str = "float32") -> HTML:
    """How many times as long another way takes as MaxPool, by layer and number of images."""
    table = read("max_pool")
    groups = {}
    of = {"type": dtype, "task": task, "way": way}
    for row in table.where(**of, threads="1"):
        one = row["batch"] == "1"
        rows = table.where(**of, layer=row["layer"], batch=row["batch"])
        bar = bar_of("1 image" if one else f"{row['batch']} images", rows)
        groups.setdefault(row["layer"], []).append(bar)
    label = f"How many times as long {way} takes as MaxPool, {task}, by layer."
    axis = "times as long as MaxPool"
    return bars(groups, label, axis, legend_of(table), names_width=80, origin=1.0)


def windows_picture(size: int, window: int, ways: Sequence[tuple[str, int]]) -> HTML:
    """Where windows lie on a row of pixels, and how far they reach over its edges.

    Args:
      size: How many pixels the row has.
      window: How many a window has.
      ways: Padding and stride of each row of the picture.
    """
    parts, spoken, side, left, y = [], [], 30, 36, 4
    for padding, stride in ways:
        begins, ends = windows_of((1, size), (1, window), (1, stride), padding)
        title = f"{padding}, stride {stride}"
        parts.append(text(4, y + 12, title, BOLD))
        top = y + 20
        for place in range(size):
            x = left + place * side
            parts.append(box(x, top, side, side, 0.25, corner=0))
            parts.append(text(x + side / 2, top + 20, f"{place + 1}", MIDDLE))
        for number, (begin, end) in enumerate(zip(begins, ends)):
            line = top + side + 10 + 11 * number
            start = end + 1 - window if begin == 0 else begin
            at = [left + (start + i + 0.5) * side for i in range(window)]
            parts.append(f'<path d="M{at[0]:g} {line}H{at[-1]:g}" {LINE}/>')
            for i in range(begin - start, end + 1 - start):
                parts.append(
                    f'<circle cx="{at[i]:g}" cy="{line}" r="4" fill="{COLOURS[1]}" stroke="currentColor"/>'
                )
        pixels = [f"{begin + 1} to {end + 1}" for begin, end in zip(begins, ends)]
        spoken.append(f"{title}: pixels {', '.join(pixels)}")
        y = top + side + 10 + 11 * len(begins) + 10
    label = f"Windows of {window} on a row of {size} pixels. {'; '.join(spoken)}."
    return HTML(drawing(parts, 2 * left + size * side, y, label, style=FITTING))


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
    """Rows of a gradient, by the thread that writes them, and the windows that each thread has to look at.

    Args:
      size: Rows of the input.
      window: Rows of a window.
      stride: From one to the next.
      blocks: Where the rows of each thread begin.
    """
    begins, ends = windows_of((size, 1), (window, 1), (stride, 1), "VALID")
    parts, spoken, row_height, left = [], [], 24, 90
    threads = np.searchsorted(blocks, np.arange(size), "right") - 1
    for row, thread in enumerate(threads):
        y = 4 + row * row_height
        parts.append(box(left, y, 150, row_height, 0.25, thread, corner=0))
        parts.append(text(left - 8, 20 + row * row_height, f"row {row}", END, SMALL))
    for number, (begin, end) in enumerate(zip(begins, ends)):
        x = left + 20 + 32 * number
        of = set(threads[begin : end + 1])
        middle = 4 + (begin + end + 1) / 2 * row_height
        top, bottom = 6 + begin * row_height, 2 + (end + 1) * row_height
        parts.append(
            f'<path d="M{x} {top}V{bottom}" {LINE} stroke-width="{3 * len(of)}"/>'
        )
        parts.append(text(x + 6, middle + 4, str(number), SMALL))
    for thread, (first, end) in enumerate(zip(blocks, [*blocks[1:], size])):
        seen = [i for i in range(len(begins)) if begins[i] < end and ends[i] >= first]
        spoken.append(f"thread {thread + 1}: rows {first} to {end - 1}, windows {seen}")
        y = 8 + (first + end) / 2 * row_height
        parts.append(text(left + 162, y, f"thread {thread + 1}"))
    label = (
        f"The rows of a gradient, and windows of {window} rows. {'; '.join(spoken)}."
    )
    return HTML(
        drawing(parts, left + 240, 10 + size * row_height, label, style=FITTING)
    )


def maxima(image: tf.Tensor, output: tf.Tensor, argmax: tf.Tensor) -> HTML:
    """The image of the chapter, its maxima and where they are."""
    chosen = np.isin(np.arange(16).reshape(4, 4), argmax)
    return grids(
        channels(image=image, output=output, argmax=argmax),
        "An image of four rows and columns, and the maxima of its four quarters: 5, 2, 7 and 9. "
        "They are at 1, 2, 8 and 15.",
        {"image": chosen, "output": np.ones([2, 2]), "argmax": np.zeros([2, 2])},
    )


def gradient(
    image: tf.Tensor, output: tf.Tensor, given: tf.Tensor, dx: tf.Tensor
) -> HTML:
    """Where the gradient of each maximum goes."""
    return grids(
        channels(image=image, output=output, given=given, dx=dx),
        "An image of nine pixels, its four maxima, a number given for each, and the gradient. "
        "The 5 was the maximum of two windows and gets 10 and 20.",
        {
            "image": dx[0, :, :, 0],
            "output": np.zeros([2, 2]),
            "given": np.zeros([2, 2]),
        },
    )


def channels(**tensors: tf.Tensor) -> dict[str, np.ndarray]:
    """The first image of each tensor, without its only channel."""
    return {name: tensor.numpy()[0, :, :, 0] for name, tensor in tensors.items()}


def without() -> list[tuple[str, str]]:
    """How many times as long MaxPool takes without one thing, for eight images with windows of 3 × 3."""
    rows = [row for row in read("max_pool").where(batch="8") if "3 × 3" in row["layer"]]
    ways = {
        "without prefetching": "memory that is asked for early",
        "without AVX2": "packets of 8 floats",
    }
    return [
        (what, span([row for row in rows if row["way"] == way])[0])
        for way, what in ways.items()
    ]


def others() -> list[tuple[str, str, str]]:
    """How many times as long TensorFlow takes for other types and other tasks."""
    tasks = [
        ("forward", "bfloat16"),
        ("forward", "float16"),
        ("with argmax", "float32"),
        ("gradient", "float32"),
    ]
    table = read("max_pool")
    return [
        (task, dtype, span(table.where(way="TensorFlow", task=task, type=dtype))[0])
        for task, dtype in tasks
    ]
