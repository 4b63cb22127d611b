"""The pictures of the chapter on call stacks, each drawn from stacks that an op has noted, or from a trace."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from call_stack import Frame, Stack, layer_of, layers, way_down
from IPython.display import HTML
from pictures.figures import (
    BOLD,
    CODE,
    FITTING,
    MIDDLE,
    SMALL,
    arrow_down,
    box,
    drawing,
    text,
)
from traces import Event

LINE_HEIGHT = 18
FAINT, STRONG = 0.12, 0.35


def has_names(stack: Stack) -> bool:
    """Whether the libraries of this TensorFlow still have the names of their functions."""
    return any(
        frame.function
        for frame in stack.frames
        if frame.file.startswith("libtensorflow")
    )


def check_order(found: Sequence[str], expected: Iterable[str]) -> None:
    """Raises ValueError unless all that is expected is there, in this order."""
    rest = iter(found)
    for each in expected:
        if each not in rest:
            raise ValueError(f"no {each} at its place in {', '.join(found)}")


def check_way(stack: Stack, functions: str) -> None:
    """Raises ValueError if a stack with names goes another way; what else it goes through is free."""
    if has_names(stack):
        check_order(way_down(stack), functions.split())


def check_layers(stack: Stack, *expected: str) -> None:
    """Likewise of the layers."""
    if has_names(stack):
        check_order(layers(stack), expected)


def whole_way(stack: Stack, python: Sequence[Frame]) -> HTML:
    """Draws an eager call from Python down to the kernel.

    Args:
      stack: As the op has noted it.
      python: The functions in Python that are under way, and that of the bindings which the last of them calls.
    """
    *callers, entry = python
    names = {
        "Python": [f"{each.function}, in {each.file}" for each in callers[-2:]],
        "bindings": [entry.function],
    }
    for frame in stack.frames:
        layer = layer_of(frame)
        if layer not in ("", "Python") and frame.function:
            names.setdefault(layer, []).append(frame.function)
    width, parts, y, told = 376, [], 6, []
    for layer, functions in names.items():
        height = LINE_HEIGHT * len(functions) + 30
        own = layer == "your op"
        parts.append(box(2, y, width, height, STRONG if own else FAINT, own))
        parts.append(text(12, y + 20, layer, BOLD))
        parts += [
            text(12, y + 40 + i * LINE_HEIGHT, function, CODE, SMALL)
            for i, function in enumerate(functions)
        ]
        told.append(f"{layer}: {', '.join(functions)}")
        y += height + 16
        parts.append(arrow_down(width / 2, y - 16, y - 1))
    size = width + 4, y - 12
    return HTML(drawing(parts[:-1], *size, f"{'; '.join(told)}.", style=FITTING))


def columns(stacks: Mapping[str, Stack], label: str) -> HTML:
    """Draws the layers of stacks side by side, each under what happens and on which thread.

    Args:
      stacks: From a caption, whose lines are separated by a slash, to the stack.
      label: What the picture shows, for those who do not see it.
    """
    width, gap, parts, bottom = 106, 4, [], 0
    for column, (caption, stack) in enumerate(stacks.items()):
        x = 2 + column * (width + gap)
        for i, line in enumerate(caption.split("/")):
            parts.append(text(x, 14 + i * 16, line, BOLD, SMALL))
        parts.append(text(x, 50, f"on {stack.thread}", SMALL))
        found = layers(stack)
        for i, layer in enumerate(found):
            y = 60 + i * 42
            own = layer == "your op"
            parts.append(box(x, y, width, 28, STRONG if own else FAINT, own))
            shown = stack.noted_in.rpartition("::")[2] if own else layer
            look = (MIDDLE, CODE) if own else (MIDDLE,)
            parts.append(text(x + width / 2, y + 19, shown, *look, SMALL))
            if i + 1 < len(found):
                parts.append(arrow_down(x + width / 2, y + 28, y + 41))
        bottom = max(bottom, 60 + len(found) * 42)
    return HTML(
        drawing(parts, len(stacks) * (width + gap), bottom - 8, label, style=FITTING)
    )


def threads(runs: Mapping[str, Sequence[Stack]]) -> HTML:
    """Draws on which thread each of some nodes ran: a row for each thread.

    Args:
      runs: From a caption to the stacks of the nodes, in the order in which they ran.
    """
    parts, y, told = [], 18, []
    for caption, stacks in runs.items():
        parts.append(text(4, y, caption, BOLD))
        order = [stack.thread_id for stack in stacks]
        known = list(dict.fromkeys(order))
        for row, thread in enumerate(known):
            top = y + 12 + row * 36
            parts.append(text(4, top + 20, f"thread {row + 1}", SMALL))
            parts.append(
                f'<path d="M70 {top + 15}H330" fill="none" stroke="currentColor" stroke-dasharray="2 4" opacity="0.6"/>'
            )
            for column, ran_on in enumerate(order):
                if ran_on == thread:
                    parts.append(box(80 + column * 62, top, 50, 30, STRONG))
                    parts.append(
                        text(105 + column * 62, top + 20, str(column + 1), MIDDLE)
                    )
        told.append(f"{caption}: {len(stacks)} runs on {len(known)} threads")
        y += 36 * len(known) + 42
    return HTML(drawing(parts, 340, y - 24, f"{'; '.join(told)}.", style=FITTING))


def _kept(events: Sequence[Event]) -> list[Event]:
    """The ops, the runs of functions, and what has one of them inside."""
    kept = [event._replace(inside=_kept(event.inside)) for event in events]
    op_or_run = re.compile(r"[^\s:]+:[A-Z]\w*$|FunctionRun$")
    return [event for event in kept if event.inside or op_or_run.match(event.name)]


def _width(event: Event) -> float:
    inside = sum(_width(each) + 4 for each in event.inside) - 4
    return max(inside, 7.4 * len(event.name) + 16)


def _bars(
    events: Sequence[Event], x: float, y: float, width: float
) -> tuple[list[str], int]:
    """The bars of events and of those inside, and how many rows they have; one alone is as wide as what it is in."""
    parts, rows = [], 0
    for event in events:
        own_width = width if len(events) == 1 else _width(event)
        own = "CallStack" in event.name
        parts.append(box(x, y, own_width, 26, STRONG if own else FAINT, own))
        parts.append(text(x + 8, y + 17, event.name, CODE, SMALL))
        inside, below = _bars(event.inside, x, y + 30, own_width)
        parts += inside
        x += own_width + 4
        rows = max(rows, 1 + below)
    return parts, rows


def timeline(trace: Mapping[str, Sequence[Event]]) -> HTML:
    """Draws what happens inside what, on each thread; how wide a bar is says nothing.

    Args:
      trace: From the name of each thread to its events.
    """
    parts, y, wide, told = [], 16, 0, []
    for thread, events in trace.items():
        kept = _kept(events)
        if not kept:
            continue
        parts.append(text(4, y, f"thread {thread}", BOLD))
        width = sum(_width(event) + 4 for event in kept) - 4
        bars, rows = _bars(kept, 4, y + 10, width)
        parts += bars
        wide = max(wide, width)
        y += 10 + rows * 30 + 26
        told.append(f"{thread}: {_told(kept)}")
    return HTML(drawing(parts, wide + 8, y - 26, f"{'; '.join(told)}.", style=FITTING))


def _told(events: Sequence[Event]) -> str:
    return ", ".join(
        event.name + (f" with {_told(event.inside)} inside" if event.inside else "")
        for event in events
    )


def first_and_second(calls: Mapping[str, Sequence[Sequence[Stack]]]) -> list[list[str]]:
    """What is noted in the first and in the second call, in words: a row for each function."""
    return [
        [name, *(in_words(stacks) for stacks in both)] for name, both in calls.items()
    ]


def in_words(stacks: Sequence[Stack]) -> str:
    """The functions of the op in the order of their calls, those called again and again once."""
    names = [name for name, _ in groupby(stack.noted_in for stack in stacks)]
    return ", ".join(f"`{name.rpartition('::')[2]}`" for name in names) or "nothing"
