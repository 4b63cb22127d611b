"""Pictures of the chapter on types, drawn from calls of its ops."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import tensorflow as tf
from IPython.display import HTML
from pictures.drawing import COLOURS, bold, picture, rectangle, small
from pictures.layout import box, column, row, table
from pictures.plots import Plot

TYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
TYPES += ["float16", "bfloat16", "float32", "float64"]
TYPES += ["complex64", "complex128", "bool", "string"]
COMPUTES, NO_KERNEL, REFUSES = "computes", "has no kernel", "is refused"
struck = partial(small, text_decoration="line-through")
LOOKS = {
    COMPUTES: {"shade": 0.25},
    NO_KERNEL: {"dashed": True},
    REFUSES: {"stroke": None},
}


def outcome(op: Callable, dtype: str) -> str:
    """What becomes of a call of an op with a tensor of this type."""
    try:
        op(tf.zeros([2], dtype))
    except tf.errors.NotFoundError as error:
        if "Could not find device for node" not in error.message:
            raise
        return NO_KERNEL
    except tf.errors.InvalidArgumentError as error:
        if "is not in the list of allowed values" not in error.message:
            raise
        return REFUSES
    return COMPUTES


def kernels(ops: Mapping[str, Callable]) -> tuple[dict[str, dict[str, str]], HTML]:
    """For which types each op computes: what came of the calls, and a picture of it."""
    found, drawn = {}, []
    for name, op in ops.items():
        found[name], boxes, says = {}, [], {}
        for dtype in TYPES:
            became = found[name][dtype] = outcome(op, dtype)
            shown = struck(dtype) if became == REFUSES else small(dtype)
            boxes.append(box(shown, width=84, height=26, **LOOKS[became]))
            says.setdefault(became, []).append(dtype)
        rows = [boxes[i : i + 4] for i in range(0, len(boxes), 4)]
        said = (
            f"{name} {became}: {', '.join(says[became])}"
            for became in LOOKS
            if became in says
        )
        drawn.append(column(bold(name, 13), table(rows, 6)).tells("; ".join(said)))
    names = [
        row(rectangle(20, 14, corner=3, **LOOKS[became]), small(became))
        for became in (COMPUTES, NO_KERNEL)
    ]
    names = row(*names, struck(REFUSES), gap=24)
    return found, picture(column(*drawn, names, gap=12))


def counted(sums: Mapping[str, Sequence[float]]) -> HTML:
    """How far each way to add ones counts, one after the other."""
    most = max(map(len, sums.values()))
    plot = Plot(160, 150, (0, most), (0, most))
    plot.axes("number of ones")
    for axis in "xy":
        plot.ticks(axis, range(0, most + 1, 1000))
    for (name, values), colour, dash in zip(sums.items(), COLOURS, (None, "7 4")):
        look = {"colour": colour, "width": 3, "dash": dash}
        ones = [*range(1, most, 50), most]
        some = [values[count - 1] for count in ones]
        plot.named(f"{name}: {values[-1]:g}", ones, some, **look)
        plot.tells(f"{name} gives {values[-1]:g}")
    label = f"The sums grow with the number of ones. Of {most} ones,"
    return picture(plot.shape(), label)
