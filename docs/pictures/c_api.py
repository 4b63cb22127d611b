"""The pictures of the chapter on the C API, drawn from what the programs printed and from calls that were made."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import tf_c
from IPython.display import HTML
from pictures import layout
from pictures.drawing import (
    BLUE,
    COLOURS,
    INK,
    ORANGE,
    bar,
    bold,
    code,
    picture,
    rectangle,
    small,
)
from pictures.layout import at, box, column, layers, row
from tensorflow.core.framework.graph_pb2 import GraphDef
from tensorflow.core.framework.kernel_def_pb2 import KernelDef
from tensorflow.core.framework.types_pb2 import DataType

FILLS = [(0.6, BLUE), (0.75, ORANGE), (0.08, INK)]


def maps(classes: Mapping[str, np.ndarray], label: str) -> HTML:
    """Draws maps of the plane, each square in the colour of its class, 0 to 2; y grows upwards."""
    cell, drawn = 5, []
    for caption, plane in classes.items():
        squares = (
            at(cell * x, cell * y, bar(cell, cell, *FILLS[number]))
            for (y, x), number in np.ndenumerate(plane[::-1])
        )
        edge = rectangle(cell * plane.shape[1], cell * plane.shape[0])
        drawn.append(column(bold(caption, 12), layers(*squares, edge)))
    names = [
        row(rectangle(14, 14, *fill), small(f"class {number}"))
        for number, fill in enumerate(FILLS)
    ]
    return picture(column(row(*drawn, gap=12), row(*names, gap=20), gap=12), label)


def graph_picture(graph: GraphDef) -> HTML:
    """Draws the nodes of a graph, each to the right of its inputs, with their names and ops."""
    nodes, told = {}, []
    for node in graph.node:
        own = node.op == "MajorityVote"
        words = bold(node.op, 12), code(node.name, 12)
        look = {"width": 96, "height": 40, "colour": COLOURS[own]}
        nodes[node.name] = box(words, 0.35 if own else 0.12, **look)
        told.append(f"{node.name}, {node.op} of {', '.join(node.input) or 'nothing'}")
    edges = [(name, node.name) for node in graph.node for name in node.input]
    look = {"gap": (12, 18), "stroke_opacity": 0.6}
    shapes = layout.graph(nodes, edges, down=False, **look)
    return picture(shapes, f"{'; '.join(told)}.")


class Life(NamedTuple):
    """Of an object of the C API: its type, and the calls that made and ended it."""

    kind: str
    made_by: str
    first: int
    ended_by: str
    last: int


def lives(function: Callable) -> list[Life]:
    """Calls a function that uses `tf_c`, and returns when each object was made and ended; statuses are left out."""
    real, calls = tf_c.library, []

    class Noting:
        def __getattr__(self, name):
            def call(*arguments):
                result = getattr(real, name)(*arguments)
                calls.append((name, arguments, result))
                return result

            return call

    tf_c.library = Noting()
    try:
        function()
    finally:
        tf_c.library = real
    return _lives(calls)


def _lives(calls: Sequence[tuple]) -> list[Life]:
    under_way, found, step = {}, [], 0
    kinds = {
        "TF_AllocateTensor": "TF_Tensor",
        "TF_NewOperation": "TF_OperationDescription",
    }
    for name, arguments, result in calls:
        if "Status" in name:
            continue
        ended = made = None
        if name.startswith("TF_Delete") or name == "TF_FinishOperation":
            ended = arguments[0]
        if name == "TF_FinishOperation":
            made = ("TF_Operation", result)
        elif name == "TF_SessionRun":
            made = ("TF_Tensor", arguments[6]._obj.value)
        elif name.startswith("TF_New") or name in kinds:
            made = (kinds.get(name, name.replace("New", "")), result)
        step += ended is not None or made is not None
        if ended is not None:
            found.append(Life(*under_way.pop(ended), name, step))
        if name == "TF_DeleteGraph":
            found += [Life(*each, name, step) for each in under_way.values()]
            under_way.clear()
        if made is not None:
            under_way[made[1]] = (made[0], name, step)
    if under_way:
        raise ValueError(f"not ended: {under_way}")
    return sorted(found, key=lambda life: (life.first, life.last))


def lifetimes(found: Sequence[Life]) -> HTML:
    """Draws the life of each object as a bar, under the calls that begin and end it."""
    shapes, told, step = [], [], 13
    for i, life in enumerate(found):
        graphs = life.kind == "TF_Operation"
        shade = 0.45 if graphs else 0.3
        span = rectangle(
            step * (life.last - life.first), 14, shade, COLOURS[graphs], corner=3
        )
        shapes.append(at(-168, 20 * i, code(life.kind, 12), "w"))
        shapes.append(at(step * (life.first - 1), 20 * i, span, "w"))
        told.append(f"{life.kind} from {life.made_by} to {life.ended_by}")
    return picture(layers(*shapes), f"{'; '.join(told)}.")


def dtype_name(number: int) -> str:
    return DataType.Name(number).removeprefix("DT_").lower()


def kernel_rows(kernels: Mapping[str, Sequence[KernelDef]]) -> list[list[object]]:
    """What is registered: a row for each op, device, label and priority, with all types that they have a kernel for."""
    types = {}
    for op, found in kernels.items():
        # The registry has them in no order.
        for kernel in sorted(found, key=lambda k: (k.device_type, k.label, k.priority)):
            key = (op, kernel.device_type, kernel.label, kernel.priority)
            of_type = types.setdefault(key, set())
            for constraint in kernel.constraint:
                if constraint.name in ("T", "dtype"):
                    of_type |= set(constraint.allowed_values.list.type)
    return [
        [
            f"`{op}`",
            f"`{device}`",
            ", ".join(f"`{dtype_name(number)}`" for number in sorted(chosen)) or "any",
            f"`{label}`" if label else "",
            priority,
        ]
        for (op, device, label, priority), chosen in types.items()
    ]
