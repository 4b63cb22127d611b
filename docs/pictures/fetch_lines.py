"""The pictures of the chapter on waiting for servers, drawn from what servers saw and from the code."""

from collections.abc import Mapping, Sequence

from IPython.display import HTML
from pictures.figures import (
    BOLD,
    CODE,
    FITTING,
    MIDDLE,
    arrow_left,
    arrow_right,
    box,
    drawing,
    text,
)
from pictures.sketch import rectangle


def connections(logs: Mapping[str, Sequence[tuple[str, int]]], servers: int) -> HTML:
    """Draws, for each way to ask, what the servers saw: a row for each, from left to right in the order of time."""
    step, high, left, parts, told = 13, 20, 30, [], []
    for name, log in logs.items():
        parts.append(text(left, 16, name, BOLD))
        for row in range(servers):
            y = 26 + high * row
            parts.append(rectangle(left, y, step * 2 * servers, high - 3, 0.06))
            mine = [(i, what) for i, (what, server) in enumerate(log) if server == row]
            if not mine:
                continue
            begin = mine[0][0]
            end = mine[1][0] + 1 if len(mine) > 1 else 2 * servers
            parts.append(
                rectangle(
                    left + step * begin,
                    y,
                    step * (end - begin),
                    high - 3,
                    0.5,
                    int(len(mine) < 2),
                )
            )
        asked = sum(what == "asked" for what, _ in log)
        told.append(
            f"{name}: {asked} of {servers} servers are asked in time, and {len(log) - asked} answer"
        )
        left += step * 2 * servers + 60
    label = f"When each server had a connection. {'; '.join(told)}."
    return HTML(drawing(parts, left - 30, 30 + high * servers, label, style=FITTING))


def one_waits_for_all(source: str) -> HTML:
    """Draws who calls whom between TensorFlow and the waiter, and what the waiter waits for."""
    for call in (
        "Waiter::Get().Add(",
        "Waiter::Get().Wake(",
        "call->over(",
        "done();",
        "poll(waits",
        "bell_[0], POLLIN",
        "call->socket.fd()",
    ):
        if call not in source:
            raise ValueError(f"the picture shows {call}, which the code has no more")
    left, wide, waiter, right = 4, 118, 208, 352
    parts = [
        text(left, 16, "TensorFlow", BOLD),
        text(waiter, 16, "the waiter", BOLD),
        text(right, 16, "waits for", BOLD),
        box(waiter, 26, 86, 150, 0.15),
        text(waiter + 43, 106, "poll", CODE, MIDDLE),
    ]
    for row, (name, call) in enumerate(
        [("ComputeAsync", "Add"), ("cancelled", "Wake"), ("done", "over")]
    ):
        y = 26 + 55 * row
        arrow = arrow_left if name == "done" else arrow_right
        parts += [
            box(left, y, wide, 40, 0.25, 1),
            text(left + wide / 2, y + 25, name, CODE, MIDDLE),
            text((left + wide + waiter) / 2, y + 14, call, CODE, MIDDLE),
            arrow(left + wide + 2, waiter - 2, y + 20),
        ]
    for row, name in enumerate(["socket of a call", "socket of a call", "…", "pipe"]):
        y = 26 + 40 * row
        parts.append(text(right, y + 20, name))
        if name != "…":
            parts.append(arrow_left(waiter + 88, right - 8, y + 15))
    label = (
        "TensorFlow calls ComputeAsync, which calls Add; where a step is cancelled, Wake is called. Both reach "
        "the waiter through a pipe. In poll, the waiter waits for the pipe and for the socket of each call. When "
        "a call has ended, it calls over, which calls TensorFlow's done."
    )
    return HTML(drawing(parts, 470, 184, label, style=FITTING, shown_width=560))
