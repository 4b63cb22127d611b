"""The pictures of the chapter on convolution: drawn from what the ops return."""

import itertools
from collections.abc import Sequence

import numpy as np
from conv2d import conv2d, conv2d_backprop_input, runs
from conv2d_reference import output_size
from IPython.display import HTML
from measured import bars, bars_of, legend_of, read
from pictures.figures import (
    BOLD,
    CELL,
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    SMALL,
    arrow_right,
    box,
    drawing,
    number_cell,
    text,
)

SIDE = 30


def patches_of(x: np.ndarray, rows: int, columns: int, **layout) -> np.ndarray:
    """The patches that the op takes from images of one channel: a filter each copies one element of a window.

    Returns:
      [batch, rows of windows, columns of windows, rows * columns].
    """
    filter = np.eye(rows * columns, dtype=x.dtype)
    filter = filter.reshape(rows, columns, 1, rows * columns)
    return conv2d(x, filter, **layout).numpy()


def calls_of_run(
    image: np.ndarray, copies: np.ndarray, padding: str, window: int
) -> list[str]:
    """Padding, patch and calls of `run` for one window of an image [1, rows, columns, 1].

    Args:
      image: Of one channel.
      copies: A filter for each element of a window, which copies it.
      padding: "VALID" or "SAME".
      window: Its number.
    """
    patches = conv2d(image, copies, padding=padding).numpy()
    patch = patches.reshape(-1, patches.shape[-1])[window]
    sides = []
    for size, taps in zip(image.shape[1:3], copies.shape):
        windows, before = output_size(size, taps, 1, 1, padding)
        sides.append([size, taps, 1, 1, before, windows])
    shown = []
    for place, pixel, count in runs(*sides, window):
        at = "kBeside" if pixel < 0 else pixel
        shown.append(f"`run({place}, {at}, {count})`")
        copied = np.ravel(image)[pixel : pixel + count] if pixel >= 0 else 0
        np.testing.assert_array_equal(patch[place : place + count], copied)
    return [f"`{padding}`", " ".join(f"{x:g}" for x in patch), " ".join(shown)]


def windows_picture(size: int, ways: Sequence[tuple[int, str, int]]) -> HTML:
    """Where windows of three lie on a row of pixels.

    Args:
      size: How many pixels the row has.
      ways: Stride, padding and dilation of each row of the picture.
    """
    parts, spoken, left, y = [], [], 2 * SIDE + 6, 4
    for stride, padding, dilation in ways:
        x = np.arange(1.0, size + 1).reshape(1, 1, size, 1)
        layout = {
            "strides": [1, stride],
            "padding": padding,
            "dilations": [1, dilation],
        }
        windows = patches_of(x, 1, 3, **layout)[0, 0]
        title = f"{padding}, stride {stride}" + f", dilation {dilation}" * (
            dilation > 1
        )
        parts.append(text(4, y + 12, title, BOLD))
        top = y + 20
        spoken.append(f"{title}: {len(windows)} windows")
        # Outside of the image a window has zeros: where, follows from a pixel that it has.
        starts = []
        for window in windows:
            tap = int(np.flatnonzero(window)[0])
            starts.append(int(window[tap]) - 1 - tap * dilation)
        np.testing.assert_array_equal(np.diff(starts), stride)
        low = min(0, *starts)
        high = max(size, *(start + 2 * dilation + 1 for start in starts))
        for place in range(low, high):
            inside = 0 <= place < size
            parts.append(
                f'<rect x="{left + place * SIDE}" y="{top}" width="{SIDE}" height="{SIDE}" stroke="currentColor" '
                f'fill="{COLOURS[0]}" fill-opacity="{0.25 if inside else 0}" '
                + ('stroke-dasharray="3 3"/>' if not inside else "/>")
            )
            label = str(place + 1) if inside else "0"
            parts.append(text(left + (place + 0.5) * SIDE, top + 20, label, MIDDLE))
        for number, (start, window) in enumerate(zip(starts, windows)):
            line = top + SIDE + 10 + 11 * number
            at = [left + (start + tap * dilation + 0.5) * SIDE for tap in range(3)]
            parts.append(f'<path d="M{at[0]:g} {line}H{at[2]:g}" {LINE}/>')
            for centre, value in zip(at, window):
                parts.append(
                    f'<circle cx="{centre:g}" cy="{line}" r="4" fill="{COLOURS[1] if value else "none"}" '
                    'stroke="currentColor"/>'
                )
        y = top + SIDE + 10 + 11 * len(windows) + 12
    label = f"Windows of three on a row of {size} pixels. " + "; ".join(spoken) + "."
    return HTML(drawing(parts, left + (size + 2) * SIDE + 6, y, label, style=FITTING))


def inside_picture(size: int, stride: int) -> HTML:
    """Windows of three on a row of pixels, with what Pixel and Inside say of each.

    Args:
      size: How many pixels the row has.
      stride: From one window to the next, with "SAME" padding.
    """
    taps = 3
    windows, before = output_size(size, taps, stride, 1, "SAME")
    row, side = [1, 1, 1, 1, 0, 1], [size, taps, stride, 1, before, windows]
    found = []
    for window in range(windows):
        [(first, pixel, count)] = [r for r in runs(row, side, window) if r[1] >= 0]
        found.append((pixel - first, first, first + count))
    low, high = found[0][0], max(size, found[-1][0] + taps)
    parts, spoken, left, top = [], [], 4, 4
    for place in range(low, high):
        inside = 0 <= place < size
        x = left + (place - low) * SIDE
        dashes = "" if inside else 'stroke-dasharray="3 3" '
        parts.append(
            f'<rect x="{x}" y="{top}" width="{SIDE}" height="{SIDE}" stroke="currentColor" {dashes}'
            f'fill="{COLOURS[0]}" fill-opacity="{0.25 if inside else 0}"/>'
        )
        label = f"{place}".replace("-", "−")
        parts.append(text(x + SIDE / 2, top + 20, label, MIDDLE))
    right = left + (high - low) * SIDE + 16
    for number, (start, first, last) in enumerate(found):
        line = top + SIDE + 16 + 24 * number
        at = [left + (start + tap - low + 0.5) * SIDE for tap in range(taps)]
        parts.append(f'<path d="M{at[0]:g} {line}H{at[-1]:g}" {LINE}/>')
        for tap, centre in enumerate(at):
            filled = COLOURS[1] if first <= tap < last else "none"
            parts.append(
                f'<circle cx="{centre:g}" cy="{line}" r="4" fill="{filled}" stroke="currentColor"/>'
            )
        begin = f"{start}".replace("-", "−")
        says = f"Pixel({number}) = {begin}", f"Inside({begin}) = {{{first}, {last}}}"
        for column, each in enumerate(says):
            parts.append(text(right + 118 * column, line + 5, each))
        spoken.append(", ".join(says))
    label = f"Windows of {taps} on a row of {size} pixels, SAME, stride {stride}. {'; '.join(spoken)}."
    height = top + SIDE + 16 + 24 * windows
    return HTML(drawing(parts, right + 258, height, label, style=FITTING))


def grid(left: float, top: float, values: np.ndarray, marked: np.ndarray) -> list[str]:
    """Cells with numbers."""
    return [
        number_cell(left + column * CELL, top + row * CELL, value, marked[row, column])
        for (row, column), value in np.ndenumerate(values)
    ]


def steps_picture(x: np.ndarray, filter: np.ndarray, chosen: int) -> HTML:
    """An image, its patches as a matrix, the filter as a column, and the result.

    Args:
      x: A matrix, the image.
      filter: A matrix.
      chosen: Which window is marked.
    """
    rows, columns = filter.shape
    patches = patches_of(x[None, ..., None], rows, columns)[0]
    result = conv2d(x[None, ..., None], filter[..., None, None]).numpy()[0, ..., 0]
    matrix = patches.reshape(-1, rows * columns)
    column = filter.reshape(-1, 1)
    np.testing.assert_array_equal((matrix @ column).reshape(result.shape), result)
    row, start = divmod(chosen, result.shape[1])
    inside = np.zeros(x.shape, bool)
    inside[row : row + rows, start : start + columns] = True
    one = np.arange(len(matrix))[:, None] == chosen
    wide = CELL * matrix.shape[1]
    parts = [text(4, 14, "image", BOLD), *grid(4, 24, x, inside)]
    below = 24 + CELL * len(x) + 34
    parts += [text(4, below - 10, "filter", BOLD)]
    parts += grid(4, below, filter, np.zeros(filter.shape, bool))
    middle = 4 + CELL * x.shape[1] + 56
    parts += [arrow_right(middle - 44, middle - 10, 24 + CELL * 1.5)]
    parts += [text(middle, 14, "patches, one in a row", BOLD)]
    parts += grid(middle, 24, matrix, np.repeat(one, matrix.shape[1], 1))
    right = middle + wide + 30
    parts += [text(right - 15, 24 + CELL * 2, "·", MIDDLE, BOLD)]
    parts += [text(right, 14, "filter", BOLD)]
    parts += grid(right, 24, column, np.zeros(column.shape, bool))
    last = right + CELL + 30
    parts += [text(last - 15, 24 + CELL * 2, "=", MIDDLE, BOLD)]
    parts += [text(last, 14, "product", BOLD)]
    parts += grid(last, 24, matrix @ column, one)
    bottom = 24 + CELL * len(matrix) + 34
    parts += [text(last - CELL * result.shape[1] + CELL, bottom - 8, "result", BOLD)]
    parts += grid(
        last - CELL * (result.shape[1] - 1), bottom, result, one.reshape(result.shape)
    )
    height = max(bottom + CELL * len(result), below + CELL * rows) + 4
    label = (
        f"An image of {x.shape[0]} by {x.shape[1]} pixels, its {len(matrix)} patches as the rows of a matrix, the "
        f"filter as a column, their product, and the same numbers as a result of {result.shape[0]} by "
        f"{result.shape[1]}. Marked is patch {chosen + 1}: {', '.join(f'{v:g}' for v in matrix[chosen])}."
    )
    return HTML(drawing(parts, last + CELL + 34, height, label, style=FITTING))


def small_grid(
    left: float, top: float, values: np.ndarray, fill: str, marked: np.ndarray
) -> list[str]:
    """Cells with numbers, smaller than those of `grid`."""
    parts = []
    for (row, column), value in np.ndenumerate(values):
        x, y = left + column * SIDE, top + row * SIDE
        parts.append(
            f'<rect x="{x}" y="{y}" width="{SIDE}" height="{SIDE}" stroke="currentColor" fill="{fill}" '
            f'fill-opacity="{0.5 if marked[row, column] else 0}"/>'
        )
        parts.append(text(x + SIDE / 2, y + 20, f"{value:g}", MIDDLE))
    return parts


def input_gradient_picture(
    dy: np.ndarray,
    filter: np.ndarray,
    size: tuple[int, int],
    stride: int,
    chosen: tuple,
) -> HTML:
    """The incoming gradient, the filter, a patch for each number, and the gradient for the image, to which they add up.

    Args:
      dy: A matrix.
      filter: A matrix.
      size: Rows and columns of the image.
      stride: From one window to the next.
      chosen: A pixel of the image, which is marked wherever it is.
    """
    rows, columns = filter.shape
    dx = conv2d_backprop_input(
        [1, *size, 1], filter[..., None, None], dy[None, ..., None], stride
    ).numpy()[0, ..., 0]
    parts = [text(4, 14, "dy", BOLD)]
    parts += small_grid(4, 24, dy, COLOURS[0], np.ones(dy.shape))
    below = 24 + SIDE * len(dy) + 30
    parts.append(text(4, below - 8, "filter", BOLD))
    parts += small_grid(4, below, filter, "none", np.zeros(filter.shape))
    middle = 4 + columns * SIDE + 30
    right = middle + dy.shape[1] * (columns * SIDE + 10) + 20
    parts.append(text(middle, 14, "patches", BOLD))
    parts.append(text(right, 14, "dx", BOLD))
    total, terms = np.zeros(size), []
    for (row, column), number in np.ndenumerate(dy):
        patch = number * filter
        first = np.array([row, column]) * stride
        total[first[0] : first[0] + rows, first[1] : first[1] + columns] += patch
        here = np.zeros(filter.shape, bool)
        place = tuple(np.array(chosen) - first)
        if 0 <= min(place) and place[0] < rows and place[1] < columns:
            here[place] = True
            terms.append(f"{patch[place]:g}")
        corner = (
            middle + column * (columns * SIDE + 10),
            24 + row * (rows * SIDE + 10),
        )
        parts += small_grid(*corner, patch, COLOURS[1], here)
    np.testing.assert_array_equal(total, dx)
    here = np.zeros(dx.shape, bool)
    here[chosen] = True
    parts += small_grid(right, 24, dx, COLOURS[1], here)
    label = (
        f"An incoming gradient of {dy.shape[0]} by {dy.shape[1]} numbers, a filter, the {dy.size} patches that are a "
        f"number times the filter, and the gradient of {size[0]} by {size[1]}. The marked pixel is {' + '.join(terms)} "
        f"= {dx[chosen]:g}."
    )
    height = 24 + max(dy.shape[0] * (rows * SIDE + 10), SIDE * size[0])
    return HTML(
        drawing(
            parts,
            right + size[1] * SIDE + 8,
            max(height, below + rows * SIDE + 4),
            label,
            style=FITTING,
        )
    )


def bands_picture(size: int, taps: int) -> HTML:
    """The rows of an image that each window adds to, and the bands of windows that threads share in either turn.

    Args:
      size: Rows of the image.
      taps: Rows of the filter, which moves by one row.
    """
    count = size - taps + 1
    filter = np.ones([taps, 1, 1, 1], np.float32)
    reached = []
    for dy in np.eye(count, dtype=np.float32).reshape(count, 1, count, 1, 1):
        dx = conv2d_backprop_input([1, size, 1, 1], filter, dy).numpy()
        reached.append(np.flatnonzero(dx))

    def rows_of(bands: Sequence[range]) -> list[int]:
        return [r for band in bands for r in np.unique([reached[i] for i in band])]

    def divided(band: int) -> list[range]:
        ends = [*range(band, count, band), count]
        return [range(begin, end) for begin, end in zip([0, *ends], ends)]

    least = taps - 1  # of windows in a band, with stride and dilation 1
    turns = divided(least)[::2], divided(least)[1::2]
    for bands in turns:
        assert len(set(rows_of(bands))) == len(rows_of(bands)), "a common row"
    lower = divided(least - 1)[::2]
    assert len(set(rows_of(lower))) < len(rows_of(lower)), "lower bands would do"
    parts, spoken, high, left, wide, top = [], [], 24, 60, 124, 26
    right = left + 2 * wide + 40
    for row in range(size):
        y = top + row * high
        parts.append(text(left - 12, y + 16, f"row {row}", END, SMALL))
        line = f'stroke="currentColor" stroke-opacity="{0.25 if row else 1}"'
        parts.append(f'<path d="M{left} {y}H{right}" {line}/>')
    parts.append(f'<path d="M{left} {top + size * high}H{right}" {LINE}/>')
    for turn, bands in enumerate(turns):
        x = left + 10 + turn * (wide + 20)
        name = ("first", "then")[turn]
        parts.append(text(x + wide / 2, 14, name, MIDDLE, BOLD))
        for number, band in zip(itertools.count(turn, 2), bands):
            rows = rows_of([band])
            y, bottom = top + rows[0] * high, top + (rows[-1] + 1) * high
            parts.append(box(x, y + 2, wide, bottom - y - 4, 0.25, turn))
            for place, window in enumerate(band):
                begin, end = reached[window][0], reached[window][-1] + 1
                at = x + 16 + 16 * place
                parts.append(
                    f'<path d="M{at} {top + begin * high + 6}V{top + end * high - 6}" {LINE} stroke-width="3"/>'
                )
            middle = (y + bottom) / 2 + 5
            reach = f"rows {rows[0]} to {rows[-1]}"
            parts.append(text(x + wide - 8, middle - 8, f"band {number}", END))
            parts.append(text(x + wide - 8, middle + 8, reach, END, SMALL))
            spoken.append(f"{name}, band {number}: {reach}")
    label = (
        f"The {size} rows of an image, and {count} windows of {taps} rows in bands of {least}. "
        f"{'; '.join(spoken)}."
    )
    return HTML(drawing(parts, right + 4, top + size * high + 4, label, style=FITTING))


BASE = "TensorFlow, Eigen"
# What the picture calls the ways whose names say more than their bars need.
NAMES = {"TensorFlow, Eigen alone": "Eigen alone", "TensorFlow, oneDNN": "oneDNN"}


def ratios(way: str) -> dict[str, float]:
    """For each task, how many times as long a way takes as `BASE` for the result, on one thread."""
    rows = read("conv2d").where(op="result", way=way, threads="1")
    return {row["task"]: float(row["ratio"]) for row in rows}


def times(op: str) -> HTML:
    """How many times as long each way takes as TensorFlow with oneDNN's ops off, from `bench/conv2d.csv`.

    Args:
      op: "result", "for x" or "for the filter".
    """
    table = read("conv2d")
    ways = {row["way"]: NAMES.get(row["way"], row["way"]) for row in table.rows}
    del ways[BASE]
    tasks = dict.fromkeys(row["task"] for row in table.where(op=op))
    groups = {task: bars_of(table, ways, op=op, task=task) for task in tasks}
    label = f"How many times as long others take as {BASE}, with oneDNN's ops off."
    axis = "times as long as with oneDNN's ops off"
    return bars(groups, label, axis, legend_of(table), names_width=165, origin=1.0)
