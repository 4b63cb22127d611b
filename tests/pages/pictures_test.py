"""The label of a picture, for those who do not see it, is put together from its shapes."""

import re
import sys

from book import ROOT

sys.path.insert(0, str(ROOT / "docs"))
from pictures.drawing import picture  # noqa: E402
from pictures.layout import arrow, box, flow, grids, layers, row  # noqa: E402


def label(html) -> str:
    return re.search(r'aria-label="([^"]*)"', html.data)[1]


def test_shapes_tell_in_their_order_also_those_that_are_made_late():
    one, other = box("x").tells("x"), box("y").tells("y")
    link = arrow(one, other).tells("x goes to y")
    shapes = layers(row(one, other, gap=20), link)
    assert label(picture(shapes, "Two boxes:")) == "Two boxes: x; y; x goes to y."


def test_who_tells_nothing_has_the_label_alone():
    assert label(picture(flow(box("x"), box("y")), "Two boxes.")) == "Two boxes."


def test_grids_tell_all_their_numbers():
    drawn = grids({"a": [[1, 2], [3, -4.5]], "b": [0, 1]})
    assert label(drawn) == "a: 1 2, 3 -4.5; b: 0 1."
