"""Windows that lie on a row of pixels, for the chapters on convolution and on max pooling."""

from collections.abc import Callable, Sequence

from pictures.drawing import Shape, dot, line, space
from pictures.layout import at, box, layers

SIDE = 30


def on_pixels(
    size: int,
    windows: Sequence[Sequence[int]],
    label: Callable[[int], str],
    outside: bool = True,
) -> Shape:
    """A row of pixels, and below it a line for each window, with a dot at each of its pixels, also of those outside."""
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
                shapes.append(
                    dot(x, y, 4, "orange" if inside else "none", stroke="ink")
                )
    return layers(*shapes)
