"""The pictures of the chapter on sketches, each drawn from registers or bytes that there were."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    SMALL,
    drawing,
    text,
)
from sketch import count, count_hashes

SOLUTION = (
    Path(__file__).parents[2]
    / "examples"
    / "sketch"
    / "libsolution_sketch_registers.so"
)


def rectangle(
    x: float, y: float, width: float, height: float, opacity: float, colour: int = 0
) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
        f'fill="{COLOURS[colour]}" fill-opacity="{opacity:g}"/>'
    )


def merged_registers(sketches: Mapping[str, tf.Tensor]) -> HTML:
    """Draws the registers of two sketches and of the merged one as squares of numbers; large ones are dark."""
    library = tf.load_op_library(str(SOLUTION))
    squares = {
        name: library.sketch_registers(each).numpy() for name, each in sketches.items()
    }
    side, cell, gap = 8, 16, 24
    largest, parts = max(int(each.max()) for each in squares.values()), []
    for i, (name, registers) in enumerate(squares.items()):
        left = 4 + i * (side * cell + gap)
        parts.append(text(left, 16, name, BOLD))
        for place, value in enumerate(registers.tolist()):
            x, y = left + place % side * cell, 26 + place // side * cell
            parts += [
                rectangle(x, y, cell - 1, cell - 1, 0.06 + 0.5 * value / largest),
                text(x + (cell - 1) / 2, y + 11, str(value), MIDDLE, 'font-size="10"'),
            ]
        parts.append(
            text(
                left,
                44 + side * cell,
                f"count: {count(sketches[name]):,.0f}",
                CODE,
                SMALL,
            )
        )
        if i < 2:
            sign = x + cell + gap / 2 - 1
            parts.append(text(sign, 32 + side * cell / 2, "+="[i], MIDDLE, BOLD))
    label = (
        "Three squares of 64 registers. Each register of the third one, both, is the larger one of "
        "those at the same place in the first and the second one."
    )
    width = 3 * side * cell + 2 * gap + 8
    height = 52 + side * cell
    return HTML(drawing(parts, width, height, label, style=FITTING, shown_width=640))


def taken_apart(hashes: Mapping[str, int], precision: int, shown: int = 20) -> HTML:
    """Draws the first bits of hashes: those that choose the register, and those that are counted."""
    cell, left, parts = 13, 40, []
    parts += [
        text(left, 16, "which register", SMALL),
        text(left + precision * cell + 10, 16, "up to the first 1", SMALL),
    ]
    told = []
    for row, (key, hash_) in enumerate(hashes.items()):
        bits = f"{hash_:064b}"
        place, run = int(bits[:precision], 2), bits[precision:].index("1")
        if run + precision >= shown:
            raise ValueError(f"{key} has more zeros than the picture")
        y = 26 + 34 * row
        parts.append(text(left - 10, y + 17, key, END, CODE))
        for i, bit in enumerate(bits[:shown]):
            x = left + i * cell + (10 if i >= precision else 0)
            marked = i < precision or i <= precision + run
            parts += [
                rectangle(x, y, cell - 1, 24, 0.25 * marked, int(i >= precision)),
                text(x + cell / 2, y + 17, bit, MIDDLE, CODE, SMALL),
            ]
        x = left + shown * cell + 14
        parts += [
            text(x, y + 17, "…", CODE),
            text(x + 20, y + 17, f"{place} gets {run + 1}", SMALL),
        ]
        told.append(
            f"of {key}, {run + 1} bits are counted up to the first one, so register {place} gets {run + 1}"
        )
    label = f"The first bits of the hashes of {len(hashes)} keys: {'; '.join(told)}."
    width, height = left + shown * cell + 110, 26 + 34 * len(hashes)
    return HTML(drawing(parts, width, height, label, style=FITTING))


def error_and_theory(precisions: Sequence[int], number: int = 50_000) -> HTML:
    """Estimates how many hashes there are, a hundred times, and draws the errors with the theory's line."""
    random = np.random.default_rng(1)
    samples = [random.integers(0, 2**64, number, np.uint64) for _ in range(100)]
    errors = []
    for precision in precisions:
        found = [count_hashes(hashes, precision=precision) for hashes in samples]
        errors.append(np.sqrt(np.mean((np.array(found) / number - 1) ** 2)))
    left, top, step, height = 62, 14, 52, 190
    low, high = 0.003, 0.4

    def y_of(error: float) -> float:
        return top + height * np.log(high / error) / np.log(high / low)

    def x_of(precision: int) -> float:
        return left + 24 + step * (precision - precisions[0])

    right = x_of(precisions[-1]) + 24
    parts = []
    for error in (0.003, 0.01, 0.03, 0.1, 0.3):
        y = y_of(error)
        parts += [
            f'<path d="M{left} {y:g}H{right:g}" stroke="currentColor" stroke-opacity="0.2"/>',
            text(left - 8, y + 4, f"{100 * error:g} %", END, SMALL),
        ]
    ends = [
        (x_of(p), y_of(1.04 / 2 ** (p / 2))) for p in precisions[:: len(precisions) - 1]
    ]
    parts.append(
        f'<path d="M{ends[0][0]:g} {ends[0][1]:g}L{ends[1][0]:g} {ends[1][1]:g}" {LINE}/>'
    )
    for precision, error in zip(precisions, errors):
        x = x_of(precision)
        parts += [
            f'<circle cx="{x:g}" cy="{y_of(error):g}" r="5" fill="{COLOURS[1]}"/>',
            text(x, top + height + 18, f"{2**precision:,}", MIDDLE, SMALL),
        ]
    parts += [
        text(left, top + height + 36, "registers, of a byte each", SMALL),
        text(right - 8, top + 14, "dots: measured, line: the theory", END, SMALL),
    ]
    label = (
        "The error of the estimate falls with the number of registers, "
        + ", ".join(
            f"{100 * error:.2g} percent for {2**precision}"
            for precision, error in zip(precisions, errors)
        )
        + ", as the line of the theory does."
    )
    return HTML(drawing(parts, right, top + height + 44, label, style=FITTING))


def changes_that_pass(data: bytes) -> list[int]:
    """How many of the 255 changes of each byte of a sketch still make a sketch."""
    taken = [0] * len(data)
    for place, byte in np.ndindex(len(data), 256):
        changed = data[:place] + bytes([byte]) + data[place + 1 :]
        try:
            count(tf.io.parse_tensor(changed, tf.variant))
        except tf.errors.InvalidArgumentError:
            continue
        taken[place] += changed != data
    return taken


def changed_bytes(data: bytes) -> HTML:
    """Draws the bytes of a sketch, and above each how many of its 255 changes still make a sketch."""
    taken = changes_that_pass(data)
    cell, left, height = 7.2, 30, 80
    parts = [
        text(left - 6, 22, "255", END, SMALL),
        text(left - 6, 14 + height, "0", END, SMALL),
        f'<path d="M{left} {10 + height}H{left + cell * len(data)}" {LINE}/>',
    ]
    for i, many in enumerate(taken):
        tall = height * many / 255
        x = left + i * cell
        parts += [
            rectangle(x, 10, cell - 1, height, 0.08),
            rectangle(x, 10 + height - tall, cell - 1, tall, 0.9, 1),
        ]
        if 32 < data[i] < 127:
            parts.append(
                text(
                    x + cell / 2,
                    22 + height,
                    chr(data[i]),
                    MIDDLE,
                    CODE,
                    'font-size="10"',
                )
            )
    name, registers = b"op_by_op::Sketch", len(data) - 16
    start = data.index(name)
    for begin, end, words in [
        (start, start + len(name), "the name of the type"),
        (registers, len(data), "16 registers"),
    ]:
        middle = left + cell * (begin + end) / 2
        parts.append(text(middle, 38 + height, words, MIDDLE, SMALL))
    label = (
        f"The {len(data)} bytes of a small sketch. Of 255 changes of a byte, none makes a sketch for most bytes, "
        f"{max(taken[:registers])} at most for the others before the registers, and {min(taken[registers:])} "
        "or more for a register."
    )
    width = left + cell * len(data) + 8
    return HTML(
        drawing(parts, width, 46 + height, label, style=FITTING, shown_width=600)
    )
