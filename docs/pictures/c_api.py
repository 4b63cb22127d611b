"""The pictures of the chapter on the C API, drawn from what the programs printed and from calls that were made."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import tf_c
from IPython.display import HTML
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
    text,
)
from tensorflow.core.framework.graph_pb2 import GraphDef
from tensorflow.core.framework.kernel_def_pb2 import KernelDef
from tensorflow.core.framework.types_pb2 import DataType

FILLS = [(COLOURS[0], 0.6), (COLOURS[1], 0.75), ("currentColor", 0.08)]


def maps(classes: Mapping[str, np.ndarray], label: str) -> HTML:
    """Draws maps of the plane, each square in the colour of its class, 0 to 2; y grows upwards."""
    cell, gap, parts, x = 5, 12, [], 2
    for caption, grid in classes.items():
        rows, columns = grid.shape
        parts.append(text(x, 14, caption, BOLD, SMALL))
        for (row, column), number in np.ndenumerate(grid):
            colour, opacity = FILLS[number]
            y = 22 + (rows - 1 - row) * cell
            parts.append(
                f'<rect x="{x + column * cell}" y="{y}" width="{cell}" height="{cell}" '
                f'fill="{colour}" fill-opacity="{opacity}"/>'
            )
        parts.append(
            f'<rect x="{x}" y="22" width="{columns * cell}" height="{rows * cell}" fill="none" stroke="currentColor"/>'
        )
        x += columns * cell + gap
    y = 22 + rows * cell + 22
    for number, (colour, opacity) in enumerate(FILLS):
        left = 2 + number * 90
        parts.append(
            f'<rect x="{left}" y="{y - 11}" width="14" height="14" fill="{colour}" fill-opacity="{opacity}" '
            'stroke="currentColor"/>'
        )
        parts.append(text(left + 20, y + 1, f"class {number}", SMALL))
    return HTML(drawing(parts, x - gap + 2, y + 10, label, style=FITTING))


def graph_picture(graph: GraphDef) -> HTML:
    """Draws the nodes of a graph, each to the right of its inputs, with their names and ops."""
    depth = {}
    for node in graph.node:  # inputs come first
        depth[node.name] = max((depth[name] + 1 for name in node.input), default=0)
    for node in graph.node:  # a constant stands right before what needs it
        if not node.input:
            users = [each.name for each in graph.node if node.name in each.input]
            depth[node.name] = min(depth[name] for name in users) - 1
    width, height, gap, row_gap = 96, 40, 18, 12
    place, used = {}, [0] * (max(depth.values()) + 1)
    for node in graph.node:
        place[node.name] = (depth[node.name], used[depth[node.name]])
        used[depth[node.name]] += 1
    most = max(used)

    def corner(name: str) -> tuple[float, float]:
        column, row = place[name]
        top = (most - used[column]) * (height + row_gap) / 2
        return 2 + column * (width + gap), 2 + top + row * (height + row_gap)

    parts, told = [TIP], []
    for node in graph.node:
        right, y = corner(node.name)
        for name in node.input:
            x, from_y = corner(name)
            parts.append(
                f'<path d="M{x + width} {from_y + height / 2}L{right - 1} {y + height / 2}" fill="none" '
                f'stroke-opacity="0.6" {POINTED}/>'
            )
    for node in graph.node:
        x, y = corner(node.name)
        own = node.op == "MajorityVote"
        parts.append(box(x, y, width, height, 0.35 if own else 0.12, own))
        parts.append(text(x + width / 2, y + 17, node.op, MIDDLE, SMALL, BOLD))
        parts.append(text(x + width / 2, y + 32, node.name, MIDDLE, SMALL, CODE))
        told.append(f"{node.name}, {node.op} of {', '.join(node.input) or 'nothing'}")
    size = len(used) * (width + gap) - gap + 4, most * (height + row_gap) - row_gap + 4
    return HTML(drawing(parts, *size, f"{'; '.join(told)}.", style=FITTING))


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
    left, step, row = 168, 13, 20
    last = max(life.last for life in found)
    width = left + last * step + 4
    parts, told = [], []
    for number, life in enumerate(found):
        y = 4 + number * row
        x, end = left + (life.first - 1) * step, left + (life.last - 1) * step
        graphs = life.kind == "TF_Operation"
        parts.append(text(2, y + 12, life.kind, SMALL, CODE))
        strong = 0.45 if graphs else 0.3
        parts.append(box(x, y + 1, end - x, row - 6, strong, graphs, corner=3))
        told.append(f"{life.kind} from {life.made_by} to {life.ended_by}")
    return HTML(
        drawing(
            parts, width, 6 + len(found) * row, f"{'; '.join(told)}.", style=FITTING
        )
    )


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
