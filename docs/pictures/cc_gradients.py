"""The pictures of the chapter on gradients in C++: drawn from what is registered, described, computed and measured."""

import tempfile
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tensorflow as tf
from gradient_registries import imported_gradient, registries, saved_graph
from IPython.display import HTML
from measured import bar_of, bars, read
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    SMALL,
    arrow_right,
    box,
    drawing,
    text,
)
from tensorflow.core.framework.function_pb2 import FunctionDef


def counts() -> list[int]:
    """How many of TensorFlow's own ops have a gradient in each registry: Python, functions, graphs."""
    found = [answers for op, answers in registries().items() if hasattr(tf.raw_ops, op)]
    return [sum(answer == "gradient" for answer in each) for each in zip(*found)]


def figures() -> dict[str, float]:
    """For the text: how many gradients the registry for graphs has, and how long the bridge takes eagerly."""
    took = {
        row["way"]: float(row["ratio"]) for row in read("bridge").where(mode="eager")
    }
    return {
        "graphs": counts()[2],
        "bridge": took["the bridge"],
        "anew": took["traced anew"],
    }


def registry_asked(differentiate: Callable[[Callable, np.ndarray], np.ndarray]) -> str:
    """Which registry is asked by a way to load and differentiate a model, tried with an op that only Python has."""
    found = registries()["LeakyRelu"]
    assert found[:2] == ("gradient", ""), found
    x = np.array([-1.0, 2.0], np.float32)
    tf.get_logger().setLevel("ERROR")  # nothing of assets, or of what is deprecated
    try:
        dx = differentiate(lambda x: tf.nn.leaky_relu(x, alpha=0.25), x)
    except tf.errors.NotFoundError as error:
        reasons = "No gradient defined for op: LeakyRelu", "SymbolicGradient"
        assert any(reason in error.message for reason in reasons), error
        dx = differentiate(tf.tanh, x)
        np.testing.assert_allclose(dx, 1 / np.cosh(x) ** 2, rtol=1e-5)
        return "C++"
    np.testing.assert_array_equal(dx, [0.25, 1])
    return "Python"


def saved_model(f: Callable, folder: str) -> None:
    """Saves a model that calls `f` as a function."""
    model = tf.Module()
    step = tf.function(f)
    model.call = tf.function(
        lambda x: step(x), input_signature=[tf.TensorSpec([None], name="x")]
    )
    tf.saved_model.save(model, folder, signatures=model.call)


def by_saved_model(f: Callable, x: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        saved_model(f, folder)
        loaded = tf.saved_model.load(folder)
    with tf.GradientTape() as tape:
        tape.watch(start := tf.constant(x))
        end = loaded.call(start)
    return tape.gradient(end, start).numpy()


def by_session(f: Callable, x: np.ndarray) -> np.ndarray:
    with (
        tempfile.TemporaryDirectory() as folder,
        tf.Graph().as_default() as graph,
        tf.compat.v1.Session() as session,
    ):
        saved_model(f, folder)
        loaded = tf.compat.v1.saved_model.load(session, ["serve"], folder)
        signature = loaded.signature_def["serving_default"]
        [start], [end] = (
            [graph.get_tensor_by_name(tensor.name) for tensor in tensors.values()]
            for tensors in (signature.inputs, signature.outputs)
        )
        return session.run(tf.gradients(end, start)[0], {start: x})


def by_wrapping(f: Callable, x: np.ndarray) -> np.ndarray:
    saved = saved_graph(f, x)
    wrapped = tf.compat.v1.wrap_function(
        lambda: tf.import_graph_def(saved, name=""), []
    )
    call = wrapped.prune("x:0", "Identity:0")
    with tf.GradientTape() as tape:
        tape.watch(start := tf.constant(x))
        end = call(start)
    return tape.gradient(end, start).numpy()


LOADING = {
    ("`tf.saved_model.load`", "a tape"): by_saved_model,
    ("`tf.compat.v1.saved_model.load`", "`tf.gradients` in a session"): by_session,
    ("`tf.import_graph_def`", "`tf.gradients` in a session"): imported_gradient,
    ("`tf.import_graph_def` in `tf.compat.v1.wrap_function`", "a tape"): by_wrapping,
}


def imported_gradients(f: Callable, factor: int) -> HTML:
    """An imported model that returns factor * f(x): where the gradients of an op in f and of the product come from."""
    step = tf.function(f)
    spec = tf.TensorSpec([None], name="x")
    model = tf.function(lambda x: factor * step(x), input_signature=[spec])
    saved = model.get_concrete_function().graph.as_graph_def()
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0])
        [y] = tf.import_graph_def(saved, {"x": x}, ["Identity:0"])
        product = y.op.inputs[0].op
        call = product.inputs[1].op
        imported = graph.get_operations()
        dx = tf.gradients(y, x)[0].op
        added = [op for op in graph.get_operations() if op not in imported]
    assert [call.type, product.type] == ["PartitionedCall", "Mul"]
    assert dx.type == "SymbolicGradient" and dx.inputs[1].op.type == "Mul"
    assert [op.type for op in added].count("SymbolicGradient") == 1
    assert saved.library.function[0].signature.name in str(dx.node_def)

    [body] = saved.library.function
    [op] = {node.op for node in body.node_def} - {"Identity", "NoOp"}
    wide = f'rx="10" {LINE}'
    parts = [
        f'<rect x="2" y="24" width="454" height="98" {wide} stroke-opacity="0.5"/>',
        text(2, 15, "the imported graph", BOLD),
        f'<rect x="66" y="34" width="176" height="78" {wide} stroke-dasharray="5 4"/>',
        text(154, 52, "step, a function", MIDDLE, SMALL),
    ]
    nodes = (
        (14, 32, "x", 16),
        (78, 152, op, 6),
        (270, 100, f"{product.type} by {factor}", 6),
        (398, 46, "y", 16),
    )
    for left, width, word, corner in nodes:
        parts.append(box(left, 62, width, 34, 0, corner=corner))
        parts.append(text(left + width / 2, 84, word, MIDDLE, CODE, 'font-size="13"'))
    for (left, width, *_), (following, *_) in zip(nodes, nodes[1:]):
        parts.append(arrow_right(left + width, following - 2, 79))
    found = {
        154: ("a registry in C++,", "when the graph runs", 0.3),
        320: ("Python’s registry,", "by tf.gradients", 0),
    }
    for middle, (*words, shade) in found.items():
        parts.append(f'<path d="M{middle} 96V156m-5 -7l5 7l5 -7" {LINE}/>')
        parts.append(box(middle - 76, 158, 152, 46, shade))
        parts += [
            text(middle, 177 + 17 * line, each, MIDDLE, SMALL)
            for line, each in enumerate(words)
        ]
    parts.append(text(237, 144, "gradient from", MIDDLE, SMALL))
    label = (
        f"In the imported graph, x goes to the function step, in which {op} is, then to {product.type} in the graph "
        f"itself, and then to y. The gradient of {op} comes from a registry in C++, when the graph runs. That of "
        f"{product.type} comes from Python's registry, by tf.gradients."
    )
    return HTML(drawing(parts, 458, 208, label, style=FITTING))


def registry_map() -> HTML:
    """Who asks which registry of gradients, how many entries each has, and the bridge between them."""
    python, functions, _ = counts()
    lanes = [
        (
            ["tape.gradient", "tf.gradients"],
            "functions known to Python",
            "tf.RegisterGradient",
            f"a Python function: {python} ops",
        ),
        (
            ["SymbolicGradient"],
            "functions of a GraphDef",
            "REGISTER_OP_GRADIENT",
            f"C++ describes a function: {functions} ops",
        ),
    ]
    parts = [
        text(93, 14, "who asks", MIDDLE, BOLD),
        text(328, 14, "which registry", MIDDLE, BOLD),
    ]
    for number, (asking, where, registry, holds) in enumerate(lanes):
        top = 26 + number * 108
        for left, width, names, note in (
            (2, 182, asking, where),
            (214, 228, [registry], holds),
        ):
            middle, strong = left + width / 2, 2.5 if number and left > 2 else 1
            parts.append(
                f'<rect x="{left}" y="{top}" width="{width}" height="72" rx="6" {LINE} stroke-width="{strong}"/>'
            )
            for line, name in enumerate(names):
                y = top + 32 + 17 * line - 8 * (len(names) - 1)
                parts.append(text(middle, y, name, MIDDLE, CODE, 'font-size="13"'))
            parts.append(text(middle, top + 60, note, MIDDLE, SMALL))
        parts.append(arrow_right(184, 212, top + 36))
    says = ["Who asks, and which registry."]
    for asking, where, registry, holds in lanes:
        says.append(f"{' and '.join(asking)} {where}: {registry}, {holds}.")
    parts.append(
        f'<path d="M328 98V108Q328 116 320 116H101Q93 116 93 124V132m-5 -7l5 7l5 -7" {LINE} stroke-dasharray="5 4"/>'
    )
    parts.append(text(200, 111, "the bridge", MIDDLE, SMALL))
    says.append("The bridge leads from the first registry to SymbolicGradient.")
    return HTML(drawing(parts, 446, 210, " ".join(says), style=FITTING))


def squares(groups: Mapping[str, tuple[int, int | None]]) -> HTML:
    """Squares in groups: from the name of each group to how many it has, and their colour, or None."""
    wide, step, y, parts = 42, 12, 0, []
    for name, (count, colour) in groups.items():
        parts.append(text(2, y + 16, name))
        y += 24
        path = "".join(
            f"M{2 + step * (i % wide)} {y + step * (i // wide)}h9v9h-9z"
            for i in range(count)
        )
        fill = "currentColor" if colour is None else COLOURS[colour]
        opacity = 0.3 if colour is None else 0.85
        parts.append(f'<path d="{path}" fill="{fill}" fill-opacity="{opacity}"/>')
        y += step * -(-count // wide) + 6
    label = f"Squares, one for each op. {'; '.join(groups)}."
    return HTML(drawing(parts, 4 + step * wide, y, label, style=FITTING))


def function_graph(function: FunctionDef, outputs: bool = False) -> HTML:
    """Draws a function as it was described: its arguments, its nodes with their ops, and its results.

    Args:
      function: The description.
      outputs: Whether the names of outputs stand beside the lines that start from them.
    """
    arguments = [arg.name for arg in function.signature.input_arg]
    results = {f"{name} ": end.split(":")[0] for name, end in function.ret.items()}
    ops = {node.name: node.op for node in function.node_def}
    starts = {
        node.name: [source.split(":")[0] for source in node.input]
        for node in function.node_def
    }
    starts |= {result: [source] for result, source in results.items()}
    ends = {
        source.split(":")[0]: source
        for sources in [
            *(node.input for node in function.node_def),
            function.ret.values(),
        ]
        for source in sources
        if ":" in source
    }
    layers = _layers([*arguments, *starts], starts)
    depth = max(layers.values())
    rows = [
        [name for name in layers if layers[name] == layer] for layer in range(depth + 1)
    ]
    width, high, step = 132, 44, 78
    across = max(map(len, rows)) * (width + (70 if outputs else 18))
    x: dict[str, float] = {}
    for row in reversed(rows):

        def place(name: str) -> float:
            users = [
                x[user] + number / 9
                for user in x
                for number, start in enumerate(starts.get(user, []))
                if start == name
            ]
            return sum(users) / max(1, len(users))

        for number, name in enumerate(sorted(row, key=place)):
            x[name] = across * (number + 0.5) / len(row)
    parts = []
    for name, sources in starts.items():
        for number, source in enumerate(sources):
            apart = 24 * (number - (len(sources) - 1) / 2)
            begin = x[source] + (apart if sources.count(source) > 1 else 0)
            top, bottom = layers[source] * step + high - 2, layers[name] * step
            parts.append(
                f'<path d="M{begin:.0f} {top}L{x[name] + apart:.0f} {bottom}" {LINE}/>'
                f'<circle cx="{x[name] + apart:.0f}" cy="{bottom}" r="3.5"/>'
            )
    if outputs:
        if len(rows) != len(starts) + 1:
            raise ValueError("the names of outputs would overlap")
        for name, end in ends.items():
            [user] = {user for user, sources in starts.items() if name in sources}
            middle, y = (x[name] + x[user]) / 2, layers[name] * step + high + 18
            slanted = x[user] > x[name]
            side = (middle - 18, y, end, END) if slanted else (middle + 18, y, end)
            parts.append(text(*side, CODE, SMALL))
    for name, layer in layers.items():
        left, top = x[name] - width / 2, layer * step + 2
        end = name in arguments or name in results
        parts.append(
            f'<rect x="{left:.0f}" y="{top}" width="{width}" height="{high - 4}" rx="{20 if end else 6}" '
            f'fill="{COLOURS[0] if end else "none"}" fill-opacity="0.2" stroke="currentColor"/>'
        )
        middle = top + (25 if end else 17)
        parts.append(text(x[name], middle, name.strip(), MIDDLE, CODE))
        if not end:
            parts.append(text(x[name], top + 34, ops[name], MIDDLE, SMALL))
    says = ["The function as a graph."]
    for name, sources in starts.items():
        kind = f", an op {ops[name]}," if name in ops else ""
        takes = " and ".join(sources) or "nothing"
        says.append(f"{name.strip()}{kind} takes {takes}.")
    label = " ".join(says)
    return HTML(drawing(parts, across, depth * step + high + 4, label, style=FITTING))


def _layers(names: Sequence[str], starts: Mapping[str, list[str]]) -> dict[str, int]:
    """From each name to its layer: right above the first one that uses it."""
    below: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in below:
            users = [user for user, sources in starts.items() if name in sources]
            below[name] = max((height(user) + 1 for user in users), default=0)
        return below[name]

    top = max(map(height, names))
    return {name: top - below[name] for name in names}


def wave(
    hours: Sequence[float], values: Sequence[float], slopes: Sequence[float]
) -> HTML:
    """A curve with tangents of the given slopes at every third of its points."""
    left, width, height = 30, 440, 190

    def at(hour: float, value: float) -> str:
        across = left + width * (hour - hours[0]) / (hours[-1] - hours[0])
        return f"{across:.1f} {height / 2 - value * 7:.1f}"

    points = "L".join(at(*point) for point in zip(hours, values))
    parts = [
        f'<path d="M{at(hours[0], 0)}L{at(hours[-1], 0)}" {LINE} stroke-opacity="0.3"/>',
        f'<path d="M{points}" fill="none" stroke="{COLOURS[0]}" stroke-width="2.5"/>',
    ]
    span = (hours[-1] - hours[0]) / 24
    for hour, value, slope in list(zip(hours, values, slopes))[::12]:
        start = at(hour - span, value - span * slope)
        end = at(hour + span, value + span * slope)
        parts.append(
            f'<path d="M{start}L{end}" stroke="{COLOURS[1]}" stroke-width="4" stroke-linecap="round"/>'
        )
        x, y = map(float, at(hour, value).split())
        parts.append(
            text(x, y - 14 if value >= 0 else y + 24, f"{slope + 0:.1f}", MIDDLE, SMALL)
        )
    for hour in hours[::24]:
        x = float(at(hour, 0).split()[0])
        parts.append(text(x, height + 18, f"{hour:g} h", MIDDLE, SMALL))
    label = "A sine curve over the hours of a day, with a short tangent and its slope at every third hour."
    return HTML(drawing(parts, left + width + 40, height + 28, label, style=FITTING))


def bridge_times() -> HTML:
    """How much longer the ways over C++ take than a gradient in Python, from `bench/bridge.csv`."""
    table = read("bridge")
    modes = ["eager", "tf.function"]
    drawn = []
    for row in table.where(mode="eager"):
        if float(row["ratio"]) != 1:
            each = [table.where(mode=mode, way=row["way"])[0] for mode in modes]
            drawn.append(bar_of(row["way"], each))
    return bars(
        {"": drawn},
        "How many times longer the ways over C++ take than a gradient in Python.",
        "times as long as with a gradient in Python",
        modes,
        names_width=90,
        origin=1.0,
    )
