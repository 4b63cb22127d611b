"""Pictures of the chapter on call stacks, each drawn from stacks that an op has recorded, or from a trace."""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import debugger
import tensorflow as tf
from call_stack import Frame, Stack, layer_of, layers, stacks
from IPython.display import HTML
from pictures.drawing import Shape, bold, code, picture, small, space
from pictures.lanes import lanes
from pictures.layout import box, column, flow, row
from traces import Event

FAINT, STRONG = 0.12, 0.35
EXAMPLE = Path(debugger.__file__).parent
PROGRAM = EXAMPLE / "wrong_pick_numbers.py"


def whole_way(stack: Stack, python: Sequence[Frame]) -> HTML:
    """Draws an eager call from Python, whose last function is one of the bindings, down to the kernel."""
    *callers, entry = python
    names = {
        "Python": [f"{each.function}, in {each.file}" for each in callers[-2:]],
        "bindings": [entry.function],
    }
    for frame in stack.frames:
        layer = layer_of(frame)
        if layer not in ("", "Python") and frame.function:
            names.setdefault(layer, []).append(frame.function)
    boxes = []
    for layer, functions in names.items():
        inside = column(bold(layer), *(code(each, 12) for each in functions), gap=3)
        each = box(inside, width=376, align="start", **look_of(layer))
        boxes.append(each.tells(f"{layer}: {', '.join(functions)}"))
    return picture(flow(*boxes, gap=16))


def columns(recorded: Mapping[str, Stack], label: str) -> HTML:
    """Draws the layers of stacks side by side, each under its caption, where a slash parts the lines, and thread."""
    drawn, high = [], max(caption.count("/") for caption in recorded) + 1
    for caption, stack in recorded.items():
        words = [*caption.split("/"), ""][:high]
        lines, boxes = [small(each, bold=True) for each in words], []
        op = small(stack.recorded_in.rpartition("::")[2], code=True)
        for layer in layers(stack):
            shown = op if layer == "your op" else small(layer)
            boxes.append(box(shown, width=112, height=28, **look_of(layer)))
        heading = column(*lines, small(f"on {stack.thread}"), gap=2)
        drawn.append(column(heading, flow(*boxes, gap=14)))
    return picture(row(*drawn, gap=4, align="start"), label)


def cheap_and_expensive(four: Callable) -> dict[str, list[Stack]]:
    """Where four nodes ran: cheap ones, and expensive ones in the first call in which several threads took part."""
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    cheap = four(expensive=False)
    stacks(cheap, x)
    for _ in range(100):
        expensive = four(expensive=True)  # which counts as cheap after some runs
        stacks(expensive, x)
        for _ in range(20):
            spread = stacks(expensive, x)
            if len({stack.thread_id for stack in spread}) > 1:
                return {"cheap": stacks(cheap, x), "expensive": spread}
    raise ValueError("no call took more than one thread")


def threads(runs: Mapping[str, Sequence[Stack]]) -> HTML:
    """Draws on which thread each of some nodes ran, in their order: a row for each thread."""
    drawn = []
    for caption, ran in runs.items():
        rows = {}
        for i, stack in enumerate(ran):
            node = box(f"{i + 1}", STRONG, width=50, height=30)
            rows.setdefault(stack.thread_id, []).append((10 + 62 * i, node))
        rows = {f"thread {i}": nodes for i, nodes in enumerate(rows.values(), 1)}
        shapes = lanes(rows, 260, 36, dash="2 4", opacity=0.6)
        says = f"{caption}: {len(ran)} runs on {len(rows)} threads"
        drawn.append(column(bold(caption), shapes).tells(says))
    return picture(column(*drawn, gap=20))


def _kept(events: Sequence[Event]) -> list[Event]:
    """The ops, the runs of functions, and what has one of them inside."""
    kept = [event._replace(inside=_kept(event.inside)) for event in events]
    op_or_run = re.compile(r"[^\s:]+:[A-Z]\w*$|FunctionRun$")
    return [event for event in kept if event.inside or op_or_run.match(event.name)]


def _bars(events: Sequence[Event], width: float = 0) -> Shape:
    """Events side by side, below each what is inside of it; one alone is as wide as what it is in."""
    drawn = []
    for event in events:
        name = code(event.name, 12)
        wide = width if len(events) == 1 else 0
        wide = wide or max(_bars(event.inside).width, name.width + 16)
        own = "your op" if "CallStack" in event.name else ""
        bar = box(name, width=wide, height=26, align="start", **look_of(own))
        inside = [_bars(event.inside, wide)] if event.inside else []
        drawn.append(column(bar, *inside, gap=4))
    return row(*drawn, gap=4, align="start") if drawn else space()


def timeline(trace: Mapping[str, Sequence[Event]]) -> HTML:
    """Draws what happens inside what, on each thread; how wide a bar is says nothing."""
    threads = {thread: _kept(events) for thread, events in trace.items()}
    drawn = []
    for thread, kept in threads.items():
        if kept:
            name = bold(f"thread {thread}")
            wide = max(_bars(kept).width, name.width + 16)
            bar = box(name, width=wide, height=26, align="start")
            stack = column(bar, _bars(kept, wide), gap=4)
            drawn.append(stack.tells(f"{thread}: {_told(kept)}"))
    return picture(column(*drawn, gap=20))


def _told(events: Sequence[Event]) -> str:
    return ", ".join(
        event.name + (f" with {_told(event.inside)} inside" if event.inside else "")
        for event in events
    )


def first_and_second(calls: Mapping[str, Sequence[Sequence[Stack]]]) -> list[list[str]]:
    """What is recorded in the first and in the second call, in words: a row for each function."""
    return [[name, *map(in_words, both)] for name, both in calls.items()]


def in_words(stacks: Sequence[Stack]) -> str:
    """The functions of the op in the order of their calls, and how often in a row."""
    calls = [
        (name.rpartition("::")[2], len([*again]))
        for name, again in groupby(stack.recorded_in for stack in stacks)
    ]
    words = [f"`{name}`" + f" {count} ×" * (count > 1) for name, count in calls]
    return ", ".join(words) or "nothing"


def look_of(layer: str) -> dict[str, object]:
    own = layer == "your op"
    return {"shade": STRONG if own else FAINT, "colour": own}


def gdb(script: str, *options: str) -> None:
    """Prints a session with gdb and the program that crashes."""
    if not shutil.which("gdb"):
        print("(gdb was not installed on the machine that ran this.)")
        return
    shown = debugger.gdb(EXAMPLE / script, *options, sys.executable, PROGRAM)
    refused = r"Error in sourced.*\nCouldn't write extended state.*"
    print(re.sub(refused, "(gdb could not call a function on this machine.)", shown))


def gdb_after_the_crash(script: str) -> None:
    """Prints a session with gdb and the core dump of that program."""
    with tempfile.TemporaryDirectory() as folder:
        core = debugger.core_of(PROGRAM, Path(folder))
        if not core or not shutil.which("gdb"):
            print(
                "(The machine that ran this has no gdb, or keeps core dumps elsewhere.)"
            )
            return
        print(debugger.gdb(EXAMPLE / script, sys.executable, core))
