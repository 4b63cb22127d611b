"""The pictures of the chapter on attrs, drawn from what its op computed and from the errors that were raised."""

import numpy as np
from IPython.display import HTML
from pictures.drawing import BLUE, DASHES, ORANGE, line, picture
from pictures.layout import CELL, at, grid, layers
from pictures.plots import Plot


def signals(
    measured: np.ndarray, means: np.ndarray, medians: np.ndarray, label: str
) -> HTML:
    """Draws a signal as dots, and its means and medians as lines."""
    low, high, x = measured.min() - 1, measured.max() + 1, range(len(measured))
    plot = Plot(438, 224, (0, len(x) - 1), (low, high))
    plot.ticks("y", range(10, int(high) + 1, 10), grid=True)
    plot.dots(x, measured, 2.5)
    looks = {
        "mean": {"colour": ORANGE, "width": 2, "dash": "5 4"},
        "median": {"colour": BLUE, "width": 2.5},
    }
    for look, values in zip(looks.values(), (means, medians)):
        plot.line(x, values, **look)
    plot.legend(looks)
    return picture(plot.shape(), label)


def one_window(
    signal: np.ndarray, filtered: np.ndarray, window: int, place: int, label: str
) -> HTML:
    """Draws how the median at a place comes about: the window, its elements sorted, and where their middle one goes."""
    step, places = CELL + 42, np.arange(len(signal))
    inside = abs(places - place) <= window // 2
    left, middle = CELL * (place - window // 2), CELL * (place + 0.5)
    chosen = np.arange(window) == window // 2
    shapes = [
        at(-12, step * i + CELL / 2, word, "e")
        for i, word in enumerate(("signal", "sorted", "filtered"))
    ]
    shapes += [
        grid(signal, inside),
        at(left, step, grid(np.sort(signal[inside]), chosen)),
        at(0, 2 * step, grid(filtered, places == place)),
        line((left, CELL), (left, step), dash=DASHES),
        line((left + window * CELL, CELL), (left + window * CELL, step), dash=DASHES),
        line((middle, step + CELL), (middle, 2 * step), tip=True),
    ]
    return picture(layers(*shapes), label)
