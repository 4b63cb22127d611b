"""What changes from one step of the guided project to the next, and how long it takes."""

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from IPython.display import HTML, Markdown
from measured import read, span, text_of
from pictures.drawing import Shape, picture, small
from pictures.layout import grid, table

HERE = Path("examples/sliding_max")
OTHERS = "one core", "plain loops", "frames", "max_pool_with_argmax", "doubled, XLA"


def _lines(step: int) -> list[str]:
    code = (HERE / f"steps/step_{step}.cc").read_text()
    code = re.sub(r"SlidingMax\d", "SlidingMax", code)
    code = re.sub(r" +\\$", r" \\", code, flags=re.M)
    return code.splitlines()


def difference(old: int, new: int) -> Markdown:
    """The lines that go and come, with one line around them, without the first comment."""
    rows = []
    files = f"steps/step_{old}.cc", f"steps/step_{new}.cc"
    for row in difflib.unified_diff(_lines(old), _lines(new), *files, n=1, lineterm=""):
        if "// SlidingMax" in row:
            continue
        if row.startswith("@@"):
            row = " …"
        if row.strip() or (rows and rows[-1].strip() != "…"):
            rows.append(row)
    text = "\n".join(rows)
    text = re.sub(r"(?: …\n\s*)+( …\n)", r"\1", text).rstrip().removeprefix(" …\n")
    return Markdown(f"```diff\n{text}\n```")


def two_blocks() -> HTML:
    """Draws two blocks, what each of the two loops finds in them, and the maxima of the windows."""
    window, first = 4, 2  # the window in colour begins there
    x = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    backwards = np.maximum.accumulate(x[:window][::-1])[::-1]
    forwards = np.maximum.accumulate(x[window:])
    y = [x[i : i + window].max() for i in range(window)]
    if y[first] != max(backwards[first], forwards[first - 1]):
        raise ValueError("the two loops do not give the window's maximum")
    places = np.arange(len(x))
    inside = (places >= first) & (places < first + window)
    begins, ends = places[:window] == first, places[window:] == first + window - 1

    def block(values: Sequence[int], marked: np.ndarray) -> Shape:
        return grid(values, marked, width=28, shade=0.5)

    row = block(x[:window], inside[:window]), block(x[window:], inside[window:])
    rows = [
        [small("the row"), *row],
        [small("backwards, to the block's end"), block(backwards, begins), ""],
        [small("forwards, in the next block"), "", block(forwards, ends)],
        [small("the windows that begin here"), block(y, begins), ""],
    ]
    shapes = table(rows, (10, 8), ("end", "start", "start"))
    label = (
        f"Two blocks of a row, {x[:window]} and {x[window:]}. Maxima to the end of the first: {backwards}. "
        f"From the beginning of the second: {forwards}. The window from place {first} on has the maximum "
        f"{y[first]}, the larger one of {backwards[first]} and {forwards[first - 1]}."
    )
    return picture(shapes, label)


def measured() -> list[list[str]]:
    """For each signal and window: milliseconds of the op, and how many times as long the other ways take."""
    found, rows = read("sliding_max"), []
    for op in found.where(way="op"):
        case = {name: op[name] for name in ("signal", "window")}
        ratios = (found.text("ratio", **case, way=way) for way in OTHERS)
        rows.append([*case.values(), text_of(op), *(f"{x} ×" for x in ratios)])
    return rows


def gains() -> dict[str, str]:
    """How many times as long `doubled` takes for windows of 4, and for longer ones by signal; and what is repeated."""
    found = read("sliding_max")
    rows = found.where(way="doubled, XLA")
    period = found.value("repeated").split()[0]
    short = [row for row in rows if row["window"] == "4"]
    long = [row for row in rows if row["window"] != "4"]
    return {"period": period, "short": span(short, "–")} | {
        signal: span([row for row in long if row["signal"].startswith(signal)], "–")
        for signal in ("random", "falling")
    }
