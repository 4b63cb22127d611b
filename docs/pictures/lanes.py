"""Lines of time, on which boxes lie that say what happens."""

from collections.abc import Iterable
from itertools import chain

from pictures.drawing import Shape, line
from pictures.layout import layers


def lane(
    end: float, y: float, boxes: Iterable[tuple[float, float]], **look: object
) -> Shape:
    """A line from 0 to its end that leaves out the boxes, whose words it would strike through.

    Args:
      end: Of the line.
      y: How far down it is.
      boxes: Where each begins and ends.
      **look: As of a line.
    """
    edges = [0, *chain.from_iterable(sorted(boxes)), end]
    pieces = [(a, b) for a, b in zip(edges[::2], edges[1::2]) if b > a]
    return layers(*(line((a, y), (b, y), **look) for a, b in pieces))
