"""The pictures of the chapters on convolution: drawn from what the ops return."""

from collections.abc import Sequence

import numpy as np
from conv2d import conv2d, conv2d_backprop_input
from IPython.display import HTML
from measured import grouped, number, read, text_of
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
        speed = number(1 / float(one["ratio"]))
        name = name.format(onednn=one["oneDNN"].split(",")[0])
        rows.append([name, *map(text_of, found.values()), speed])
    return rows


def shapes() -> list[list[str]]:
    """For each shape, on one thread: milliseconds of ours and of TensorFlow's default, and our speed relative to it."""
    table, rows = read("conv2d"), []
    for task, name in SHAPES.items():
        of = {"op": "result", "threads": "1", "task": task}
        [theirs] = table.where(way="TensorFlow", **of)
        times = table.text(way="ours", **of), text_of(theirs)
        rows.append([name, *times, text_of(theirs, "ratio")])
    return rows


def figures() -> dict[str, float]:
    """For 3 × 3 on one thread: milliseconds."""
    ways = {
        "ours_ms": "ours",
        "naive_ms": "naive im2col",
        "expression_ms": "one expression",
        "header_ms": "one expression, TensorFlow's header",
    }
    of = {"op": "result", "task": "3 × 3", "threads": "1"}
    table = read("conv2d")
    return {
        name: table.number("milliseconds", way=way, **of) for name, way in ways.items()
    }


def first_layer(way: str = "TensorFlow") -> float:
    """How fast TensorFlow's gradient for images of three channels is, ours being 1."""
    of = {"op": "for x", "task": "7 × 7, 3 channels", "way": way}
    return 1 / read("conv2d").number(threads="1", **of)


def step_rates() -> list[list[str]]:
    """Of each way its milliseconds by threads, and its billions of operations in a second on one thread."""
    # Three times a product and a sum for each of the products, the padding's included.
    operations = 3 * 2 * 4 * 28 * 28 * 9 * 64 * 64
    op = "with both gradients"
    rows = read("conv2d").where(op=op, task="3 × 3", threads="1")
    rows.sort(key=lambda row: [*SHOWN].index(row["way"]))
    rates = (operations / float(row["milliseconds"]) / 1e6 for row in rows)
    shown = zip(speeds(op), rates, strict=True)
    return [[*cells[:-1], number(rate)] for cells, rate in shown]


def one_gradient() -> list[list[str]]:
    """Milliseconds of both gradients and of the filter's, eagerly and in a graph, from `bench/conv2d_step.csv`."""
    of, table = {"task": "7 × 7, 3 channels", "threads": "1"}, read("conv2d_step")
    rows = []
    for what in ("both gradients", "that for the filter"):
        ways = f"{what}, eagerly", f"{what}, tf.function"
        rows.append([f"result and {what}", *(table.text(way=x, **of) for x in ways)])
    return rows


def steps_by_type() -> list[list[str]]:
    """Milliseconds on one thread of ours and of TensorFlow's default, for each dtype."""
    rows = read("conv2d_step").where(threads="1")
    rows = [row for row in rows if row["way"] in ("ours", "TensorFlow")]
    tasks = grouped(rows, "task")
    return [[f"`{task}`", *map(text_of, of)] for (task,), of in tasks.items()]
