"""Windows that lie on a row of pixels, for the chapters on convolution and on max pooling."""

from collections.abc import Callable, Mapping, Sequence

from IPython.display import HTML
from pictures.drawing import INK, ORANGE, Shape, bold, dot, line, picture, space
from pictures.layout import at, box, column, layers

SIDE = 30
Windows = Sequence[Sequence[int]]


def windows_picture(
    size: int,
    ways: Mapping[str, Windows],
    label: Callable[[int], str],
    outside: bool = True,
) -> HTML:
    """Draws where windows lie on a row of pixels, under a heading for each way.

    Args:
      size: How many pixels there are.
      ways: From headings to the pixels of each window.
      label: What a pixel shows.
      outside: Whether pixels outside of the row are drawn, too.
    """
    drawn = (
        column(bold(way), on_pixels(size, windows, label, outside))
        for way, windows in ways.items()
    )
    counts = ", ".join(f"{len(windows)} of {way}" for way, windows in ways.items())
    told = f"Windows on a row of {size} pixels: {counts}."
    return picture(column(*drawn, gap=14), told)


def on_pixels(
    size: int, windows: Windows, label: Callable[[int], str], outside: bool
) -> Shape:
    """A row of pixels, and below it a line for each window, with a dot at each of its pixels."""
    taps = [tap for window in windows for tap in window]
    ends = (min(0, *taps), max(size - 1, *taps) + 1) if outside else (0, size)
    shapes: list[Shape] = [at(-SIDE, 0, space(SIDE))]
    for pixel in range(*ends):
        inside = 0 <= pixel < size
        look = {"width": SIDE, "height": SIDE, "corner": 0, "dashed": not inside}
        shapes.append(at(pixel * SIDE, 0, box(label(pixel), 0.25 * inside, **look)))
    for number, window in enumerate(windows):
        y = SIDE + 12 + 11 * number
        places = [(tap + 0.5) * SIDE for tap in window]
        shapes.append(line((places[0], y), (places[-1], y)))
        for x, tap in zip(places, window):
            inside = 0 <= tap < size
            if inside or outside:
                shapes.append(dot(x, y, 4, ORANGE if inside else "none", stroke=INK))
    return layers(*shapes)
