"""What the page on pictures from a graph writes and shows."""

import base64
from pathlib import Path

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from labeled_images import visualize_labeled_images
from pictures.drawing import Shape, picture, tag

LABELS = ("seven", "one", "four")
STROKES = {
    "seven": [".....", ".###.", "...#.", "..#..", "..#..", "....."],
    "one": [".....", "..#..", ".##..", "..#..", "..#..", "....."],
    "four": [".....", ".#.#.", ".#.#.", ".###.", "...#.", "....."],
}


def digits() -> np.ndarray:
    """Three small images."""
    rows = [[list(row) for row in STROKES[label]] for label in LABELS]
    return (np.array(rows) == "#").astype(np.float32)


def written(folder: Path) -> None:
    """Writes one picture to a log, from inside a graph."""
    with tf.summary.create_file_writer(str(folder)).as_default() as writer:
        graph = tf.function(visualize_labeled_images, autograph=False)
        graph(
            "digits",
            tf.constant(digits()),
            tf.constant(LABELS),
            tf.constant(0, tf.int64),
        )
        writer.flush()


def pictures_of(folder: Path) -> list[tuple[str, int, str, bytes]]:
    """The pictures of a log: name, step, plugin and PNG."""
    found = []
    for path in sorted(Path(folder).glob("events*")):
        for record in tf.data.TFRecordDataset(str(path)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                plugin = value.metadata.plugin_data.plugin_name
                found.append(
                    (value.tag, event.step, plugin, value.tensor.string_val[2])
                )
    return found


def image(png: bytes, label: str) -> HTML:
    """Shows a PNG as large as it is, or smaller where it is too wide."""
    data = base64.b64encode(png).decode()
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    data = f"data:image/png;base64,{data}"
    shown = tag("image", width=width, height=height, href=data, x=0, y=0)
    return picture(Shape((0, 0, width, height), lambda _: shown), label)
