"""The landing page's picture of bench/roi_pool_composed.csv: TensorFlow's functions put together, beside one op."""

from IPython.display import HTML
from measured import number, read
from pictures.drawing import bar, bold, picture
from pictures.layout import column

CASE = {"task": "without argmax", "workload": "a", "threads": "1"}
WAYS = {
    "windows": "TensorFlow's functions put together",
    "XLA": "Put together for XLA",
    "RoiPoolInference": "One op in C++",
}
WIDTH, THICK = 420, 22


def times() -> dict[str, float]:
    """From each way to the milliseconds that it takes on workload a, with one thread."""
    table = read("roi_pool_composed")
    return {way: table.number("milliseconds", way=way, **CASE) for way in WAYS}


def figures() -> dict[str, str]:
    """What the text says of the picture."""
    stock, xla, own = times().values()
    machine = read("roi_pool_composed").value("machine").split(",")[0]
    ratios = {"times": number(stock / own), "xla_times": number(xla / own)}
    return ratios | {"machine": machine}


def one_op() -> HTML:
    """How many times faster the op is, in large, and beside it the times as bars from zero, under their names."""
    found, parts = times(), []
    for (way, name), colour in zip(WAYS.items(), ("orange", "orange", "blue")):
        length = max(1, WIDTH * found[way] / max(found.values()))
        text = f"{name}: {number(found[way])} ms"
        parts += [bold(text).tells(text), bar(length, THICK, 1, colour, corner=3)]
    lead = f"<p><strong>{figures()['times']}×</strong> faster than TensorFlow's functions</p>"
    bars = picture(column(*parts), "Milliseconds for pooling 300 regions.").data
    return HTML(f'<div class="lead">{lead}{bars}</div>')
