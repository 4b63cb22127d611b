"""The pictures of the chapter on attrs, drawn from what its op computed and from the errors that were raised."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from IPython.display import HTML
from pictures.drawing import bold, code, hue, line, picture, rectangle, small
from pictures.layout import CELL, at, column, grid, layers
from pictures.plots import Plot

DARK = "#d97706"
STYLE = Path(__file__).with_suffix(".css").read_text()


def signals(
    measured: np.ndarray,
    means: Mapping[int, np.ndarray],
    medians: Mapping[int, np.ndarray],
    chosen: int,
    label: str,
    notes: Mapping[tuple[float, float], str],
) -> HTML:
    """Draws a signal as dots, and its means and medians as lines, both by the window that the reader chooses.

    Notes stand to the right of their points.
    """
    low, high, x = measured.min() - 1, measured.max() + 1, range(len(measured))
    plot = Plot(340, 174, (0, len(x) - 1), (low, high))
    tens = range(int(np.ceil(low / 10)) * 10, int(high) + 1, 10)
    plot.axes("seconds", "°C")
    plot.ticks("x", range(0, len(x), 20))
    plot.ticks("y", tens, grid=True)
    plot.dots(x, measured, 2)
    for (left, height), note in notes.items():
        plot.add(at(plot.x(left) + 12, plot.y(height), small(note), "w"))
    choices = shown = ""
    for window in medians:
        of = {"class": f"of of-{window}"}
        plot.line(x, means[window], colour=DARK, width=1.6, dash="4 3", **of)
        plot.line(x, medians[window], colour="blue", width=2, **of)
        checked = " checked" * (window == chosen)
        choices += f'<label><input type="radio" name="filter-window" value="{window}"{checked}> {window}</label>'
        shown += f'.filter-picture:has(input[value="{window}"]:checked) .of-{window} {{ display: inline; }}\n'
    marks = {
        "measured": ("•", "inherit"),
        "mean": ("━ ━", DARK),
        "median": ("━━", "blue"),
    }
    legend = "".join(
        f'<span><span aria-hidden="true" style="color: {hue(colour)}">{mark}</span> {word}</span>'
        for word, (mark, colour) in marks.items()
    )
    return HTML(
        f'<style>{STYLE}{shown}</style><div class="filter-picture">'
        f"<fieldset><legend>window</legend>{choices}</fieldset>"
        f"<p>{legend}</p>{picture(plot.shape(), label, scale=1.25).data}</div>"
    )


def one_window(
    signal: np.ndarray, filtered: np.ndarray, window: int, place: int, label: str
) -> HTML:
    """Draws how the median at a place comes about: the window, its elements sorted, and where their middle one goes."""
    step, places = CELL + 42, np.arange(len(signal))
    inside = abs(places - place) <= window // 2
    left, middle = CELL * (place - window // 2), CELL * (place + 0.5)
    chosen = np.arange(window) == window // 2
    shapes = [
        grid(signal, inside),
        at(left, step, grid(np.sort(signal[inside]), chosen)),
        at(0, 2 * step, grid(filtered, places == place)),
        line((middle, step + CELL), (middle, 2 * step), tip=True),
    ]
    for i, word in enumerate(("signal", "sorted", "filtered")):
        shapes.append(at(-12, step * i + CELL / 2, word, "e"))
    for x in (left, left + window * CELL):
        shapes.append(line((x, CELL), (x, step), dashed=True))
    return picture(layers(*shapes), label)


def stations(checks: Sequence[tuple[str, str, bool, str, str]], label: str) -> HTML:
    """Draws who looks at an attr on its way to the kernel, each with a question and a call that is refused there.

    A check says who looks, the question, whether only in a graph, the call and its error.
    """
    y, shapes = 0.0, [at(18, -4, small("eager"), "s"), at(62, -4, small("graph"), "s")]
    passed: dict[int, float] = {}  # where the last station of each lane ends
    for who, question, in_graph_only, call, error in checks:
        lines = [call, *(f"  {each}" for each in textwrap.wrap(error, 40))]
        inside = column(bold(who), question, code("\n".join(lines), 12), gap=4)
        left, height = 35 if in_graph_only else 0, inside.height + 20
        edge = rectangle(405 - left, height, corner=6, dashed=in_graph_only)
        shapes += [at(left, y, edge), at(78, y + 10, inside)]
        for lane in (62,) if in_graph_only else (18, 62):
            if lane in passed:
                shapes.append(line((lane, passed[lane]), (lane, y), tip=True))
            passed[lane] = y + height
        y += height + 26
    shapes += [line((lane, end), (lane, y), tip=True) for lane, end in passed.items()]
    return picture(layers(*shapes, at(0, y + 4, "the output")), label)
