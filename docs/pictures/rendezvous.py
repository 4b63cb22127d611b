"""The picture of the chapter on the rendezvous: which thread calls what, and when, until a Collect is done."""

from pathlib import Path

from IPython.display import HTML
from pictures.drawing import bold, code, picture
from pictures.lanes import lanes
from pictures.layout import at, box, column, layers

STEP, HIGH = 92, 36
# Of each case the lanes, and in them what begins at a step and how many steps it takes.
CASES = {
    "The tensor is posted first": {
        "Post": {(0, 1): "Send"},
        "Collect": {(1, 1): "RecvAsync", (2, 1): "callback", (3, 1): "done"},
    },
    "Collect comes first": {
        "Post": {(1, 1): "Send", (2, 1): "callback", (3, 1): "done"},
        "Collect": {(0, 1): "RecvAsync"},
    },
    "The tensor comes as the time is up": {
        "Post": {(1, 1): "Send", (2, 1): "Over waits", (3, 1): "done"},
        "timeout": {(0, 3): "StartCancel"},
    },
}


def timelines() -> HTML:
    """Draws who calls the callback of a Collect, in three cases; `send_recv_test.cc` brings the last one about."""
    source = Path("examples/send_recv/send_recv.cc").read_text()
    calls = ["->Send(", "->RecvAsync(", "end.StartCancel()", "wait->Over()", "done();"]
    if gone := [call for call in calls if call not in source]:
        raise ValueError(f"the picture shows {gone}, which the code has no more")
    panels = []
    for title, case in CASES.items():
        rows, says = {}, []
        for of, spans in case.items():
            says.append(f"{title}, {of}: {', then '.join(spans.values())}")
            rows[of] = []
            for (begin, steps), name in spans.items():
                colour, waits = (
                    ["Post", "timeout", "Collect"].index(of),
                    "waits" in name,
                )
                look = {"width": STEP * steps - 8, "height": 26, "dashed": waits}
                each = box(code(name, 12), 0.12 if waits else 0.3, colour, **look)
                rows[of].append((STEP * begin + 4, each))
        drawn = lanes(rows, 4 * STEP, HIGH, stroke_opacity=0.2)
        above = at(0, -0.75 * HIGH, bold(title), "w")
        panels.append(layers(above, drawn).tells("; ".join(says)))
    return picture(column(*panels, gap=20, align="end"))
