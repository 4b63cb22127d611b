"""Pictures of the chapter on types, drawn from calls of its ops."""

from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf
from IPython.display import HTML
from pictures.drawing import COLOURS, picture
from pictures.plots import Plot

TYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
TYPES += ["float16", "bfloat16", "float32", "float64"]
TYPES += ["complex64", "complex128", "bool", "string"]
COMPUTES, NO_KERNEL, REFUSES = "computes", "has no kernel", "is refused"


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


def kernels(ops: Mapping[str, Callable]) -> tuple[list[str], list[list[str]]]:
    """For which types each op computes: the head and the rows of a table of what came of the calls."""
    rows = []
    for name, op in ops.items():
        found = {dtype: outcome(op, dtype) for dtype in TYPES}
        cells = (
            ", ".join(f"`{dtype}`" for dtype in TYPES if found[dtype] == became)
            for became in (COMPUTES, NO_KERNEL, REFUSES)
        )
        rows.append([f"`{name}`", *(cell or "–" for cell in cells)])
    return ["Op", "Computes", "Has no kernel", "Is refused"], rows


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
    label = f"The sums grow with the number of ones, of which there are {most}."
    return picture(plot.shape(), label)
