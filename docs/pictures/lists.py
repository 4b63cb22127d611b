"""Pictures of the chapter on lists, drawn from a call of an op and from what was measured."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from input_specs import spec
from IPython.display import HTML
from measured import Row, grouped, read, span
from pictures.drawing import bold, code, line, picture, small
from pictures.layout import column, grid, row
from pictures.plots import chart


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
    definition, drawn = op.op_def, []
    sides = [("input", definition.input_arg, inputs, "blue")]
    sides.append(("output", definition.output_arg, outputs, "orange"))
    for kind, args, tensors, colour in sides:
        groups, numbered = [], iter(enumerate(tensors))
        for arg in args:
            columns = []
            for _ in range(_count(op, arg)):
                number, tensor = next(numbered)
                values = [shown(value) for value in np.asarray(tensor).ravel()]
                dtype = tf.as_dtype(tensor.dtype).name
                look = {"width": 78, "height": 26, "colour": colour, "shade": 0.2}
                cells = grid(np.array(values)[:, None], 1, **look, size=13)
                of = f"{kind} {number}, of {arg.name}, {dtype}: {' '.join(values)}"
                above = small(f"{number}: {dtype}")
                columns.append(column(above, cells.tells(of), align="middle"))
            both = row(*columns, align="start")
            bracket = line((0, 4), (0, 0), (both.width, 0), (both.width, 4))
            groups.append(column(code(f"{arg.name}: {spec(arg)}", 13), bracket, both))
        drawn.append(row(*groups, gap=18, align="start"))
    names = sorted(attr.name for attr in definition.attr)
    attrs = ", ".join(f"{name} = {_attr(op, name)}" for name in names)
    drawn.insert(1, row(bold(op.type), code(attrs, 12), gap=18))
    return picture(column(*drawn, gap=14), f"{op.type}.")


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


WAYS = {
    "add_n": "tf.add_n",
    "einsum": "tf.einsum",
    "add_n, XLA": "tf.add_n, XLA",
    "einsum, XLA": "tf.einsum, XLA",
}
MANY = {"dtype": "float32", "count": "64"}


def figures() -> dict[str, str]:
    """How many times as long as WeightedSum the best composition takes, and the best without XLA."""
    rows = [row for row in read("lists").where(**MANY) if row["way"] != "WeightedSum"]
    plain = [row for row in rows if "XLA" not in row["way"]]

    def best(rows: Sequence[Row]) -> str:
        """From the least to the greatest of the best ratios."""
        return span([*map(fastest, grouped(rows, "threads", "size").values())])

    return {"best": best(rows), "plain": best(plain)}


def fastest(rows: Sequence[Row]) -> Row:
    return min(rows, key=lambda row: float(row["ratio"]))


def times() -> HTML:
    """How many times as long as WeightedSum compositions take, from `bench/lists.csv`."""
    return chart(
        read("lists").where(**MANY),
        "times as long as WeightedSum",
        name=WAYS,
        heading=lambda row: f"{int(row['size']) * 4 // 1024:,} KiB in each tensor",
    )


def types() -> tuple[list[str], list[list[str]]]:
    """The same of the best composition for other types and numbers of tensors: a header, and a row for each."""
    rows = read("lists").where(size=str(2**17))
    rows = [row for row in rows if row["way"] != "WeightedSum"]
    rows.sort(key=lambda row: (row["dtype"], int(row["count"]), row["threads"]))
    threads = sorted({row["threads"] for row in rows})
    lines = []
    for (dtype, count), some in grouped(rows, "dtype", "count").items():
        best = map(fastest, grouped(some, "threads").values())
        lines.append([f"{count} of `{dtype}`", *(span([row]) for row in best)])
    return ["Tensors", *(f"with {n} thread{'s' * (n != '1')}" for n in threads)], lines
