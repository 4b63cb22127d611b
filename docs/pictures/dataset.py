"""The pictures of the chapter on datasets, each drawn from what was read, or from what a process had open."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import read
from pictures.drawing import COLOURS, Shape, bar, bold, code, picture, rectangle, small
from pictures.layout import arrow, at, box, chain, column, ends, layers, row, table
from pictures.plots import chart, keys

WIDTH = 374
PIXEL = 4
SOURCE = Path(__file__).parents[2] / "examples" / "dataset" / "dataset.cc"


def frame(pixels: np.ndarray, colour: str) -> Shape:
    """A small image: a square for each pixel that is not zero, in a border of the colour of its file."""
    side = PIXEL * len(pixels)
    edge = rectangle(side, side, 0.12, colour, stroke=colour, stroke_width=2)
    places = PIXEL * np.argwhere(pixels)
    return layers(edge, *(at(x, y, bar(PIXEL, PIXEL, 1, "ink")) for y, x in places))


def file_of(pixels: np.ndarray, files: Mapping[str, np.ndarray]) -> tuple[str, int]:
    """The name of the one file that holds a frame, and which of its rows that is."""
    [found] = (
        (name, row)
        for name, rows in files.items()
        for row, each in enumerate(rows)
        if np.array_equal(each, pixels)
    )
    return found


def strip(
    groups: Mapping[str, Iterable[np.ndarray]], files: Mapping[str, np.ndarray]
) -> HTML:
    """Draws frames under headings, in their order, each in the colour of its file and under its number there."""
    colours, drawn = dict(zip(files, COLOURS)), [keys(files, 1)]
    for heading, frames in groups.items():
        shapes, said = [], []
        for pixels in map(np.asarray, frames):
            name, number = file_of(pixels, files)
            image, below = frame(pixels, colours[name]), small(str(number))
            shapes.append(column(image, below, gap=2, align="middle"))
            said.append(f"{name} {number}")
        across = int((WIDTH + 5) // (shapes[0].width + 5))
        begins = range(0, len(shapes), across)
        lines = (row(*shapes[i : i + across], gap=5) for i in begins)
        each = column(*([bold(heading, 12)] if heading else []), *lines)
        drawn.append(each.tells(f"{heading} {', '.join(said)}".strip()))
    label = "Frames in the order in which they were read."
    return picture(column(*drawn, gap=10), label)


def bytes_of(path: str) -> HTML:
    """Draws the bytes of a small .npy file of bytes, in the colours of what they are."""
    content, rows = Path(path).read_bytes(), np.load(path)
    length = int.from_bytes(content[8:10], "little")
    end = 10 + length
    header = content[10:end].decode()
    said, words_, held = ("orange", 0.45), ("orange", 0.2), ("blue", 0.2)
    of_length = " ".join(f"\\x{x:02x}" for x in content[8:10])
    shape, closed = header.index("'shape'"), header.index("}") + 1
    lines = [
        ("0", r"\x93NUMPY", "the format", said),
        ("6", r"\x01 \x00", "version 1.0", said),
        ("8", of_length, f"{length} bytes of text", words_),
        ("10", header[:shape], "", words_),
        ("", header[shape:closed], "", words_),
        (f"{10 + closed}", "", f"{length - closed} bytes: spaces, a newline", words_),
    ]
    for i, each in enumerate(rows[:3]):
        tail = each.tobytes().lstrip(b"\0")
        shown = f"{each.size - len(tail)} × 00, {tail[:5].hex(' ')} …"
        lines.append((f"{end + i * each.size}", shown, f"row {i}", held))
    lines.append(("…", "", "", held))
    label = (
        f"A file from its first byte on: the format, the version, a length of {length}, that many bytes of text, "
        f"{header[:closed]}, and from byte {end} on the rows, {rows[0].size} bytes each."
    )
    return lines_of_bytes(lines, label)


def lines_of_bytes(
    lines: Sequence[tuple[str, str, str, tuple[str, float]]], label: str
) -> HTML:
    """Draws bytes line by line: the number of the first, the bytes, what they are, and a colour with its opacity."""
    rows = [[bold("byte", 12), ""]]
    for place, what, meaning, (colour, opacity) in lines:
        inside = ends(WIDTH - 52, code(what, 12), small(meaning))
        look = {"pad": 6, "height": 22, "corner": 0, "stroke": None}
        shown = box(inside, opacity, colour, **look)
        rows.append([small(place), shown])
    return picture(table(rows, (8, 2), "start"), label)


def overridden() -> dict[str, list[str]]:
    """The classes of our source, each with the functions of its bases that it overrides."""
    found = {}
    classes = re.split(r"class (\w+) : public", SOURCE.read_text())[1:]
    override = re.compile(r"(\w+)\([^{};]*\) (?:const )?override")
    for name, text in zip(classes[::2], classes[1::2]):
        found[name] = override.findall(text)
    return found


def objects() -> HTML:
    """Draws the three classes, with what each overrides, and what makes what."""
    known, boxes = overridden(), []
    classes = [
        ("NpyDatasetOp", "the kernel", "makes"),
        ("NpyDataset", "the dataset", "makes one for each pass"),
        ("Iterator", "the iterator", "returns rows"),
    ]
    for name, meaning, then in classes:
        functions = [code(each, 11) for each in [*known[name], ""]]
        pairs = zip(functions[::2], functions[1::2])
        title = ends(352, code(name, 12, bold=True), small(meaning))
        each = box(column(title, table(list(pairs), (24, 4), "start")), 0.15)
        each.tells(f"{name} overrides {', '.join(known[name])} and {then}")
        boxes.append(each)
    kernel, dataset, iterator = boxes
    shapes = layers(
        column(*boxes, end := small("returns rows"), gap=26, align="middle"),
        arrow(kernel, dataset, "makes"),
        arrow(dataset, iterator, "makes one for each pass"),
        arrow(iterator, end),
    )
    return picture(shapes, "Three classes.")


def nodes_of(dataset: tf.data.Dataset) -> list[tuple[str, list[str]]]:
    """The datasets of a pipeline's graph in their order, each with the datasets in the function that it calls."""
    variant = tf.raw_ops.DatasetToGraphV2(input_dataset=dataset._variant_tensor)
    graph = tf.compat.v1.GraphDef.FromString(variant.numpy())

    def datasets(nodes: Iterable) -> list:
        return [node for node in nodes if "Dataset" in node.op]

    called = {each.signature.name: each.node_def for each in graph.library.function}
    return [
        (node.op, [x.op for x in datasets(called.get(node.attr["f"].func.name, []))])
        for node in datasets(graph.node)
    ]


def pipeline(nodes: Sequence[tuple[str, Sequence[str]]], own: str) -> HTML:
    """Draws the nodes of a pipeline, as `nodes_of` finds them, and beside them those in functions; one op is ours."""

    def node(name: str, width: float) -> Shape:
        ours = name == own
        look = {"width": width, "height": 30, "colour": ours}
        return box(code(name, 12), 0.35 if ours else 0.12, **look)

    rows, lines = [], []
    for op, called in nodes:
        main, others = node(op, 236), [node(name, 124) for name in called]
        main.tells(f"{op}, which calls {' and '.join(called)}" if called else op)
        rows.append([main, column(*others) if others else ""])
        lines += [arrow(main, other, tip=False, dashed=True) for other in others]
    lines += chain(*(main for main, _ in rows))
    return picture(layers(table(rows, (14, 20)), *lines), "The graph of a pipeline:")


def times(task: str, name: str = "dataset", base: str = "NpyDataset") -> HTML:
    """Draws how many times as long as the base others take for a task, from `bench/<name>.csv`."""
    return chart(
        [row for row in read(name).where(task=task) if row["way"] != base],
        f"times as long as {base}",
        heading="{way}",
        name="",
        series="",
    )
