"""The pictures of the chapter on Send and Recv: graphs that TensorFlow has run, and its log of the rendezvous."""

from collections.abc import Callable, Collection, Mapping, Sequence

import tensorflow as tf
from IPython.display import HTML
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    POINTED,
    SMALL,
    TIP,
    box,
    drawing,
    text,
)
from travel import Event, partitions

GraphDef = tf.compat.v1.GraphDef
WIDTH, HEIGHT, ROW, COLUMN = 104, 26, 48, 114
TRAVEL = ("_Send", "_Recv")


def short(device: str) -> str:
    """Such as CPU:1."""
    return device.rpartition("device:")[2]


def source(name: str) -> str:
    """The node that an input comes from."""
    return name.removeprefix("^").partition(":")[0]


def graphs_of(body: Callable, x: tf.Tensor, optimizer: bool) -> list[GraphDef]:
    """The graphs that are run where `body` gets the square of x from CPU:0, with the optimizer or without.

    A graph is optimized once, so each call makes a function of its own.
    """
    tf.get_logger().setLevel("ERROR")  # it warns of the traces

    @tf.function
    def function(x):
        with tf.device("CPU:0"):
            y = tf.square(x)
            return body(y) - y

    options = tf.config.optimizer.set_experimental_options
    options({"disable_meta_optimizer": not optimizer})
    try:
        return partitions(function, x)
    finally:
        options({"disable_meta_optimizer": False})


def pairs(graphs: Sequence[GraphDef]) -> list[str]:
    """The names of the edges that are cut; raises ValueError where a Send has no Recv or the reverse."""
    edges = {
        op: sorted(
            node.attr["tensor_name"].s.decode()
            for graph in graphs
            for node in graph.node
            if node.op == op
        )
        for op in TRAVEL
    }
    if edges["_Send"] != edges["_Recv"]:
        raise ValueError(f"not in pairs: {edges}")
    return edges["_Send"]


def as_traced(graphs: Sequence[GraphDef]) -> tuple[list, list]:
    """Nodes and edges of the graph before it was cut."""
    sent = {
        node.attr["tensor_name"].s: source(node.input[0])
        for graph in graphs
        for node in graph.node
        if node.op == "_Send"
    }
    nodes = [n for graph in graphs for n in graph.node if n.op not in TRAVEL]
    came = {
        node.name: sent[node.attr["tensor_name"].s]
        for graph in graphs
        for node in graph.node
        if node.op == "_Recv"
    }
    edges = [
        (came.get(source(i), source(i)), node.name, False)
        for node in nodes
        for i in node.input
    ]
    return nodes, edges


def as_run(graphs: Sequence[GraphDef]) -> tuple[list, list]:
    """Nodes and edges after the cut; an edge from a Send to its Recv is marked."""
    nodes = [node for graph in graphs for node in graph.node]
    edges = [(source(i), node.name, False) for node in nodes for i in node.input]
    for each in nodes:
        for other in nodes:
            if (each.op, other.op) == TRAVEL:
                if each.attr["tensor_name"].s == other.attr["tensor_name"].s:
                    edges.append((each.name, other.name, True))
    return nodes, edges


def graph_picture(
    nodes: Sequence,
    edges: Sequence,
    caption: str,
    label: str,
    dead: Collection[str] = (),
) -> str:
    """Draws a graph downwards, the nodes of each device in their own columns; those that are dead are dashed."""
    rows = {node.name: 0 for node in nodes}
    for _ in nodes:
        for begin, end, _ in edges:
            rows[end] = max(rows[end], rows[begin] + 1)
    devices = sorted({short(node.device) for node in nodes})
    at: dict[tuple, list[str]] = {}
    for node in nodes:
        at.setdefault((short(node.device), rows[node.name]), []).append(node.name)
    widest = {
        device: max(len(names) for (on, _), names in at.items() if on == device)
        for device in devices
    }
    left, centre, parts = 6, {}, [TIP, text(6, 16, caption, BOLD)]
    bottom = 60 + ROW * (max(rows.values()) + 1)
    for index, device in enumerate(devices):
        width = COLUMN * widest[device] + 24
        parts.append(
            f'<rect x="{left}" y="26" width="{width}" height="{bottom - 30}" rx="6" stroke="none" '
            f'fill="{COLOURS[index]}" fill-opacity="0.12"/>'
            + text(left + width / 2, 44, device, MIDDLE, SMALL)
        )
        for (on, row), names in at.items():
            if on == device:
                for place, name in enumerate(names):
                    x = left + width / 2 + (place - (len(names) - 1) / 2) * COLUMN
                    centre[name] = x, 54 + ROW * row + HEIGHT / 2
        left += width + 14
    for begin, end, travels in edges:
        (x1, y1), (x2, y2) = centre[begin], centre[end]
        dashed = ' stroke-dasharray="4 3"' if travels else ""
        if y2 - y1 > 2 * ROW and x1 == x2:  # around what is between them
            x = x1 - WIDTH / 2
            out = x - min(max(16, (y2 - y1) / 8), 26)  # more is outside of the drawing
            way = f"M{x:g} {y1:g}C{out:g} {y1 + 30:g} {out:g} {y2 - 30:g} {x:g} {y2:g}"
        else:
            way = f"M{x1:g} {y1 + HEIGHT / 2:g}L{x2:g} {y2 - HEIGHT / 2 - 1:g}"
        parts.append(f'<path d="{way}" fill="none"{dashed} {POINTED}/>')
    for node in nodes:
        x, y = centre[node.name]
        strong = 0.45 if node.op in TRAVEL else 0
        colour = devices.index(short(node.device))
        words = {"_Arg": node.name, "_Retval": "result"}.get(node.op, node.op)
        shape = box(x - WIDTH / 2, y - HEIGHT / 2, WIDTH, HEIGHT, strong, colour)
        if node.name in dead:
            shape = shape.replace("<rect ", '<rect stroke-dasharray="4 3" ')
            words = f"{words} †"
        parts.append(shape + text(x, y + 4, words, MIDDLE, SMALL, CODE))
    return drawing(parts, left, bottom, label, style=FITTING)


def before_and_after(graphs: Sequence[GraphDef]) -> HTML:
    """Draws the graph as it was traced, and the graphs that were run."""
    cut = ", ".join(pairs(graphs))
    return HTML(
        '<div style="display: flex; flex-wrap: wrap; gap: 1em">'
        + graph_picture(
            *as_traced(graphs),
            "traced",
            "The graph before it was cut, with edges between the devices.",
        )
        + graph_picture(
            *as_run(graphs),
            "run",
            f"A graph for each device; Send and Recv stand at the ends of {cut}.",
        )
        + "</div>"
    )


def run_picture(graphs: Sequence[GraphDef], label: str) -> HTML:
    return HTML(graph_picture(*as_run(graphs), "run", label))


def dead_picture(graphs: Sequence[GraphDef], label: str) -> HTML:
    """Draws graphs of a branch that is not taken, and which of their nodes are dead: what hands on no value.

    Nodes that only pass on what they get, or only control others, are left out.
    """
    nodes, edges = as_run(graphs)
    found = {node.name: node for node in nodes}

    def origin(name: str) -> str:
        node = found[source(name)]
        return origin(node.input[0]) if node.op == "Identity" else node.name

    drawn = [
        node
        for node in nodes
        if node.op != "Identity" and not node.name.startswith("cond/switch_pred")
    ]
    names = {node.name for node in drawn}
    straight = [
        (origin(begin), end, travels)
        for begin, end, travels in edges
        if end in names and not any(f"^{begin}" == i for i in found[end].input)
    ]
    dead = dead_nodes(nodes, edges)
    return HTML(graph_picture(drawn, straight, "run", label, dead))


def dead_nodes(nodes: Sequence, edges: Sequence) -> set[str]:
    """What comes after the second output of a Switch, where the branch is not taken, but for a Merge."""
    dead: set[str] = set()
    while (
        more := {
            node.name
            for node in nodes
            if any(name.endswith(":1") for name in node.input)
            or any(end == node.name and begin in dead for begin, end, _ in edges)
            if node.op != "Merge"
        }
        - dead
    ):
        dead |= more
    return dead


def calls(events: Sequence[Event]) -> str:
    """Calls of the rendezvous in words."""
    return ", ".join(f"{event.what} {event.key.edge}" for event in events)


def timeline(
    events: Sequence[Event],
    names: Mapping[str, str],
    label: str,
    waits: Collection[str] = (),
    until: str = "",
    callbacks: bool = False,
) -> HTML:
    """Draws who called the rendezvous and when: a line for each thread, not to scale.

    Args:
      events: Of the log, in their order.
      names: From the edges to the words for them.
      label: What the picture shows.
      waits: Edges whose Recv keeps its thread to the end.
      until: What the end is.
      callbacks: Whether to draw, below who came second, that the callback is called; with an arrow from who left it.
    """
    threads = list(dict.fromkeys(event.thread for event in events))
    step, top, high = (78, 2, 84) if callbacks else (104, 2, 52)
    end = 90 + step * len(events) + (90 if until else 0)
    parts, first = [TIP], {}
    for index in range(len(threads)):
        y = top + high * index + 20
        parts.append(text(6, y + 4, f"thread {index + 1}", SMALL))
        parts.append(f'<path d="M70 {y}H{end}" {LINE} stroke-opacity="0.2"/>')
    for index, event in enumerate(events):
        y = top + high * threads.index(event.thread) + 20
        x = 80 + step * index
        received = event.what == "Recv"
        stays = received and event.key.edge in waits
        width, opacity = (end - x, 0.35) if stays else (step - 8, 0.25)
        parts.append(box(x, y - HEIGHT / 2, width, HEIGHT, opacity, received))
        if stays:
            parts.append(text(end - 6, y + 4, until, END, SMALL))
        parts.append(
            text(x + 6, y + 4, f"{event.what} {names[event.key.edge]}", SMALL, CODE)
        )
        if callbacks and event.key in first:
            parts.append(box(x, y + HEIGHT / 2, width, HEIGHT, 0.12, 1))
            parts.append(text(x + 6, y + HEIGHT + 4, "callback", SMALL))
            if not received:  # who has asked has left it
                left, below = first[event.key]
                parts.append(
                    f'<path d="M{left + 30} {below + HEIGHT / 2}C{left + 30} {below + 62} {x - 50} {y + 62} '
                    f'{x + 10} {y + 3 * HEIGHT / 2 + 1}" fill="none" stroke-dasharray="4 3" {POINTED}/>'
                )
        first[event.key] = x, y
    return HTML(
        drawing(parts, end + 6, top + high * len(threads), label, style=FITTING)
    )
