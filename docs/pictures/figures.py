"""What the chapters' pictures have in common, and grids of real tensors: inline SVG in the colours of the page."""

import html
import re
from collections.abc import Iterable, Mapping

import numpy as np
from IPython.display import HTML
from numpy.typing import ArrayLike

REPOSITORY = "https://github.com/op-by-op/op-by-op/blob/main"
CELL = 44
COLOURS = "#3b82f6", "#f59e0b"
FITTING = "max-width: 100%"  # the style of what shrinks where it is too wide, also in a notebook

# Attributes of words and lines.
MIDDLE, END = 'text-anchor="middle"', 'text-anchor="end"'
BOLD, CODE, SMALL = 'font-weight="bold"', 'font-family="monospace"', 'font-size="12"'
LINE = 'fill="none" stroke="currentColor"'
# A line that ends in the tip of an arrow, and the tip, which its picture needs once.
POINTED = 'stroke="currentColor" marker-end="url(#arrow-tip)"'
TIP = (
    '<defs><marker id="arrow-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor"/></marker></defs>'
)


def drawing(
    parts: Iterable[str],
    width: float,
    height: float,
    label: str,
    *,
    style: str = "",
    font_size: int = 14,
    shown_width: float | None = None,
) -> str:
    """Makes one picture of its parts.

    Args:
      parts: Elements of SVG.
      width: Of the picture, in the units of its parts.
      height: Likewise.
      label: What the picture shows, for those who do not see it.
      style: CSS of the picture.
      font_size: In the same units.
      shown_width: How wide it is on the page, in pixels; unset: `width`.
    """
    styled = f' style="{style}"' if style else ""
    return (
        f'<div class="drawing"><svg class="drawing"{styled} role="img" aria-label="{html.escape(label)}" '
        f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{shown_width or width:g}" '
        f'fill="currentColor" font-size="{font_size}">{"".join(parts)}</svg></div>'
    )


def text(x: float, y: float, words: str, *attributes: str) -> str:
    """Words in a picture, which begin at x unless an attribute says otherwise."""
    return (
        f'<text x="{x:g}" y="{y:g}" {" ".join(attributes)}>{html.escape(words)}</text>'
    )


def arrow_down(x: float, top: float, bottom: float) -> str:
    return f'<path d="M{x:g} {top:g}V{bottom:g}m-5 -7 5 7 5 -7" {LINE}/>'


def arrow_right(left: float, right: float, y: float) -> str:
    return f'<path d="M{left:g} {y:g}H{right:g}m-7 -5 7 5 -7 5" {LINE}/>'


def arrow_left(left: float, right: float, y: float) -> str:
    return f'<path d="M{right:g} {y:g}H{left:g}m7 -5 -7 5 7 5" {LINE}/>'


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    opacity: float = 0,
    colour: int = 0,
    corner: float = 5,
) -> str:
    """A rectangle, filled with one of the colours."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{corner:g}" stroke="currentColor" '
        f'fill="{COLOURS[colour]}" fill-opacity="{opacity}"/>'
    )


def number_cell(x: float, y: float, value: float, marked: bool) -> str:
    """A square of a grid with a number in it."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{CELL}" height="{CELL}" stroke="currentColor" '
        f'fill="{COLOURS[0]}" fill-opacity="{0.25 if marked else 0}"/>'
        + text(x + CELL / 2, y + CELL / 2 + 5, f"{value:g}", MIDDLE)
    )


def grids(
    tensors: Mapping[str, ArrayLike],
    label: str,
    marked: Mapping[str, ArrayLike] | None = None,
    style: str = "",
) -> HTML:
    """Draws vectors and matrices as grids of numbers, side by side.

    Args:
      tensors: From the caption of each grid to its values, of at most two dimensions.
      label: What the picture shows, for those who do not see it.
      marked: From a caption to a boolean array of that shape: the cells to highlight; unset, those that are not zero.
      style: CSS of the picture.
    """
    values = {f"{value:g}" for grid in tensors.values() for value in np.ravel(grid)}
    if unknown := set(re.findall(r"\d+", label)) - values:
        raise ValueError(f"no {', '.join(unknown)} in the grids: {label}")
    parts, left, height = [], 10, 0
    for caption, values in tensors.items():
        values = np.atleast_2d(np.asarray(values))
        mask = np.atleast_2d((marked or {}).get(caption, values != 0))
        parts.append(text(left, 16, caption))
        for (row, column), value in np.ndenumerate(values):
            x, y = left + column * CELL, 26 + row * CELL
            parts.append(number_cell(x, y, value, mask[row, column]))
        left += max(values.shape[1] * CELL, 8 * len(caption)) + 30
        height = max(height, 36 + values.shape[0] * CELL)
    return HTML(drawing(parts, left, height, label, style=style))
