"""The pictures of the chapter on other machines: what travels, and how long it takes."""

import math
from collections.abc import Callable, Sequence

import tensorflow as tf
from IPython.display import HTML
from measured import number, read
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

v1 = tf.compat.v1
# Colours, and how far below the end of its line the name of a way stands.
LOOKS = {
    "same device": (COLOURS[0], 11),
    "other device": (COLOURS[1], -3),
    "other process": ("#10b981", 4),
}
UNITS = {2**30: "GiB", 2**20: "MiB", 2**10: "KiB", 1: "bytes"}


def amount(size: int) -> str:
    """Such as 256 MiB."""
    unit = next(each for each in UNITS if size >= each)
    return f"{size / unit:g} {UNITS[unit]}"


def two_machines(here: int, there: int, asked: int, file: int, answered: int) -> HTML:
    """Draws two processes, by their numbers, and how many bytes the file has and how many pass between them."""
    if file <= asked + answered:
        raise ValueError("more travels than the file has")
    parts = [TIP]
    for x, words, pid, colour in [
        (4, "your process", here, COLOURS[0]),
        (344, "the other machine", there, COLOURS[1]),
    ]:
        parts.append(
            f'<rect x="{x}" y="4" width="172" height="128" rx="6" stroke="none" fill="{colour}" fill-opacity="0.15"/>'
            + text(x + 86, 24, words, MIDDLE, BOLD)
            + text(x + 86, 42, f"process {pid}", MIDDLE, SMALL)
        )
    parts.append(text(90, 90, "file_rows(…)", MIDDLE, SMALL, CODE))
    parts.append(text(430, 74, "FileRows", MIDDLE, SMALL, CODE))
    parts.append(box(364, 92, 132, 26, 0.35, 1, 4))
    parts.append(text(430, 109, f"users.f32, {file:,} B", MIDDLE, SMALL))
    for y, words, way in [
        (70, f"row numbers, {asked} bytes", "M182 70H338"),
        (96, f"rows, {answered} bytes", "M338 96H182"),
    ]:
        parts.append(f'<path d="{way}" fill="none" {POINTED}/>')
        parts.append(text(260, y - 6, words, MIDDLE, SMALL))
    label = (
        f"Your process sends {asked} bytes of row numbers to the other machine, where the file of {file} bytes is, "
        f"and {answered} bytes come back."
    )
    return HTML(drawing(parts, 520, 136, label, style=FITTING))


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
    from pictures.send_recv import pairs, run_picture

    if len(pairs(graphs)) != 2:
        raise ValueError(f"{pairs(graphs)} travel")
    label = (
        "On the driver a constant is sent to the worker, where FileRows gets it and a file name. Its result is sent "
        "back and squared."
    )
    return run_picture(graphs, label)


def crossings() -> HTML:
    """Draws how long a tensor takes to each kind of device, by its size, both on logarithmic axes."""
    table = read("workers")
    measured = {
        way: {
            int(row["bytes"]): float(row["milliseconds"])
            for row in table.where(task="crossing", way=way)
        }
        for way in LOOKS
    }
    sizes = sorted(measured["same device"])
    times = [time for found in measured.values() for time in found.values()]
    left, right, top, bottom = 66, 414, 14, 230
    low = math.floor(math.log10(min(times)))
    high = math.ceil(math.log10(max(times)))

    def at(size: float, time: float) -> tuple[float, float]:
        x = (math.log2(size) - 2) / (math.log2(sizes[-1]) - 2)
        y = (math.log10(time) - low) / (high - low)
        return left + (right - left) * x, bottom - (bottom - top) * y

    parts = [f'<path d="M{left} {top}V{bottom}H{right}" {LINE}/>']
    for power in range(low, high + 1):
        y = at(4, 10.0**power)[1]
        parts.append(
            f'<path d="M{left} {y:.1f}H{right}" {LINE} stroke-opacity="0.15"/>'
        )
        parts.append(text(left - 6, y + 4, f"{10.0**power:g} ms", END, SMALL))
    for size in sizes:
        x = at(size, times[0])[0]
        parts.append(text(x, bottom + 18, amount(size), MIDDLE, SMALL))
    spoken = []
    for way, (colour, below) in LOOKS.items():
        points = [at(size, measured[way][size]) for size in sizes]
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        parts.append(
            f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
            for x, y in points
        ]
        parts.append(text(right + 8, points[-1][1] + below, way, SMALL))
        spoken.append(
            f"{way}: {', '.join(f'{amount(s)} {number(measured[way][s])} ms' for s in sizes)}"
        )
    label = f"Milliseconds of a call by the size of its tensor. {'; '.join(spoken)}."
    return HTML(drawing(parts, right + 112, bottom + 28, label, style=FITTING))
