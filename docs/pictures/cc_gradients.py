"""The pictures of the chapter on gradients in C++: drawn from what is registered, described, computed and measured."""

import math
import tempfile
from collections.abc import Callable, Sequence
from ctypes import byref, c_size_t, c_void_p

import numpy as np
import tensorflow as tf
from gradient_registries import (
    imported_gradient,
    registries,
    saved_graph,
    wrapped_gradient,
)
from IPython.display import HTML
from measured import read
from pictures.anchors import entries
from pictures.drawing import bold, code, picture, small, space
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


def slope_of_erf(x: np.ndarray) -> np.ndarray:
    return 2 / math.sqrt(math.pi) * np.exp(-x * x)


# Functions of one op each, with the slope of each, by the first registry of these that has a gradient of the op.
KNOWN_TO = {
    "`@tf.RegisterGradient`": (tf.math.erfc, lambda x: -slope_of_erf(x)),
    "`REGISTER_GRADIENT_OP`": (tf.math.erf, slope_of_erf),
    "`REGISTER_OP_GRADIENT`": (tf.tanh, lambda x: 1 / np.cosh(x) ** 2),
}


def registry_asked(differentiate: Callable, inside: bool) -> str:
    """What fills the registry that a way to load and differentiate a model asks.

    Args:
      differentiate: The way: of a function, of where to differentiate it, and of `inside`.
      inside: Whether the ops are in a function that the model calls, or in the model itself.
    """
    found = [registries()[op] for op in ("Erfc", "Erf", "Tanh")]
    has = "gradient"
    assert found == [(has, "", ""), (has, "", has), (has, has, has)], found
    x = np.array([-1.0, 2.0], np.float32)
    tf.get_logger().setLevel("ERROR")  # nothing of assets, or of what is deprecated
    for registry, (f, slope) in KNOWN_TO.items():
        try:
            dx = differentiate(f, x, inside)
        except tf.errors.NotFoundError as error:
            reasons = "No gradient defined for op: Erf", "SymbolicGradient"
            assert any(reason in error.message for reason in reasons), error
            continue
        np.testing.assert_allclose(dx, slope(x), rtol=1e-5)
        return registry
    raise ValueError("no registry is asked")


def saved_model(f: Callable, folder: str, inside: bool) -> None:
    """Saves a model that calls `f`, as a function or not."""
    model = tf.Module()
    step = tf.function(f) if inside else f
    spec = tf.TensorSpec([None], name="x")
    model.call = tf.function(lambda x: step(x), input_signature=[spec])
    tf.saved_model.save(model, folder, signatures=model.call)


def by_saved_model(f: Callable, x: np.ndarray, inside: bool) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        saved_model(f, folder, inside)
        loaded = tf.saved_model.load(folder)
    with tf.GradientTape() as tape:
        tape.watch(start := tf.constant(x))
        end = loaded.call(start)
    return tape.gradient(end, start).numpy()


def by_session(f: Callable, x: np.ndarray, inside: bool) -> np.ndarray:
    with (
        tempfile.TemporaryDirectory() as folder,
        tf.Graph().as_default() as graph,
        tf.compat.v1.Session() as session,
    ):
        saved_model(f, folder, inside)
        loaded = tf.compat.v1.saved_model.load(session, ["serve"], folder)
        signature = loaded.signature_def["serving_default"]
        [start], [end] = signature.inputs.values(), signature.outputs.values()
        start, end = (graph.get_tensor_by_name(each.name) for each in (start, end))
        return session.run(tf.gradients(end, start)[0], {start: x})


def by_c_api(f: Callable, x: np.ndarray, inside: bool) -> np.ndarray:
    """Imports, differentiates and runs a graph as a program in C does."""
    from tf_c import Graph, Output, checked, library

    for name in ("BufferFromString", "ImportGraphDefOptions"):
        getattr(library, f"TF_New{name}").restype = c_void_p
    library.TF_GraphOperationByName.restype = c_void_p
    text = saved_graph(f, x, inside).SerializeToString()
    buffer = c_void_p(library.TF_NewBufferFromString(text, c_size_t(len(text))))
    options = c_void_p(library.TF_NewImportGraphDefOptions())
    with Graph() as built:
        graph, start, dx = c_void_p(built._graph), built.constant("start", x), Output()
        library.TF_ImportGraphDefOptionsAddInputMapping(options, b"x", 0, start)
        load = library.TF_GraphImportGraphDef
        checked(lambda status: load(graph, buffer, options, c_void_p(status)))
        end = Output(library.TF_GraphOperationByName(graph, b"Identity"), 0)
        ends = byref(end), 1, byref(start), 1, None
        add = library.TF_AddGradients
        checked(lambda status: add(graph, *ends, c_void_p(status), byref(dx)))
        return built.run(dx)


SAVED, SESSION = "what TensorFlow 2 saved", "`tf.gradients` in a session"
WRAPPED = "`tf.import_graph_def` in `tf.compat.v1.wrap_function`"
LOADING = {
    (f"`tf.saved_model.load`, {SAVED}", "a tape"): by_saved_model,
    (f"`tf.compat.v1.saved_model.load`, {SAVED}", SESSION): by_session,
    ("`tf.import_graph_def`", SESSION): imported_gradient,
    (WRAPPED, "a tape"): wrapped_gradient,
    ("C, Java or Go: `TF_GraphImportGraphDef`", "`TF_AddGradients`"): by_c_api,
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
    (_, begin), (end, _) = pairs = rows[:]
    headings = bold("caller"), bold("registry")
    rows[0] = [column(*each, align="middle") for each in zip(headings, rows[0])]
    shapes = layers(
        table(rows, gap=(28, 44)),
        *(arrow(*each) for each in pairs),
        bridge := arrow(begin, end, "the bridge", elbow=True, dashed=True),
    )
    bridge.tells("the bridge leads from the first registry to SymbolicGradient")
    return picture(shapes, "Callers and their registries.")


def function_graph(function: FunctionDef, outputs: bool = False) -> HTML:
    """Draws a function as it was described: arguments, nodes with their ops, results, and the outputs' names or not."""
    inputs = {node.name: list(node.input) for node in function.node_def}
    inputs |= {f"{name} ": [end] for name, end in function.ret.items()}
    ops = {node.name: node.op for node in function.node_def}
    end_look = {"shade": 0.2, "width": 132, "height": 40, "corner": 20}
    names = (arg.name for arg in function.signature.input_arg)
    nodes, edges, labels = {name: box(code(name), **end_look) for name in names}, [], {}
    for name, ends in inputs.items():
        sources = [end.split(":")[0] for end in ends]
        edges += ((source, name) for source in sources)
        labels |= {(s, name): end for s, end in zip(sources, ends) if ":" in end}
        takes = f"takes {' and '.join(sources) or 'nothing'}"
        if name in ops:
            nodes[name] = box([code(name), small(ops[name])], width=132, pad=4)
            nodes[name].tells(f"{name}, an op {ops[name]}, {takes}")
        else:
            nodes[name] = box(code(name.strip()), **end_look)
            nodes[name].tells(f"{name.strip()} {takes}")
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
    tangent = {"colour": "orange", "width": 4, "stroke_linecap": "round"}
    for hour, value, slope in list(zip(hours, values, slopes))[::12]:
        ends = value - span * slope, value + span * slope
        plot.line((hour - span, hour + span), ends, **tangent)
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
