"""The landing page's picture of bench/roi_pool_composed.csv: TensorFlow's functions put together, beside one op."""

from IPython.display import HTML
from measured import number, read
from pictures.drawing import BLUE, ORANGE
from pictures.plots import from_zero

CASE = {"task": "without argmax", "workload": "a", "threads": "1"}
WAYS = {
    "windows": "TensorFlow's functions put together",
    "XLA": "Put together for XLA",
    "RoiPoolInference": "One op in C++",
}


def times() -> dict[str, float]:
    """From each way to the milliseconds that it takes on workload a, with one thread."""
    table = read("roi_pool_composed")
    return {way: table.number("milliseconds", way=way, **CASE) for way in WAYS}


def figures() -> dict[str, str]:
    """What the text says of the picture."""
    found = times().values()
    machine = read("roi_pool_composed").value("machine").split(",")[0]
    return dict(zip(("stock", "xla", "own"), map(number, found)), machine=machine)


def one_op() -> HTML:
    """Draws the times as bars from zero, under their names."""
    bars = {f"{WAYS[way]}: {number(time)} ms": time for way, time in times().items()}
    colours = ORANGE, ORANGE, BLUE
    return from_zero(bars, colours, "Milliseconds for pooling 300 regions.")
