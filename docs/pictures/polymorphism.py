"""Pictures of the chapter on types and lists, drawn from calls of its ops."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tensorflow as tf
from input_specs import spec
from IPython.display import HTML
from pictures.drawing import (
    BLUE,
    COLOURS,
    ORANGE,
    Shape,
    bold,
    code,
    line,
    picture,
    rectangle,
    small,
)
from pictures.layout import box, column, grid, row, table
from pictures.plots import Plot

TYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
TYPES += ["float16", "bfloat16", "float32", "float64"]
TYPES += ["complex64", "complex128", "bool", "string"]
COMPUTES, NO_KERNEL, REFUSES = "computes", "has no kernel", "is refused"
LOOKS = {
    COMPUTES: {"shade": 0.25},
    NO_KERNEL: {"dashed": True},
    REFUSES: {"stroke": None},
}


def outcome(op: Callable, dtype: str) -> str:
    """What becomes of a call of an op with a tensor of this type."""
    try:
        op(tf.zeros([2], dtype))
    except tf.errors.NotFoundError as error:
        if "Could not find device for node" not in error.message:
            raise
        return NO_KERNEL
    except tf.errors.InvalidArgumentError as error:
        if "is not in the list of allowed values" not in error.message:
            raise
        return REFUSES
    return COMPUTES


def kernels(ops: Mapping[str, Callable]) -> tuple[dict[str, dict[str, str]], HTML]:
    """For which types each op computes: what came of the calls, and a picture of it."""
    found = {
        name: {dtype: outcome(op, dtype) for dtype in TYPES} for name, op in ops.items()
    }

    def of(became: str, words: str) -> Shape:
        struck = "line-through" if became == REFUSES else None
        return small(words, text_decoration=struck)

    drawn, told = [], []
    for name, outcomes in found.items():
        boxes = [
            box(of(became, dtype), width=84, height=26, **LOOKS[became])
            for dtype, became in outcomes.items()
        ]
        rows = [boxes[i : i + 4] for i in range(0, len(boxes), 4)]
        drawn.append(column(bold(name, 13), table(rows, 6)))
        for became in LOOKS:
            if types := [dtype for dtype, one in outcomes.items() if one == became]:
                told.append(f"{name} {became}: {', '.join(types)}")
    names = [
        row(rectangle(20, 14, corner=3, **LOOKS[became]), small(became))
        for became in (COMPUTES, NO_KERNEL)
    ]
    names = row(*names, of(REFUSES, REFUSES), gap=24)
    return found, picture(column(*drawn, names, gap=12), f"{'; '.join(told)}.")


def shown(value: object) -> str:
    """An element of a tensor as text."""
    if isinstance(value, bytes):
        return value.decode()
    return str(value) if isinstance(value, np.bool_) else f"{value:g}"


def call(op: tf.Operation, inputs: Sequence, outputs: Sequence) -> HTML:
    """Draws the tensors that go into a node and come out of it, under the names of its interface.

    Args:
      op: The node in a graph: its interface says which tensor belongs to which input, its attrs the rest.
      inputs: The values of its inputs, vectors, in the order of the node.
      outputs: The values of its outputs, likewise.
    """
    definition, drawn, told = op.op_def, [], []
    for kind, args, tensors, colour in (
        ("input", definition.input_arg, inputs, BLUE),
        ("output", definition.output_arg, outputs, ORANGE),
    ):
        groups, numbered = [], iter(enumerate(tensors))
        for arg in args:
            columns = []
            for _ in range(_count(op, arg)):
                number, tensor = next(numbered)
                values = [shown(value) for value in np.asarray(tensor).ravel()]
                dtype = tf.as_dtype(tensor.dtype).name
                look = {"width": 78, "height": 26, "colour": colour, "shade": 0.2}
                cells = grid(np.array(values)[:, None], 1, **look, size=13)
                columns.append(
                    column(small(f"{number}: {dtype}"), cells, align="middle")
                )
                told.append(
                    f"{kind} {number}, of {arg.name}, {dtype}: {' '.join(values)}"
                )
            both = row(*columns, align="start")
            bracket = line((0, 4), (0, 0), (both.width, 0), (both.width, 4))
            groups.append(column(code(f"{arg.name}: {spec(arg)}", 13), bracket, both))
        drawn.append(row(*groups, gap=18, align="start"))
    names = sorted(attr.name for attr in definition.attr)
    attrs = ", ".join(f"{name} = {_attr(op, name)}" for name in names)
    drawn.insert(1, row(bold(op.type), code(attrs, 12), gap=18))
    return picture(column(*drawn, gap=14), f"{op.type}. {'; '.join(told)}.")


def _count(op: tf.Operation, arg) -> int:
    """How many tensors an input or output of the interface is in this node."""
    if arg.number_attr:
        return op.get_attr(arg.number_attr)
    return len(op.get_attr(arg.type_list_attr)) if arg.type_list_attr else 1


def _attr(op: tf.Operation, name: str) -> str:
    value = op.get_attr(name)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(one.name for one in value)}]"
    return value.name if isinstance(value, tf.DType) else str(value)


def sums_of_ones(
    counts: Sequence[int], adds: Mapping[str, Callable]
) -> tuple[dict[str, list[float]], HTML]:
    """The sums of as many ones of type bfloat16 as these counts: the numbers, and a picture of them."""
    ones = [tf.ones([], tf.bfloat16)] * max(counts)
    sums = {
        name: [float(add(ones[:count])) for count in counts]
        for name, add in adds.items()
    }
    most = max(counts)
    plot = Plot(160, 150, (0, most), (0, most))
    plot.axes("number of ones")
    for axis in "xy":
        plot.ticks(axis, range(0, most + 1, 1000))
    ends = {}
    for (name, values), colour, dash in zip(sums.items(), COLOURS, (None, "7 4")):
        look = {"colour": colour, "width": 3, "dash": dash}
        plot.line(counts, values, **look)
        ends[f"{name}: {values[-1]:g}"] = values[-1], look
    plot.names(ends)
    said = ", ".join(f"{name} gives {values[-1]:g}" for name, values in sums.items())
    label = f"The sums grow with the number of ones. Of {most} ones, {said}."
    return sums, picture(plot.shape(), label)
