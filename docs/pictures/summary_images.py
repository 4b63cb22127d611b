"""What the page on pictures from a graph writes and shows."""

import base64
from pathlib import Path

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from labeled_images import summarize_labeled_images
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
    """Writes pictures to a log, from inside a graph."""
    with tf.summary.create_file_writer(str(folder)).as_default() as writer:
        inputs = tf.constant(digits()), tf.constant(LABELS), tf.constant(0, tf.int64)
        tf.function(summarize_labeled_images)("digits", *inputs)
        writer.flush()


def image(png: bytes, label: str) -> HTML:
    """Shows a PNG that has two pixels for each of the page, smaller where it is too wide."""
    data = base64.b64encode(png).decode()
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    data = f"data:image/png;base64,{data}"
    shown = tag("image", width=width, height=height, href=data, x=0, y=0)
    return picture(Shape((0, 0, width, height), lambda _: shown), label, scale=0.5)
