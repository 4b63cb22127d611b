"""The pictures of the chapter on waiting for servers, drawn from what servers saw and from the code."""

from collections.abc import Mapping, Sequence

from IPython.display import HTML
from pictures.drawing import bar, bold, picture
from pictures.layout import at, column, layers


def connections(
    logs: Mapping[str, Sequence[tuple[str, int, float]]], servers: int
) -> HTML:
    """Draws for each way to ask, to scale, when each server was asked and when it had answered."""
    spans, wide = {}, 380
    for name, log in logs.items():
        start = min(time for *_, time in log)
        asked = {number: time - start for what, number, time in log if what == "asked"}
        over = {number: time - start for what, number, time in log if what != "asked"}
        spans[name] = [(asked[i], over[i]) for i in range(servers)]
    scale = wide / max(end for each in spans.values() for _, end in each)
    drawn = []
    for colour, (name, each) in zip(("orange", "blue"), spans.items()):
        lanes = []
        for begin, end in each:
            own = at(scale * begin, 0, bar(scale * (end - begin), 9, 0.6, colour))
            lanes.append(layers(bar(wide, 9, 0.06), own))
        at_once = (sum(begin <= t < end for begin, end in each) for t, _ in each)
        says = f"{name}, connections at the same time: at most {max(at_once)}"
        drawn.append(column(bold(name), column(*lanes, gap=3)).tells(says))
    return picture(column(*drawn, gap=18))
