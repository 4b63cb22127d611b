"""The picture of the chapter on RoiPool: drawn from the op's output, and live where there is a script."""

import html
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from IPython.display import HTML
from measured import read
from pictures.drawing import Shape, bar, dot, picture, space, tag, words
from pictures.layout import at, box, grid, layers

CELL = 30  # of the map; around it there is one cell of nothing
BOX_WIDTH, BOX_HEIGHT = 48, 32  # of the two outputs

STYLE = Path(__file__).with_suffix(".css").read_text()


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

    Its script follows a region that the reader moves, in float32 as the op does.

    Args:
      features: The map, whole numbers, [height, width].
      roi: x1, y1, x2, y2 in pixels of the image.
      spatial_scale: Pixels of the map for each pixel of the image.
      pooled: The maxima, [pooled_height, pooled_width].
      argmax: Where they are, of the same shape.
      rows: The first row of each row of bins and the one after its last; the columns likewise.
    """
    height, width = features.shape
    top = (height + 2) * CELL + 40
    room = space((width + 2) * CELL, top + len(rows) * BOX_HEIGHT + 10)
    cells = at(CELL, CELL, grid(features, width=CELL, stroke_opacity=0.35))
    bins, rings, outputs = [], [], []
    for (i, j), where in np.ndenumerate(argmax):
        y, y_end = ((edge + 1) * CELL for edge in rows[i])
        x, x_end = ((edge + 1) * CELL for edge in columns[j])
        colour = (i + j) % 2
        tinted = bar(x_end - x, y_end - y, 0.3, colour, **{"class": "bin"})
        bins.append(at(x, y, tinted))
        h, w = divmod(int(where), width)
        centre = (w + 1.5) * CELL, (h + 1.5) * CELL
        ring = {"stroke": "ink", "stroke_width": 2, "class": "winner"}
        rings.append(dot(*centre, 13 * (where >= 0), "none", **ring))
        for which, (name, value) in enumerate(
            {"pooled": pooled[i, j], "argmax": where}.items()
        ):
            left = CELL + which * (3 * BOX_WIDTH + CELL) + j * BOX_WIDTH
            edge = {"width": BOX_WIDTH, "height": BOX_HEIGHT, "corner": 0}
            edge |= {"fill": colour, "fill_opacity": 0.3 * (where >= 0)}
            shown = words(f"{value:g}", **{"class": name})
            cell = box(shown, colour=colour, **edge, **{"class": f"{name}-box"})
            outputs.append(at(left, top + i * BOX_HEIGHT, cell))
    for which, name in enumerate(("pooled", "argmax")):
        left = CELL + which * (3 * BOX_WIDTH + CELL)
        outputs.append(at(left, top - 4, name, "sw"))
    corners = [(corner * spatial_scale + 1.5) * CELL for corner in map(float, roi)]
    # The edge lies below the numbers, what a pointer takes hold of above them.
    edge = Shape((0, 0, 0, 0), lambda _: edge_of(*corners))
    region = Shape((0, 0, 0, 0), lambda _: movable(*corners))
    parts = [room, *bins, edge, cells, *rings, *outputs, region]
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
        f'<div class="roi-picture" data-settings="{html.escape(json.dumps(settings))}"><style>{STYLE}</style>'
        f"{picture(layers(*parts), label, scale=1.25).data}</div><script>{script}</script>"
    )


def region_of(x1: float, y1: float, x2: float, y2: float, kind: str, **look) -> str:
    place = {"x": min(x1, x2), "y": min(y1, y2)}
    place |= {"width": abs(x2 - x1), "height": abs(y2 - y1)}
    return tag("rect", **place, **look, **{"class": kind})


def edge_of(*corners: float) -> str:
    look = {"stroke": "green", "stroke_width": 2, "stroke_dasharray": "6 4"}
    return region_of(*corners, "body", fill="none", **look)


def movable(x1: float, y1: float, x2: float, y2: float) -> str:
    """The region and two of its corners, which the script moves."""
    body = region_of(x1, y1, x2, y2, "body focus", fill="transparent")
    drawn = tag("g", body, data_corners="0 1 2 3", **{"class": "part"})
    for corners, x, y in (("0 1", x1, y1), ("2 3", x2, y2)):
        disc = tag("circle", r=14, fill="transparent", **{"class": "focus"})
        disc += tag("circle", r=5, fill="ink")
        place = {"transform": f"translate({x} {y})", "data_corners": corners}
        drawn += tag("g", disc, **place, **{"class": "part"})
    return drawn


# The steps of `bench/roi_pool_steps.csv`, and what the page calls them.
STEPS = {
    "one channel at a time": "One channel at a time, as above",
    "all channels of a pixel": "All channels of a pixel",
    "in registers": "Maxima in registers",
    "wider registers": "In the widest registers of the processor",
    "sweep": "Sweep over a copy",
    "RoiPool": "Sweep, stores past the caches: `RoiPool`",
}


def steps() -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table: milliseconds after each step on the way to RoiPool, and of that on all threads."""
    found = read("roi_pool_steps")
    most = max(found.rows, key=lambda row: int(row["threads"]))["threads"]
    lines = [(name, way, "1") for way, name in STEPS.items()]
    lines.append((f"`RoiPool` on {most} threads", "RoiPool", most))
    rows = [
        [name, *(found.text(workload=each, way=way, threads=n) for each in "abc")]
        for name, way, n in lines
    ]
    return ["", *"abc"], rows


def workloads() -> dict[str, str]:
    """What the columns of the table are."""
    found = read("roi_pool_steps")
    return {each: found.value(each).split(", corners")[0] for each in "abc"}
