"""The picture of the chapter on opcheck: a call that fuzzing has found, and what is left of it."""

from collections.abc import Callable, Mapping

import numpy as np
from IPython.display import HTML
from pictures.drawing import ORANGE, bold, code, picture, space
from pictures.layout import arrow, column, grid, layers, table

from opcheck import fuzzing


def shrunk(fuzz: Callable[[int], object]) -> HTML:
    """The first failing call of a fuzz run, the shapes of the ones on the way, and the smallest one.

    Args:
      fuzz: Runs with a seed. Which calls a seed gives is a matter of the modules that are loaded: the picture is of the
        first seed whose first failing call fits into it and is not small already.
    """
    for seed in range(100):
        if not (failing := _failing(fuzz, seed)):
            continue
        steps = [(inputs[0], _attrs(attrs)) for inputs, attrs in failing]
        (first, first_attrs), (last, last_attrs) = steps[0], steps[-1]
        if 3 <= first.size <= 48 and first.shape[-1] <= 4 and last.size == 1:
            break
    look = {"width": 76, "height": 22, "colour": ORANGE, "size": 11}
    numbers = np.vectorize("{:.3g}".format)(np.atleast_2d(first))
    blocks = numbers.reshape(-1, *numbers.shape[-2:])
    places = np.arange(blocks.size).reshape(blocks.shape)
    found = column(*(grid(*each, **look) for each in zip(blocks, places == 0)))
    reported = grid([[f"{last.item():.3g}"]], 1, **look)
    headings = [
        [bold("found"), "", bold("reported")],
        [code(first_attrs), "", code(last_attrs)],
        [found, space(60), reported],
    ]
    shapes = list(dict.fromkeys(str(list(inputs.shape)) for inputs, _ in steps))
    way = " → ".join(shapes)
    label = (
        f"Found: {first.size} numbers of shape {shapes[0]}, {first_attrs}. On the way: {way}. "
        f"Reported: the number {last.item():g}, {last_attrs}."
    )
    both = table(headings, (8, 4), ("start", "start", "end"))
    below = layers(column(both, f"shapes: {way}"), arrow(found, reported))
    return picture(below, label, scale=1.4)


def _attrs(attrs: Mapping) -> str:
    return ", ".join(f"{name}={value}" for name, value in attrs.items())


def _failing(fuzz: Callable[[int], object], seed: int) -> list[tuple[list, dict]]:
    """The generated calls that fail in a run, in their order."""
    found, failed = [], fuzzing._Campaign._fail

    def fail(self, kind, what, inputs, attrs, *rest):
        found.append(([np.array(x) for x in inputs], dict(attrs)))
        return failed(self, kind, what, inputs, attrs, *rest)

    fuzzing._Campaign._fail = fail
    try:
        fuzz(seed)
    finally:
        fuzzing._Campaign._fail = failed
    return found
