"""The pictures of the chapters on convolution: drawn from what the ops return."""

from collections.abc import Sequence

import numpy as np
from conv2d import conv2d, conv2d_backprop_input, runs
from conv2d_reference import output_size
from IPython.display import HTML
from measured import read
from pictures.drawing import (
    COLOURS,
    ORANGE,
    bold,
    line,
    picture,
    small,
    space,
)
from pictures.layout import arrow, at, box, column, grid, layers, row, table
from pictures.plots import chart
from pictures.windows import SIDE, on_pixels


def patches_of(x: np.ndarray, rows: int, columns: int, **layout) -> np.ndarray:
    """The patches that the op takes from images of one channel: a filter each copies one element of a window.

    Returns:
      [batch, rows of windows, columns of windows, rows * columns].
    """
    filter = np.eye(rows * columns, dtype=x.dtype)
    filter = filter.reshape(rows, columns, 1, rows * columns)
    return conv2d(x, filter, **layout).numpy()


def calls_of_run(
    image: np.ndarray, copies: np.ndarray, padding: str, window: int
) -> list[str]:
    """Padding, patch and calls of `run` for one window of an image [1, rows, columns, 1].

    Args:
      image: Of one channel.
      copies: A filter for each element of a window, which copies it.
      padding: "VALID" or "SAME".
      window: Its number.
    """
    patches = conv2d(image, copies, padding=padding).numpy()
    patch = patches.reshape(-1, patches.shape[-1])[window]
    sides = []
    for size, taps in zip(image.shape[1:3], copies.shape):
        windows, before = output_size(size, taps, 1, 1, padding)
        sides.append([size, taps, 1, 1, before, windows])
    shown = []
    for place, pixel, count in runs(*sides, window):
        at = "kBeside" if pixel < 0 else pixel
        shown.append(f"`run({place}, {at}, {count})`")
        copied = np.ravel(image)[pixel : pixel + count] if pixel >= 0 else 0
        np.testing.assert_array_equal(patch[place : place + count], copied)
    return [f"`{padding}`", " ".join(f"{x:g}" for x in patch), " ".join(shown)]


def windows_picture(size: int, ways: Sequence[tuple[int, str, int]]) -> HTML:
    """Where windows of three lie on a row of pixels.

    Args:
      size: How many pixels the row has.
      ways: Stride, padding and dilation of each row of the picture.
    """
    drawn, spoken = [], []
    x = np.arange(1.0, size + 1).reshape(1, 1, size, 1)
    for stride, padding, dilation in ways:
        layout = {"strides": [1, stride], "dilations": [1, dilation]}
        patches = patches_of(x, 1, 3, padding=padding, **layout)[0, 0]
        windows = []
        for patch in patches.astype(int):
            # Outside of the image it has zeros: where, follows from a pixel that it has.
            tap = int(np.flatnonzero(patch)[0])
            start = patch[tap] - 1 - tap * dilation
            windows.append([start + i * dilation for i in range(3)])
        title = f"{padding}, stride {stride}" + f", dilation {dilation}" * (
            dilation > 1
        )
        spoken.append(f"{title}: {len(windows)} windows")
        pixels = on_pixels(
            size, windows, lambda i: str(i + 1) if 0 <= i < size else "0"
        )
        drawn.append(column(bold(title), pixels))
    label = f"Windows of three on a row of {size} pixels. {'; '.join(spoken)}."
    return picture(column(*drawn, gap=14), label)


def inside_picture(size: int, stride: int) -> HTML:
    """Windows of three on a row of pixels, with what Pixel and Inside say of each.

    Args:
      size: How many pixels the row has.
      stride: From one window to the next, with "SAME" padding.
    """
    taps = 3
    count, before = output_size(size, taps, stride, 1, "SAME")
    side = [size, taps, stride, 1, before, count]
    windows, notes, spoken = [], [], []
    for window in range(count):
        found = runs([1, 1, 1, 1, 0, 1], side, window)
        [(first, pixel, many)] = [run for run in found if run[1] >= 0]
        start = pixel - first
        begin = f"{start}".replace("-", "−")
        says = (
            f"Pixel({window}) = {begin}",
            f"Inside({begin}) = {{{first}, {first + many}}}",
        )
        windows.append(range(start, start + taps))
        notes.append(row(*says, gap=18))
        spoken.append(", ".join(says))
    shapes = on_pixels(size, windows, lambda i: f"{i}".replace("-", "−"), notes=notes)
    label = f"Windows of {taps} on a row of {size} pixels, SAME, stride {stride}. {'; '.join(spoken)}."
    return picture(shapes, label)


def steps_picture(x: np.ndarray, filter: np.ndarray, chosen: int) -> HTML:
    """An image, its patches as a matrix, the filter as a column, and the result.

    Args:
      x: A matrix, the image.
      filter: A matrix.
      chosen: Which window is marked.
    """
    rows, columns = filter.shape
    matrix = patches_of(x[None, ..., None], rows, columns)[0].reshape(-1, filter.size)
    result = conv2d(x[None, ..., None], filter[..., None, None]).numpy()[0, ..., 0]
    first = np.array(divmod(chosen, result.shape[1]))
    inside = np.zeros(x.shape, bool)
    inside[tuple(map(slice, first, first + filter.shape))] = True
    one = np.arange(len(matrix))[:, None] == chosen
    image, patches = grid(x, inside), grid(matrix, one)
    filters = column(bold("filter"), grid(filter.reshape(-1, 1)))
    product = column(bold("product"), grid(matrix @ filter.reshape(-1, 1), one))
    above = row(
        column(bold("image"), image, bold("filter"), grid(filter)),
        space(24),
        column(bold("patches, one in a row"), patches),
        column(space(0, 80), bold("·")),
        filters,
        column(space(0, 80), bold("=")),
        product,
        align="start",
    )
    below = column(bold("result"), grid(result, one.reshape(result.shape)))
    shapes = column(above, below, align="end")
    label = (
        f"An image of {x.shape[0]} by {x.shape[1]} pixels, its {len(matrix)} patches as the rows of a matrix, the "
        f"filter as a column, their product, and the same numbers as a result of {result.shape[0]} by "
        f"{result.shape[1]}. Marked is patch {chosen + 1}: {', '.join(f'{v:g}' for v in matrix[chosen])}."
    )
    return picture(layers(shapes, arrow(image, patches)), label)


def input_gradient_picture(
    dy: np.ndarray,
    filter: np.ndarray,
    size: tuple[int, int],
    stride: int,
    chosen: tuple,
) -> HTML:
    """The incoming gradient, the filter, a patch for each number, and the gradient for the image, to which they add up.

    Args:
      dy: A matrix.
      filter: A matrix.
      size: Rows and columns of the image.
      stride: From one window to the next.
      chosen: A pixel of the image, which is marked wherever it is.
    """
    sizes = [1, *size, 1]
    gradient = conv2d_backprop_input(
        sizes, filter[..., None, None], dy[None, ..., None], stride
    )
    dx = gradient.numpy()[0, ..., 0]

    def marked(shape: tuple[int, int], place: tuple[int, int]) -> np.ndarray:
        return np.all(np.moveaxis(np.indices(shape), 0, -1) == place, axis=-1)

    look = {"width": SIDE, "colour": ORANGE, "shade": 0.5}
    patches, terms = [[None] * dy.shape[1] for _ in dy], []
    for (row_, column_), number in np.ndenumerate(dy):
        here = marked(
            filter.shape, np.subtract(chosen, np.multiply((row_, column_), stride))
        )
        patches[row_][column_] = grid(number * filter, here, **look)
        terms += [f"{value:g}" for value in (number * filter)[here]]
    shapes = row(
        column(
            bold("dy"),
            grid(dy, 1, width=SIDE, shade=0.5),
            bold("filter"),
            grid(filter, width=SIDE),
        ),
        column(bold("patches"), table(patches, gap=10)),
        column(bold("dx"), grid(dx, marked(dx.shape, chosen), **look)),
        gap=30,
        align="start",
    )
    label = (
        f"An incoming gradient of {dy.shape[0]} by {dy.shape[1]} numbers, a filter, the {dy.size} patches that are a "
        f"number times the filter, and the gradient of {size[0]} by {size[1]}. The marked pixel is {' + '.join(terms)} "
        f"= {dx[chosen]:g}."
    )
    return picture(shapes, label)


def bands_picture(size: int, taps: int) -> HTML:
    """The rows of an image that each window adds to, and the bands of windows that threads share in either turn.

    Args:
      size: Rows of the image.
      taps: Rows of the filter, which moves by one row.
    """
    count, least = size - taps + 1, taps - 1  # windows in all, and in a band
    filter = np.ones([taps, 1, 1, 1], np.float32)
    reached = []
    for dy in np.eye(count, dtype=np.float32).reshape(count, 1, count, 1, 1):
        dx = conv2d_backprop_input([1, size, 1, 1], filter, dy).numpy()
        reached.append(np.flatnonzero(dx)[[0, -1]] + [0, 1])
    shapes, spoken, high, wide = [], [], 24, 124
    for i in range(size + 1):
        shapes.append(
            line(
                (0, i * high),
                (2 * wide + 40, i * high),
                stroke_opacity=1 if i in (0, size) else 0.25,
            )
        )
    for i in range(size):
        shapes.append(at(-12, (i + 0.5) * high, small(f"row {i}"), "e"))
    for turn, name in enumerate(("first", "then")):
        shapes.append(at(10 + turn * (wide + 20) + wide / 2, -6, bold(name), "s"))
    for number, begin in enumerate(range(0, count, least)):
        band, turn = reached[begin : begin + least], number % 2
        first, end = band[0][0], band[-1][1]
        reach = f"rows {first} to {end - 1}"
        x = 10 + turn * (wide + 20)
        text = column(f"band {number}", small(reach), gap=0, align="end")
        shapes.append(
            at(
                x,
                first * high + 2,
                box(
                    "", 0.25, COLOURS[turn], width=wide, height=(end - first) * high - 4
                ),
            )
        )
        shapes.append(at(x + wide - 8, (first + end) / 2 * high, text, "e"))
        for place, (top, bottom) in enumerate(band):
            at_x = x + 16 + 16 * place
            shapes.append(
                line((at_x, top * high + 6), (at_x, bottom * high - 6), width=3)
            )
        spoken.append(f"{('first', 'then')[turn]}, band {number}: {reach}")
    spoken.sort(key=lambda said: said.startswith("then"))
    label = (
        f"The {size} rows of an image, and {count} windows of {taps} rows in bands of {least}. "
        f"{'; '.join(spoken)}."
    )
    return picture(layers(*shapes), label)


BASE = "TensorFlow, Eigen"
# What the picture calls the ways whose names say more than their bars need.
NAMES = {"TensorFlow, Eigen alone": "Eigen alone", "TensorFlow, oneDNN": "oneDNN"}


def ratios(way: str) -> dict[str, float]:
    """For each task, how many times as long a way takes as `BASE` for the result, on one thread."""
    rows = read("conv2d").where(op="result", way=way, threads="1")
    return {row["task"]: float(row["ratio"]) for row in rows}


def times(op: str) -> HTML:
    """How many times as long each way takes as TensorFlow with oneDNN's ops off, from `bench/conv2d.csv`.

    Args:
      op: "result", "for x" or "for the filter".
    """
    return chart(
        [row for row in read("conv2d").where(op=op) if row["way"] != BASE],
        f"How many times as long others take as {BASE}, with oneDNN's ops off.",
        "times as long as with oneDNN's ops off",
        heading="{task}",
        name=lambda row: NAMES.get(row["way"], row["way"]),
    )
