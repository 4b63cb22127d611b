"""The pictures of the chapter on the C API, drawn from what the programs printed and wrote."""

from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import HTML
from pictures import layout
from pictures.anchors import codes
from pictures.drawing import bar, bold, code, picture, rectangle, small
from pictures.layout import at, box, column, layers, row
from tensorflow.core.framework.graph_pb2 import GraphDef
from tensorflow.core.framework.kernel_def_pb2 import KernelDef
from tensorflow.core.framework.types_pb2 import DataType

FILLS = [(0.6, "blue"), (0.75, "orange"), (0.08, "ink")]


def maps(classes: Mapping[str, np.ndarray], label: str) -> HTML:
    """Draws maps of the plane, each square in the colour of its class, 0 to 2; y grows upwards."""
    cell, drawn, sharp = 5, [], {"shape_rendering": "crispEdges"}
    for caption, plane in classes.items():
        squares = (
            at(cell * x, cell * y, bar(cell, cell, *FILLS[number], **sharp))
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
    nodes = {}
    for node in graph.node:
        own = node.op == "MajorityVote"
        words = bold(node.op, 12), code(node.name, 12)
        look = {"width": 96, "height": 40, "colour": own}
        each = nodes[node.name] = box(words, 0.35 if own else 0.12, **look)
        each.tells(f"{node.name}, {node.op} of {', '.join(node.input) or 'nothing'}")
    edges = [(name, node.name) for node in graph.node for name in node.input]
    look = {"gap": (12, 18), "stroke_opacity": 0.6}
    return picture(layout.graph(nodes, edges, down=False, **look))


def dtype_name(number: int) -> str:
    return DataType.Name(number).removeprefix("DT_").lower()


def kernel_rows(kernels: Mapping[str, Sequence[KernelDef]]) -> list[list[object]]:
    """What is registered: a row for each op, device, label and priority, with all types that they have a kernel for."""
    types = {}
    for op, found in kernels.items():
        # The registry has them in no order.
        for kernel in sorted(found, key=lambda k: (k.device_type, k.label, k.priority)):
            label = f"`{kernel.label}`" if kernel.label else ""
            key = f"`{op}`", f"`{kernel.device_type}`", label, kernel.priority
            of_type = types.setdefault(key, set())
            for constraint in kernel.constraint:
                if constraint.name in ("T", "dtype"):
                    of_type |= set(constraint.allowed_values.list.type)
    return [
        [op, device, codes(map(dtype_name, sorted(chosen))) or "any", label, priority]
        for (op, device, label, priority), chosen in types.items()
    ]
