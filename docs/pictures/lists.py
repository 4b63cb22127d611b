"""Pictures of the chapter on lists, drawn from a call of an op and from what was measured."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from input_specs import spec
from IPython.display import HTML
from measured import read, span
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
    for kind, args, tensors, colour in (
        ("input", definition.input_arg, inputs, "blue"),
        ("output", definition.output_arg, outputs, "orange"),
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
                of = f"{kind} {number}, of {arg.name}, {dtype}"
                cells.tells(f"{of}: {' '.join(values)}")
                above = small(f"{number}: {dtype}")
                columns.append(column(above, cells, align="middle"))
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
    cases: dict[tuple, list] = {}
    for each in read("lists").where(**MANY):
        if each["way"] != "WeightedSum":
            cases.setdefault((each["threads"], each["size"]), []).append(each)

    def best(without: str) -> str:
        """From the least to the greatest of the best ratios."""
        some = (
            [each for each in of if without not in each["way"]] for of in cases.values()
        )
        return span([min(ways, key=lambda way: float(way["ratio"])) for ways in some])

    return {"best": best(without="WeightedSum"), "plain": best(without="XLA")}


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
    rows = [
        each for each in read("lists").where(size=str(2**17)) if "W" != each["way"][0]
    ]
    threads = sorted({each["threads"] for each in rows})
    kinds = dict.fromkeys((each["dtype"], each["count"]) for each in rows)

    def best(dtype: str, count: str, number: str) -> str:
        wanted = {"dtype": dtype, "count": count, "threads": number}
        some = [each for each in rows if wanted.items() <= each.items()]
        return span([min(some, key=lambda way: float(way["ratio"]))])

    header = [
        "Tensors",
        *(f"with {number} thread{'s' * (number != '1')}" for number in threads),
    ]
    return header, [
        [f"{count} of `{dtype}`", *(best(dtype, count, number) for number in threads)]
        for dtype, count in sorted(kinds, key=lambda kind: (kind[0], int(kind[1])))
    ]
