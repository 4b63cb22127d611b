"""What the page on pictures from a graph writes and shows."""

import base64

import numpy as np
from IPython.display import HTML
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


def image(png: bytes, label: str) -> HTML:
    """Shows a PNG as large as it is, or smaller where it is too wide."""
    data = base64.b64encode(png).decode()
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    data = f"data:image/png;base64,{data}"
    shown = tag("image", width=width, height=height, href=data, x=0, y=0)
    return picture(Shape((0, 0, width, height), lambda _: shown), label)
