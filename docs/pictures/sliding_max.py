"""What changes from one step of the guided project to the next."""

import difflib
import re
from pathlib import Path

from IPython.display import Markdown
from measured import number, read, span

HERE = Path("examples/sliding_max")
STOCK = "frames", "max_pool_with_argmax", "doubled, XLA"


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


def measured() -> list[list[str]]:
    """For each signal and window: milliseconds of the op, and how many times as long the other ways take."""
    table, rows = read("sliding_max"), []
    for op in table.where(way="op"):
        case = {name: op[name] for name in ("signal", "window")}
        ratios = [table.number(**case, way=way) for way in ("plain loops", *STOCK)]
        cells = [f"{number(ratio)} ×" for ratio in ratios]
        rows.append([*case.values(), number(float(op["milliseconds"])), *cells])
    return rows


def gains() -> dict[str, str]:
    """How many times as long `doubled` takes for windows longer than 4, by signal."""
    rows = read("sliding_max").where(way="doubled, XLA")
    return {
        signal: span(
            [row for row in rows if row["signal"] == signal and row["window"] != "4"],
            "–",
        )
        for signal in ("random", "falling")
    }
