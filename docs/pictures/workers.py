"""The pictures of the chapter on other machines: what travels, and how long it takes."""

import math
from collections.abc import Callable, Sequence

import tensorflow as tf
from IPython.display import HTML
from measured import number, read
from pictures.drawing import Shape, bold, code, picture, small, space
from pictures.layout import arrow, box, column, layers, row
from pictures.plots import Plot

v1 = tf.compat.v1
LOOKS = {"same device": "blue", "other device": "orange", "other process": "green"}
UNITS = {2**30: "GiB", 2**20: "MiB", 2**10: "KiB", 1: "bytes"}


def amount(size: int) -> str:
    """Such as 256 MiB."""
    unit = next(each for each in UNITS if size >= each)
    return f"{size / unit:g} {UNITS[unit]}"


def two_machines(here: int, there: int, asked: int, file: int, answered: int) -> HTML:
    """Draws two processes, by their numbers, and how many bytes the file has and how many pass between them."""
    table = box(small(f"users.f32, {file:,} B"), 0.35, "orange", width=140, height=26)

    def machine(name: str, pid: int, call: str, below: Shape, colour: str) -> Shape:
        above = bold(name), small(f"process {pid}"), space(0, 4)
        inside = column(*above, code(call, 12), below, align="middle")
        return box(inside, 0.15, colour, width=156, height=132, stroke=None)

    one = machine("your process", here, "file_rows(…)", space(0, 26), "blue")
    other = machine("the other machine", there, "FileRows", table, "orange")
    shapes = layers(
        row(one, other, gap=150),
        arrow(one, other, f"row numbers, {asked} bytes", shift=4),
        arrow(other, one, f"rows, {answered} bytes", shift=34),
    )
    label = (
        f"Your process sends {asked} bytes of row numbers to the other machine, where the file of {file} bytes is, "
        f"and {answered} bytes come back."
    )
    return picture(shapes, label)


def cut(function: Callable[[], tf.Tensor], here: str, there: str) -> list[v1.GraphDef]:
    """The graphs that servers at two addresses run of a function for a session at the first."""
    jobs = tf.train.ClusterSpec({"driver": [here], "worker": [there]})
    config = v1.ConfigProto(cluster_def=jobs.as_cluster_def())
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    options = v1.RunOptions(output_partition_graphs=True)
    metadata = v1.RunMetadata()
    with tf.Graph().as_default() as graph:
        with tf.device("/job:driver"):
            result = function()
        with v1.Session(f"grpc://{here}", graph=graph, config=config) as session:
            session.run(result.op, options=options, run_metadata=metadata)
    graphs = sorted(metadata.partition_graphs, key=lambda each: each.node[0].device)
    for each in graphs:
        for node in each.node:
            node.device = "device:" + node.device.split("/")[1].partition(":")[2]
    return graphs


def cut_picture(graphs: Sequence[v1.GraphDef]) -> HTML:
    """Draws these graphs."""
    # Not above: this turns on the log of the rendezvous, which no other page wants.
    from pictures.send_recv import TRAVEL, pairs, run_picture

    ops = [sorted(n.op for n in each.node if n.op not in TRAVEL) for each in graphs]
    if len(pairs(graphs)) != 2 or ops != [["Const", "Square"], ["Const", "FileRows"]]:
        raise ValueError(f"the label below does not tell of {pairs(graphs)} and {ops}")
    label = (
        "On the driver a constant is sent to the worker, where FileRows gets it and a file name. Its result is sent "
        "back and squared."
    )
    return run_picture(graphs, label)


def crossings() -> HTML:
    """Draws how long a tensor takes to each kind of device, by its size, both on logarithmic axes."""
    table = read("workers")
    rows = sorted(table.where(task="crossing"), key=lambda row: int(row["bytes"]))
    sizes = sorted({int(row["bytes"]) for row in rows})
    powers = [math.log10(float(row["milliseconds"])) for row in rows]
    low, high = math.floor(min(powers)), math.ceil(max(powers))
    plot = Plot(348, 216, (4, sizes[-1]), (10.0**low, 10.0**high), "xy")
    plot.axes()
    powers = [10.0**power for power in range(low, high + 1)]
    plot.ticks("y", powers, lambda time: f"{time:g} ms", grid=True)
    plot.ticks("x", sizes, amount)
    plot.legend({way: {"colour": each, "width": 2} for way, each in LOOKS.items()})
    for way, colour in LOOKS.items():
        found = [float(row["milliseconds"]) for row in rows if row["way"] == way]
        plot.line(sizes, found, colour=colour, width=2)
        plot.dots(sizes, found, colour=colour)
        said = (f"{amount(n)} {number(time)} ms" for n, time in zip(sizes, found))
        plot.tells(f"{way}: {', '.join(said)}")
    return picture(plot.shape(), "Milliseconds of a call by the size of its tensor.")
