"""The pictures of the chapter on gradients in C++: drawn from what is registered, described, computed and measured."""

import tempfile
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from gradient_registries import imported_gradient, registries, wrapped_gradient
from IPython.display import HTML
from measured import read
from pictures.drawing import bold, code, picture, small, space
from pictures.layout import arrow, box, chain, frame, layers, table


def counts() -> list[int]:
    """How many of TensorFlow's own ops have a gradient in each registry: Python, functions, graphs."""
    found = [answers for op, answers in registries().items() if hasattr(tf.raw_ops, op)]
    return [sum(answer == "gradient" for answer in each) for each in zip(*found)]


def figures() -> dict[str, float]:
    """For the text: how many gradients the registry for graphs has, and how long the bridge takes eagerly."""
    table = read("bridge")
    return {
        "graphs": counts()[2],
        "bridge": table.number(mode="eager", way="the bridge"),
        "anew": table.number(mode="eager", way="traced anew"),
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
    cpp = box([small("a registry in C++,"), small("when the graph runs")], 0.3)
    python = box([small("Python’s registry,"), small("by tf.gradients")])
    shapes = layers(
        table([nodes, [space(), cpp, python, space()]], gap=(28, 64)),
        inner := frame(call, title=small("step, a function"), dashed=True),
        frame(x, inner, y, title=bold("the imported graph"), stroke_opacity=0.5),
        *chain(*nodes),
        arrow(call, cpp),
        arrow(multiply, python, "gradient from", shift=-1e-9),
    )
    return picture(shapes, "Two gradients in an imported graph.")
