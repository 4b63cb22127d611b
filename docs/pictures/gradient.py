"""Pictures of the chapters on gradients in Python, each drawn from what the ops return.

A function imports the ops that it needs, for a notebook compiles the example of its own chapter alone.
"""

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import read, text_of
from pictures.drawing import Shape, bold, code, picture, small
from pictures.layout import arrow, at, box, chain, column, grids, layers, row, table
from pictures.plots import Plot, steps


def _places(values: np.ndarray) -> np.ndarray:
    """Where the smallest and the largest element of each row are."""
    from multi_output import extremes

    found, places = extremes(values), np.zeros(values.shape, bool)
    rows = np.arange(len(values))
    places[rows, found.argmin] = places[rows, found.argmax] = True
    return places


def _columns(*vectors: Sequence) -> list[np.ndarray]:
    return [np.array(each)[:, None] for each in vectors]


def forward(values: np.ndarray) -> HTML:
    """A matrix of two rows, and what `extremes` finds in it."""
    from multi_output import extremes

    low, high = _columns(*extremes(values)[:2])
    return grids(
        {"values": values, "minimum": low, "maximum": high},
        {"values": _places(values), "minimum": 1, "maximum": 1},
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
    low, high = _columns(minimum_grad, maximum_grad)
    arriving = grids(
        {"values": values, "minimum_grad": low, "maximum_grad": high},
        {"values": _places(values.numpy())},
    )
    returned = grids({"values_grad": tape.gradient(loss, values)})
    return HTML(arriving.data + returned.data)


def gathered(values: np.ndarray, grad: np.ndarray) -> HTML:
    """The gradient that comes back through ExtremesGrad."""
    from multi_output import extremes, extremes_grad

    found = extremes(values)
    inputs = [tf.zeros_like(found.minimum), tf.zeros_like(found.maximum)]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        scattered = extremes_grad(*inputs, found.argmin, found.argmax, values.shape[-1])
    grads = tape.gradient(scattered, inputs, output_gradients=grad)
    low, high = _columns(*grads)
    return grids(
        {"arrives": grad, "for minimum_grad": low, "for maximum_grad": high},
        {"arrives": _places(values)},
    )


def passes() -> HTML:
    """The way of the tensors from `values` to a loss, and that of the gradients back."""
    import multi_output
    from tensorflow.python.framework import op_def_registry

    interface = op_def_registry.get("Extremes")
    [values] = [each.name for each in interface.input_arg]
    low, high, *places = [each.name for each in interface.output_arg]
    function = multi_output._extremes_grad
    arriving = list(inspect.signature(function).parameters)[1:3]

    def boxes(*parts: Sequence[str]) -> list[Shape]:
        lines = ([code(name, 12) for name in names] for names in parts)
        return [box(*each, width=150) for each in zip(lines, (0, 0.4, 0))]

    forth = boxes([values], [interface.name], [low, high])
    back = boxes([f"{values}_grad"], [function.__name__], arriving)
    loss = box("loss", 0.4, "orange", width=372, height=28)
    firsts = (bold("forward pass"), forth[0]), (bold("backward pass"), back[0])
    above = [column(*each, align="middle") for each in firsts]
    kept = column(*(code(each, 12) for each in places), align="middle")
    shapes = layers(
        column(table([above, *zip(forth[1:], back[1:])], (72, 32)), loss, gap=32),
        *chain(*forth, loss, *back[::-1]),
        arrow(forth[1], back[1], kept),
    )
    label = (
        f"The forward pass goes from {values} through {interface.name} to {low} and {high} and on to the loss. The "
        f"backward pass goes from the loss to {' and '.join(arriving)} and through {function.__name__}, which also "
        f"gets {' and '.join(places)}, to {values}_grad."
    )
    return picture(shapes, label)


def taken_apart(values: tf.Tensor) -> HTML:
    """Numbers, what `frexp` makes of them, and the gradient of the mantissa."""
    from frexp import frexp

    with tf.GradientTape() as tape:
        tape.watch(values)
        found = frexp(values)
    grad = tape.gradient(found.mantissa, values)
    columns = _columns(values, found.mantissa, found.exponent, grad)
    names = ["values", "mantissa", "exponent", "gradient"]
    return grids(dict(zip(names, columns)), dict.fromkeys(names, 0))


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
    panels = {
        "Frexp": ("the factor is 2 ** -exponent", ["exponent"]),
        "FrexpByQuotient": ("the factor is mantissa / values", ["values", "mantissa"]),
    }
    drawn = []
    for gradient, (heading, needed) in panels.items():
        found = _buffers(gradient)
        reused = found["values"][0] == found["frexp"][0]
        lines = [] if reused else [("values", "values")]
        lines += [("values" * reused, "mantissa"), ("", "exponent")]
        rows = [[small("before"), small("after")]]
        for before, after in lines:
            size = {"width": 106, "height": 32, "corner": 0}
            one = box(code(before, 12), **size, stroke="ink" if before else None)
            other = box(code(after, 12), 0.4 * (after in needed), **size)
            one.tells(f"memory of {before or 'nothing'} before and {after} after")
            rows.append([one, other])
        panel = column(bold(heading, 12), table(rows, (0, 8)))
        panel.tells(f"where {heading}, the gradient needs {' and '.join(needed)}")
        drawn.append(panel)
    return picture(row(*drawn, gap=36, align="start"), "Pieces of memory:")


def slices(grad: tf.IndexedSlices) -> HTML:
    """IndexedSlices of a vector, and the tensor that they stand for."""
    names = "indices", "values", "as a tensor"
    columns = _columns(grad.indices, grad.values, tf.convert_to_tensor(grad))
    return grids(dict(zip(names, columns)), {"indices": 0})


EXTREMES = [
    ("four ops of TensorFlow", "forward", "four stock ops"),
    ("the same, XLA", "forward", "four stock ops, XLA"),
    ("the gradient function above", "gradient", "one-hot"),
    ("the same, XLA", "gradient", "one-hot, XLA"),
    ("`tf.scatter_nd`", "gradient", "scatter_nd"),
    ("the same, XLA", "gradient", "scatter_nd, XLA"),
]


def extremes_times(sizes: Sequence[str]) -> list[tuple[str, ...]]:
    """How many times as long as our ops TensorFlow's take on one thread, for so many rows."""

    def ratio(**what: str) -> str:
        [found] = read("extremes").where(threads="1", **what)
        undecided = float(found["q1"]) < 1 < float(found["q3"])
        return "≈ 1" if undecided else text_of(found, "ratio")

    return [
        (task, name, *(ratio(task=task, way=way, rows=rows) for rows in sizes))
        for name, task, way in EXTREMES
    ]


def curves(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    label: str,
    axes: tuple[str, str],
    dots: Sequence[float] = (),
) -> HTML:
    """Draws at most two functions of one number; a line ends where its function is not a finite number.

    Args:
      x: Where they are known.
      lines: From the names of the functions to their values.
      label: What the picture tells those who do not see it.
      axes: What they measure.
      dots: Values at equal distances, from the first x to the last.
    """
    drawn = [*lines.values(), dots]
    finite = [v for values in drawn for v in values if math.isfinite(v)]
    low, high = min(finite), max(finite)
    room = (high - low) / 40
    plot = Plot(320, 164, (x[0], x[-1]), (low - room, high + room))
    plot.axes(*axes)
    plot.ticks("x", steps(x[0], x[-1]))
    plot.ticks("y", steps(low, high), grid=True)
    looks = (
        {"colour": "blue", "width": 3},
        {"colour": "orange", "width": 3, "dash": "7 4"},
    )
    for look, values in zip(looks, lines.values()):
        points = [(a, v) for a, v in zip(x, values) if math.isfinite(v)]
        plot.line(*zip(*points), **look)
        if len(points) < len(values):
            end, value = points[-1]
            plot.add(at(plot.x(end), plot.y(value) - 4, "NaN from here", "s"))
    plot.dots(np.linspace(x[0], x[-1], len(dots)), dots)
    plot.legend(dict(zip(lines, looks)))
    return picture(plot.shape(), label, scale=1.25)


def lost() -> tuple[list[str], list[list[str]]]:
    """A table of how an argument of a `tf.custom_gradient` can lose its gradient: its header and rows."""
    x, y = tf.constant(2.0), tf.constant(3.0)

    @tf.custom_gradient
    def of_x(x: tf.Tensor, y: tf.Tensor = y) -> tuple:
        return x * y, lambda grad: grad * y

    @tf.custom_gradient
    def of_both(x: tf.Tensor, y: tf.Tensor) -> tuple:
        return x * y, lambda grad: grad * y

    def found(call: Callable, watched: Sequence[tf.Tensor], graph: bool) -> str:
        def gradient_of_y() -> tf.Tensor:
            with tf.GradientTape() as tape:
                tape.watch(watched)
                product = call()
            return tape.gradient(product, y)

        run = tf.function(gradient_of_y, autograph=False) if graph else gradient_of_y
        try:
            slope = run()
        except (TypeError, ValueError, tf.errors.InternalError) as error:
            counts = re.search(r"expected.*\d", str(error), re.I)
            text = f": {counts[0]}" if counts else ""
            return f"`{type(error).__name__}{text}`"
        return "`None`" if slope is None else f"{slope:g}, which TensorFlow derives"

    one_for_two = "The inner function returns one gradient for two arguments"
    ways = {
        "It uses `y` from outside: `product(x)`": lambda: of_x(x),
        "`y` is passed by keyword: `product(x, y=y)`": lambda: of_x(x, y=y),
        one_for_two: lambda: of_both(x, y),
    }
    cases = ([x, y], False), ([y], False), ([x, y], True)
    rows = [
        [way, *(found(call, *each) for each in cases)] for way, call in ways.items()
    ]
    header = ["", "Eagerly", "Eagerly, if the tape watches `y` alone"]
    return [*header, "In a `tf.function`"], rows
