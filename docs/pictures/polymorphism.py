"""Pictures of the chapter on types and lists, drawn from calls of its ops."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tensorflow as tf
from input_specs import spec
from IPython.display import HTML
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    END,
    LINE,
    MIDDLE,
    SMALL,
    drawing,
    text,
)

TYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
TYPES += ["float16", "bfloat16", "float32", "float64"]
TYPES += ["complex64", "complex128", "bool", "string"]
COMPUTES, NO_KERNEL, REFUSES = "computes", "has no kernel", "is refused"
LOOKS = {
    COMPUTES: f'fill="{COLOURS[0]}" fill-opacity="0.25" stroke="currentColor"',
    NO_KERNEL: 'fill="none" stroke="currentColor" stroke-dasharray="4 4"',
    REFUSES: 'fill="none" stroke="none"',
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
    width, height, columns = 84, 26, 4
    parts, y = [], 0
    for name, outcomes in found.items():
        parts.append(text(4, y + 16, name, f'{BOLD} font-size="13"'))
        y += 26
        for place, (dtype, became) in enumerate(outcomes.items()):
            row, column = divmod(place, columns)
            left, top = 4 + column * (width + 6), y + row * (height + 6)
            parts.append(
                f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="5" {LOOKS[became]}/>'
            )
            style = 'text-anchor="middle" font-size="12"'
            if became == REFUSES:
                style += ' text-decoration="line-through"'
            parts.append(text(left + width / 2, top + 17, dtype, style))
        y += len(TYPES) // columns * (height + 6) + 8
    for place, (became, look) in enumerate(LOOKS.items()):
        left = 4 + 118 * place
        parts.append(f'<rect x="{left}" y="{y}" width="20" height="14" rx="3" {look}/>')
        style = 'font-size="12"' + (
            ' text-decoration="line-through"' if became == REFUSES else ""
        )
        parts.append(text(left + 26 * (became != REFUSES), y + 12, became, style))
    told = [
        f"{name} {became}: {', '.join(types)}"
        for name, outcomes in found.items()
        for became in LOOKS
        if (types := [dtype for dtype, one in outcomes.items() if one == became])
    ]
    return found, HTML(
        drawing(parts, columns * (width + 6), y + 22, "; ".join(told) + ".")
    )


def shown(value: object) -> str:
    """An element of a tensor as text."""
    if isinstance(value, bytes):
        return value.decode()
    return str(value) if isinstance(value, np.bool_) else f"{value:g}"


def call(op: tf.Operation, inputs: Sequence, outputs: Sequence) -> HTML:
    """Draws the tensors that go into a node and come out of it, under the names of its interface.

    Args:
      op: The node in a graph: its interface says which tensor belongs to which input, its attrs the rest.
      inputs: The values of its inputs, vectors, in the order of the node.
      outputs: The values of its outputs, likewise.
    """
    definition = op.op_def
    parts, told, y, widest = [], [], 0.0, 0.0
    for args, tensors, kind in (
        (definition.input_arg, inputs, "input"),
        (definition.output_arg, outputs, "output"),
    ):
        number, left, tall = 0, 4.0, 0.0
        if kind == "output":
            parts.append(text(4, y + 18, op.type, BOLD))
            attrs = ", ".join(
                f"{name} = {_attr(op, name)}"
                for name in sorted(a.name for a in definition.attr)
            )
            parts.append(
                text(
                    24 + 10 * len(op.type),
                    y + 18,
                    attrs,
                    CODE,
                    SMALL,
                )
            )
            y += 34
        for arg in args:
            count = _count(op, arg)
            names = f"{arg.name}: {spec(arg)}"
            parts.append(text(left, y + 14, names, CODE, 'font-size="13"'))
            parts.append(f'<path d="M{left} {y + 26}v-4h{count * 86 - 8}v4" {LINE}/>')
            for _ in range(count):
                values = np.asarray(tensors[number]).ravel()
                dtype = tf.as_dtype(tensors[number].dtype).name
                parts.append(
                    text(
                        left + 39,
                        y + 42,
                        f"{number}: {dtype}",
                        MIDDLE,
                        SMALL,
                    )
                )
                for row, value in enumerate(values):
                    top = y + 50 + 26 * row
                    parts.append(
                        f'<rect x="{left}" y="{top}" width="78" height="26" fill="{COLOURS[kind == "output"]}" '
                        'fill-opacity="0.2" stroke="currentColor"/>'
                    )
                    parts.append(
                        text(
                            left + 39,
                            top + 18,
                            shown(value),
                            MIDDLE,
                            'font-size="13"',
                        )
                    )
                told.append(
                    f"{kind} {number}, of {arg.name}, {dtype}: {' '.join(map(shown, values))}"
                )
                tall = max(tall, 50 + 26 * len(values))
                number += 1
                left += 86
            left += max(0, 8 * len(names) - 86 * count) + 10
        widest = max(widest, left)
        y += tall + 12
    return HTML(drawing(parts, widest, y, f"{op.type}. " + "; ".join(told) + "."))


def _count(op: tf.Operation, arg) -> int:
    """How many tensors an input or output of the interface is in this node."""
    if arg.number_attr:
        return op.get_attr(arg.number_attr)
    return len(op.get_attr(arg.type_list_attr)) if arg.type_list_attr else 1


def _attr(op: tf.Operation, name: str) -> str:
    value = op.get_attr(name)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(one.name for one in value)}]"
    return value.name if isinstance(value, tf.DType) else str(value)


def sums_of_ones(
    counts: Sequence[int], adds: Mapping[str, Callable]
) -> tuple[dict[str, list[float]], HTML]:
    """The sums of as many ones of type bfloat16 as these counts: the numbers, and a picture of them."""
    ones = [tf.ones([], tf.bfloat16)] * max(counts)
    sums = {
        name: [float(add(ones[:count])) for count in counts]
        for name, add in adds.items()
    }
    left, bottom, scale = 52, 166, 0.05
    parts = [
        f'<path d="M{left} {bottom - 150}V{bottom}H{left + 156}" fill="none" stroke="currentColor"/>'
    ]
    for tick in range(0, max(counts) + 1, 1000):
        at = text(left + scale * tick, bottom + 18, f"{tick}", MIDDLE)
        parts += [
            at,
            text(left - 8, bottom - scale * tick + 5, f"{tick}", END),
        ]
    parts.append(text(left, bottom + 38, "number of ones"))
    for (name, line), colour, dashes in zip(sums.items(), COLOURS, ("none", "7 4")):
        points = " ".join(
            f"{left + scale * n:.1f},{bottom - scale * y:.1f}"
            for n, y in zip(counts, line)
        )
        style = f'fill="none" stroke="{colour}" stroke-width="3" stroke-dasharray="{dashes}"'
        parts.append(f'<polyline points="{points}" {style}/>')
        end = left + scale * counts[-1] + 8, bottom - scale * line[-1] + 5
        parts.append(text(*end, f"{name}: {line[-1]:g}"))
    ends = ", ".join(f"{name} gives {line[-1]:g}" for name, line in sums.items())
    label = f"The sums grow with the number of ones. Of {max(counts)} ones, {ends}."
    return sums, HTML(drawing(parts, left + 304, bottom + 46, label, font_size=13))
