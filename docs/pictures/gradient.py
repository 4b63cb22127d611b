"""Pictures of the chapters on gradients in Python, each drawn from what the ops return.

A function imports the ops that it needs, for a notebook compiles the example of its own chapter alone.
"""

import html
import inspect
import math
from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import Bar, bar_of, bars, legend_of, read
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    FITTING,
    MIDDLE,
    POINTED,
    SMALL,
    TIP,
    box,
    drawing,
    grids,
    text,
)


def _places(values: np.ndarray) -> np.ndarray:
    """Where the smallest and the largest element of each row are."""
    from multi_output import extremes

    found, places = extremes(values), np.zeros(values.shape, bool)
    rows = np.arange(len(values))
    places[rows, found.argmin] = places[rows, found.argmax] = True
    return places


def forward(values: np.ndarray) -> HTML:
    """A matrix of two rows, and what `extremes` finds in it."""
    from multi_output import extremes

    low, high = (np.array(each)[:, None] for each in extremes(values)[:2])
    (a, b), (c, d) = low.ravel(), high.ravel()
    return grids(
        {"values": values, "minimum": low, "maximum": high},
        f"Two rows. In the first, {a:g} is the minimum and {c:g} the maximum; in the second, {b:g} and {d:g}.",
        {
            "values": _places(values),
            "minimum": np.ones([2, 1]),
            "maximum": np.ones([2, 1]),
        },
        style=FITTING,
    )


def backward(
    values: np.ndarray, minimum_grad: Sequence, maximum_grad: Sequence
) -> HTML:
    """The gradient that comes back to `values`."""
    from multi_output import extremes

    with tf.GradientTape() as tape:
        tape.watch(values := tf.constant(values))
        found = extremes(values)
        loss = found.minimum * minimum_grad + found.maximum * maximum_grad
    low, high = np.array(minimum_grad), np.array(maximum_grad)
    arriving = grids(
        {
            "values": values,
            "minimum_grad": low[:, None],
            "maximum_grad": high[:, None],
        },
        f"The gradients {low[0]} and {low[1]} of the minima, and {high[0]} and {high[1]} of the maxima.",
        {"values": _places(values.numpy())},
        style=FITTING,
    )
    returned = grids(
        {"values_grad": tape.gradient(loss, values)},
        f"Below the values, {low[0]} and {low[1]} stand where the minima were, "
        f"{high[0]} and {high[1]} where the maxima were.",
    )
    return HTML(arriving.data + returned.data)


def gathered(values: np.ndarray, grad: np.ndarray) -> HTML:
    """The gradient that comes back through ExtremesGrad."""
    from multi_output import extremes, extremes_grad

    found = extremes(values)
    inputs = [tf.zeros_like(found.minimum), tf.zeros_like(found.maximum)]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        scattered = extremes_grad(*inputs, found.argmin, found.argmax, values.shape[-1])
    low, high = (
        np.array(each)[:, None]
        for each in tape.gradient(scattered, inputs, output_gradients=grad)
    )
    (a, b), (c, d) = low.ravel(), high.ravel()
    return grids(
        {"arrives": grad, "for minimum_grad": low, "for maximum_grad": high},
        f"Of the numbers that arrive, {a:g} and {b:g} go to the gradient of the minima, "
        f"{c:g} and {d:g} to that of the maxima.",
        {"arrives": _places(values), "for minimum_grad": low, "for maximum_grad": high},
        style=FITTING,
    )


def passes() -> HTML:
    """The way of the tensors from `values` to a loss, and that of the gradients back."""
    import multi_output
    from tensorflow.python.framework import op_def_registry

    interface = op_def_registry.get("Extremes")
    [values] = [each.name for each in interface.input_arg]
    low, high, *places = [each.name for each in interface.output_arg]
    function = multi_output._extremes_grad
    _, *arriving = inspect.signature(function).parameters
    if arriving != [f"{each}_grad" for each in (low, high, *places)]:
        raise ValueError(f"{function.__name__} takes {arriving}")
    wide, right = 150, 226
    parts = [TIP]
    for x, heading, tensor, op, others in (
        (4, "forward pass", values, interface.name, [low, high]),
        (right, "backward pass", f"{values}_grad", function.__name__, arriving[:2]),
    ):
        middle = x + wide / 2
        parts.append(text(middle, 14, heading, BOLD, MIDDLE))
        rows = (26, 28, [tensor], 0), (86, 34, [op], 0.4), (152, 46, others, 0)
        for y, height, names, opacity in rows:
            parts.append(box(x, y, wide, height, opacity))
            first = y + height / 2 + 4 - 9 * (len(names) - 1)
            for n, name in enumerate(names):
                parts.append(text(middle, first + 18 * n, name, MIDDLE, CODE, SMALL))
        for top, bottom in (54, 85), (120, 151), (198, 229):
            ends = (top, bottom) if x == 4 else (bottom + 1, top + 1)
            parts.append(f'<path d="M{middle} {ends[0]}V{ends[1]}" {POINTED}/>')
    parts.append(f'<path d="M{4 + wide} 103H{right - 1}" {POINTED}/>')
    for y, name in zip((97, 118), places, strict=True):
        parts.append(text((4 + wide + right) / 2 - 2, y, name, MIDDLE, CODE, SMALL))
    parts.append(box(4, 230, right + wide - 4, 28, 0.4, 1))
    parts.append(text((4 + right + wide) / 2, 249, "loss", MIDDLE))
    label = (
        f"The forward pass goes from {values} through {interface.name} to {low} and {high} and on to the loss. The "
        f"backward pass goes from the loss to {' and '.join(arriving[:2])} and through {function.__name__}, which also "
        f"gets {' and '.join(places)}, to {values}_grad."
    )
    return HTML(drawing(parts, 380, 262, label, style=FITTING))


def taken_apart(values: tf.Tensor) -> HTML:
    """Numbers, what `frexp` makes of them, and the gradient of the mantissa."""
    from frexp import frexp

    with tf.GradientTape() as tape:
        tape.watch(values)
        found = frexp(values)
    grad = tape.gradient(found.mantissa, values)
    columns = [values, found.mantissa, found.exponent, grad]
    names = ["values", "mantissa", "exponent", "gradient"]
    return grids(
        {name: np.array(each)[:, None] for name, each in zip(names, columns)},
        "A column of numbers, their mantissas and exponents, and the gradient of the mantissas.",
        {name: np.zeros([len(values), 1]) for name in names},
    )


@tf.RegisterGradient("FrexpByQuotient")
def _frexp_by_quotient(op, mantissa_grad, exponent_grad):
    return mantissa_grad * op.outputs[0] / op.inputs[0]


def _buffers(gradient: str) -> dict[str, list[int]]:
    """Where a graph keeps the input and the outputs of `frexp`, which are differentiated by a registered gradient."""
    from addresses import addresses
    from frexp import frexp

    def build(x: tf.Tensor) -> list[tf.Tensor]:
        values = tf.multiply(x, 3.0, name="values")
        graph = tf.compat.v1.get_default_graph()
        with graph.gradient_override_map({"Frexp": gradient}):
            mantissa, _ = frexp(values, name="frexp")
        return tf.gradients(mantissa, x)

    return addresses(build)


def memory() -> HTML:
    """What the memory of `frexp` in a graph holds before and after the op, with two gradients."""

    def rows(gradient: str) -> list[tuple[str, str]]:
        found = _buffers(gradient)
        (values,), (mantissa, exponent) = found["values"], found["frexp"]
        assert 0 not in (values, mantissa, exponent) and exponent not in (
            values,
            mantissa,
        )
        if values == mantissa:
            return [("values", "mantissa"), ("", "exponent")]
        return [("values", "values"), ("", "mantissa"), ("", "exponent")]

    ours, others = rows("Frexp"), rows("FrexpByQuotient")
    assert [len(ours), len(others)] == [2, 3]
    width, height = 106, 32
    panels = [
        ("the factor is 2 ** -exponent", ours, ["exponent"]),
        ("the factor is mantissa / values", others, ["values", "mantissa"]),
    ]
    parts, told = [], []
    for panel, (heading, lines, needed) in enumerate(panels):
        left = 2 + panel * (2 * width + 44)
        parts.append(text(left, 14, heading, BOLD, SMALL))
        for column, when in enumerate(("before", "after")):
            middle = left + width * (column + 0.5)
            parts.append(text(middle, 34, when, MIDDLE, SMALL))
        told.append(f"{heading[0].upper()}{heading[1:]}:")
        for number, names in enumerate(lines):
            y = 42 + number * (height + 8)
            for column, name in enumerate(names):
                if not name:
                    continue
                x = left + width * column
                shade = 0.4 if column and name in needed else 0
                parts.append(box(x, y, width, height, shade, corner=0))
                parts.append(text(x + width / 2, y + 21, name, MIDDLE, CODE, SMALL))
            before, after = names[0] or "nothing", names[1]
            told.append(f"one piece of memory has {before} before and {after} after.")
        told.append(f"The gradient needs {' and '.join(needed)}.")
    size = 4 * width + 48, 42 + max(len(ours), len(others)) * (height + 8)
    return HTML(drawing(parts, *size, " ".join(told), style=FITTING))


def slices(grad: tf.IndexedSlices) -> HTML:
    """IndexedSlices of a vector, and the tensor that they stand for."""
    return grids(
        {
            "indices": np.array(grad.indices)[:, None],
            "values": np.array(grad.values)[:, None],
            "as a tensor": tf.convert_to_tensor(grad)[:, None],
        },
        "A column of indices, the values for them, and the tensor that they make.",
        {"indices": np.zeros([len(grad.indices), 1])},
    )


def times() -> HTML:
    """How much longer TensorFlow's functions take, from `bench/extremes.csv`."""
    table = read("extremes")
    threads = sorted({row["threads"] for row in table.rows}, key=int)
    groups: dict[str, list[Bar]] = {}
    for row in table.where(threads=threads[0]):
        if row["way"] in ("Extremes", "ExtremesGrad"):
            continue
        same = {key: row[key] for key in ("task", "rows", "columns", "way")}
        each = [table.where(threads=n, **same)[0] for n in threads]
        size = f"{row['rows']} × {row['columns']}"
        task = f"{row['task']}, {row['way']}"
        groups.setdefault(task, []).append(bar_of(size, each))
    return bars(
        groups,
        "How many times longer than ours TensorFlow's own functions take, by rows and columns.",
        "times as long as our op",
        legend_of(table),
        names_width=90,
        origin=1.0,
    )


def softmax_times() -> HTML:
    """How much longer other ways take than the simplified gradient, from `bench/softmax_gradient.csv`."""
    table = read("softmax_gradient")
    groups: dict[str, list[Bar]] = {}
    modes = ["eager", "tf.function"]
    for row in table.where(mode="eager"):
        if row["way"] not in ("naive", "stable", "tf.nn"):
            continue
        same = {key: row[key] for key in ("rows", "classes", "way")}
        each = [table.where(mode=mode, **same)[0] for mode in modes]
        size = f"{row['rows']} × {row['classes']}"
        groups.setdefault(size, []).append(bar_of(row["way"], each))
    return bars(
        groups,
        "How many times longer than the simplified gradient the others take, by rows and classes, "
        f"{' and in a '.join(modes)}.",
        "times as long as the simplified gradient",
        modes,
        names_width=90,
        origin=1.0,
    )


def curves(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    label: str,
    axes: tuple[str, str],
) -> HTML:
    """Draws functions of one number; a line ends where its function is not a finite number.

    Args:
      x: The numbers.
      lines: From a name to the values there, at most two.
      label: What the picture shows, for those who do not see it.
      axes: What the axes are.
    """
    left, right, top, bottom = 46, 366, 34, 194
    finite = [v for line in lines.values() for v in line if math.isfinite(v)]
    low, high = min(finite), max(finite)

    def point(at: float, value: float) -> str:
        across = left + (right - left) * (at - x[0]) / (x[-1] - x[0])
        return (
            f"{across:.1f} {bottom - (bottom - top) * (value - low) / (high - low):.1f}"
        )

    shapes = [
        f'<path d="M{left} {top - 6}V{bottom + 4}H{right}" stroke="currentColor" fill="none"/>',
        f'<text x="{right}" y="{bottom + 36}" text-anchor="end">{html.escape(axes[0])}</text>',
        f'<text x="{left - 40}" y="14">{html.escape(axes[1])}</text>',
    ]
    for value in (low, high):
        y = point(x[0], value).split()[1]
        shapes.append(
            f'<text x="{left - 8}" y="{float(y) + 4:.0f}" text-anchor="end" font-size="12">{value:.2g}</text>'
        )
    for at in np.linspace(x[0], x[-1], 6):
        across = point(at, low).split()[0]
        shapes.append(
            f'<text x="{across}" y="{bottom + 18}" text-anchor="middle" font-size="12">{at:g}</text>'
        )
    styles = zip(lines.items(), COLOURS, ("", "7 4"), (150, 260))
    for (name, values), colour, dashes, start in styles:
        points = [point(*pair) for pair in zip(x, values) if math.isfinite(pair[1])]
        style = f'stroke="{colour}" stroke-width="3" stroke-dasharray="{dashes}"'
        shapes.append(f'<path d="M{"L".join(points)}" fill="none" {style}/>')
        shapes.append(f'<path d="M{start} 10h24" {style}/>')
        shapes.append(f'<text x="{start + 30}" y="14">{html.escape(name)}</text>')
        if len(points) < len(values):
            end = points[-1].split()
            shapes.append(
                f'<text x="{end[0]}" y="{float(end[1]) - 8:.0f}" text-anchor="middle">NaN from here</text>'
            )
    picture = drawing(
        shapes, 380, 236, label, style=FITTING, font_size=13, shown_width=480
    )
    return HTML(picture)
