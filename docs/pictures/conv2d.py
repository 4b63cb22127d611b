"""The pictures of the chapters on convolution: drawn from what the ops return."""

from collections.abc import Sequence

import numpy as np
from conv2d import conv2d, conv2d_backprop_input
from IPython.display import HTML
from measured import number, read
from pictures.drawing import bold, picture, space
from pictures.layout import arrow, column, grid, layers, row, table
from pictures.windows import SIDE, on_pixels


def patches_of(x: np.ndarray, rows: int, columns: int, **layout) -> np.ndarray:
    """The patches that the op takes from images of one channel: a filter each copies one element of a window."""
    filter = np.eye(rows * columns, dtype=x.dtype)
    filter = filter.reshape(rows, columns, 1, rows * columns)
    return conv2d(x, filter, **layout).numpy()


def windows_picture(size: int, ways: Sequence[tuple[int, str, int]]) -> HTML:
    """Where windows of three lie on a row of pixels, for each stride, padding and dilation."""
    drawn = []
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
        title = f"{padding}, stride {stride}"
        title += f", dilation {dilation}" if dilation > 1 else ""
        pixels = on_pixels(size, windows, lambda i: str((i + 1) * (0 <= i < size)))
        pixels.tells(f"{title}: {len(windows)} windows")
        drawn.append(column(bold(title), pixels))
    label = f"Windows of three on a row of {size} pixels."
    return picture(column(*drawn, gap=14), label)


def steps_picture(x: np.ndarray, filter: np.ndarray, chosen: int) -> HTML:
    """An image, its patches as a matrix, the filter as a column, and the result; one window is marked."""
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
    """What comes in, the filter, a patch for each number, and the image's gradient, their sum; one pixel is marked."""
    given = filter[..., None, None], dy[None, ..., None]
    dx = conv2d_backprop_input([1, *size, 1], *given, stride).numpy()[0, ..., 0]

    def marked(shape: tuple[int, int], place: tuple[int, int]) -> np.ndarray:
        return np.all(np.moveaxis(np.indices(shape), 0, -1) == place, axis=-1)

    look = {"width": SIDE, "colour": "orange", "shade": 0.5}
    patches, terms = [[None] * dy.shape[1] for _ in dy], []
    for (row_, column_), times_ in np.ndenumerate(dy):
        start = np.multiply((row_, column_), stride)
        here = marked(filter.shape, np.subtract(chosen, start))
        patches[row_][column_] = grid(times_ * filter, here, **look)
        terms += [f"{value:g}" for value in (times_ * filter)[here]]
    incoming = grid(dy, 1, width=SIDE, shade=0.5)
    shapes = row(
        column(bold("dy"), incoming, bold("filter"), grid(filter, width=SIDE)),
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


# What is on the pages, in this order; ours is 1.
SHOWN = {
    "TensorFlow": "`tf.nn.conv2d` as it comes, oneDNN {onednn}",
    "ours": "**our op**",
    "TensorFlow, oneDNN off": "`tf.nn.conv2d`, oneDNN off",
    "ours, without AVX-512": "our op, told that there is no AVX-512",
    "TensorFlow, Eigen alone": "`tf.nn.conv2d`, Eigen alone",
    "ours, without AVX2": "our op, told that there is no AVX2 either",
    "one expression, TensorFlow's header": "Eigen's expression with a header of TensorFlow's",
    "naive im2col": "the naive kernel",
    "one expression": "Eigen's expression",
}


# As in bench/conv2d.py.
SHAPES = {
    "3 × 3": "3 × 3, 64 channels in and out, on 28 × 28",
    "3 × 3, stride 2": "the same with stride 2",
    "1 × 1": "1 × 1, from 64 to 256 channels, on 28 × 28",
    "7 × 7, 3 channels": "7 × 7, from 3 to 64 channels, stride 2, on 56 × 56",
}


def speeds(op: str, task: str = "3 × 3") -> list[list[str]]:
    """Of each way its milliseconds by threads, and its speed on one thread, ours being 1, from `bench/conv2d.csv`."""
    table, rows = read("conv2d"), []
    for way, name in SHOWN.items():
        found = {row["threads"]: row for row in table.where(op=op, task=task, way=way)}
        if not found:
            continue
        one = found["1"]
        times = [number(float(row["milliseconds"])) for row in found.values()]
        speed = number(1 / float(one["ratio"]))
        rows.append([name.format(onednn=one["oneDNN"].split(",")[0]), *times, speed])
    return rows


def shapes() -> list[list[str]]:
    """For each shape, on one thread: milliseconds of ours and of TensorFlow's default, and our speed relative to it."""
    rows = []
    for task, name in SHAPES.items():
        [ours], [theirs] = (
            read("conv2d").where(op="result", threads="1", task=task, way=way)
            for way in ("ours", "TensorFlow")
        )
        times = (number(float(of["milliseconds"])) for of in (ours, theirs))
        rows.append([name, *times, number(float(theirs["ratio"]))])
    return rows


def figures() -> dict[str, float]:
    """For 3 × 3 on one thread: milliseconds."""

    def value(way: str) -> float:
        of = {"op": "result", "task": "3 × 3", "threads": "1", "way": way}
        return read("conv2d").number("milliseconds", **of)

    return {
        "ours_ms": value("ours"),
        "naive_ms": value("naive im2col"),
        "expression_ms": value("one expression"),
        "header_ms": value("one expression, TensorFlow's header"),
    }


def first_layer(way: str = "TensorFlow") -> float:
    """How fast TensorFlow's gradient for images of three channels is, ours being 1."""
    of = {"op": "for x", "task": "7 × 7, 3 channels", "way": way}
    return 1 / read("conv2d").number(threads="1", **of)


def step_rates() -> list[list[str]]:
    """Of each way its milliseconds by threads, and its billions of operations in a second on one thread."""
    # Three times a product and a sum for each of the products, the padding's included.
    operations = 3 * 2 * 4 * 28 * 28 * 9 * 64 * 64
    rates = {
        found["way"]: operations / float(found["milliseconds"]) / 1e6
        for found in read("conv2d").where(
            op="with both gradients", task="3 × 3", threads="1"
        )
    }
    ways = [way for way in SHOWN if way in rates]
    shown = speeds("with both gradients")
    return [
        [*cells[:-1], number(rates[way])]
        for way, cells in zip(ways, shown, strict=True)
    ]


def one_gradient() -> list[list[str]]:
    """Milliseconds of both gradients and of the filter's, eagerly and in a graph, from `bench/conv2d_step.csv`."""
    of = {"task": "7 × 7, 3 channels", "threads": "1"}

    def time(what: str, how: str) -> str:
        way = f"{what}, {how}"
        return number(read("conv2d_step").number("milliseconds", way=way, **of))

    return [
        [f"result and {what}", *(time(what, how) for how in ("eagerly", "tf.function"))]
        for what in ("both gradients", "that for the filter")
    ]


def steps_by_type() -> list[list[str]]:
    """Milliseconds on one thread of ours and of TensorFlow's default, for each dtype."""
    rows = {}
    for found in read("conv2d_step").where(threads="1"):
        if found["way"] in ("ours", "TensorFlow"):
            milliseconds = number(float(found["milliseconds"]))
            rows.setdefault(found["task"], [f"`{found['task']}`"]).append(milliseconds)
    return [*rows.values()]
