"""The pictures of the chapter on Send and Recv: graphs that TensorFlow has run, and its log of the rendezvous."""

from collections.abc import Callable, Collection, Mapping, Sequence

import tensorflow as tf
from IPython.display import HTML
from pictures.drawing import bold, code, picture, small, space
from pictures.lanes import lanes
from pictures.layout import arrow, box, column, frame, layers, ranks, row, table
from travel import Event, partitions

GraphDef, NodeDef = tf.compat.v1.GraphDef, tf.compat.v1.NodeDef

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


def cut_edges(graphs: Sequence[GraphDef], op: str) -> dict[str, NodeDef]:
    """From the names of the edges that are cut to their Sends or Recvs."""
    nodes = [node for graph in graphs for node in graph.node if node.op == op]
    return {node.attr["tensor_name"].s.decode(): node for node in nodes}


def pairs(graphs: Sequence[GraphDef]) -> list[str]:
    """The names of the edges that are cut; raises ValueError where a Send has no Recv or the reverse."""
    sent, received = (sorted(cut_edges(graphs, op)) for op in TRAVEL)
    if sent != received:
        raise ValueError(f"not in pairs: {sent} and {received}")
    return sent


def as_traced(graphs: Sequence[GraphDef]) -> tuple[list, list]:
    """Nodes and edges of the graph before it was cut."""
    sends, recvs = (cut_edges(graphs, op) for op in TRAVEL)
    came = {recv.name: source(sends[edge].input[0]) for edge, recv in recvs.items()}
    nodes = [n for graph in graphs for n in graph.node if n.op not in TRAVEL]
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
    sends, recvs = (cut_edges(graphs, op) for op in TRAVEL)
    edges += [(send.name, recvs[edge].name, True) for edge, send in sends.items()]
    return nodes, edges


def graph_picture(
    nodes: Sequence,
    edges: Sequence,
    caption: str,
    label: str,
    dead: Collection[str] = (),
) -> HTML:
    """Draws a graph downwards, the nodes of each device in their own columns; those that are dead are dashed."""
    rank = ranks([n.name for n in nodes], [(begin, end) for begin, end, _ in edges])
    devices = sorted({short(node.device) for node in nodes})
    cells: list[list[list]] = [
        [[] for _ in devices] for _ in range(max(rank.values()) + 1)
    ]
    shapes = {}
    for node in nodes:
        device, dies = devices.index(short(node.device)), node.name in dead
        shown = {"_Arg": node.name, "_Retval": "result"}.get(node.op, node.op)
        shown = code(f"{shown} †" if dies else shown, 12)
        look = {"width": 104, "height": 26, "dashed": dies}
        shade = 0.45 * (node.op in TRAVEL)
        shapes[node.name] = box(shown, shade, device, **look)
        cells[rank[node.name]][device].append(shapes[node.name])
    rows = [[row(*each, space(0, 26), gap=10) for each in one] for one in cells]
    frames = [
        frame(*each, title=small(device), shade=0.12, colour=i, stroke=None)
        for i, (device, each) in enumerate(zip(devices, zip(*rows)))
    ]
    arrows = []
    for begin, end, travels in edges:
        # Around what is between them.
        far = rank[end] > rank[begin] + 2 and not travels
        look = {"around": "left" if far else "", "dashed": travels}
        arrows.append(arrow(shapes[begin], shapes[end], **look))
    graph = layers(*frames, table(rows, (34, 22)), *arrows)
    return picture(column(bold(caption), space(0, 22), graph), label)


def before_and_after(graphs: Sequence[GraphDef]) -> HTML:
    """Draws the graph as it was traced, and the graphs that were run."""
    traced = "The graph before it was cut, with edges between the devices."
    cut = ", ".join(pairs(graphs))
    run = f"A graph for each device; Send and Recv stand at the ends of {cut}."
    before = graph_picture(*as_traced(graphs), "traced", traced)
    after = graph_picture(*as_run(graphs), "run", run)
    return side_by_side(before, after)


def what_travels(versions: Mapping[str, Sequence[GraphDef]]) -> HTML:
    """Draws graphs of several functions before they were cut; an edge between two devices is marked."""
    drawn = []
    for name, graphs in versions.items():
        nodes, edges = as_traced(graphs)
        device = {node.name: node.device for node in nodes}
        edges = [(a, b, device[a] != device[b]) for a, b, _ in edges]
        count = sum(travels for *_, travels in edges)
        label = f"The graph of {name}: {count} edges lead from one device to the other."
        drawn.append(graph_picture(nodes, edges, name, label))
    return side_by_side(*drawn)


def side_by_side(*graphs: HTML) -> HTML:
    style = "display: flex; flex-wrap: wrap; gap: 1em"
    return HTML(f'<div style="{style}">{"".join(graph.data for graph in graphs)}</div>')


def run_picture(graphs: Sequence[GraphDef], label: str) -> HTML:
    return graph_picture(*as_run(graphs), "run", label)


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
    return graph_picture(drawn, straight, "run", label, dead_nodes(nodes, edges))


def dead_nodes(nodes: Sequence, edges: Sequence) -> set[str]:
    """What comes after the second output of a Switch, where the branch is not taken, but for a Merge."""
    alive = {node.name for node in nodes if node.op == "Merge"}
    switched = {n.name for n in nodes if any(i.endswith(":1") for i in n.input)}
    dead, more = set(), switched - alive
    while more:
        dead |= more
        more = {end for begin, end, _ in edges if begin in dead} - dead - alive
    return dead


def timeline(events: Sequence[Event], names: Mapping[str, str], label: str) -> HTML:
    """Draws who called the rendezvous and when, with names for the edges: a line for each thread, not to scale."""
    step, rows = 96, {}
    for i, event in enumerate(events):
        name = code(f"{event.what} {names[event.key.edge]}", 12)
        look = {"width": step - 4, "height": 26, "pad": 6, "align": "start"}
        call = box(name, 0.25, event.what == "Recv", **look)
        rows.setdefault(event.thread, []).append((10 + step * i, call))
    rows = {f"thread {i}": calls for i, calls in enumerate(rows.values(), 1)}
    end = 10 + step * len(events)
    return picture(lanes(rows, end, 52, stroke_opacity=0.2), label)
