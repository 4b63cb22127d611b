"""The pictures of the chapter on datasets, each drawn from what was read, or from what a process had open."""

import gc
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import bar_of, bars, read
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    SMALL,
    arrow_down,
    box,
    drawing,
    text,
)

WIDTH = 380
PIXEL = 4
SOURCE = Path(__file__).parents[2] / "examples" / "dataset" / "dataset.cc"
SHADES = {"disc": COLOURS[0], "ring": COLOURS[1], "stripe": "#10b981"}


def frame(x: float, y: float, pixels: np.ndarray, colour: str) -> list[str]:
    """A small image: a square for each pixel that is not zero, in a border of the colour of its file."""
    side = PIXEL * len(pixels)
    parts = [
        f'<rect x="{x:g}" y="{y:g}" width="{side}" height="{side}" fill="{colour}" fill-opacity="0.12" '
        f'stroke="{colour}" stroke-width="2"/>'
    ]
    for row, column in np.argwhere(pixels):
        parts.append(
            f'<rect x="{x + PIXEL * column:g}" y="{y + PIXEL * row:g}" width="{PIXEL}" height="{PIXEL}"/>'
        )
    return parts


def file_of(pixels: np.ndarray, files: Mapping[str, np.ndarray]) -> tuple[str, int]:
    """The name of the file that holds a frame, and which of its rows that is.

    Raises:
      ValueError: It is in none of them, or in several.
    """
    found = [
        (name, row)
        for name, rows in files.items()
        for row, each in enumerate(rows)
        if np.array_equal(each, pixels)
    ]
    if len(found) != 1:
        raise ValueError(f"the frame is {len(found)} times in the files")
    return found[0]


def strip(
    groups: Mapping[str, Iterable[np.ndarray]], files: Mapping[str, np.ndarray]
) -> HTML:
    """Draws frames in the order in which they came, each in the colour of its file and under its number there.

    Args:
      groups: From a heading to the frames below it.
      files: From the name of each file to its frames.
    """
    parts, told, y = [], [], 4
    for i, name in enumerate(files):
        x = 4 + 90 * i
        parts.append(
            f'<rect x="{x}" y="{y}" width="12" height="12" fill="{SHADES[name]}"/>'
        )
        parts.append(text(x + 18, y + 11, name))
    y += 24
    side = PIXEL * next(iter(files.values())).shape[1]
    across = (WIDTH - 4) // (side + 5)
    for heading, frames in groups.items():
        if heading:
            parts.append(text(4, y + 14, heading, BOLD, SMALL))
            y += 22
        said = []
        for i, pixels in enumerate(map(np.asarray, frames)):
            if i and i % across == 0:
                y += side + 20
            x = 4 + (i % across) * (side + 5)
            name, row = file_of(pixels, files)
            parts += frame(x, y, pixels, SHADES[name])
            parts.append(text(x + side / 2, y + side + 13, str(row), MIDDLE, SMALL))
            said.append(f"{name} {row}")
        told.append(f"{heading} {', '.join(said)}".strip())
        y += side + 24
    label = f"Frames in the order in which they were read. {'; '.join(told)}."
    return HTML(drawing(parts, WIDTH, y, label, style=FITTING))


def bytes_of(path: str) -> HTML:
    """Draws the bytes of a small .npy file of bytes, in the colours of what they are.

    Raises:
      ValueError: The file is not what the picture says.
    """
    content, rows = Path(path).read_bytes(), np.load(path)
    length = int.from_bytes(content[8:10], "little")
    end = 10 + length
    header = content[10:end].decode()
    if content[:8] != b"\x93NUMPY\x01\x00" or not header.startswith("{'descr': '|u1'"):
        raise ValueError(f"{path} begins otherwise")
    if rows.tobytes() != content[end:]:
        raise ValueError(f"{path} has other rows")
    said, words = (COLOURS[1], 0.45), (COLOURS[1], 0.2)
    held = COLOURS[0], 0.2
    of_length = " ".join(f"\\x{x:02x}" for x in content[8:10])
    shape, closed = header.index("'shape'"), header.index("}") + 1
    blank = f"{length - closed} bytes: spaces, a newline"
    lines = [
        ("0", r"\x93NUMPY", "the format", said),
        ("6", r"\x01 \x00", "version 1.0", said),
        ("8", of_length, f"{length} bytes of text", words),
        ("10", header[:shape], "", words),
        ("", header[shape:closed], "", words),
        (str(10 + closed), "", blank, words),
    ]
    for i, row in enumerate(rows[:3]):
        bytes_ = row.tobytes()
        zeros = row.size - len(bytes_.lstrip(b"\0"))
        first = " ".join(f"{x:02x}" for x in bytes_[zeros : zeros + 5])
        start = str(end + i * row.size)
        lines.append((start, f"{zeros} × 00, {first} …", f"row {i}", held))
    lines.append(("…", "", "", held))
    label = (
        f"A file from its first byte on: the format, the version, a length of {length}, that many bytes of text, "
        f"{header[:closed]}, and from byte {end} on the rows, {rows[0].size} bytes each."
    )
    return lines_of_bytes(lines, label)


def lines_of_bytes(
    lines: Sequence[tuple[str, str, str, tuple[str, float]]], label: str
) -> HTML:
    """Draws bytes line by line.

    Args:
      lines: Of each the number of its first byte, its bytes, what they are, and the colour with its opacity.
      label: What the picture shows.
    """
    parts, y = [text(2, 14, "byte", SMALL, BOLD)], 22
    for at, what, meaning, (colour, opacity) in lines:
        parts.append(
            f'<rect x="38" y="{y}" width="{WIDTH - 40}" height="22" fill="{colour}" fill-opacity="{opacity}"/>'
        )
        parts.append(text(2, y + 16, at, SMALL))
        parts.append(text(44, y + 16, what, CODE, SMALL))
        parts.append(text(WIDTH - 8, y + 16, meaning, END, SMALL))
        y += 24
    return HTML(drawing(parts, WIDTH, y + 2, label, style=FITTING))


def overridden() -> dict[str, list[str]]:
    """The classes of our source, each with the functions of its bases that it overrides."""
    found: dict[str, list[str]] = {}
    for of_class, function in re.findall(
        r"class (\w+) : public|(\w+)\([^{};]*\) (?:const )?override",
        SOURCE.read_text(),
    ):
        if of_class:
            found[of_class] = functions = []
        else:
            functions.append(function)
    return found


def objects() -> HTML:
    """Draws the three classes, with what each overrides, and what makes what.

    Raises:
      ValueError: The classes are others.
    """
    known = overridden()
    chain = [
        ("NpyDatasetOp", "the kernel", "makes"),
        ("NpyDataset", "the dataset", "makes one for each pass"),
        ("Iterator", "the iterator", "returns rows"),
    ]
    if sorted(known) != sorted(name for name, _, _ in chain):
        raise ValueError(f"other classes: {known.keys()}")
    parts, told, y = [], [], 4
    for name, meaning, then in chain:
        functions = known[name]
        height = 30 + 18 * -(-len(functions) // 2)
        parts.append(box(2, y, WIDTH - 4, height, 0.15))
        parts.append(text(12, y + 19, name, BOLD, CODE, SMALL))
        parts.append(text(WIDTH - 12, y + 19, meaning, END, SMALL))
        for i, function in enumerate(functions):
            x, down = 12 + i % 2 * 176, y + 38 + 18 * (i // 2)
            parts.append(text(x, down, function, CODE, 'font-size="11"'))
        y += height
        parts.append(arrow_down(WIDTH / 2, y, y + 24))
        parts.append(text(WIDTH / 2 + 12, y + 17, then, SMALL))
        y += 25
        told.append(f"{name} overrides {', '.join(functions)} and {then}")
    label = f"Three classes. {'; '.join(told)}."
    return HTML(drawing(parts, WIDTH, y, label, style=FITTING))


def times_open(path: str) -> int:
    """How many descriptors of this process lead to a file, as Linux tells it."""
    wanted, found = os.path.realpath(path), 0
    for each in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{each}") == wanted
        except OSError:  # that of the listing itself
            continue
    return found


STEPS = [
    "rows = npy_dataset(file)",
    "first = iter(rows)",
    "second = iter(rows)",
    "list(first)",
    "del second",
]


def steps(file: str) -> HTML:
    """Runs lines of code and draws how often a file was open after each."""
    from dataset import npy_dataset

    counts, names = [], {"npy_dataset": npy_dataset, "file": file}
    for line in STEPS:
        exec(line, names)
        gc.collect()
        counts.append((line, times_open(file)))
    parts, y, left = [], 30, 240
    parts.append(text(left, 16, "times open", BOLD, SMALL))
    for code, count in counts:
        parts.append(text(2, y + 16, code, CODE, SMALL))
        for i in range(count):
            parts.append(box(left + 34 * i, y + 2, 30, 18, 0.5, corner=3))
        if not count:
            parts.append(text(left + 4, y + 16, "0", SMALL))
        y += 26
    told = "; ".join(f"after {code}: {count}" for code, count in counts)
    label = f"How often the file is open. {told}."
    return HTML(drawing(parts, WIDTH, y, label, style=FITTING))


def nodes_of(dataset: tf.data.Dataset) -> list[tuple[str, list[str]]]:
    """The datasets of a pipeline's graph in their order, each with the datasets in the function that it calls."""
    variant = tf.raw_ops.DatasetToGraphV2(input_dataset=dataset._variant_tensor)
    graph = tf.compat.v1.GraphDef.FromString(variant.numpy())
    functions = {
        function.signature.name: [
            node.op for node in function.node_def if "Dataset" in node.op
        ]
        for function in graph.library.function
    }
    return [
        (node.op, functions.get(node.attr["f"].func.name, []))
        for node in graph.node
        if "Dataset" in node.op
    ]


def pipeline(nodes: Sequence[tuple[str, Sequence[str]]], own: str) -> HTML:
    """Draws the nodes of a pipeline below each other, and beside them those in functions.

    Args:
      nodes: As `nodes_of` finds them.
      own: The name of the op that is ours.
    """
    parts, told, width, inner = [], [], 236, 120
    for i, (op, called) in enumerate(nodes):
        y = 4 + 50 * i
        ours = op == own
        parts.append(node(2, y, width, op, ours))
        if i + 1 < len(nodes):
            parts.append(arrow_down(2 + width / 2, y + 30, y + 49))
        for name in called:
            parts.append(node(WIDTH - inner - 2, y, inner, name, name == own))
            parts.append(
                f'<path d="M{2 + width} {y + 15}H{WIDTH - inner - 4}" {LINE} stroke-dasharray="3 3"/>'
            )
        told.append(f"{op}, which calls {' and '.join(called)}" if called else op)
    label = f"The graph of a pipeline: {'; then '.join(told)}."
    height = 50 * len(nodes) - 12
    return HTML(drawing(parts, WIDTH, height, label, style=FITTING))


def node(x: float, y: float, width: float, name: str, ours: bool) -> str:
    words = text(x + width / 2, y + 20, name, MIDDLE, CODE, SMALL)
    return box(x, y, width, 30, 0.35 if ours else 0.12, ours) + words


def times(task: str, name: str = "dataset", base: str = "NpyDataset") -> HTML:
    """Draws how many times as long as the base others take for a task, from `bench/<name>.csv`."""
    rows = [row for row in read(name).where(task=task) if row["way"] != base]
    drawn = {row["way"]: [bar_of("", [row])] for row in rows}
    label = f"How many times as long as {base} others take, {task}."
    return bars(drawn, label, f"times as long as {base}", names_width=0, origin=1.0)
