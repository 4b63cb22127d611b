"""The pictures of the chapter on waiting for servers, drawn from what servers saw and from the code."""

from collections.abc import Mapping, Sequence

from IPython.display import HTML
from pictures.drawing import COLOURS, ORANGE, bar, bold, code, picture
from pictures.layout import arrow, at, box, column, layers, row


def connections(logs: Mapping[str, Sequence[tuple[str, int]]], servers: int) -> HTML:
    """Draws, for each way to ask, what the servers saw: a row for each, from left to right in the order of time."""
    step, drawn, told = 13, [], []
    for name, log in logs.items():
        lanes = []
        for server in range(servers):
            shapes = [bar(step * 2 * servers, 17, 0.06)]
            if mine := [i for i, (_, asked) in enumerate(log) if asked == server]:
                answered = len(mine) > 1
                end = mine[1] + 1 if answered else 2 * servers
                span = bar(step * (end - mine[0]), 17, 0.5, COLOURS[not answered])
                shapes.append(at(step * mine[0], 0, span))
            lanes.append(layers(*shapes))
        drawn.append(column(bold(name), column(*lanes, gap=3)))
        asked = sum(what == "asked" for what, _ in log)
        told.append(
            f"{name}: {asked} of {servers} servers are asked in time, and {len(log) - asked} answer"
        )
    label = f"When each server had a connection. {'; '.join(told)}."
    return picture(row(*drawn, gap=40), label)


def one_waits_for_all(source: str) -> HTML:
    """Draws who calls whom between TensorFlow and the waiter, and what the waiter waits for."""
    calls = "Waiter::Get().Add( Waiter::Get().Wake( call->over( done(); poll(waits"
    if gone := [call for call in calls.split() if call not in source]:
        raise ValueError(f"the picture shows {gone}, which the code has no more")
    callers = [
        box(code(name), 0.25, ORANGE, width=118, height=40)
        for name in ("ComputeAsync", "cancelled", "done")
    ]
    waiter = box(code("poll"), 0.15, width=86, height=156)
    names = ["socket of a call", "socket of a call", "…", "pipe"]
    waited = [box(name, stroke=None, pad=4) for name in names]
    columns = [
        column(bold("TensorFlow"), column(*callers, gap=18)),
        column(bold("the waiter"), waiter),
        column(bold("waits for"), column(*waited, gap=16)),
    ]
    arrows = [
        arrow(callers[0], waiter, code("Add")),
        arrow(callers[1], waiter, code("Wake")),
        arrow(waiter, callers[2], code("over")),
        *(arrow(each, waiter) for each in waited if each is not waited[2]),
    ]
    shapes = row(*columns, gap=64, align="start")
    label = (
        "TensorFlow calls ComputeAsync, which calls Add; where a step is cancelled, Wake is called. Both reach "
        "the waiter through a pipe. In poll, the waiter waits for the pipe and for the socket of each call. When "
        "a call has ended, it calls over, which calls TensorFlow's done."
    )
    return picture(layers(shapes, *arrows), label, scale=1.2)
