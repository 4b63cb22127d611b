"""The pictures of the chapter on waiting for servers, drawn from what servers saw and from the code."""

from collections.abc import Mapping, Sequence

from IPython.display import HTML
from pictures.drawing import COLOURS, ORANGE, bar, bold, code, picture, small
from pictures.layout import arrow, at, box, column, ends, layers, row


def connections(
    logs: Mapping[str, Sequence[tuple[str, int, float]]], servers: int
) -> HTML:
    """Draws for each way to ask, to scale, when each server was asked and when it had answered."""
    spans = {}
    for name, log in logs.items():
        start = min(time for *_, time in log)
        asked = {number: time - start for what, number, time in log if what == "asked"}
        over = {number: time - start for what, number, time in log if what != "asked"}
        spans[name] = [(asked[i], over[i]) for i in range(servers)]
    longest = max(end for each in spans.values() for _, end in each)
    scale, drawn, told = 380 / longest, [], []
    for colour, (name, each) in zip((ORANGE, COLOURS[0]), spans.items()):
        lanes = [
            layers(
                bar(scale * longest, 9, 0.06),
                at(scale * begin, 0, bar(scale * (end - begin), 9, 0.6, colour)),
            )
            for begin, end in each
        ]
        total = max(end for _, end in each)
        title = ends(scale * longest, bold(name), small(f"{total:.1f} s"))
        drawn.append(column(title, column(*lanes, gap=3)))
        most = max(
            sum(begin <= other < end for begin, end in each) for other, _ in each
        )
        told.append(f"{name}, at most {most} servers have a connection at a time")
    return picture(column(*drawn, gap=18), f"{'; '.join(told)}.")


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
