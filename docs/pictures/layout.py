"""Shapes beside, below and into each other, and arrows between them.

x, relu = box("x"), box("relu", shade=0.25)
picture(layers(row(x, relu, gap=40), arrow(x, relu)), "x goes to relu.")
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from IPython.display import HTML
from numpy.typing import ArrayLike
from pictures.drawing import (
    SHARES,
    SIZE,
    Colour,
    Shape,
    bounds,
    line,
    picture,
    rectangle,
    small,
    space,
    words,
)

CELL = 36
Item = Shape | str


def shape(item: Item) -> Shape:
    return words(item) if isinstance(item, str) else item


def table(
    rows: Sequence[Sequence[Item]],
    gap: float | tuple[float, float] = 8,
    align: str | Sequence[str] = "middle",
    upright: str = "middle",
) -> Shape:
    """Shapes in columns and rows, as wide and as high as the largest shape of each.

    Args:
      rows: Of shapes, or of words.
      gap: Between them; if it differs, between columns and between rows.
      align: Where in its column a shape is, in all or in each: at the "start", in the "middle" or at the "end".
      upright: Where in its row a shape is, likewise.
    """
    shapes = [[shape(item) for item in each] for each in rows]
    across, down = gap if isinstance(gap, tuple) else (gap, gap)
    columns = list(zip(*shapes, strict=True))
    aligns = [align] * len(columns) if isinstance(align, str) else align
    widths = [max(each.width for each in column) for column in columns]
    parts, x, y = [], 0.0, 0.0
    for each in shapes:
        x, height = 0.0, max(one.height for one in each)
        for one, width, side in zip(each, widths, aligns):
            one.anchor = side
            left = x + (width - one.width) * SHARES[side] - one.extent[0]
            top = y + (height - one.height) * SHARES[upright] - one.extent[1]
            parts.append((left, top, one))
            x += width + across
        y += height + down
    return Shape((0, 0, x - across, y - down), parts=parts)


def column(*items: Item, gap: float = 6, align: str = "start") -> Shape:
    """Shapes below each other."""
    return table([[item] for item in items], gap, align)


def row(*items: Item, gap: float = 8, align: str = "middle") -> Shape:
    """Shapes beside each other."""
    return table([items], gap, "start", align)


def layers(*items: Shape) -> Shape:
    """Shapes over each other, all with the same origin."""
    left, top, right, bottom = zip(*(item.extent for item in items))
    extent = min(left), min(top), max(right), max(bottom)
    return Shape(extent, parts=[(0, 0, item) for item in items])


def at(x: float, y: float, item: Item, anchor: str = "nw") -> Shape:
    """A shape at a point of the layer that it is on: its corner "nw", the middle of its left side "w", and so on."""
    each = shape(item)
    each.anchor = "start" if "w" in anchor else "end" if "e" in anchor else "middle"
    left = x - each.width * SHARES[each.anchor]
    top = y - each.height * (0 if "n" in anchor else 1 if "s" in anchor else 0.5)
    extent = left, top, left + each.width, top + each.height
    return Shape(extent, parts=[(left - each.extent[0], top - each.extent[1], each)])


def ends(width: float, left: Item, right: Item) -> Shape:
    """Shapes at the left and at the right end of so much room."""
    one, other = shape(left), shape(right)
    between = space(width - one.width - other.width)
    return row(one, between, at(0, 0, other, "ne"), gap=0)


def box(
    content: Item | Sequence[Item] = "",
    shade: float = 0,
    colour: Colour = "blue",
    *,
    width: float = 0,
    height: float = 0,
    pad: float = 8,
    corner: float = 5,
    align: str = "middle",
    **look,
) -> Shape:
    """A rectangle around something, or around several below each other.

    Args:
      width: In place of what the content needs, as the height.
      pad: Between the content and the edge.
      align: Where the content is, at the "start", in the "middle" or at the "end".
      **look: As of a rectangle.
    """
    items = [content] if isinstance(content, str | Shape) else content
    inside = column(*items, gap=0, align=align)
    wide, high = width or inside.width + 2 * pad, height or inside.height + 2 * pad
    edge = rectangle(wide, high, shade, colour, corner=corner, **look)
    x = pad + (wide - 2 * pad - inside.width) * SHARES[align]
    parts = [(0, 0, edge), (x, (high - inside.height) / 2, inside)]
    return Shape((0, 0, wide, high), parts=parts)


class Late(Shape):
    """What takes no room, and is made when the other shapes have their places."""

    def __init__(self, make: Callable[[], Shape]):
        super().__init__((0, 0, 0, 0))
        self.make = make

    def settle(self) -> None:
        made = self.make()
        made.place(0, 0)
        self.parts = [(0, 0, made)]
        self.left, self.top, self.right, self.bottom = bounds([made])


def frame(*inside: Shape, title: Item = "", pad: float = 8, **look) -> Shape:
    """A rectangle around shapes wherever these are, and a title above them; it takes no room."""

    def make() -> Shape:
        left, top, right, bottom = bounds(inside)
        above = shape(title).height + 2 if title else 0
        size = right - left + 2 * pad, bottom - top + above + 2 * pad
        edge = rectangle(*size, **{"corner": 6, **look})
        named = [at(left, top - 2, title, "sw")] if title else []
        return layers(at(left - pad, top - pad - above, edge), *named)

    return Late(make)


def arrow(
    begin: Shape,
    end: Shape,
    label: Item = "",
    *,
    shift: float | tuple[float, float] = 0,
    elbow: bool = False,
    around: str = "",
    upright: bool | None = None,
    tip: bool = True,
    **look,
) -> Shape:
    """An arrow from one shape to another, between the sides that face each other.

    Args:
      label: Above it, or beside it if it goes up or down; words are small.
      shift: How far from the middle of the sides, at both or at each of its ends.
      elbow: Whether it goes around corners.
      around: "left" or "below": beside the shapes, around what is between them.
      upright: Whether it goes up or down; unset, it does where one shape is above the other.
      **look: As of a line.
    """
    first, last = shift if isinstance(shift, tuple) else (shift, shift)

    def make() -> Shape:
        vertical = begin.bottom <= end.top or end.bottom <= begin.top
        vertical = vertical if upright is None else upright
        names = ["left", "right", "top", "bottom"]
        names = names if vertical else names[2:] + names[:2]
        one, other = ([getattr(each, name) for name in names] for each in (begin, end))
        start, stop = facing(one[:2], other[:2], straight=first == last)
        forth = one[3] <= other[2]
        ends = (start + first, one[2 + forth]), (stop + last, other[3 - forth])
        (x1, y1), (x2, y2) = ends if vertical else (each[::-1] for each in ends)
        x, y = (x1 + x2) / 2, (y1 + y2) / 2
        points = [(x1, y1), (x2, y2)]
        if elbow:
            points[1:1] = [(x1, y), (x2, y)] if vertical else [(x, y1), (x, y2)]
        if around == "left":
            x = min(begin.left, end.left) - 12
            y1, y2 = ((each.top + each.bottom) / 2 for each in (begin, end))
            points = [(begin.left, y1), (x, y1), (x, y2), (end.left, y2)]
        if around == "below":
            y = max(begin.bottom, end.bottom) + 12
            x1, x2 = ((each.left + each.right) / 2 for each in (begin, end))
            points = [(x1, begin.bottom), (x1, y), (x2, y), (x2, end.bottom)]
        way = line(*points, tip=tip, **look)
        if not label:
            return way
        shown = small(label) if isinstance(label, str) else label
        if elbow or not vertical:
            return layers(way, at(x, y - 4, shown, "s"))
        left, slope = x2 > x1 + 4 or first < 0, abs((x2 - x1) / (y2 - y1))
        beside = 8 + slope * shown.height / 2
        side = (x - beside, "e") if left else (x + beside, "w")
        return layers(way, at(side[0], y, shown, side[1]))

    return Late(make)


def chain(*shapes: Shape, label: Item = "", **look) -> list[Shape]:
    """Arrows from each shape to the next."""
    return [arrow(*pair, label, **look) for pair in pairwise(shapes)]


def flow(*shapes: Shape, gap: float = 24, align: str = "start", **look) -> Shape:
    """Shapes below each other, and arrows from each to the next."""
    return layers(column(*shapes, gap=gap, align=align), *chain(*shapes, **look))


def facing(
    one: Sequence[float], other: Sequence[float], straight: bool
) -> tuple[float, float]:
    """Where on two sides a line begins and ends: in their middles, or straight if one is wide enough."""
    middles = sum(one) / 2, sum(other) / 2
    narrow = int(other[1] - other[0] <= one[1] - one[0])
    least, most = (other, one)[narrow]
    if straight and least < middles[narrow] < most:
        return middles[narrow], middles[narrow]
    return middles


def ranks(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The row of each node: below what it needs; what needs nothing is right above its first user."""
    rank = dict.fromkeys(nodes, 0)
    for _ in rank:
        for begin, end in edges:
            rank[end] = max(rank[end], rank[begin] + 1)
    for name in rank:
        users = [rank[end] for begin, end in edges if begin == name]
        if users and all(end != name for _, end in edges):
            rank[name] = min(users) - 1
    return rank


def graph(
    nodes: Mapping[str, Shape],
    edges: Sequence[tuple[str, str]],
    *,
    down: bool = True,
    gap: tuple[float, float] = (18, 36),
    labels: Mapping[tuple[str, str], Item] | None = None,
    **look,
) -> Shape:
    """Nodes in rows, each below what it needs or to the right of it, and arrows between them.

    Args:
      edges: From where to where, in the order of the inputs.
      down: Whether it grows downwards, not to the right.
      gap: Between the nodes of a row, and between rows.
      **look: Of the arrows.
    """
    rank, place = ranks(list(nodes), edges), dict.fromkeys(nodes, 0.0)
    lanes = [[name for name in nodes if rank[name] == i] for i in set(rank.values())]

    def by_users(name: str) -> float:
        ends = ((i, end) for i, (begin, end) in enumerate(edges) if begin == name)
        users = [place[end] + i / 99 for i, end in ends]
        return sum(users) / max(1, len(users))

    for lane in lanes[::-1]:
        lane.sort(key=by_users)
        place |= {name: (i + 0.5) / len(lane) for i, name in enumerate(lane)}
    inner, outer = (row, column) if down else (column, row)
    laid = [inner(*map(nodes.get, lane), gap=gap[0], align="middle") for lane in lanes]
    arrows = []
    for name, node in nodes.items():
        sources = [begin for begin, end in edges if end == name]
        for i, source in enumerate(sources):
            apart = (24 if down else 10) * (i - (len(sources) - 1) / 2)
            label = (labels or {}).get((source, name), "")
            if sources.count(source) > 1:
                label = label if i else ""
                shift = apart, apart
            else:
                shift = 0, apart
            arrows.append(
                arrow(nodes[source], node, label, shift=shift, upright=down, **look)
            )
    return layers(outer(*laid, gap=gap[1], align="middle"), *arrows)


def grid(
    values: ArrayLike,
    marked: ArrayLike = 0,
    *,
    width: float = 0,
    height: float = 0,
    colour: Colour = "blue",
    shade: float = 0.25,
    gap: float | tuple[float, float] = 0,
    size: float = SIZE,
    **look,
) -> Shape:
    """Numbers or words in squares.

    Args:
      values: Of at most two dimensions.
      marked: Which squares are filled, or how strongly, 0 to 1; of the same shape.
      width: Of a square; unset, as the longest value needs.
      height: Of a square that is none.
      colour: Of those that are marked.
      shade: Of one that is marked by 1.
      **look: Of the squares, as of a rectangle.
    """
    values = np.atleast_2d(np.asarray(values))
    marks = np.broadcast_to(np.atleast_2d(marked), values.shape)

    def shown(value: object) -> Shape:
        text = str(value) if isinstance(value, str) else f"{value:g}".replace("-", "−")
        return words(text, size)

    height = height or width or CELL
    width = width or max([CELL, *(shown(each).width + 10 for each in values.flat)])
    edge = {"width": width, "height": height, "corner": 0, **look}
    cells = [
        [box(shown(value), mark * shade, colour, **edge) for value, mark in zip(*each)]
        for each in zip(values, marks)
    ]
    return table(cells, gap)


def grids(
    tensors: Mapping[str, ArrayLike], marked: Mapping[str, ArrayLike] | None = None
) -> HTML:
    """Vectors and matrices as grids of numbers, side by side.

    Args:
      tensors: From the caption of each grid to its values, of at most two dimensions.
      marked: From a caption to the cells to highlight, an array of that shape or 1 for all; unset, what is not zero.
    """
    drawn = []
    for caption, values in tensors.items():
        values = np.asarray(values)
        marks = np.asarray((marked or {}).get(caption, values)) != 0
        rows = (" ".join(f"{x:g}" for x in one) for one in np.atleast_2d(values))
        each = column(caption, grid(values, marks))
        drawn.append(each.tells(f"{caption}: {', '.join(rows)}"))
    return picture(row(*drawn, gap=30, align="start"))
