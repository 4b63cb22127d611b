"""The tables of the chapter on XLA."""

import numpy as np
from measured import grouped, read, text_of
from xla_reference import exponential_average_reference

WAYS = [
    "nothing compiled",
    "op between compiled parts",
    "products of blocks",
    "composition in Python",
    "custom call",
    "kernel for XLA",
]
HEADS = [{"composition in Python": "scan in Python"}.get(way, way) for way in WAYS]
LENGTHS = {"short": "16", "long": "10000"}


def times() -> dict[str, str]:
    """Of each way, with short rows and with long ones: how long it takes where nothing compiled takes 1."""
    names = "outside", "products", "composition", "call", "kernel"
    return {
        f"{name}_{rows}": read("xla").text("ratio", length=length, way=way)
        for name, way in zip(names, WAYS[1:])
        for rows, length in LENGTHS.items()
    }


def milliseconds() -> list[list[str]]:
    """For each shape, those of each way."""
    rows = []
    for shape, some in grouped(read("xla").rows, "rows", "length").items():
        of = {row["way"]: text_of(row) for row in some}
        rows.append([f"[{', '.join(shape)}]", *(of[way] for way in WAYS)])
    return rows


def rounds(signal: list[float], decay: float) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a table: what `composed` has after each round."""
    signal = np.array(signal, float)
    average, step = (1 - decay) * signal, 1
    rows = [[f"at first: {1 - decay:g} of the signal", *average]]
    while step < len(signal):
        earlier = np.concatenate([np.zeros(step), average[:-step]])
        average = average + decay**step * earlier
        rows.append([f"+ {decay**step:g} of what is {step} before", *average])
        step *= 2
    np.testing.assert_allclose(average, exponential_average_reference(signal, decay))
    header = ["", *(f"value {i}" for i in range(len(signal)))]
    return header, [[name, *(f"{x:g}" for x in values)] for name, *values in rows]
