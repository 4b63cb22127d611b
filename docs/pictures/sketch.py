"""Pictures of the chapter on sketches, drawn from registers, hashes and bytes."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import read
from pictures.drawing import bar, bold, code, line, picture, small, words
from pictures.layout import at, column, grid, layers, row, table
from pictures.plots import Plot
from sketch import count, count_hashes

EXAMPLE = Path(__file__).parents[2] / "examples" / "sketch"
SOLUTION = EXAMPLE / "libsolution_sketch_registers.so"


def merged_registers(sketches: Mapping[str, tf.Tensor]) -> HTML:
    """Draws the registers of two sketches and of the merged one as squares of numbers; large ones are dark."""
    library = tf.load_op_library(str(SOLUTION))
    squares = [library.sketch_registers(each).numpy() for each in sketches.values()]
    look = {"width": 15, "gap": 1, "shade": 0.56, "size": 10, "stroke": None}
    drawn = []
    for (name, sketch), values, sign in zip(sketches.items(), squares, ["+", "=", ""]):
        shades = 0.1 + 0.9 * values / max(map(np.max, squares))
        registers = grid(values.reshape(8, 8), shades.reshape(8, 8), **look)
        below = code(f"count: {count(sketch):,.0f}", 12)
        drawn += [column(bold(name), registers, below), bold(sign)]
    label = (
        "Three squares of 64 registers. Each register of the third one, both, is the larger one of "
        "those at the same place in the first and the second one."
    )
    shapes = column(row(*drawn[:3]), row(*drawn[3:-1]), gap=14, align="middle")
    return picture(shapes, label, scale=1.4)


def taken_apart(hashes: Mapping[str, int], precision: int, shown: int = 20) -> HTML:
    """Draws the first bits of hashes: those that choose the register, and those that are counted."""
    rows = [["", small("which register"), small("up to the first 1"), ""]]
    look = {"width": 12, "height": 24, "gap": 1, "size": 12, "stroke": None}
    for key, hash_ in hashes.items():
        bits = f"{hash_:064b}"
        place, run = int(bits[:precision], 2), bits[precision:].index("1") + 1
        counted = np.arange(shown - precision) < run
        register = grid(list(bits[:precision]), 1, **look)
        others = grid(list(bits[precision:shown]), counted, colour="orange", **look)
        gets = row("…", small(f"{place} gets {run}"))
        gets.tells(f"of {key}, register {place} gets {run}, up to the first 1")
        rows.append([code(key), register, others, gets])
    label = f"The first bits of the hashes of {len(hashes)} keys:"
    return picture(table(rows, 10, ("end", "start", "start", "start")), label)


def error_and_theory(precisions: Sequence[int], number: int = 50_000) -> HTML:
    """Estimates how many hashes there are, a hundred times, and draws the errors with the theory's line."""
    random = np.random.default_rng(1)
    samples = [random.integers(0, 2**64, number, np.uint64) for _ in range(100)]
    errors = []
    for precision in precisions:
        found = [count_hashes(hashes, precision=precision) for hashes in samples]
        errors.append(np.sqrt(np.mean((np.array(found) / number - 1) ** 2)))
    sizes = [2**precision for precision in precisions]
    plot = Plot(420, 190, (sizes[0] / 1.4, sizes[-1] * 1.4), (0.003, 0.4), "xy")
    errors_shown = 0.003, 0.01, 0.03, 0.1, 0.3
    plot.ticks("y", errors_shown, lambda y: f"{100 * y:g} %", grid=True)
    plot.ticks("x", sizes, "{:,}".format)
    plot.line(sizes, [1.04 / size**0.5 for size in sizes])
    plot.dots(sizes, errors, 5, colour="orange")
    plot.add(at(0, 216, small("registers, of a byte each")))
    plot.add(at(420, -6, small("dots: measured, line: the theory"), "se"))
    each = (f"{100 * error:.2g} percent for {n}" for n, error in zip(sizes, errors))
    label = (
        "The error of the estimate falls with the number of registers, "
        f"{', '.join(each)}, as the line of the theory does."
    )
    return picture(plot.shape(), label)


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
    cell, height = 7.2, 80
    shapes = [at(-6, 0, small("255"), "e"), at(-6, height, small("0"), "e")]
    shapes.append(line((0, height), (cell * len(data), height)))
    for i, (byte, many) in enumerate(zip(data, taken)):
        full = bar(cell - 1, height * many / 255, 0.9, "orange")
        shapes.append(at(i * cell, 0, bar(cell - 1, height, 0.08)))
        shapes.append(at(i * cell, height, full, "sw"))
        if 32 < byte < 127:
            letter = words(chr(byte), 11, code=True)
            shapes.append(at((i + 0.5) * cell, height + 2, letter, "n"))
    name, registers = b"op_by_op::Sketch", len(data) - 16
    middles = {"the name of the type": data.index(name) + len(name) / 2}
    middles["16 registers"] = registers + 8
    for what, middle in middles.items():
        shapes.append(at(cell * middle, height + 18, small(what), "n"))
    label = (
        f"The {len(data)} bytes of a small sketch. Of 255 changes of a byte, none makes a sketch for most bytes, "
        f"{max(taken[:registers])} at most for the others before the registers, and {min(taken[registers:])} "
        "or more for a register."
    )
    return picture(layers(*shapes), label, scale=1.4)


def costs() -> dict[str, float]:
    """Microseconds for each of 10,000 sketches, and of as many uint8 tensors, by what is done with them."""
    took = partial(read("sketch").number, "milliseconds", sketches="10000")
    return {
        task + suffix: 1e3 * took(task=task, way=way) / 10_000
        for task in ("merge", "gather")
        for suffix, way in (("", "variant"), ("_bytes", "uint8"))
    }
