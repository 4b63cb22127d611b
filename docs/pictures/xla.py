"""The table of the chapter on XLA."""

from measured import number, read

WAYS = [
    "nothing compiled",
    "op between compiled parts",
    "composition in Python",
    "custom call",
    "kernel for XLA",
]


def fused() -> list[list[str]]:
    """For each shape: milliseconds where nothing is compiled, and of the other ways how many times as long."""
    table = {}
    for row in read("xla").rows:
        shape = f"[{row['rows']}, {row['length']}]"
        base = row["way"] == WAYS[0]
        text = number(float(row["milliseconds" if base else "ratio"]))
        table.setdefault(shape, {})[row["way"]] = text if base else f"{text} ×"
    return [[shape, *(of[way] for way in WAYS)] for shape, of in table.items()]
