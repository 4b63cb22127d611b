"""Pictures of the chapter on prototypes, drawn from what its cells computed and from `bench/prototype.csv`."""

from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import Bar, bar_of, bars, number, read
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    FITTING,
    LINE,
    MIDDLE,
    POINTED,
    SMALL,
    TIP,
    drawing,
    text,
)

BOX = f'rx="6" {LINE}'
TINTED = 'rx="6" stroke="currentColor" fill-opacity="0.25"'


def beyond(models: Mapping[str, tf.keras.Model], seen: float, until: float) -> HTML:
    """Draws what networks make of a sine, of which they have seen a part.

    Args:
      models: From the names of at most two to the networks.
      seen: They were trained between minus this number and this number.
      until: The picture ends there, and begins at minus it.
    """
    left, right, top, bottom = 12, 428, 34, 184
    x = np.linspace(-until, until, 241, dtype=np.float32)[:, None]
    wave = np.sin(x)
    lines = {name: model(x).numpy() for name, model in models.items()}
    seen_part = np.abs(x) <= seen
    errors = {
        name: float(np.mean((y - wave)[~seen_part] ** 2)) for name, y in lines.items()
    }

    def across(value: float) -> float:
        return left + (right - left) * (value + until) / (2 * until)

    def path(y: np.ndarray) -> str:
        heights = bottom - (bottom - top) * (np.clip(y, -2.5, 2.5) + 2.5) / 5
        points = zip(x.ravel(), heights.ravel())
        return "L".join(f"{across(at):.1f} {height:.1f}" for at, height in points)

    width = across(seen) - across(-seen)
    shapes = [
        f'<rect x="{across(-seen):.0f}" y="{top}" width="{width:.0f}" height="{bottom - top}" fill-opacity="0.1"/>',
        text(across(0), bottom - 6, "what they were shown", MIDDLE, SMALL),
        f'<path d="M{path(wave)}" {LINE} stroke-width="7" stroke-opacity="0.3"/>',
    ]
    names = [("sine", "currentColor", 'stroke-width="7" stroke-opacity="0.3"')]
    for (name, y), colour, dashes in zip(lines.items(), COLOURS, ("7 4", "")):
        style = f'stroke-width="3" stroke-dasharray="{dashes}"'
        shapes.append(f'<path d="M{path(y)}" fill="none" stroke="{colour}" {style}/>')
        names.append((name, colour, style))
    for place, (name, colour, style) in enumerate(names):
        start = left + 120 * place
        shapes.append(
            f'<path d="M{start} 14h26" fill="none" stroke="{colour}" {style}/>'
        )
        shapes.append(text(start + 32, 18, name))
    wrong = " and ".join(f"{n} is wrong by {e:.2g}" for n, e in errors.items())
    label = (
        f"A sine from {-until:g} to {until:g}, and what two networks give that have seen the part from {-seen:g} to "
        f"{seen:g}. Outside of it, {wrong} in the mean square."
    )
    picture = drawing(shapes, 440, 196, label, style=FITTING, shown_width=560)
    return HTML(picture)


def a_call(traced: tf.types.experimental.ConcreteFunction) -> HTML:
    """Draws the way of the tensors through a graph with one PyFunc in it, out of TensorFlow and back."""
    nodes = [node.type for node in traced.graph.get_operations()]
    kept = [node for node in nodes if node in ("Placeholder", "PyFunc", "EnsureShape")]
    if kept != ["Placeholder", "PyFunc", "EnsureShape"]:
        raise ValueError(f"another graph than the picture's: {nodes}")
    [token] = (
        node.get_attr("token").decode()
        for node in traced.graph.get_operations()
        if node.type == "PyFunc"
    )
    shapes = [
        TIP,
        text(4, 26, "the graph", BOLD),
        text(4, 44, "TensorFlow’s threads", SMALL),
    ]
    shapes += [
        text(4, 126, "your process", BOLD),
        text(4, 144, "one thread at a time", SMALL),
    ]
    shapes.append('<path d="M0 82H460" stroke="currentColor" stroke-dasharray="4 4"/>')
    for left, name in ((150, "x"), (236, "PyFunc"), (350, "EnsureShape")):
        width = 40 if name == "x" else 100 if name != "PyFunc" else 80
        shapes.append(f'<rect x="{left}" y="18" width="{width}" height="32" {BOX}/>')
        shapes.append(text(left + width / 2, 39, name, MIDDLE, CODE))
    shapes.append(f'<path d="M190 34H234" {POINTED}/><path d="M316 34H348" {POINTED}/>')
    shapes.append(
        f'<rect x="180" y="112" width="192" height="32" fill="{COLOURS[0]}" {TINTED}/>'
    )
    shapes.append(text(276, 133, "snake_reference(array)", MIDDLE, CODE))
    shapes.append(f'<path d="M260 50V110" {POINTED}/><path d="M292 112V52" {POINTED}/>')
    shapes.append(
        text(252, 74, "tensor", 'text-anchor="end"', SMALL)
        + text(300, 74, "array", SMALL)
    )
    shapes.append(text(252, 102, token, 'text-anchor="end"', CODE, SMALL))
    label = (
        f"In the graph, x goes to PyFunc and from there to EnsureShape. PyFunc knows its function as {token}: it "
        "hands a tensor down to snake_reference in your Python process, where one thread runs at a time, and gets an "
        "array back."
    )
    return HTML(
        drawing(shapes, 460, 154, label, style=FITTING, font_size=13, shown_width=600)
    )


def times(mode: str) -> HTML:
    """How much longer other ways take than the op in C++, from `bench/prototype.csv`.

    Args:
      mode: "eager" or "tf.function".
    """
    groups: dict[str, list[Bar]] = {}
    for row in read("prototype").where(mode=mode):
        if row["way"] == "C++ op":
            continue
        groups.setdefault(_numbers(row["size"]), []).append(bar_of(row["way"], [row]))
    where = "eagerly" if mode == "eager" else "in a tf.function"
    return bars(
        groups,
        f"How many times as long as the op in C++ the other ways take, {where}, by the size of the input.",
        f"times as long as the C++ op, {where}",
        names_width=104,
        origin=1.0,
    )


def _numbers(size: str) -> str:
    return f"{int(size):,} numbers".replace(",", " ")


def figures() -> dict[str, str]:
    """What the text quotes: milliseconds of a call, and ratios to the op."""
    rows = {(r["mode"], r["size"], r["way"]): r for r in read("prototype").rows}
    graph, small, large = "tf.function", "10", "10000000"

    def time(*case: str) -> float:
        return float(rows[case]["milliseconds"])

    def ratio(*case: str) -> str:
        return number(float(rows[case]["ratio"]))

    called = time(graph, small, "C++ op")
    return {
        "eagerly": number(time("eager", small, "C++ op")),
        "called": number(called),
        "node": number(time(graph, small, "NumPy") - called),
        "largest": ratio(graph, large, "NumPy"),
        "middle": ratio(graph, "100000", "composed"),
        "most": ratio(graph, large, "composed"),
        "composed": ratio("eager", small, "composed"),
        "numpy": ratio("eager", small, "NumPy"),
    }


# Each question, its lines separated by a slash, and what to do if the answer is yes.
QUESTIONS: Sequence[tuple[str, str]] = (
    ("Can TensorFlow compose it,/and is that fast and small enough?", "compose it"),
    ("Are you still trying it out?", "tf.numpy_function"),
    ("Must others load the model?", "an op in C++"),
    (
        "Does it take much of each step,/and can cores, a GPU/or fewer arrays help?",
        "an op in C++",
    ),
)


def decision() -> HTML:
    """Draws which way to take."""
    shapes, top = [TIP], 6
    for question, way in QUESTIONS:
        colour = COLOURS["C++" in way]
        lines = question.split("/")
        height = 16 + 18 * len(lines)
        middle, bottom = top + height / 2, top + height
        shapes += [
            f'<rect x="2" y="{top}" width="260" height="{height}" {BOX}/>',
            *(
                text(132, top + 22 + 18 * i, line, MIDDLE)
                for i, line in enumerate(lines)
            ),
            f'<path d="M262 {middle:g}H304" {POINTED}/>',
            text(282, middle - 5, "yes", MIDDLE, SMALL),
            f'<rect x="306" y="{middle - 17:g}" width="150" height="34" fill="{colour}" {TINTED}/>',
            text(381, middle + 5, way, MIDDLE),
            f'<path d="M132 {bottom}V{bottom + 22}" {POINTED}/>',
            text(140, bottom + 16, "no", SMALL),
        ]
        top = bottom + 24
    shapes += [
        f'<rect x="52" y="{top}" width="160" height="34" fill="{COLOURS[0]}" {TINTED}/>',
        text(132, top + 22, "leave it in NumPy", MIDDLE),
    ]
    spoken = " ".join(
        f"{question.replace('/', ' ')} Yes: {way}." for question, way in QUESTIONS
    )
    label = (
        f"Four questions, one after the other. {spoken} No to all: leave it in NumPy."
    )
    size = 460, top + 40
    return HTML(drawing(shapes, *size, label, style=FITTING, shown_width=560))
