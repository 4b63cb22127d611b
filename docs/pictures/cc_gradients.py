"""The pictures of the chapter on gradients in C++: drawn from what is registered, described, computed and measured."""

import tempfile
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tensorflow as tf
from gradient_registries import imported_gradient, registries, wrapped_gradient
from IPython.display import HTML
from measured import read
from pictures.anchors import entries
from pictures.drawing import bar, bold, code, picture, small, space
from pictures.layout import arrow, at, box, chain, column, frame, graph, layers, table
from pictures.plots import Plot
from tensorflow.core.framework.function_pb2 import FunctionDef


def counts() -> list[int]:
    """How many of TensorFlow's own ops have a gradient in each registry: Python, functions, graphs."""
    found = [answers for op, answers in registries().items() if hasattr(tf.raw_ops, op)]
    return [sum(answer == "gradient" for answer in each) for each in zip(*found)]


def figures() -> dict[str, float]:
    """For the text: how many gradients the registry for graphs has, and how long the bridge takes eagerly."""
    return {
        "graphs": counts()[2],
        "bridge": read("bridge").number(mode="eager", way="the bridge"),
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


LOADING = {
    ("`tf.saved_model.load`, what TensorFlow 2 saved", "a tape"): by_saved_model,
    ("`tf.compat.v1.saved_model.load`", "`tf.gradients` in a session"): by_session,
    ("`tf.import_graph_def`", "`tf.gradients` in a session"): imported_gradient,
    (
        "`tf.import_graph_def` in `tf.compat.v1.wrap_function`",
        "a tape",
    ): wrapped_gradient,
}


def imported_gradients(f: Callable, factor: int) -> HTML:
    """An imported model that returns factor * f(x): where the gradients of an op in f and of the product come from."""
    step = tf.function(f)
    spec = tf.TensorSpec([None], name="x")
    model = tf.function(lambda x: factor * step(x), input_signature=[spec])
    saved = model.get_concrete_function().graph.as_graph_def()
    with tf.Graph().as_default():
        x = tf.constant([1.0])
        [y] = tf.import_graph_def(saved, {"x": x}, ["Identity:0"])
        product = y.op.inputs[0].op.type
        dx = tf.gradients(y, x)[0].op
    if [dx.type, dx.inputs[1].op.type] != ["SymbolicGradient", "Mul"]:
        raise ValueError("other gradients than the picture's")
    [body] = saved.library.function
    [op] = {node.op for node in body.node_def} - {"Identity", "NoOp"}
    names = ("x", 16), (op, 5), (f"{product} by {factor}", 5), ("y", 16)
    nodes = [box(code(name, 13), corner=corner) for name, corner in names]
    x, call, multiply, y = nodes
    cpp = box(small("a registry in C++,\nwhen the graph runs"), 0.3)
    python = box(small("Python’s registry,\nby tf.gradients"))
    shapes = layers(
        table([nodes, [space(), cpp, python, space()]], gap=(28, 64)),
        inner := frame(call, title=small("step, a function"), dashed=True),
        frame(x, inner, y, title=bold("the imported graph"), stroke_opacity=0.5),
        *chain(*nodes),
        arrow(call, cpp),
        arrow(multiply, python, "gradient from", shift=-1e-9),
    )
    label = (
        f"In the imported graph, x goes to the function step, in which {op} is, then to {product} in the graph "
        f"itself, and then to y. The gradient of {op} comes from a registry in C++, when the graph runs. That of "
        f"{product} comes from Python's registry, by tf.gradients."
    )
    return picture(shapes, label)


# Who asks for a gradient, of what, in which registry, and what this holds.
LANES = """
tape.gradient | tf.gradients | functions known to Python | tf.RegisterGradient | a Python function
SymbolicGradient | functions of a GraphDef | REGISTER_OP_GRADIENT | C++ describes a function
"""


def registry_map() -> HTML:
    """Who uses which registry of gradients, how many entries each has, and the bridge between them."""
    rows = []
    for lane, count in zip(entries(LANES), counts()):
        *asking, where, registry, kind = lane
        holds = f"{kind}: {count} ops"
        left, right = [*map(code, asking), small(where)], [code(registry), small(holds)]
        caller = box(left, width=190, height=76)
        caller.tells(f"{' and '.join(asking)} {where}: {registry}, {holds}")
        rows.append([caller, box(right, height=76, width=250)])
    (_, begin), (end, _) = rows
    shapes = layers(
        table([[bold("caller"), bold("registry")], *rows], gap=(28, 34)),
        *(arrow(*each) for each in rows),
        bridge := arrow(begin, end, "the bridge", elbow=True, dashed=True),
    )
    bridge.tells("the bridge leads from the first registry to SymbolicGradient")
    return picture(shapes, "Callers and their registries.")


def squares(groups: Mapping[str, tuple[int, int | None]]) -> HTML:
    """Squares in groups: from the name of each group to how many it has, and their colour, or None."""
    drawn = []
    for name, (count, colour) in groups.items():
        look = (0.3, "ink") if colour is None else (0.85, colour)
        places = (divmod(i, 42) for i in range(count))
        dots = (at(12 * x, 12 * y, bar(9, 9, *look)) for y, x in places)
        drawn.append(column(name, layers(*dots)).tells(name))
    return picture(column(*drawn, gap=10), "Squares, one for each op.")


def function_graph(function: FunctionDef, outputs: bool = False) -> HTML:
    """Draws a function as it was described: arguments, nodes with their ops, results, and the outputs' names or not."""
    inputs = {node.name: list(node.input) for node in function.node_def}
    inputs |= {f"{name} ": [end] for name, end in function.ret.items()}
    ops = {node.name: node.op for node in function.node_def}
    arguments = [arg.name for arg in function.signature.input_arg]
    nodes = {
        name: box([code(name), small(ops[name])], width=132, pad=4)
        if name in ops
        else box(code(name.strip()), 0.2, width=132, height=40, corner=20)
        for name in [*arguments, *inputs]
    }
    taken = [(end, name) for name, ends in inputs.items() for end in ends]
    edges = [(end.split(":")[0], name) for end, name in taken]
    labels = {edge: end for edge, (end, _) in zip(edges, taken) if ":" in end}
    for name in inputs:
        kind = f", an op {ops[name]}," if name in ops else ""
        takes = " and ".join(begin for begin, end in edges if end == name) or "nothing"
        nodes[name].tells(f"{name.strip()}{kind} takes {takes}")
    shapes = graph(nodes, edges, labels=labels if outputs else {})
    return picture(shapes, "The function as a graph.")


def wave(
    hours: Sequence[float], values: Sequence[float], slopes: Sequence[float]
) -> HTML:
    """A curve with tangents of the given slopes at every third of its points."""
    plot = Plot(400, 150, (hours[0], hours[-1]), (-max(values), max(values)))
    plot.line(hours[:: len(hours) - 1], [0, 0], stroke_opacity=0.3)
    plot.line(hours, values, colour="blue", width=2.5)
    span = (hours[-1] - hours[0]) / 24
    for hour, value, slope in list(zip(hours, values, slopes))[::12]:
        ends = [(at, value + (at - hour) * slope) for at in (hour - span, hour + span)]
        plot.line(*zip(*ends), colour="orange", width=4, stroke_linecap="round")
        steep = abs(slope) >= 0.05
        above = value >= -1e-3
        outside = ("e" if (slope > 0) == above else "w") if steep else ""
        anchor = ("s" if above else "n") + outside
        number = small(f"{round(float(slope), 1) + 0:.1f}".replace("-", "−"))
        y = plot.y(value) + (-6 if anchor[0] == "s" else 6)
        plot.add(at(plot.x(hour), y, number, anchor))
    for hour in hours[::24]:
        plot.add(at(plot.x(hour), 180, small(f"{hour:g} h"), "n"))
    label = "A sine curve over the hours of a day, with a short tangent and its slope at every third hour."
    return picture(plot.shape(), label)
