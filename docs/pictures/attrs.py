"""The pictures of the chapter on attrs, drawn from what its op computed and from the errors that were raised."""

import html
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import HTML
from pictures.figures import CELL, COLOURS, FITTING, drawing, number_cell

BLUE, ORANGE = COLOURS[0], "#d97706"

STYLE = """
.filter-picture { color: var(--pst-color-text-base, inherit); }
.filter-picture fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }
.filter-picture legend { float: left; width: auto; font-size: 1rem; margin: 0 1rem 0 0; }
.filter-picture label { margin: 0; cursor: pointer; }
.filter-picture p { margin: 0; display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; }
.filter-picture p svg { margin-right: 0.4rem; }
.filter-picture .of { display: none; }
"""


def signals(
    measured: np.ndarray,
    means: Mapping[int, np.ndarray],
    medians: Mapping[int, np.ndarray],
    chosen: int,
    label: str,
) -> HTML:
    """Draws a signal as dots, and for a window that the reader chooses its means and medians as lines.

    Args:
      measured: The signal, [length].
      means: From the length of a window to the means, [length].
      medians: Likewise.
      chosen: The window to begin with.
      label: What the picture shows, for those who do not see it.
    """
    width, height, left = 480, 240, 34
    low, high = measured.min() - 1, measured.max() + 1
    x = left + 8 + np.arange(len(measured)) * (width - left - 16) / (len(measured) - 1)

    def y(values: np.ndarray) -> np.ndarray:
        return height - 8 - (values - low) * (height - 16) / (high - low)

    def line(values: np.ndarray, colour: str, style: str) -> str:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y(values)))
        return f'<polyline points="{points}" fill="none" stroke="{colour}" {style}/>'

    parts = []
    for tick in range(int(np.ceil(low / 10)) * 10, int(high) + 1, 10):
        parts.append(
            f'<path d="M{left} {y(tick):.1f}H{width}" stroke="currentColor" stroke-opacity="0.2"/>'
            f'<text x="{left - 6}" y="{y(tick) + 5:.1f}" text-anchor="end">{tick}</text>'
        )
    parts += [
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5"/>' for a, b in zip(x, y(measured))
    ]
    for window in medians:
        lines = line(means[window], ORANGE, 'stroke-dasharray="5 4" stroke-width="2"')
        lines += line(medians[window], BLUE, 'stroke-width="2.5"')
        parts.append(f'<g class="of of-{window}">{lines}</g>')
    marks = {
        "measured": '<circle cx="12" cy="6" r="2.5" fill="currentColor"/>',
        "mean": f'<path d="M0 6h24" stroke="{ORANGE}" stroke-width="2.5" stroke-dasharray="5 4"/>',
        "median": f'<path d="M0 6h24" stroke="{BLUE}" stroke-width="2.5"/>',
    }
    legend = "".join(
        f'<span><svg aria-hidden="true" width="24" height="12">{mark}</svg>{word}</span>'
        for word, mark in marks.items()
    )
    choices = "".join(
        f'<label><input type="radio" name="filter-window" value="{window}"'
        f"{' checked' * (window == chosen)}> {window}</label>"
        for window in medians
    )
    shown = "".join(
        f'.filter-picture:has(input[value="{window}"]:checked) .of-{window} {{ display: inline; }}\n'
        for window in medians
    )
    return HTML(
        f"<style>{STYLE}{shown}</style>"
        '<div class="filter-picture">'
        f"<fieldset><legend>window</legend>{choices}</fieldset>"
        f"<p>{legend}</p>{drawing(parts, width, height, label, style=FITTING)}</div>"
    )


def row(values: np.ndarray, left: float, top: float, marked: Sequence[int]) -> str:
    """A row of cells with numbers in them, some of them marked."""
    return "".join(
        number_cell(left + place * CELL, top, value, place in marked)
        for place, value in enumerate(values)
    )


def one_window(
    signal: np.ndarray, filtered: np.ndarray, window: int, place: int, label: str
) -> HTML:
    """Draws how one median comes about: the window, its elements sorted, and where their middle one goes.

    Args:
      signal: [length].
      filtered: Its medians, [length].
      window: The number of elements in a window.
      place: The middle of the window to draw.
      label: What the picture shows, for those who do not see it.
    """
    left, step = 90, CELL + 42
    inside = range(place - window // 2, place + window // 2 + 1)
    beside = left + inside[0] * CELL
    middle = left + (place + 0.5) * CELL
    parts = [
        f'<text x="{left - 12}" y="{top + CELL / 2 + 5}" text-anchor="end">{word}</text>'
        for top, word in (
            (2, "signal"),
            (2 + step, "sorted"),
            (2 + 2 * step, "filtered"),
        )
    ]
    parts += [
        row(signal, left, 2, inside),
        row(np.sort(signal[list(inside)]), beside, 2 + step, [window // 2]),
        row(filtered, left, 2 + 2 * step, [place]),
    ]
    for edge in (beside, beside + window * CELL):
        parts.append(
            f'<path d="M{edge} {CELL + 4}V{step}" stroke="currentColor" stroke-dasharray="3 4"/>'
        )
    top = 2 + step + CELL
    parts.append(
        f'<path d="M{middle} {top + 4}V{top + 32}m-5 -7l5 7l5 -7" fill="none" stroke="currentColor"/>'
    )
    size = left + len(signal) * CELL + 4, 2 * step + CELL + 4
    return HTML(drawing(parts, *size, label, style=FITTING))


def stations(checks: Sequence[tuple[str, str, bool, str, str]], label: str) -> HTML:
    """Draws who looks at an attr on its way to the kernel, one below the other, with a call that is refused there.

    Args:
      checks: For each: who looks, the question, whether only in a graph, the call and its error.
      label: What the picture shows, for those who do not see it.
    """
    width, gap, top, parts = 400, 26, 24, []
    eager, graph, left = 18, 56, 70
    parts.append(
        f'<g font-size="12" text-anchor="middle"><text x="{eager}" y="12">eager</text>'
        f'<text x="{graph}" y="12">graph</text></g>'
    )
    skipped = [in_graph_only for _, _, in_graph_only, _, _ in checks[1:]] + [False]
    for (who, question, in_graph_only, call, error), skips in zip(checks, skipped):
        lines = textwrap.wrap(error, 40)
        height = 78 + 18 * len(lines)
        x = graph - 21 if in_graph_only else 3
        parts.append(
            f'<rect x="{x}" y="{top}" width="{width - 3 - x}" height="{height}" rx="6" fill="none" '
            f'stroke="currentColor" stroke-dasharray="{"6 4" if in_graph_only else "none"}"/>'
            f'<text x="{left}" y="{top + 22}" font-weight="bold">{html.escape(who)}</text>'
            f'<text x="{left}" y="{top + 40}">{html.escape(question)}</text>'
            f'<g font-family="monospace" font-size="12"><text x="{left}" y="{top + 62}">{html.escape(call)}</text>'
        )
        for number, text in enumerate(lines):
            parts.append(
                f'<text x="{left + 12}" y="{top + 80 + 18 * number}">{html.escape(text)}</text>'
            )
        parts.append("</g>")
        end = top + height + gap
        for lane in (graph,) if skips else (eager, graph):
            passes = in_graph_only and lane == eager
            begin = top - gap if passes else top + height
            parts.append(
                f'<path d="M{lane} {begin}V{end}m-4 -6l4 6l4 -6" fill="none" stroke="currentColor"/>'
            )
        top = end
    parts.append(f'<text x="3" y="{top + 18}">the output</text>')
    return HTML(drawing(parts, width, top + 24, label, style=FITTING))
