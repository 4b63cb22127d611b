"""Lines of time, on which boxes lie that say what happens."""

from collections.abc import Mapping, Sequence
from itertools import chain

from pictures.drawing import Shape, line, small
from pictures.layout import at, layers


def lanes(
    rows: Mapping[str, Sequence[tuple[float, Shape]]], end: float, high: float, **look
) -> Shape:
    """A line for each name, from 0 to its end, that leaves out the boxes on it, whose words it would strike through.

    Args:
      rows: From names to boxes, each with the place where it begins, in their order.
      high: From a line to the next one.
      **look: As of a line.
    """
    shapes = []
    for i, (name, boxes) in enumerate(rows.items()):
        taken = [(begin, begin + each.width) for begin, each in boxes]
        edges = [0, *chain.from_iterable(taken), end]
        pieces = [(a, b) for a, b in zip(edges[::2], edges[1::2]) if b > a]
        shapes.append(at(-12, high * i, small(name), "e"))
        shapes += (line((a, high * i), (b, high * i), **look) for a, b in pieces)
        shapes += (at(begin, high * i, each, "w") for begin, each in boxes)
    return layers(*shapes)
