"""Pictures that the chapters draw from real tensors: inline SVG in the colours of the page."""

import html
import re
from collections.abc import Mapping

import numpy as np
from IPython.display import HTML
from numpy.typing import ArrayLike

CELL = 44


def grids(
    tensors: Mapping[str, ArrayLike],
    label: str,
    marked: Mapping[str, ArrayLike] | None = None,
) -> HTML:
    """Draws vectors and matrices as grids of numbers, side by side.

    Args:
      tensors: From the caption of each grid to its values, of at most two dimensions.
      label: What the picture shows, for those who do not see it.
      marked: From a caption to a boolean array of that shape: the cells to highlight; unset, those that are not zero.
    """
    values = {f"{value:g}" for grid in tensors.values() for value in np.ravel(grid)}
    if unknown := set(re.findall(r"\d+", label)) - values:
        raise ValueError(f"no {', '.join(unknown)} in the grids: {label}")
    parts, left, height = [], 10, 0
    for caption, values in tensors.items():
        values = np.atleast_2d(np.asarray(values))
        mask = np.atleast_2d((marked or {}).get(caption, values != 0))
        parts.append(f'<text x="{left}" y="16">{html.escape(caption)}</text>')
        for (row, column), value in np.ndenumerate(values):
            x, y = left + column * CELL, 26 + row * CELL
            opacity = 0.25 if mask[row, column] else 0
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" stroke="currentColor" '
                f'fill="#3b82f6" fill-opacity="{opacity}"/>'
                f'<text x="{x + CELL / 2}" y="{y + CELL / 2 + 5}" text-anchor="middle">'
                f"{value:g}</text>"
            )
        left += max(values.shape[1] * CELL, 8 * len(caption)) + 30
        height = max(height, 36 + values.shape[0] * CELL)
    return HTML(
        f'<div class="drawing"><svg class="drawing" role="img" aria-label="{html.escape(label)}" '
        f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left} {height}" width="{left}" fill="currentColor" '
        f'font-size="14">{"".join(parts)}</svg></div>'
    )
