"""Pictures of the chapter on types, drawn from calls of its ops."""

from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf
from IPython.display import HTML
from pictures.drawing import COLOURS, Shape, bold, picture, rectangle, small
from pictures.layout import box, column, row, table
from pictures.plots import Plot

TYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
TYPES += ["float16", "bfloat16", "float32", "float64"]
TYPES += ["complex64", "complex128", "bool", "string"]
COMPUTES, NO_KERNEL, REFUSES = "computes", "has no kernel", "is refused"
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
    found = {
        name: {dtype: outcome(op, dtype) for dtype in TYPES} for name, op in ops.items()
    }

    def of(became: str, words: str) -> Shape:
        struck = "line-through" if became == REFUSES else None
        return small(words, text_decoration=struck)

    drawn = []
    for name, outcomes in found.items():
        boxes = [
            box(of(became, dtype), width=84, height=26, **LOOKS[became])
            for dtype, became in outcomes.items()
        ]
        rows = [boxes[i : i + 4] for i in range(0, len(boxes), 4)]
        says = []
        for look in LOOKS:
            if some := [dtype for dtype, became in outcomes.items() if became == look]:
                says.append(f"{name} {look}: {', '.join(some)}")
        drawn.append(column(bold(name, 13), table(rows, 6)).tells("; ".join(says)))
    names = [
        row(rectangle(20, 14, corner=3, **LOOKS[became]), small(became))
        for became in (COMPUTES, NO_KERNEL)
    ]
    names = row(*names, of(REFUSES, REFUSES), gap=24)
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
        chosen = [*range(0, most, 50), most - 1]
        ones, sums_of = [i + 1 for i in chosen], [values[i] for i in chosen]
        plot.named(f"{name}: {values[-1]:g}", ones, sums_of, **look)
        plot.tells(f"{name} gives {values[-1]:g}")
    label = f"The sums grow with the number of ones. Of {most} ones,"
    return picture(plot.shape(), label)
