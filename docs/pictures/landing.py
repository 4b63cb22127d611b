"""What the landing page shows of bench/roi_pool.csv: TensorFlow's own functions put together, beside one op."""

from IPython.display import HTML
from measured import number, read
from pictures.drawing import COLOURS, bar, bold, picture
from pictures.layout import column

CASE = {"task": "without argmax", "workload": "a", "threads": "1"}
WAYS = {
    "TensorFlow, windows": "TensorFlow's functions put together",
    "RoiPoolInference": "One op in C++",
}
WIDTH, THICK = 420, 22


def times() -> dict[str, float]:
    """From each way to the milliseconds that it takes on workload a, with one thread."""
    table = read("roi_pool")
    return {way: table.number("milliseconds", way=way, **CASE) for way in WAYS}


def figures() -> dict[str, str]:
    """What the text says of the picture."""
    stock, own = times().values()
    return {
        "stock": number(stock),
        "own": number(own),
        "faster": number(read("roi_pool").number(way=next(iter(WAYS)), **CASE)),
        "machine": read("roi_pool").value("machine").split(",")[0],
    }


def one_op() -> HTML:
    """Draws the two times as bars from zero, under their names."""
    found = times()
    most = max(found.values())
    parts = []
    for (way, name), colour in zip(WAYS.items(), COLOURS[1::-1]):
        shown = f"{number(found[way])} ms"
        if found[way] < most:
            shown += f", {figures()['faster']} times faster"
        length = max(1, WIDTH * found[way] / most)
        parts += [
            bold(f"{name}: {shown}"),
            bar(length, THICK, 1, colour, corner=3),
        ]
    spoken = ". ".join(f"{WAYS[way]}: {number(found[way])} ms" for way in WAYS)
    label = f"Milliseconds for pooling 300 regions. {spoken}."
    return picture(column(*parts), label)
