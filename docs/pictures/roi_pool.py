"""The picture of the chapter on RoiPool: drawn from the op's output, and live where there is a script."""

import html
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from IPython.display import HTML
from pictures.drawing import COLOURS

CELL = 30  # of the map; around it there is one cell of nothing
BOX_WIDTH, BOX_HEIGHT = 48, 32  # of the two outputs

STYLE = """
.roi-picture { color: var(--pst-color-text-base, inherit); }
.roi-picture .part { cursor: move; touch-action: none; outline: none; }
.roi-picture .part .focus { stroke: none; }
.roi-picture .part:focus-visible .focus { stroke: #d946ef; stroke-width: 4; }
.roi-picture fieldset { border: 0; margin: 0.5rem 0; padding: 0; display: grid; gap: 0.5rem;
  grid-template-columns: repeat(4, minmax(0, 6.5rem)); }
.roi-picture fieldset label { display: flex; align-items: center; gap: 0.375rem; margin: 0; }
.roi-picture input { width: 100%; min-width: 0; font: inherit; color: inherit; background: transparent;
  border: 1px solid currentColor; border-radius: 0.25rem; padding: 0.125rem 0.25rem; }
.roi-picture output { display: block; min-height: 3em; }
"""


def roi_picture(
    features: np.ndarray,
    roi: Sequence[float],
    spatial_scale: float,
    pooled: np.ndarray,
    argmax: np.ndarray,
    rows: Sequence[tuple[int, int]],
    columns: Sequence[tuple[int, int]],
) -> HTML:
    """Draws a map, a region of interest, its bins and their maxima.

    Args:
      features: The map, whole numbers, [height, width].
      roi: x1, y1, x2, y2 in pixels of the image.
      spatial_scale: Pixels of the map for each pixel of the image.
      pooled: The maxima, [pooled_height, pooled_width].
      argmax: Where they are, of the same shape.
      rows: The first row of each row of bins and the one after its last.
      columns: Likewise.

    Returns:
      The picture. Its script follows a region that the reader moves, in float32 as the op does.
    """
    height, width = features.shape
    top = (height + 2) * CELL + 40
    second = 3 * BOX_WIDTH + CELL
    parts, numbers, rings = [], [], []
    for (h, w), value in np.ndenumerate(features):
        x, y = (w + 1) * CELL, (h + 1) * CELL
        parts.append(
            f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="none" '
            'stroke="currentColor" stroke-opacity="0.35"/>'
        )
        numbers.append(
            f'<text x="{x + CELL / 2}" y="{y + CELL / 2 + 5}" text-anchor="middle">{value:g}</text>'
        )
    for (i, j), where in np.ndenumerate(argmax):
        y, y_end = ((edge + 1) * CELL for edge in rows[i])
        x, x_end = ((edge + 1) * CELL for edge in columns[j])
        parts.append(
            f'<rect class="bin" x="{x}" y="{y}" width="{x_end - x}" height="{y_end - y}" '
            f'fill="{COLOURS[(i + j) % 2]}" fill-opacity="0.3"/>'
        )
        if where >= 0:
            h, w = divmod(int(where), width)
            centre = f'cx="{(w + 1.5) * CELL}" cy="{(h + 1.5) * CELL}"'
        rings.append(
            f'<circle class="winner" {centre if where >= 0 else ""} r="{13 if where >= 0 else 0}" '
            'fill="none" stroke="currentColor" stroke-width="2"/>'
        )
    parts += numbers + rings
    for name, tensor, left in (("pooled", pooled, 0), ("argmax", argmax, second)):
        left += CELL
        parts.append(f'<text x="{left}" y="{top - 8}">{name}</text>')
        for (i, j), value in np.ndenumerate(tensor):
            x, y = left + j * BOX_WIDTH, top + i * BOX_HEIGHT
            parts.append(
                f'<rect class="{name}-box" x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" '
                f'fill="{COLOURS[(i + j) % 2]}" fill-opacity="{0.3 if argmax[i, j] >= 0 else 0}" '
                'stroke="currentColor"/>'
                f'<text class="{name}" x="{x + BOX_WIDTH / 2}" y="{y + BOX_HEIGHT / 2 + 5}" '
                f'text-anchor="middle">{value:g}</text>'
            )
    x1, y1, x2, y2 = (
        (corner * spatial_scale + 1.5) * CELL for corner in map(float, roi)
    )
    body = f'x="{min(x1, x2)}" y="{min(y1, y2)}" width="{abs(x2 - x1)}" height="{abs(y2 - y1)}"'
    parts.append(
        f'<g class="part" data-corners="0 1 2 3"><rect class="body focus" {body} fill="transparent"/>'
        f'<rect class="body" {body} fill="none" stroke="currentColor" stroke-width="2" '
        'stroke-dasharray="6 4"/></g>'
    )
    for corners, x, y in (("0 1", x1, y1), ("2 3", x2, y2)):
        parts.append(
            f'<g class="part" data-corners="{corners}" transform="translate({x} {y})">'
            '<circle class="focus" r="14" fill="transparent"/><circle r="5" fill="currentColor"/></g>'
        )
    label = (
        f"A map of {height} rows and {width} columns of numbers. A region of interest, dashed, is cut into "
        f"{len(rows)} times {len(columns)} bins, tinted; neighbours overlap. The maximum of each bin is ringed. "
        f"Below, pooled: {pooled.ravel().tolist()}, and argmax: {argmax.ravel().tolist()}."
    )
    settings = {
        "map": features.tolist(),
        "roi": [float(corner) for corner in roi],
        "scale": spatial_scale,
        "pooled": list(pooled.shape),
        "cell": CELL,
    }
    script = Path(__file__).with_suffix(".js").read_text()
    return HTML(
        f'<div class="drawing roi-picture" data-settings="{html.escape(json.dumps(settings))}">'
        f"<style>{STYLE}</style>"
        f'<svg class="drawing" style="max-width: 100%" role="img" aria-label="{html.escape(label)}" '
        f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {(width + 2) * CELL} {top + len(rows) * BOX_HEIGHT + 10}" '
        f'width="{(width + 2) * CELL * 1.25:g}" fill="currentColor" font-size="14">{"".join(parts)}</svg></div>'
        f"<script>{script}</script>"
    )
