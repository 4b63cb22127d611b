"""What the landing page shows of bench/roi_pool.csv: TensorFlow's own functions put together, beside one op."""

from IPython.display import HTML
from measured import number, read
from pictures.figures import COLOURS, END, FITTING, drawing, text

TASK = "without argmax"
WAYS = {
    "TensorFlow, windows": "TensorFlow's functions",
    "RoiPoolInference": "one op in C++",
}
WIDTH, NAMES, THICK = 560, 176, 28


def times() -> dict[str, float]:
    """From each way to the milliseconds that it takes on workload a, with one thread."""
    rows = read("roi_pool").where(task=TASK, workload="a", threads="1")
    return {
        row["way"]: float(row["milliseconds"]) for row in rows if row["way"] in WAYS
    }


def figures() -> dict[str, str]:
    """What the text says of the picture."""
    stock, own = map(times().get, WAYS)
    rows = read("roi_pool").where(task=TASK, workload="a", threads="1")
    ratio = next(row["ratio"] for row in rows if row["way"] == next(iter(WAYS)))
    return {
        "stock": number(stock),
        "own": number(own),
        "faster": number(float(ratio)),
        "machine": read("roi_pool").value("machine").split(",")[0],
    }


def one_op() -> HTML:
    """Draws the two times as bars from zero."""
    found = times()
    most = max(found.values())
    parts, top = [], 4
    for (way, name), colour in zip(WAYS.items(), COLOURS[::-1]):
        length = max(1, (WIDTH - NAMES - 64) * found[way] / most)
        parts.append(
            f'<rect x="{NAMES}" y="{top}" width="{length:.1f}" height="{THICK}" rx="3" fill="{colour}"/>'
        )
        parts.append(text(NAMES - 8, top + 19, name, END))
        shown = f"{number(found[way])} ms"
        if found[way] < most:
            shown += f", {figures()['faster']} times faster"
        parts.append(text(NAMES + length + 8, top + 19, shown, 'font-weight="600"'))
        top += THICK + 10
    spoken = "; ".join(f"{WAYS[way]}: {number(found[way])} ms" for way in WAYS)
    label = f"Milliseconds for pooling 300 regions. {spoken}."
    return HTML(drawing(parts, WIDTH, top, label, style=FITTING))
