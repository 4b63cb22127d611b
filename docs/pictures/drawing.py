"""Shapes that know their size, and pictures of them: inline SVG in the colours of the page.

A shape gets its place when its picture is made; `pictures.layout` puts shapes beside, below and into each other.
"""

import html
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from IPython.display import HTML

# What shapes call by a name, or by its place here.
COLOURS = {"blue": "#3b82f6", "orange": "#f59e0b", "green": "#10b981"}
COLOURS |= {"ink": "currentColor"}
SIZE, SMALL = 14, 12  # of text
LINE_HEIGHT = 1.25
LEGIBLE = 9  # what text shrinks to on a phone
DASHES = "4 3"
# How wide characters are in a wide font, DejaVu Sans; others have 0.64.
WIDTHS = {
    **dict.fromkeys(" ',.’·ijlIJ/:;\\|", 0.33),
    **dict.fromkeys('f-ᵀ()[]t!r"', 0.4),
    **dict.fromkeys("*_`–sz?cLFkvxy", 0.57),
    **dict.fromkeys("BRXZCUHNDG&OQK", 0.76),
    **dict.fromkeys("w#+<=>^~×−→✓✗MmW%@…", 0.92),
}
SHARES = {"start": 0.0, "middle": 0.5, "end": 1.0}
Point = tuple[float, float]
Colour = str | int


class Shape:
    """Something to draw in a rectangle, whose place is known when its picture is laid out.

    Args:
      extent: The rectangle's left, top, right and bottom, as seen from the origin of the shape.
      draw: From the shape, when it has its place, to SVG.
      parts: The shapes that it consists of, each with the place of its origin.
    """

    # Of words: the side that stays where a narrower font needs less room.
    anchor = "start"
    told = ""
    size = math.inf  # of its text

    def __init__(
        self,
        extent: tuple[float, float, float, float],
        draw: Callable[["Shape"], str] = lambda _: "",
        parts: Iterable[tuple[float, float, "Shape"]] = (),
    ):
        self.extent, self.draw, self.parts = extent, draw, list(parts)
        self.width, self.height = extent[2] - extent[0], extent[3] - extent[1]

    def place(self, x: float, y: float) -> None:
        """Sets where the origin is."""
        self.x, self.y = x, y
        self.left, self.top = x + self.extent[0], y + self.extent[1]
        self.right, self.bottom = x + self.extent[2], y + self.extent[3]
        for dx, dy, part in self.parts:
            part.place(x + dx, y + dy)

    def tells(self, text: str) -> "Shape":
        """The shape, which has something to tell those who do not see it."""
        self.told = text
        return self

    def settle(self) -> None:
        """Is called when all shapes have their places."""

    def all(self) -> Iterator["Shape"]:
        """The shape and what it consists of."""
        yield self
        for *_, part in self.parts:
            yield from part.all()


def bounds(shapes: Iterable[Shape]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of shapes that have their places."""
    edges = ((each.left, each.top, each.right, each.bottom) for each in shapes)
    left, top, right, bottom = zip(*edges)
    return min(left), min(top), max(right), max(bottom)


def picture(shape: Shape, label: str = "", *, scale: float = 1) -> HTML:
    """Makes a picture, which is no wider than its page, or scrolls where its text would become too small.

    Args:
      shape: What it shows.
      label: What it shows, for those who do not see it; what its shapes tell follows, in their order.
      scale: How much larger than in its own units it is on a wide page.
    """
    shape.place(0, 0)
    for each in list(shape.all()):
        each.settle()
    shapes = list(shape.all())
    if len(set(map(id, shapes))) < len(shapes):
        raise ValueError("a shape is in two places")
    told = "; ".join(each.told for each in shapes if each.told)
    label = " ".join(filter(None, [label, told and f"{told}."]))
    left, top, right, bottom = bounds(shapes)
    width, height = right - left + 6, bottom - top + 6
    smallest = min(each.size for each in shapes)
    svg = tag(
        "svg",
        "".join(each.draw(each) for each in shapes),
        **{"class": "drawing", "aria-label": html.escape(label)},
        role="img",
        style=f"max-width: 100%; min-width: {width * LEGIBLE / smallest:.0f}px",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"{left - 3:.0f} {top - 3:.0f} {width:.0f} {height:.0f}",
        width=f"{width * scale:.0f}",
        fill="ink",
        font_size=SIZE,
    )
    # The theme lets the keyboard scroll what has this class.
    return HTML(f'<div class="drawing pst-scrollable-table-container">{svg}</div>')


def tag(name: str, content: str = "", **attributes: object) -> str:
    """An element of SVG, without the attributes that are None."""
    for key in attributes.keys() & {"fill", "stroke"}:
        attributes[key] = hue(attributes[key])
    shown = (
        f' {key.replace("_", "-")}="{rounded(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{''.join(shown)}>{content}</{name}>"


def hue(colour: Colour | None) -> str | None:
    """What CSS calls a colour."""
    known = colour if colour is None or isinstance(colour, str) else [*COLOURS][colour]
    return COLOURS.get(known, known)


def rounded(value: object) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)


def words(
    text: str, size: float = SIZE, bold: bool = False, code: bool = False, **look
) -> Shape:
    """Lines of text."""
    lines = [
        re.sub("^ +", lambda m: "\u00a0" * len(m[0]), one) for one in text.split("\n")
    ]
    widths = (
        sum(0.602 if code else WIDTHS.get(c, 0.64) for c in each) for each in lines
    )
    look = {
        "font_size": None if size == SIZE else size,
        "font_weight": "bold" if bold else None,
        "font_family": "monospace" if code else None,
        **look,
    }

    def draw(place: Shape) -> str:
        x = place.left + place.width * SHARES[place.anchor]
        anchor = None if place.anchor == "start" else place.anchor
        baselines = (
            place.top + size * (LINE_HEIGHT * (i + 0.5) + 0.36)
            for i in range(len(lines))
        )
        return "".join(
            tag("text", html.escape(each), x=x, y=y, text_anchor=anchor, **look)
            for y, each in zip(baselines, lines)
        )

    width = max(widths) * size * (1.1 if bold and not code else 1)
    shape = Shape((0, 0, width, size * LINE_HEIGHT * len(lines)), draw)
    shape.size = size
    return shape


small = partial(words, size=SMALL)
bold = partial(words, bold=True)
code = partial(words, code=True)


def space(width: float = 0, height: float = 0) -> Shape:
    """Nothing, which takes room."""
    return Shape((0, 0, width, height))


def rectangle(
    width: float,
    height: float,
    shade: float = 0,
    colour: Colour = "blue",
    *,
    corner: float = 0,
    dashed: bool = False,
    **look,
) -> Shape:
    """A rectangle with an edge.

    Args:
      shade: How strong the colour is that fills it, 0 to 1.
      corner: The radius of its corners.
      **look: More attributes, such as stroke_opacity.
    """
    look = {
        "rx": corner or None,
        "fill": colour if shade else "none",
        "fill_opacity": float(shade) if shade else None,
        "stroke": "ink",
        "stroke_dasharray": DASHES if dashed else None,
        **look,
    }
    size = {"width": float(width), "height": float(height)}

    def draw(place: Shape) -> str:
        return tag("rect", x=float(place.left), y=float(place.top), **size, **look)

    return Shape((0, 0, width, height), draw)


def bar(
    width: float, height: float, shade: float = 0.75, colour: Colour = "blue", **look
) -> Shape:
    """A rectangle without an edge."""
    return rectangle(width, height, shade, colour, stroke=None, **look)


def dot(x: float, y: float, radius: float = 3, colour: Colour = "ink", **look) -> Shape:
    """A disc around a point of the layer that it is on."""

    def draw(place: Shape) -> str:
        centre = {"cx": place.x + x, "cy": place.y + y}
        return tag("circle", **centre, r=radius, fill=colour, **look)

    return Shape((x - radius, y - radius, x + radius, y + radius), draw)


def line(
    *points: Point,
    colour: Colour = "ink",
    width: float | None = None,
    dash: str | None = None,
    dashed: bool = False,
    tip: bool = False,
    **look,
) -> Shape:
    """A line through points of the layer that it is on.

    Args:
      dash: The lengths of dashes and gaps.
      dashed: Whether they are those of a rectangle's edge.
      tip: Whether it ends as an arrow does.
    """
    dash = DASHES if dashed else dash
    look = {"stroke": colour, "stroke_width": width, "stroke_dasharray": dash, **look}
    solid = {"stroke_width": None, "stroke_dasharray": None}

    def draw(place: Shape) -> str:
        moved = [(place.x + x, place.y + y) for x, y in points]
        drawn = path(moved, **look)
        return drawn + path(head(*moved[-2:]), **look | solid) if tip else drawn

    across, down = zip(*points)
    return Shape((min(across), min(down), max(across), max(down)), draw)


def path(points: Sequence[Point], **look) -> str:
    first, *others = (f"{rounded(float(x))} {rounded(float(y))}" for x, y in points)
    return tag("path", d=f"M{first}L{' '.join(others)}", fill="none", **look)


def head(before: Point, end: Point) -> list[Point]:
    """The tip of an arrow, an open angle."""
    angle = math.atan2(end[1] - before[1], end[0] - before[0])
    sides = angle - 0.55, angle + 0.55
    one, other = (
        (end[0] - 8 * math.cos(side), end[1] - 8 * math.sin(side)) for side in sides
    )
    return [one, end, other]
